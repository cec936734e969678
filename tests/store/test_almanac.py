"""A date with a weekday is checked against the calendar, in every form that people write one."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.almanac import weekday_line, wrong_dates

TODAY = date(2026, 9, 8)
FORMS = [
    "{d:%A} {d:%B} {d.day}, {d:%Y}",
    "{d:%A}, {d:%B} {d.day}, {d:%Y}",
    "{d:%a}. {d:%b}. {d.day} {d:%Y}",
    "{d:%A}, {d.day} {d:%B} {d:%Y}",
    "{d:%A} the {d.day}th of {d:%B} {d:%Y}",
    "{d:%a} {d:%Y-%m-%d}",
    "{d:%Y-%m-%d} ({d:%A})",
    "{d:%Y-%m-%d} is a {d:%A}",
    "{d.day} {d:%B} {d:%Y} was a {d:%A}",
    "{d:%B} {d.day}, {d:%Y} ({d:%a})",
    "{d:%A} {d.day}.{d.month}.{d:%Y}",
]
days = st.dates(date(1000, 1, 1), date(9999, 12, 31))


@given(days, st.sampled_from(FORMS))
def test_a_right_date_is_never_marked(day: date, form: str) -> None:
    assert wrong_dates(f"We met on {form.format(d=day)}; it rained.", TODAY) == ()


@given(days, st.sampled_from(FORMS), st.integers(1, 6))
def test_a_wrong_weekday_is_marked_where_it_stands_with_the_right_one(day: date, form: str, off: int) -> None:
    right = f"{day:%A}"
    wrong = f"{date(2024, 1, 1) + timedelta(days=day.weekday() + off):%A}"
    said = form.format(d=day).replace(right, wrong).replace(f"{day:%a}.", f"{wrong[:3]}.")
    said = said.replace(f"{day:%a} ", f"{wrong[:3]} ").replace(f"({day:%a})", f"({wrong[:3]})")
    text = f"We met on {said}; it rained."
    (found,) = wrong_dates(text, TODAY)
    assert (found.weekday, found.right) == (wrong, right)
    assert text[found.start : found.end] == found.said
    assert right in found.sentence


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Fable 5.1, cowork, Monday September 8, 2026.", "Tuesday"),
        ("on Wednesday the 8th of September we ship", "Tuesday"),
        ("Friday, Sept. 8", "Tuesday"),
        ("Thursday, January 1", "Friday"),
        ("WEDNESDAY SEPTEMBER 8, 2026", "Tuesday"),
        ("Wednesday 2026-09-08T10:00:00Z", "Tuesday"),
        ("Friday 9/8/2026", "Tuesday"),
        ("Tuesday, 8 September 2026 and Wednesday, 8 September 2026", "Tuesday"),
        ("8 September 2026, Friday.", "Tuesday"),
        ("Monday February 30, 2026", ""),
        ("Sunday 2026-13-01", ""),
    ],
)
def test_wrong_dates_as_people_write_them(text: str, right: str) -> None:
    (found,) = wrong_dates(text, TODAY)
    assert found.right == right


@pytest.mark.parametrize(
    "text",
    [
        "Tuesday September 8",
        "Friday, January 1",
        "Tuesday 9/8/2026 or Sunday 9/8/2026: day or month first, either may be meant",
        "Tuesday 8 September 2026, Wednesday we rest",
        "8 September 2026, Wednesday we rest",
        "2026-09-08",
        "Monday we sat down; 5 may have come",
        "sun 5 may be too hot",
        "Monday 12:30, room 8",
        "version 2026-09-08-fri3",
        "",
    ],
)
def test_what_is_right_or_no_dated_weekday_is_left_alone(text: str) -> None:
    assert wrong_dates(text, TODAY) == ()


def test_a_date_without_a_year_is_the_one_nearest_to_today() -> None:
    assert wrong_dates("Thursday, December 31", date(2027, 1, 2)) == ()
    assert wrong_dates("Thursday, December 31", date(2027, 11, 2))[0].right == "Friday"


@given(st.text(alphabet="Tuesday, Sept 8 2026-09/()the of\n", max_size=200))
def test_no_text_raises_and_marks_do_not_overlap(text: str) -> None:
    found = wrong_dates(text, TODAY)
    assert all(text[one.start : one.end] == one.said for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))


@given(st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC)))
def test_the_clocks_own_sentence_passes_the_almanac(now: datetime) -> None:
    assert f"{now:%A}" in weekday_line(now) and "UTC" in weekday_line(now)
    assert wrong_dates(weekday_line(now), now.date()) == ()
