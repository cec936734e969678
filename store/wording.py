"""How near two texts are in their words: near-duplicates of lines, and whether a text is in someone's own words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

_CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts that do not part words by blanks: their words are taken by the character."""
_TOKEN = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+(?:['’][^\W{_CJK}]+)*|[,.;:!?。、！？]")
_CLAUSE_END: Final = frozenset(",.;:!?。、！？") | {"but", "aber", "sondern"}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEGATIONS: Final = _words(
    "not no never none nothing neither nor cannot dont doesnt didnt cant wont shouldnt mustnt isnt arent "
    "nicht nie niemals kein keine keinen nein"
)
_EMPTY: Final = _words(
    "a an the is are was were be been to of in on at for and or that this it its with by as der die das und"
)
"""Words that carry no meaning of their own: left out when two lines are compared."""
_FRAME: Final = _EMPTY | _words(
    "operator operators user says said wants want wishes asked asks decision decided rule he she they them their his "
    "her him i me my we us our you your when then so should must will has have had s"
)
"""Words that a decision's text may add to the operator's own: who said it, and the joints of a sentence."""

NEAR: Final = 0.8
"""Share of common words (Jaccard) from which two lines say the same thing (our choice)."""
_OWN: Final = 0.8
"""Share of a decision's words that must follow each other as the operator said them (our choice)."""


def _is_negation(word: str) -> bool:
    return word in _NEGATIONS or word.endswith("n't")


def _stem(word: str) -> str:
    """English endings off, so that "shows the diffs" is "show the diff"."""
    for ending in ("ing", "ed", "es", "s"):
        if len(word) > len(ending) + 3 and word.endswith(ending) and not word.endswith("ss"):
            return word[: -len(ending)].removesuffix("e")
    return word.removesuffix("e") if len(word) > 3 else word


def _clauses(text: str) -> tuple[list[str], list[int]]:
    """The words of a text in small letters, and the number of the clause that each stands in."""
    words: list[str] = []
    clause_of: list[int] = []
    clause = 0
    for found in _TOKEN.findall(text.casefold().replace("’", "'")):
        if found in _CLAUSE_END:
            clause += 1
        if found.isalnum() or len(found) > 1:
            words.append(found)
            clause_of.append(clause)
    return words, clause_of


@lru_cache(maxsize=2_048)
def words_of(text: str) -> tuple[str, ...]:
    """The words of a text, in small letters, without punctuation."""
    return tuple(_clauses(text)[0])


@lru_cache(maxsize=2_048)  # a new line is compared with every line that stands, again and again
def _marks(text: str) -> frozenset[str]:
    """What a line is compared by: its telling words, and pairs of characters where words are not parted."""
    words = words_of(text)
    pairs = (one + two for one, two in pairwise(words) if _is_cjk(one) and _is_cjk(two))
    return frozenset(_stem(word) for word in words if word not in _EMPTY) | frozenset(pairs)


def _is_cjk(word: str) -> bool:
    return len(word) == 1 and re.match(rf"[{_CJK}]", word) is not None


def near_duplicate(one: str, two: str) -> bool:
    """Whether two lines say the same thing: the same words but for small ones, endings, order, and one word in five.

    Lines that differ in a number or in a negation are two facts, however near their words are.
    """
    if words_of(one) == words_of(two):
        return bool(words_of(one)) or one == two
    marks, others = _marks(one), _marks(two)
    if not marks or not others or len(marks & others) / len(marks | others) < NEAR:
        return False
    return not any(_is_negation(word) or any(c.isdigit() for c in word) for word in marks ^ others)


def share_of_words(text: str, of: str) -> float:
    """The share, 0 to 1, of the telling words of ``text`` that stand in ``of``; 1 when it has none."""
    marks = _marks(text)
    return len(marks & _marks(of)) / len(marks) if marks else 1.0


def not_the_words_of(text: str, passage: str) -> str:
    """Why ``text`` is not said in the words of ``passage``; empty when it is.

    It is when its words, but for small joining ones, all stand in the passage and mostly follow each other as they do
    there, and when no clause that it takes from is turned round: a "not" is neither left out nor brought in from
    another clause.
    """
    wanted = [word for word in words_of(text) if word not in _FRAME]
    said, clause_of = _clauses(passage)
    have = {_stem(word) for word in said}
    if foreign := [word for word in wanted if _stem(word) not in have]:
        return "it says " + ", ".join(f"“{word}”" for word in foreign[:3])
    if not wanted:
        return "" if " ".join(words_of(text)) in " ".join(said) else "it says none of them"
    telling = [at for at, word in enumerate(said) if word not in _FRAME]
    matched = _aligned([_stem(word) for word in wanted], [_stem(said[at]) for at in telling])
    if len(matched) < _OWN * len(wanted):
        return "it puts them together anew"
    return _turned_round(said, clause_of, [telling[at] for at in matched])


def _aligned(wanted: Sequence[str], said: Sequence[str]) -> list[int]:
    """Where in ``said`` the words of ``wanted`` stand: as one run, else as the longest sequence in order."""
    for start in range(len(said) - len(wanted) + 1):
        if said[start : start + len(wanted)] == wanted:
            return list(range(start, start + len(wanted)))
    longest = [[0] * (len(said) + 1) for _ in range(len(wanted) + 1)]
    for i in reversed(range(len(wanted))):
        for j in reversed(range(len(said))):
            longest[i][j] = (
                longest[i + 1][j + 1] + 1 if wanted[i] == said[j] else max(longest[i + 1][j], longest[i][j + 1])
            )
    at: list[int] = []
    i = j = 0
    while i < len(wanted) and j < len(said):
        if wanted[i] == said[j]:
            at.append(j)
            i, j = i + 1, j + 1
        elif longest[i + 1][j] >= longest[i][j + 1]:
            i += 1
        else:
            j += 1
    return at


def _turned_round(said: Sequence[str], clause_of: Sequence[int], matched: Iterable[int]) -> str:
    """Which negation the words taken from a passage lack or bring in from another clause; empty when none."""
    taken = set(matched)
    telling = [at for at, word in enumerate(said) if word not in _FRAME and not _is_negation(word)]
    used = {clause_of[at] for at in telling if at in taken}
    turned = {clause_of[at] for at in telling}
    for at, word in enumerate(said):
        if not _is_negation(word):
            continue
        if at not in taken and clause_of[at] in used:
            return f"it leaves out “{word}”"
        if at in taken and clause_of[at] in turned - used:
            return f"it moves “{word}” to other words"
    return ""
