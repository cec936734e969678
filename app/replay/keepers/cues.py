"""What words alone tell of a sentence: whether it holds something to keep, of which kind, and what it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import lru_cache
from typing import Final

from store.lines import LineKind
from store.wording import words_of

_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+|\n+|\s\[shares\s")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKUP = re.compile(r"^(?:[#>\-*+•]+|\d+[.)])\s+|\*\*|__|`")
_OPENER = re.compile(
    r"^(?:(?:oh|wow|yeah|yep|yes|no|hey|hi|hello|haha|aw+|well|ok(?:ay)?|sure|thanks?(?: you)?(?: so much)?|great|cool|"
    r"awesome|nice|definitely|absolutely|totally|exactly|of course|you know|i mean|actually|honestly|to be honest)"
    r"(?:,? \w+){0,2}\s*[,!.…–-]+\s*|(?:so|and|but|also|plus|anyway),?\s+)+",
    re.IGNORECASE,
)
"""Interjections, with the name of whoever is spoken to, and joints at the beginning of a sentence."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_EMPTY: Final = _set(
    "a an the is are was were be been being am to of in on at for and or but so that this these those it its "
    "it's with by as from i me my mine we us our you your yours he she they him her his them their who which "
    "what there here then than have has had do does did will would can could should may might must shall just "
    "really very quite too also if when while how why where not no yes i'm i've i'd i'll we're we've you're "
    "you've they're that's there's what's let's don't can't get got go going gone know think like want see "
    "say said look well good great nice much more most some any all one thing things lot lots something "
    "anything everything always never ever still even back out up down into over about around because through "
    "after before since until only own same such other others another make made makes come came way bit kind "
    "sort sure oh wow hey thanks thank yeah"
)
"""Words that tell nothing on their own."""

_WAYS: Final[tuple[tuple[LineKind, str], ...]] = (
    (
        "decision",
        r"\bfrom now on\b|^(?:please )?(?:always|never|don't ever)\b"
        r"|\b(?:you|we) (?:always|never|must|should|shouldn't)\b|\bmake sure (?:you|we|to)\b"
        r"|\bplease (?:don't|do not|always|never|use|keep)\b|\bi(?:'d| would)? (?:want|prefer|like) (?:you|us|it) to\b"
        r"|\bdon't (?:use|touch|run|add|write|ask|do that)\b|\blet's (?:use|not|keep|go with|do)\b"
        r"|\bwe(?:'ll| will| should)? (?:use|go with|drop)\b",
    ),
    (
        "way_back",
        r"\b(?:undo|roll(?:ing)? (?:it )?back|revert(?:ed)?|back(?:ed)? it up|git (?:reset|checkout|stash|revert)"
        r"|the way back)\b",
    ),
    (
        "trap",
        r"\b(?:cost (?:me|us)|turns? out|turned out|the (?:real )?(?:problem|issue|bug|cause|trick|catch) (?:is|was)"
        r"|root cause|watch out|careful|gotcha|beware|misleading|broken?|fails? (?:because|when|if)|failed because"
        r"|doesn't work|didn't work|wrong because|error:|caused by|silently)\b",
    ),
    (
        "thread",
        r"\b(?:todo|to do|next (?:step|time|week|month|year)|later|still (?:need|have|open|to)|not yet|tomorrow"
        r"|(?:plan|planning|hope|hoping|going|want|wanting|trying|about) to|soon|will (?:be|have|need)|upcoming"
        r"|i'll|we'll|gonna|remains?)\b",
    ),
)
_CUES: Final = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _WAYS)
_CORRECTION = re.compile(
    r"\b(?:actually|no,|not .{1,40}\bbut\b|i meant|correction|that(?:'s| is) (?:wrong|not right)|i was wrong"
    r"|rather than|it(?:'s| is) not|it was not|wasn't)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|we|we're|we've|our|us)\b", re.IGNORECASE)
