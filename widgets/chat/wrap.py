"""Where a line of text breaks at a width in cells, and tabs as blanks."""

from __future__ import annotations

import re

from rich.cells import split_graphemes

_NARROW = re.compile(
    "[\x20-\x7e\xa0-\xac\xae-\u02ff\u0370-\u0377\u0384-\u038a\u0391-\u03a1\u03a3-\u0482"
    "\u2010-\u2027\u2030-\u205e\u20ac\u2190-\u2199\u2500-\u25fc]*"
).fullmatch
"""Text of characters that take one cell each and join with nothing: the common case, measured by its length."""

Piece = tuple[int, int]
"""From where to where a row takes the text; what lies between two rows is the white space that the break ate."""


def wrap(text: str, width: int) -> list[Piece]:
    """Rows of ``text`` (one line, no tabs) at most ``width`` cells wide, broken at blanks where there are any.

    The rows and what lies between them are the whole text; only a break eats blanks. Blanks at the very end may
    stand beyond the width. An empty text is one row.
    """
    if width < 1:
        width = 1
    if _NARROW(text) is not None:
        return _wrap_narrow(text, width)
    return _wrap_wide(text, width)


def fold(text: str, width: int) -> list[Piece]:
    """Rows of ``text`` cut at exactly ``width`` cells, blanks or not: for code."""
    if width < 1:
        width = 1
    if _NARROW(text) is not None:
        return [(at, min(at + width, len(text))) for at in range(0, len(text), width)] or [(0, 0)]
    rows: list[Piece] = []
    start = used = 0
    for begin, _end, cells in split_graphemes(text)[0]:
        if used + cells > width and begin > start:
            rows.append((start, begin))
            start, used = begin, 0
        used += cells
    return [*rows, (start, len(text))]


def _wrap_narrow(text: str, width: int) -> list[Piece]:
    rows: list[Piece] = []
    start, length = 0, len(text)
    while length - start > width:
        end = text.rfind(" ", start, start + width + 1)
        if end < 0 or not text[start:end].strip(" "):
            rows.append((start, start + width))
            start += width
            continue
        after = end + 1
        while text[end - 1] == " ":
            end -= 1
        while after < length and text[after] == " ":
            after += 1
        if after == length:
            break
        rows.append((start, end))
        start = after
    return [*rows, (start, length)]


def _wrap_wide(text: str, width: int) -> list[Piece]:
    graphemes = split_graphemes(text)[0]
    count = len(graphemes)
    blank = [text[begin:end] == " " for begin, end, _ in graphemes]
    rows: list[Piece] = []
    start = 0
    while start < count:
        stop, used = start, 0
        while stop < count and (used + graphemes[stop][2] <= width or stop == start):
            used += graphemes[stop][2]
            stop += 1
        if stop == count:
            break
        end = stop
        while end > start and not _may_break(graphemes, blank, end):
            end -= 1
        if all(blank[start:end]):
            rows.append((graphemes[start][0], graphemes[stop][0]))
            start = stop
            continue
        after = end
        while after < count and blank[after]:
            after += 1
        while blank[end - 1]:
            end -= 1
        if after == count:
            break
        rows.append((graphemes[start][0], graphemes[end][0]))
        start = after
    return [*rows, (graphemes[start][0] if start < count else len(text), len(text))]


def _may_break(graphemes: list[tuple[int, int, int]], blank: list[bool], at: int) -> bool:
    """At blanks, and between two wide characters (CJK), which need none."""
    return blank[at] or blank[at - 1] or (graphemes[at][2] == 2 and graphemes[at - 1][2] == 2)


def without_tabs(text: str, stop: int = 4) -> str:
    """``text`` with tabs as blanks up to the next tab stop."""
    return text.expandtabs(stop) if "\t" in text else text
