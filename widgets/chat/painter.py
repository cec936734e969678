"""Rows as strips of styled segments: by the theme's looks, with cursor, matches and selection laid over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.cache import LRUCache
from textual.selection import Selection
from textual.strip import Strip

from store.entries import Entry
from widgets.chat.rows import Row, Span
from widgets.chat.taking import ROWS_AN_ENTRY
from widgets.chat.viewport import Seen

if TYPE_CHECKING:
    from textual.widget import Widget

_NAMES = (
    "operator", "queued", "presence", "keeper", "reader", "muted", "thinking", "divider", "warning", "error",
    "tool", "tool-running", "tool-asked", "tool-ok", "tool-error", "tool-denied", "tool-stopped", "heading",
    "subheading", "bold", "italic", "strike", "inline-code", "link", "quote", "quote-bar", "bullet", "code",
    "code-bar", "comment", "keyword", "string", "number", "name", "builtin", "deleted", "inserted", "cursor",
    "match", "wrong",
)  # fmt: skip

_StripKey = tuple[Row, int, int, bool, bool, str, tuple[int, int] | None]


class Painter:
    """Draws rows for one widget and remembers the strips, and which rows were on screen last."""

    LOOKS: ClassVar[tuple[str, ...]] = tuple(f"chat--{name}" for name in _NAMES)

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[tuple[str, ...], RichStyle] = {}
        self._strips: LRUCache[_StripKey, Strip] = LRUCache(1024)
        self._last: list[Seen] = []

    def forget(self) -> None:
        """The theme or the size changed: nothing drawn before holds."""
        self._styles.clear()
        self._strips.clear()
        self._last = []

    def stale(self, window: Sequence[Seen]) -> Iterator[tuple[int, int]]:
        """Runs of rows that differ from what was on screen when this was asked last."""
        last, self._last = self._last, list(window)
        start: int | None = None
        height = max(len(last), len(window))
        for y in range(height):
            same = y < len(last) and y < len(window) and last[y] == window[y]
            if not same and start is None:
                start = y
            elif same and start is not None:
                yield start, y
                start = None
        if start is not None:
            yield start, height

    def blank(self, width: int) -> Strip:
        """An empty row."""
        return Strip.blank(width, self._style())

    def strip(
        self,
        seen: Seen,
        entries: Sequence[Entry],
        width: int,
        selection: Selection | None,
        cursor: tuple[int, int] | None,
        query: str,
    ) -> Strip:
        """One row, ``width`` cells wide, its segments telling the mouse where they stand."""
        row, place = seen.row, seen.index * ROWS_AN_ENTRY + seen.at
        current = cursor is not None and seen.index < len(entries) and entries[seen.index].key == cursor
        current = current and bool(row.text or row.lead.strip())
        marked = current and bool(row.right or row.toggle or seen.at <= 1)
        span = selection.get_span(place) if selection is not None else None
        key = (row, place, width, current, marked, query, span)
        found = self._strips.get(key)
        if found is None:
            found = self._draw(row, width, current, marked, query, span).apply_offsets(0, place)
            self._strips[key] = found
        return found

    def _draw(
        self, row: Row, width: int, current: bool, marked: bool, query: str, selected: tuple[int, int] | None
    ) -> Strip:
        under = (row.fill, "cursor") if current else (row.fill,)
        lead = ("›" if marked else " ") + row.lead
        text = lead + row.text
        shift = len(lead)
        spans: list[Span] = [(1, shift, row.lead_look)]
        spans += [(a + shift, b + shift, look) for a, b, look in row.spans]
        if query:
            spans += [(a + shift, b + shift, "match") for a, b in _places(row.text, query)]
        cells = cell_len(text)
        if row.right:
            free = width - 2 - cells - cell_len(row.right)
            if free >= 1:
                begin = len(text) + free
                text += " " * free + row.right
                spans.append((begin, len(text), row.right_look))
                cells = cell_len(text)
        if selected is not None:
            start, end = selected
            spans.append((max(start, shift), shift + len(row.text) if end < 0 else end, "selection"))
        segments = [Segment(part, self._style(*under, *looks)) for part, looks in _runs(text, spans)]
        strip = Strip(segments, cells)
        return strip.adjust_cell_length(width, self._style(*under))

    def _style(self, *looks: str) -> RichStyle:
        """The looks laid over each other and over the widget's own colours, as Rich has it."""
        found = self._styles.get(looks)
        if found is None:
            names = [f"chat--{look}" for look in looks if look and look != "selection"]
            style = self._widget.get_visual_style(*names)
            if "selection" in looks:
                style += self._widget.screen.get_visual_style("screen--selection", partial=True)
            found = self._styles[looks] = style.rich_style
        return found


def _runs(text: str, spans: Sequence[Span]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """``text`` cut where a span begins or ends, each piece with the looks that cover it."""
    cuts = sorted({0, len(text), *(min(max(p, 0), len(text)) for a, b, _ in spans for p in (a, b))})
    for start, end in pairwise(cuts):
        yield text[start:end], tuple(look for a, b, look in spans if look and a <= start and b >= end)


def _places(text: str, query: str) -> Iterator[tuple[int, int]]:
    folded, wanted = text.casefold(), query.casefold()
    if len(folded) != len(text):
        # Folding changed lengths (as of the sharp s): places would not fit, so match as typed.
        folded, wanted = text, query
    at = folded.find(wanted)
    while wanted and at >= 0:
        yield at, at + len(wanted)
        at = folded.find(wanted, at + len(wanted))
