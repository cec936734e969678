"""Taking text out of the chat: what a mouse selection covers, and the code blocks of an answer."""

from __future__ import annotations

import re

from textual.selection import Selection

from store.entries import source
from widgets.chat.rows import Row
from widgets.chat.viewport import Viewport

ROWS_AN_ENTRY = 1 << 20
"""A selected row is told by ``entry * ROWS_AN_ENTRY + row``: a number that text coming in elsewhere never changes,
as the row of the whole transcript would."""

_BLOCK = re.compile(r"^[ ]*(`{3,}|~{3,})[^\n]*\n(.*?)(?:^[ ]*\1[`~]*[ ]*$|\Z)", re.MULTILINE | re.DOTALL)


def code_blocks(text: str) -> list[str]:
    """The code of each fence in ``text``, also of one that is still open."""
    return [found[2].removesuffix("\n") for found in _BLOCK.finditer(text)]


def selected_text(view: Viewport, selection: Selection) -> str:
    """The words that a selection covers. Entries that it covers whole give their source, without wrapping; the
    first and last give what stands on screen, rows that only wrap joined again."""
    count = len(view.entries)
    if not count:
        return ""
    first = (0, 0, 0) if selection.start is None else _place(selection.start.y, selection.start.x)
    last = (count - 1, ROWS_AN_ENTRY, 0) if selection.end is None else _place(selection.end.y, selection.end.x)
    parts: list[str] = []
    for index in range(max(0, first[0]), min(count, last[0] + 1)):
        begins = first[1:] if index == first[0] else (0, 0)
        ends = last[1:] if index == last[0] else None
        if begins == (0, 0) and ends is None:
            parts.append(source(view.entries[index]))
        else:
            parts.append(_part(list(view.laid(index)), begins, ends))
    return "\n\n".join(part for part in parts if part)


def _place(number: int, x: int) -> tuple[int, int, int]:
    index, at = divmod(number, ROWS_AN_ENTRY)
    return index, at, x


def _part(rows: list[Row], begins: tuple[int, int], ends: tuple[int, int] | None) -> str:
    text = ""
    stop = len(rows) - 1 if ends is None else min(ends[0], len(rows) - 1)
    for at in range(begins[0], stop + 1):
        row = rows[at]
        # Columns count from the row's lead, whose first cell is the cursor's.
        shift = 1 + len(row.lead)
        start = max(0, begins[1] - shift) if at == begins[0] else 0
        end = max(0, ends[1] - shift) if ends is not None and at == ends[0] else None
        if at > begins[0]:
            text += "\n" if row.glue is None else row.glue
        text += row.text[start:end]
    return text.strip("\n")
