"""Readings, lines and tiers for the tests of the panels, and an app that holds one widget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

from textual.app import App, ComposeResult
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from store.bodies import Usage
from store.lines import Line, LineId, LineKind, Tier, Tiers
from store.readings import LiveReading, RetReading, SeatReading

HOSTILE = "[red]x[/] [/nope [@click=app.bell]y[/] \x1b]0;owned\x07\x1b[31mred\u202e\x9b5m end"
"""What a model, a file or a tool may hand over: markup, controls of every kind, a bidi override."""
HOSTILE_SHOWN = "[red]x[/] [/nope [@click=app.bell]y[/] red end"
"""What of it may be seen: all that is text, as it was typed."""

READING = LiveReading(
    operator="Ada",
    task="The finder sends people to the wrong evening",
    condition="B",
    condition_title="silent Keeper",
    model="claude-opus-5-5",
    state="streaming",
    turn=4,
    ret=RetReading("running", 192.4),
    ttft_ms=820,
    turn_ms=14_230,
    wall_s=724,
    presence=SeatReading(Usage(2_412, 118_240, 3_120, 3_188), Decimal("0.1234"), 18),
    keeper=SeatReading(Usage(1_200, 18_200, 300, 420), Decimal("0.0134"), 4),
    keeper_standing="busy",
    behind=1,
    cache_share=0.957,
    context_tokens=61_000,
    context_window=200_000,
    sandbox="bwrap",
)


def line(number: int, tier: Tier = "warm", kind: LineKind = "finding", **fields: object) -> Line:
    """A line with the id ``L<number>``."""
    made = Line(
        id=LineId(f"L{number}"),
        tier=tier,
        kind=kind,
        text=f"text of line {number}",
        reason=f"reason of line {number}",
        quote="" if tier == "hot" else f"quote of line {number}",
        quote_turn=1,
        priority=3,
        touched=1,
        made_session=1,
        made_turn=2,
        made_by="keeper",
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def tiers_of(lines: Iterable[Line]) -> Tiers:
    """Tiers that hold ``lines``."""
    held = {item.id: item for item in lines}
    return Tiers(lines=held, next_number=len(held) + 1, session=1, seq=9)


class OneWidget(App[None]):
    """Holds one widget and keeps the messages named in ``kinds`` that reach it."""

    def __init__(self, widget: Widget, *kinds: type[Message]) -> None:
        super().__init__()
        self.widget = widget
        self.kinds = kinds
        self.heard: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.widget

    async def _on_message(self, message: Message) -> None:
        if isinstance(message, self.kinds):
            self.heard.append(message)
        await super()._on_message(message)


def rows_on_screen(app: App[None]) -> list[str]:
    """The rows of the screen as text, each without its trailing blanks."""
    strips: list[Strip] = app.screen._compositor.render_strips()
    return [strip.text.rstrip() for strip in strips]


def text_on_screen(app: App[None]) -> str:
    """The whole screen as text."""
    return "\n".join(rows_on_screen(app))


def controls_in(text: str) -> set[str]:
    """The characters of ``text`` that a terminal would act on."""
    return {char for char in text if (ord(char) < 32 and char != "\n") or 127 <= ord(char) < 160 or char in "\u202e"}
