"""Text on which the operator decides, with nothing hidden in it: what is not drawn is spelled out or told."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from store.text import clean

LONG_LINES = 20
"""More lines than that are not all in sight at once in a small window."""

_BLANK = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and signs that are drawn as nothing."""
_VARIANTS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_STRETCH = re.compile(r"[ \t]{40,}\S|\n(?:[ \t]*\n){4,}[ \t]*\S")
_WORD = re.compile(r"\w+")
_OTHER = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "FULLWIDTH", "MATHEMATICAL")
"""Alphabets with letters that look like Latin ones."""


def exactly(text: str) -> str:
    """``text`` with everything that is not drawn, or that a terminal would act on, spelled out: ``‹U+200B›``.

    Where the operator decides on what will run, dropping a character would show something else than what runs.
    """
    if text.isascii() and clean(text) == text:
        return text
    hidden = {char for char in set(text) if _hidden(char)}
    return text.translate({ord(char): f"‹U+{ord(char):04X}›" for char in hidden})


def _hidden(char: str) -> bool:
    if char in "\n\t ":
        return False
    kind = unicodedata.category(char)
    if kind in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"):
        return True
    return char in _BLANK or _VARIANTS.match(char) is not None


def warnings_on(text: str) -> Iterator[str]:
    """What may make ``text`` look like another one, a sentence each."""
    if exactly(text) != text:
        yield "It holds control characters or others that are not drawn. They are spelled out here; look closely."
    lines = text.count("\n") + 1
    if _STRETCH.search(text):
        yield "It holds a long stretch of blanks. What matters may stand behind it: read to the end."
    elif lines > LONG_LINES:
        yield f"It is {lines:,} lines long: read to the end."
    mixed = next(_mixed(text), None)
    if mixed is not None:
        word, char = mixed
        yield f"A word mixes two alphabets: {exactly(word)[:40]} ({char} is U+{ord(char):04X})."


def _mixed(text: str) -> Iterator[tuple[str, str]]:
    if text.isascii():
        return
    for found in _WORD.finditer(text):
        word = found[0]
        foreign = [char for char in word if not char.isascii() and unicodedata.name(char, "").startswith(_OTHER)]
        if foreign and (any(char.isascii() and char.isalpha() for char in word) or _all_alike(foreign)):
            yield word, foreign[0]


def _all_alike(letters: list[str]) -> bool:
    """Whether letters only pretend to be Latin ones: fullwidth and mathematical ones do."""
    return all(unicodedata.normalize("NFKC", char).isascii() for char in letters)