_SECOND = re.compile(r"\b(?:you|your|you're|you've|yours|u)\b", re.IGNORECASE)
_NAME = re.compile(r"(?<![.!?…]\s)(?<!^)\b[A-Z][\w'’]*")
_NUMBER = re.compile(r"\d")
_IDENTIFIER = re.compile(r"[\w.-]+/[\w./-]+|\b\w+\.[a-z]{1,4}\b|\b\w+_\w+|\b[a-z]+[A-Z]\w+|--[\w-]+")
_BEING = re.compile(r"\b(?:is|are|was|were|has|have|had|got|went|did|made|took|started|joined|bought|works?|lives?)\b")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text that may be kept: no code, no markup signs, none too short or too long to be a line."""
    for part in _SENTENCE.split(_FENCE.sub("\n", text)):
        bare = _MARKUP.sub("", part.strip()).strip()
        if 12 <= len(bare) <= 480:
            yield part.strip()


def every_sentence(text: str) -> Iterator[str]:
    """All sentences and lines of a text, whatever they hold."""
    return (part.strip() for part in _SENTENCE.split(text) if part.strip())


def condensed(sentence: str) -> str:
    """A sentence without markup and without the words that only open it."""
    bare = _MARKUP.sub("", sentence).strip().rstrip("]")
    cut = _OPENER.sub("", bare)
    return cut[:1].upper() + cut[1:] if len(cut) >= 12 else bare


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    word = re.sub(r"['’]s?$", "", word)
    for ending in ("ing", "ied", "ies", "ed", "es", "s"):
        if len(word) > len(ending) + 2 and word.endswith(ending) and not word.endswith("ss"):
            return word[: -len(ending)].removesuffix("e")
    return word.removesuffix("e") if len(word) > 3 else word


@lru_cache(maxsize=16_384)
def telling(text: str) -> frozenset[str]:
    """The words that tell what a text is about, endings off."""
    return frozenset(_stem(word) for word in words_of(text) if word not in _EMPTY and len(word) > 1)


def kind_of(sentence: str, by: str) -> LineKind:
    """What kind of line a sentence would make. Only the operator decides."""
    for kind, cue in _CUES:
        if (kind != "decision" or by == "operator") and cue.search(sentence):
            return kind
    return "finding"


def corrects(sentence: str) -> bool:
    """Whether a sentence puts something right that was said before."""
    return _CORRECTION.search(sentence) is not None


def weight(sentence: str) -> float:
    """How much a sentence tells: its telling words, with names, numbers and identifiers counted for more, and with
    questions and talk about the other counted for less."""
    told = len(telling(sentence))
    found = float(min(told, 14))
    found += 1.5 * min(3, len(_NAME.findall(sentence)))
    found += 1.5 * bool(_NUMBER.search(sentence))
    found += 2.0 * bool(_IDENTIFIER.search(sentence))
    if sentence.rstrip().endswith("?"):
        found -= 6
    first, second = _FIRST.search(sentence), _SECOND.search(sentence)
    if first:
        found += 1.5
    elif second:
        found -= 4
    if _BEING.search(sentence):
        found += 0.5
    return found


_RELATIVE = re.compile(
    r"\b(?:(?P<day>yesterday|today|tonight|tomorrow|this morning|last night)|(?P<which>last|next|this) "
    r"(?P<unit>week|weekend|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|"
    r"(?P<count>a|an|one|two|three|four|five|six|\d{1,2}) (?P<units>day|week|month|year)s? ago)\b",
    re.IGNORECASE,
)
_COUNTS: Final = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def dated(sentence: str, said: date) -> str:
    """What the first relative date of a sentence means, said on that day: "7 May 2023", "May 2023", "2022", "the week
    of 1 May 2023"; empty when there is none."""
    found = _RELATIVE.search(sentence)
    if found is None:
        return ""
    if day := found["day"]:
        moved = {"yesterday": -1, "last night": -1, "tomorrow": 1}.get(day.lower(), 0)
        return _day(said + timedelta(days=moved))
    if unit := found["unit"]:
        return _named(unit.lower(), {"last": -1, "this": 0, "next": 1}[found["which"].lower()], said)
    count = found["count"].lower()
    number = _COUNTS[count] if count in _COUNTS else int(count)
    match found["units"].lower():
        case "day":
            return _day(said - timedelta(days=number))
        case "week":
            return f"the week of {_day(said - timedelta(days=7 * number + said.weekday()))}"
        case "month":
            return _month(said, -number)
        case _:
            return str(said.year - number)


def _named(unit: str, moved: int, said: date) -> str:
    monday = said - timedelta(days=said.weekday()) + timedelta(days=7 * moved)
    if unit == "week":
        return f"the week of {_day(monday)}"
    if unit == "weekend":
        return _day(monday + timedelta(days=5))
    if unit == "month":
        return _month(said, moved)
    if unit == "year":
        return str(said.year + moved)
    wanted = _DAYS.index(unit)
    away = (wanted - said.weekday()) % 7
    if moved < 0:
        return _day(said - timedelta(days=(said.weekday() - wanted - 1) % 7 + 1))
    return _day(said + timedelta(days=away or (7 if moved else 0)))


def _day(when: date) -> str:
    return f"{when.day} {when:%B %Y}"


def _month(said: date, moved: int) -> str:
    months = said.year * 12 + said.month - 1 + moved
    return f"{date(months // 12, months % 12 + 1, 1):%B %Y}"
