"""The meter bar: one row a seat with tokens and money, this turn's times, the context gauge and how far K is."""

from __future__ import annotations

from pathlib import Path

from textual.content import Content

from store.bodies import KeeperStanding
from store.lines import one_line
from store.readings import LiveReading, SeatReading
from store.text import clean
from widgets.figures import Piece, bar, clock, fitted, money, percent, piece, span, sparkline, tokens
from widgets.reading_rows import ReadingRows

_STANDINGS: dict[KeeperStanding, tuple[str, str, str]] = {
    "idle": ("○", "idle", "$text-success"),
    "busy": ("●", "busy", "$text-secondary"),
    "paused": ("‖", "paused", "$text-warning"),
    "failed": ("×", "failed", "$text-error"),
    "ended": ("□", "ended", "$text-muted"),
    "absent": ("–", "no Keeper", "$text-muted"),
}


WIDE = 150
"""From this width on there is room for what was written to the cache and for longer bars."""
NARROW = 100
"""Below this width the gaps are one cell and the words are short, so that 80 columns hold what must be seen."""


def seat_piece(letter: str, style: str, seat: SeatReading, *, width: int) -> Piece:
    """A seat's tokens and money. ``in`` is what was not read from the cache, with what was written to it."""
    usage = seat.usage
    gap = " " if width < NARROW else "  "
    fresh = usage.input + usage.cache_write
    parts: list[str | Content | tuple[str, str]] = [
        (f"{letter} ", f"bold {style}"),
        ("in ", "$text-muted"),
        f"{tokens(fresh):>5}",
    ]
    if width >= WIDE:
        parts += [("  to cache ", "$text-muted"), f"{tokens(usage.cache_write):>5}"]
    parts += [
        (f"{gap}cached ", "$text-muted"),
        f"{tokens(usage.cache_read):>5}",
        (f"{gap}out ", "$text-muted"),
        f"{tokens(usage.output):>5}",
        (f"{gap}{money(seat.usd):>7}", f"bold {style}"),
    ]
    return piece(100, *parts)


def context_piece(reading: LiveReading, cells: int) -> Piece | None:
    """The context in use against the model's window, as a bar where the window is known."""
    if not reading.context_tokens:
        return None
    if not reading.context_window:
        return piece(50, ("context ", "$text-muted"), tokens(reading.context_tokens))
    share = reading.context_tokens / reading.context_window
    style = "$error" if share >= 0.9 else "$warning" if share >= 0.7 else "$primary"
    return piece(50, ("context ", "$text-muted"), bar(share, cells, style), f" {percent(share):>4}")


def keeper_piece(reading: LiveReading, width: int) -> Piece:
    """How K stands and how many turns it is behind."""
    sign, words, style = _STANDINGS[reading.keeper_standing]
    parts: list[str | Content | tuple[str, str]] = [(f"{sign} ", f"bold {style}"), (words, style)]
    if reading.keeper_standing != "absent":
        turns = "" if width < NARROW else " turn" if reading.behind == 1 else " turns"
        late = "$text-warning" if reading.behind else "$text-muted"
        parts.append((f", {reading.behind}{turns} behind", late))
    return piece(90, *parts)


class MeterBar(ReadingRows):
    """Two rows, Presence above Keeper, the same columns under each other."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    @staticmethod
    def rows(reading: LiveReading, width: int) -> tuple[Content, Content]:
        """Both rows for ``reading`` at ``width`` cells."""
        gap = " " if width < NARROW else "  "
        cells = 16 if width >= WIDE else 6
        times = piece(
            95,
            ("first ", "$text-muted"),
            f"{span(reading.ttft_ms):>5}",
            (f"{gap}turn ", "$text-muted"),
            f"{span(reading.turn_ms):>5}",
        )
        presence = [seat_piece("P", "$text-primary", reading.presence, width=width), times]
        if reading.cache_share is not None:
            presence.append(piece(60, f"{percent(reading.cache_share):>4}", (" cached", "$text-muted")))
        right = []
        lengths = [turn.ms for turn in reading.recent]
        sums = [float(turn.usd) for turn in reading.recent if turn.usd is not None]
        if lengths:
            right.append(piece(40, ("turns ", "$text-muted"), (sparkline(lengths, cells), "$text-primary")))
        if sums:
            right.append(piece(30, ("money ", "$text-muted"), (sparkline(sums, cells), "$text-primary")))
        if (context := context_piece(reading, cells)) is not None:
            right.append(context)
        if reading.keeper_standing == "absent":
            keeper = [piece(100, ("K ", "bold $text-secondary"), ("– not in this condition", "$text-muted"))]
        else:
            seat = seat_piece("K", "$text-secondary", reading.keeper, width=width)
            keeper = [seat, keeper_piece(reading, width)]
            if reading.keeper_share is not None:
                whose = " of P" if width < NARROW else " of P's money"
                keeper.append(piece(60, f"{percent(reading.keeper_share):>3}", (whose, "$text-muted")))
            if reading.keeper_reason:
                keeper.append(piece(70, (one_line(clean(reading.keeper_reason)), "$text-warning")))
        wall = piece(80, ("wall ", "$text-muted"), f"{clock(reading.wall_s):>5}")
        return fitted(presence, right, width, gap), fitted(keeper, [wall], width, gap)
