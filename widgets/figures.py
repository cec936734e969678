"""How numbers look on screen: tokens, money, spans of time, bars, sparklines, and rows that fit a width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from textual.content import Content

NOTHING = "–"
"""Stands where a number is not known. Never a zero, which would be a number."""

_SPARKS = "▁▂▃▄▅▆▇█"


def tokens(count: int) -> str:
    """A count in at most five cells: 512, 1.2k, 118k, 1.2M."""
    if count < 1_000:
        return str(count)
    if count < 9_950:
        return f"{count / 1_000:.1f}k"
    if count < 999_500:
        return f"{count / 1_000:.0f}k"
    return f"{count / 1_000_000:.1f}M"


def money(usd: Decimal | None) -> str:
    """US dollars with as many places as the sum needs to be seen to grow; NOTHING when the price is unknown."""
    if usd is None:
        return NOTHING
    if usd < 1:
        return f"${usd:.4f}"
    if usd < 100:
        return f"${usd:.2f}"
    return f"${usd:,.0f}"


def clock(seconds: float | None) -> str:
    """A running clock in whole seconds: 3:12, 1:03:12."""
    if seconds is None:
        return NOTHING
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def span(milliseconds: float | None) -> str:
    """A length of time in at most five cells, to the hundredth below ten seconds: 0.82s, 14.2s, 3:12."""
    if milliseconds is None:
        return NOTHING
    seconds = milliseconds / 1_000
    if seconds < 9.995:
        return f"{seconds:.2f}s"
    if seconds < 99.95:
        return f"{seconds:.1f}s"
    return clock(seconds)


def percent(share: float | None) -> str:
    """A share of 1 in whole per cent; below one per cent but not nothing, "<1%"."""
    if share is None:
        return NOTHING
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"


def size(count: int) -> str:
    """A number of bytes for the eye: 512 B, 1.2 KB, 3.4 MB (1 KB is 1,024 B)."""
    if count < 1_024:
        return f"{count} B"
    if count < 1_024 * 1_000:
        return f"{count / 1_024:.1f} KB"
    return f"{count / 1_024 / 1_024:.1f} MB"


def bar(share: float, width: int, style: str, rest: str = "$foreground 25%") -> Content:
    """A bar of ``width`` cells, heavy for what is used and thin for what is free, so that it reads without colour."""
    halves = round(min(1.0, max(0.0, share)) * width * 2)
    if share > 0:
        halves = max(1, halves)
    used = "━" * (halves // 2) + ("╸" if halves % 2 else "")
    return Content.assemble((used, style), ("─" * (width - len(used)), rest))


def sparkline(values: Sequence[float], width: int) -> str:
    """The last ``width`` values as blocks, the highest one full, padded to ``width``."""
    shown = values[-width:] if width > 0 else ()
    top = max(shown, default=0.0)
    last = len(_SPARKS) - 1
    blocks = "".join(_SPARKS[round(value / top * last) if top > 0 else 0] for value in shown)
    return blocks.ljust(width)


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a row. Where the row is too narrow, the pieces with the smallest ``weight`` leave first."""

    content: Content
    weight: int


def piece(weight: int, *parts: str | Content | tuple[str, str]) -> Piece:
    """A piece out of texts and (text, style) pairs."""
    return Piece(Content.assemble(*parts), weight)


def fitted(
    left: Sequence[Piece], right: Sequence[Piece], width: int, gap: str = "  ", least: int | None = None
) -> Content:
    """One row of exactly ``width`` cells: ``left`` pieces, then ``right`` ones at the right edge.

    Pieces leave by weight until the rest fits. The first left piece never leaves: it is cut with an ellipsis, down
    to ``least`` cells before another one leaves (None: only when it stands alone).
    """
    if width <= 0:
        return Content("")
    kept = [*left, *right]
    first = left[0] if left else None

    def taken() -> int:
        return sum(item.content.cell_length for item in kept) + len(gap) * max(0, len(kept) - 1)

    while taken() > width:
        loose = [item for item in kept if item is not first]
        spare = 0 if first is None or least is None else first.content.cell_length - least
        if not loose or taken() - width <= spare:
            break
        lightest = min(loose, key=lambda item: item.weight)
        kept = [item for item in kept if item is not lightest]
    lefts = [item.content for item in kept if any(item is mine for mine in left)]
    rights = [item.content for item in kept if any(item is mine for mine in right)]
    if first is not None and taken() > width:
        room = max(1, first.content.cell_length - (taken() - width))
        lefts[0] = lefts[0].truncate(room, ellipsis=True)
    left_side = Content(gap).join(lefts)
    right_side = Content(gap).join(rights)
    free = width - left_side.cell_length - right_side.cell_length
    return Content.assemble(left_side, " " * max(0, free), right_side).truncate(width)
