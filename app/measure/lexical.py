"""The lexical scorer: whether a text holds a fact, by its words alone, with names, numbers and "not" held strictly."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Literal

from store.evidence import folded
from store.wording import words_of

LEAST = 0.6
"""Share of a fact's telling words that must stand in the sentence (our choice, on the tuned pairs)."""
METHOD = (
    "A fact is present when one sentence of the material, or two that follow each other, hold its names, numbers and "
    f"file names and at least {LEAST:.0%} of its other telling words (endings off), with no word turned into its "
    "opposite, a negation exactly where the fact has one, and the same order around words like before. English only."
)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_EMPTY = _set(
    "a an the is are was were be been being to of in on at for and or that this these those it its with by as from "
    "i me my we us our you your he she they them their his her who which what there here then so must should will "
    "would shall can could may might has have had do does did just now very really also still all each every any "
    "when while if than into up out over about one"
)
_NEGATIONS = _set("not no never none nothing neither nor without cannot nobody unless lacks lack missing")
_TURNS = _set("before after instead than until")
"""Words around which order carries the meaning."""
_OPPOSITES = [
    _set(pair)
    for pair in (
        "before after",
        "earlier later",
        "early late",
        "ahead behind",
        "pass fail",
        "passes fails",
        "passed failed",
        "open closed",
        "on off",
        "add remove",
        "added removed",
        "kept removed",
        "keep remove",
        "keep drop",
        "kept dropped",
        "kept deleted",
        "more fewer",
        "more less",
        "first last",
        "allowed forbidden",
        "may mustn't",
        "approved rejected",
        "accepted refused",
        "works breaks",
        "right wrong",
        "always never",
        "up down",
        "true false",
        "start stop",
        "enabled disabled",
        "present absent",
        "faster slower",
        "higher lower",
        "north south",
        "east west",
        "new old",
        "with without",
        "without with",
        "found lost",
        "finished open",
        "done open",
        "online offline",
    )
]
_DAYS = _set(
    "monday tuesday wednesday thursday friday saturday sunday january february march april june july august "
    "september october november december"
)
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n+")
_TOKEN = re.compile(r"--?[\w-]+|[\w./:-]*[\w/]", re.UNICODE)
_EXACT = re.compile(r"\d|/|_|^[\w-]+\.[a-z]{1,4}$|^[A-Z]{2,}$")
"""Numbers, paths, identifiers, file names and codes."""
_NAME = re.compile(r"[A-Z][\w'’]*")


@dataclass(frozen=True, slots=True)
class Found:
    """What the scorer came to: ``quote`` is the sentence it stands on, ``share`` how much of the fact stood in the
    nearest one, 0 to 1."""

    present: bool
    quote: str
    share: float


def find_fact(fact: str, material: str) -> Found:
    """Whether ``fact`` is present in ``material``. Deterministic; see METHOD."""
    wanted = _Reading(fact)
    best = Found(False, "", 0.0)
    for sentence in _windows(material, wanted):
        said = _read(sentence)
        share = wanted.share_in(said)
        present = share >= LEAST and wanted.agrees_with(said)
        if (present, share) > (best.present, best.share):
            best = Found(present, folded(sentence) if present else "", share)
    return best


def _windows(material: str, wanted: _Reading) -> Iterator[str]:
    """Each sentence, and each two that follow each other. A sentence that says the same of somebody else is not helped
    by a neighbour that names the one wanted."""
    sentences = [part.strip() for part in _SENTENCE.split(material) if part.strip()]
    yield from sentences
    readings = [_read(sentence) for sentence in sentences]
    of_another = [wanted.said_of_another(reading) for reading in readings]
    for (one, two), (first, second) in zip(pairwise(sentences), pairwise(of_another), strict=True):
        if not first and not second:
            yield f"{one} {two}"


