"""The history of a line: its words, why it is kept, the quote it stands on, and all that happened to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from store.line_history import LineStep
from store.lines import Line
from widgets.dialogs.dialog import Dialog, keys_rows
from widgets.dialogs.plain_text import Look, PlainText, written


@dataclass(frozen=True, slots=True)
class Jump:
    """Where the operator wants to go: the turn of a session (by its number in the room)."""

    session: int
    turn: int


def _where(line: Line) -> str:
    kept = ", kept beyond the close" if line.promoted else ""
    level = f", priority {line.priority}" if line.tier == "warm" else ""
    return f"{line.id}, {line.kind.replace('_', ' ')}, in {line.tier}{level}{kept}"


def _differences(step: LineStep) -> Iterator[tuple[str, Look]]:
    before, after = step.change.before, step.change.after
    if before is None:
        yield f"  {after.text}", "added"
        return
    if before.text != after.text:
        yield f"  - {before.text}", "removed"
        yield f"  + {after.text}", "added"
    if before.tier != after.tier:
        yield f"  from {before.tier} to {after.tier}", "place"
    if before.priority != after.priority:
        yield f"  priority {before.priority} → {after.priority}", "place"
    if before.kind != after.kind:
        yield f"  {before.kind.replace('_', ' ')} → {after.kind.replace('_', ' ')}", "place"
    if before.promoted != after.promoted:
        yield "  kept beyond the close" if after.promoted else "  no longer kept beyond the close", "place"


def _parts(line: Line, steps: Sequence[LineStep]) -> Iterator[tuple[str, Look]]:
    yield line.text, "head"
    yield _where(line), "dim"
    yield "", "text"
    yield f"why: {line.reason or 'no reason given'}", "text"
    if line.quote:
        yield f"quote, session {line.made_session} turn {line.quote_turn}: “{line.quote}”", "text"
    else:
        yield "no quote: hot lines are K's own summary", "dim"
    for step in steps:
        yield "", "text"
        undone = f" (takes back event {step.undoes})" if step.undoes is not None else ""
        moment = step.at[:16].replace("T", " ")
        where = f"session {step.session} turn {step.turn}"
        yield f"{moment}  {step.by}: {step.op.replace('_', ' ')}{undone}, {where}", "place"
        yield from _differences(step)
        if step.reason:
            yield f"  why: {step.reason}", "dim"
        if step.quote:
            yield f"  “{step.quote}”", "dim"


class LineHistory(Dialog[Jump]):
    """Shows a line's history; enter comes back with the turn that its quote stands in."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "jump", "Jump to its turn", priority=True),
        Binding("q", "leave", "Leave", show=False),
    ]

    def __init__(self, line: Line, steps: Sequence[LineStep]) -> None:
        super().__init__()
        self._line = line
        self._steps = tuple(steps)

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog-box") as box:
            box.border_title = Content(f"Line {self._line.id}")
            count = "1 change" if len(self._steps) == 1 else f"{len(self._steps)} changes"
            box.border_subtitle = Content(count)
            yield PlainText(written(_parts(self._line, self._steps)), id="history-text")
            yield keys_rows([("enter", "go to its turn"), ("esc", "leave")])

    def on_mount(self) -> None:
        self.query_one(PlainText).focus()

    def action_jump(self) -> None:
        turn = self._line.quote_turn if self._line.quote else self._line.made_turn
        self.dismiss(Jump(self._line.made_session, turn))
