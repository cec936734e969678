"""The history of one line: every event that changed it, from its making on, with who, when and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from store.bodies import By, Change, TiersChanged
from store.events import Event
from store.lines import LineId


@dataclass(frozen=True, slots=True)
class LineStep:
    """One change of a line. ``seq`` names the event; ``session`` and ``turn`` say where in the room it happened;
    ``quote`` is what the change itself quoted; ``undoes`` is the ``seq`` of the event that it takes back."""

    seq: int
    at: str
    by: By
    log: str
    session: int
    turn: int
    op: str
    reason: str
    quote: str
    change: Change
    undoes: int | None = None


def line_history(events: Iterable[Event], line_id: LineId) -> tuple[LineStep, ...]:
    """The steps of ``line_id`` among ``events``, in their order; empty for a line that never was."""
    return tuple(
        LineStep(
            seq=event.seq,
            at=event.at,
            by=event.by,
            log=event.log,
            session=event.body.session,
            turn=event.turn,
            op=event.body.op,
            reason=event.body.reason,
            quote=event.body.quote,
            change=change,
            undoes=event.body.undoes,
        )
        for event in events
        if isinstance(event.body, TiersChanged)
        for change in event.body.changes
        if change.after.id == line_id
    )
