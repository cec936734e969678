"""One row of the chat as it is laid out: its words, how they look by name, and how it joins the row above."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from widgets.chat.wrap import fold, without_tabs, wrap

Span = tuple[int, int, str]
"""From, to, and the name of a look (a component class of the view without its ``chat--``)."""


@dataclass(frozen=True, slots=True)
class Row:
    """``lead`` stands before the words and is no part of them. ``glue`` is what the break above ate when the row
    goes on from the one above; None when it begins a line of its own. ``fill`` is the look of the whole row;
    ``toggle`` rows open and close their entry; ``right`` stands at the right edge."""

    text: str = ""
    spans: tuple[Span, ...] = ()
    lead: str = ""
    lead_look: str = ""
    glue: str | None = None
    fill: str = ""
    toggle: bool = False
    right: str = ""
    right_look: str = ""


def clip(spans: Iterable[Span], start: int, end: int) -> tuple[Span, ...]:
    """The parts of ``spans`` that lie in ``start`` to ``end``, counted from ``start``."""
    return tuple((max(a, start) - start, min(b, end) - start, look) for a, b, look in spans if a < end and b > start)


def text_rows(
    text: str,
    spans: Sequence[Span],
    width: int,
    *,
    lead: str = "",
    more: str | None = None,
    lead_look: str = "",
    fill: str = "",
    code: bool = False,
) -> list[Row]:
    """One line of text as rows at ``width`` cells: the first behind ``lead``, the others behind ``more``."""
    more = lead if more is None else more
    room = width - max(len(lead), len(more))
    pieces = fold(text, room) if code else wrap(text, room)
    rows: list[Row] = []
    before = 0
    for i, (start, end) in enumerate(pieces):
        rows.append(
            Row(
                text[start:end],
                clip(spans, start, end) if spans else (),
                lead if i == 0 else more,
                lead_look,
                None if i == 0 else text[before:start],
                fill,
            )
        )
        before = end
    return rows


def plain_rows(
    text: str, width: int, *, lead: str = "", look: str = "", lead_look: str = "", fill: str = "", code: bool = False
) -> list[Row]:
    """Text of any number of lines exactly as it is, in one look."""
    rows: list[Row] = []
    for line in without_tabs(text).split("\n"):
        spans = ((0, len(line), look),) if look and line else ()
        rows += text_rows(line, spans, width, lead=lead, lead_look=lead_look, fill=fill, code=code)
    return rows


def joined(rows: Iterable[Row]) -> str:
    """The rows' words as they were before they were wrapped; leads and right edges are no words."""
    parts: list[str] = []
    for row in rows:
        if parts:
            parts.append("\n" if row.glue is None else row.glue)
        parts.append(row.text)
    return "".join(parts)