class _Reading:
    """One sentence taken apart: its telling words, its anchors (names, numbers, codes, paths), its negations."""

    def __init__(self, text: str) -> None:
        self.words = [_possessive(word) for word in words_of(text)]
        self.anchors = frozenset(_anchors(text))
        self.names = frozenset(_stem(_possessive(name.casefold())) for name in _NAME.findall(text))
        first = self.words[0] if self.words else ""
        self.first = "" if first in _EMPTY or _negates(first) else _stem(first)
        self.telling = frozenset(
            stem
            for word in self.words
            if word not in _EMPTY and not _negates(word) and (stem := _stem(word)) not in self.anchors
        )
        self.all = frozenset(_stem(word) for word in self.words) | self.anchors
        self.negations = sum(_negates(word) for word in self.words)

    def share_in(self, said: _Reading) -> float:
        """How much of this stands in ``said``, 0 to 1; nothing when an anchor is missing there."""
        if not self.anchors <= said.all or self._first_exchanged(said):
            return 0.0
        return self._telling_in(said)

    def said_of_another(self, said: _Reading) -> bool:
        """Whether ``said`` holds the words of this without its names, and has a name of its own."""
        named = self.anchors <= said.all and not self._first_exchanged(said)
        return not named and self._telling_in(said) >= LEAST and bool(said.names - self.all - _EMPTY)

    def _telling_in(self, said: _Reading) -> float:
        return len(self.telling & said.all) / len(self.telling) if self.telling else 1.0

    def _first_exchanged(self, said: _Reading) -> bool:
        """Whether the word that this begins with, which may be a name, is missing in ``said`` and another name stands
        there instead."""
        return bool(self.first) and self.first not in said.all and bool(said.names - self.all - _EMPTY)

    def agrees_with(self, said: _Reading) -> bool:
        """Whether ``said`` affirms this: no opposite, no negation too many or too few, no order turned round."""
        if (self.negations > 0) != (said.negations_near(self) > 0):
            return False
        mine, theirs = frozenset(self.words), frozenset(said.words)
        for pair in _OPPOSITES:
            if (mine & pair) and (theirs & pair) and not (mine & theirs & pair):
                return False
        return not self._turned(said)

    def negations_near(self, fact: _Reading) -> int:
        """Negations here that stand within four words of a word of the fact; others negate something else."""
        at = [place for place, word in enumerate(self.words) if _stem(word) in fact.telling | fact.anchors]
        return sum(
            _negates(word) and any(0 <= near - place <= 4 or place - near == 1 for near in at)
            for place, word in enumerate(self.words)
        )

    def _turned(self, said: _Reading) -> bool:
        for pivot in _TURNS & frozenset(self.words) & frozenset(said.words):
            mine, theirs = self.words.index(pivot), said.words.index(pivot)
            left, right = _stems(self.words[:mine]), _stems(self.words[mine + 1 :])
            their_left, their_right = _stems(said.words[:theirs]), _stems(said.words[theirs + 1 :])
            straight = len(left & their_left) + len(right & their_right)
            crossed = len(left & their_right) + len(right & their_left)
            if crossed > straight:
                return True
        return False


@lru_cache(maxsize=16_384)
def _read(sentence: str) -> _Reading:
    """A sentence of the material, read once for the whole checklist."""
    return _Reading(sentence)


def _stems(words: Sequence[str]) -> frozenset[str]:
    return frozenset(_stem(word) for word in words if word not in _EMPTY)


def _anchors(text: str) -> Iterable[str]:
    """Names inside a sentence, days, numbers, codes and paths: what may not be exchanged for another."""
    for place, token in enumerate(_TOKEN.findall(text)):
        bare = token.strip(".,:;").casefold()
        if _EXACT.search(token) or bare in _DAYS:
            yield bare
        elif place and _NAME.fullmatch(token):
            yield _stem(_possessive(bare))


def _possessive(word: str) -> str:
    return re.sub(r"['’]s?$", "", word)


def _negates(word: str) -> bool:
    return word in _NEGATIONS or word.endswith("n't")


def _stem(word: str) -> str:
    """English endings off."""
    for ending in ("ing", "ied", "ies", "ed", "es", "s"):
        if len(word) > len(ending) + 2 and word.endswith(ending) and not word.endswith("ss"):
            return word[: -len(ending)].removesuffix("e")
    return word.removesuffix("e") if len(word) > 3 else word


# ---------------------------------------------------------------- how far it can be trusted


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A fact and a text with a person's answer. ``held`` pairs were not looked at while the scorer was tuned."""

    held: bool
    sort: str
    fact: str
    text: str
    present: bool


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of ``n`` pairs the scorer and the person agree on ``same``; ``wrongly_present`` and ``wrongly_absent`` are the
    scorer's errors each way; ``kappa`` is Cohen's, None when one of them always says the same."""

    n: int
    same: int
    wrongly_present: int
    wrongly_absent: int
    kappa: float | None


@cache
def labelled_pairs() -> tuple[LabelledPair, ...]:
    """The pairs of ``briefs/study/labelled_pairs.toml``."""
    read = tomllib.loads((files("briefs") / "study" / "labelled_pairs.toml").read_text(encoding="utf-8"))
    return tuple(
        LabelledPair(one["set"] == "held", str(one["sort"]), str(one["fact"]), str(one["text"]), one["present"] is True)
        for one in read["pair"]
    )


def agreement(which: Literal["all", "tuned", "held"] = "all") -> Agreement:
    """How the scorer agrees with the labelled pairs."""
    pairs = [one for one in labelled_pairs() if which == "all" or one.held == (which == "held")]
    said = [find_fact(one.fact, one.text).present for one in pairs]
    false_yes = sum(mine and not one.present for mine, one in zip(said, pairs, strict=True))
    false_no = sum(not mine and one.present for mine, one in zip(said, pairs, strict=True))
    n, same = len(pairs), len(pairs) - false_yes - false_no
    yes, labelled_yes = sum(said), sum(one.present for one in pairs)
    chance = (yes * labelled_yes + (n - yes) * (n - labelled_yes)) / n**2
    return Agreement(n, same, false_yes, false_no, None if chance == 1 else (same / n - chance) / (1 - chance))
