"""Dates in prose checked against the calendar: weekdays that are not the date's (the paper's relay-day problem)."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = tuple(calendar.month_name)

_DAY: Final = (
    r"(?P<weekday>mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs(?:day)?|r)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
    r"\b\.?"
)
_DAY_2: Final = _DAY.replace("<weekday>", "<weekday_2>")
_DAY_3: Final = _DAY.replace("<weekday>", "<weekday_3>")
_MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|(?-i:May|MAY)|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_NUMBER: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:,?\s+(?P<year>\d{4}))?(?![\d:])"
_DATES: Final = (
    rf"{_MONTH}\s+(?:the\s+)?{_NUMBER}(?!\d){_YEAR}",  # September 8, 2026
    rf"(?:the\s+)?{_NUMBER}\s+(?:of\s+)?{_MONTH}{_YEAR}",  # 8 September 2026, the 8th of September
    r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)",  # 2026-09-08
    r"(?P<one>\d{1,2})(?P<sep>[/.])(?P<two>\d{1,2})(?P=sep)(?P<year>\d{4})(?!\d)",  # 9/8/2026 or 8.9.2026
)
_BEFORE: Final = tuple(re.compile(rf"\b{_DAY},?\s+(?:the\s+)?\(?{date}", re.IGNORECASE) for date in _DATES)
_AFTER: Final = tuple(
    re.compile(
        rf"(?<![\w/.-]){date}"
        rf"(?:\s+(?:is|was)\s+(?:an?\s+)?{_DAY}|\s*\(\s*{_DAY_2}\s*\)|,\s+{_DAY_3}(?=\s*(?:[.;:)\n]|$)))",
        re.IGNORECASE,
    )
    for date in _DATES
)


@dataclass(frozen=True, slots=True)
class WrongDate:
    """A date whose weekday is another: ``said`` stands at ``start``:``end`` of the text and names ``weekday``; the
    calendar says ``right``, which is empty when there is no such date."""

    start: int
    end: int
    said: str
    weekday: str
    right: str

    @property
    def sentence(self) -> str:
        """What is wrong, in one sentence."""
        if not self.right:
            return f"“{self.said}”: there is no such date."
        return f"“{self.said}”: that day is a {self.right}."


def wrong_dates(text: str, today: date) -> tuple[WrongDate, ...]:
    """The dates with a wrong weekday in a text, in order: English names, with or without a year, and ISO dates.

    A date without a year is taken in the year that brings it nearest to ``today``; one in figures that may be read
    as day or month first is wrong only if it is wrong both ways.
    """
    wrong: list[WrongDate] = []
    read: list[tuple[int, int]] = []
    for pattern in (*_BEFORE, *_AFTER):
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(start < other_end and other_start < end for other_start, other_end in read):
                continue  # a date has one weekday: one before it, else one after it
            read.append((start, end))
            if checked := _checked(match, today):
                wrong.append(checked)
    return tuple(sorted(wrong, key=lambda found: found.start))


def weekday_line(now: datetime) -> str:
    """The date with its weekday, and the time in its own zone, as a sentence."""
    zone = now.tzname() or "local time"
    return f"It is {_WEEKDAYS[now.weekday()]}, {_MONTHS[now.month]} {now.day}, {now.year}, {now:%H:%M} {zone}."


def _checked(match: re.Match[str], today: date) -> WrongDate | None:
    parts = match.groupdict()
    short = next(said for key, said in parts.items() if key.startswith("weekday") and said)[:3].title()
    said_day = next(day for day in _WEEKDAYS if day.startswith(short))
    dates = tuple(_dates(parts, today))
    if any(_WEEKDAYS[day.weekday()] == said_day for day in dates):
        return None
    right = _WEEKDAYS[dates[0].weekday()] if dates else ""
    said = match[0].rstrip(".")
    return WrongDate(match.start(), match.start() + len(said), said, said_day, right)


def _dates(parts: dict[str, str | None], today: date) -> Iterator[date]:
    """The dates that a match may mean; none when the calendar has no such date."""
    year = int(said) if (said := parts.get("year")) else None
    if parts.get("one") and parts.get("two"):
        one, two = int(parts["one"] or 0), int(parts["two"] or 0)
        readings = ((one, two), (two, one)) if parts.get("sep") == "/" else ((two, one),)
        for month, day in readings:
            yield from _existing([(year or today.year, month, day)])
        return
    month_said, day_said = parts.get("month") or "", int(parts.get("day") or 0)
    month = int(month_said) if month_said.isdigit() else _month_number(month_said)
    if year is not None:
        yield from _existing([(year, month, day_said)])
        return
    years = range(max(1, today.year - 8), min(9999, today.year + 8) + 1)  # February 29 can be 8 years away
    near = list(_existing((one, month, day_said) for one in years))
    if near:
        yield min(near, key=lambda day: abs(day - today))


def _existing(dates: Iterable[tuple[int, int, int]]) -> Iterator[date]:
    for year, month, day in dates:
        if 1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]:
            yield date(year, month, day)


def _month_number(name: str) -> int:
    short = name.lower()[:3]
    return next(number for number, month in enumerate(_MONTHS) if number and month.lower().startswith(short))
