"""A line's history holds each of its changes once, in the room's order, and nothing of other lines."""

from __future__ import annotations

from store.bodies import Body, By, Change, Notice, TiersChanged
from store.events import NO_HASH, Event
from store.line_history import line_history
from store.lines import Line, LineId


def line(line_id: str, text: str) -> Line:
    return Line(LineId(line_id), "warm", "trap", text, "why", "quote", 1, 4, 1, 1, 1, "keeper")


def event(seq: int, by: By, body: Body) -> Event:
    return Event(seq, seq, f"2026-11-30T00:00:0{seq}.000Z", 0.0, by, seq, body, NO_HASH, "s1")


def test_every_change_of_the_line_is_a_step_and_no_other() -> None:
    first, second, other = line("L1", "one"), line("L1", "two"), line("L2", "other")
    events = [
        event(1, "keeper", TiersChanged("add_line", (Change(None, other), Change(None, first)), "new", "q", session=1)),
        event(2, "system", Notice("info", "L1")),
        event(3, "operator", TiersChanged("edit_line", (Change(first, second),), "better", session=1)),
        event(4, "keeper", TiersChanged("touch_line", (Change(other, other),), "used", session=1)),
        event(5, "operator", TiersChanged("undo", (Change(second, first),), "", undoes=3, session=2)),
    ]
    steps = line_history(events, LineId("L1"))
    assert [(step.seq, step.op, step.by, step.session, step.turn) for step in steps] == [
        (1, "add_line", "keeper", 1, 1),
        (3, "edit_line", "operator", 1, 3),
        (5, "undo", "operator", 2, 5),
    ]
    assert [step.change.after.text for step in steps] == ["one", "two", "one"]
    assert [step.undoes for step in steps] == [None, None, 3]


def test_a_line_that_never_was_has_no_history() -> None:
    assert line_history([event(1, "system", Notice("info", "x"))], LineId("L9")) == ()
