"""Kept lines from the shell: their views printed, and the operator's changes as events of the desk log."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from rich.console import Console
from rich.text import Text

from app.plan import InputError
from app.printing import print_json, table
from store.decay import packaged_rules, will_decay
from store.events import Event, plain
from store.evidence import Evidence
from store.gate import Accepted, judge
from store.line_history import line_history
from store.lines import BUDGETS, LINE_KINDS, Line, LineId, Tier
from store.operations import AddLine, Operation, Refused, parse_operation
from store.room import DESK, Room
from store.search import Index
from store.text import clean
from store.undo import last_change

MOST_COLD = 200
"""Cold lines shown at once; words narrow them down."""


def list_lines(room: Room, *, tier: str, kind: str, words: str, as_json: bool) -> None:
    """Hot and warm as they stand, promoted and highest first, or lines of cold; ``words`` searches cold."""
    if tier not in ("", *get_args(Tier)):
        raise InputError(f"--tier takes hot, warm or cold, not {tier!r}.")
    _check_kind(kind)
    with room:
        found = _cold(room, words) if tier == "cold" else [*room.tiers.hot(), *room.tiers.warm()]
        lines = [line for line in found if tier in ("", line.tier) and kind in ("", line.kind)]
        if as_json:
            print_json([plain(line) for line in lines])
            return
        shown = table("", "id", "kind", "p", "text", "why", "touched")
        for line in lines:
            shown.add_row(*_cells(line), f"session {line.touched}")
        sizes = ", ".join(f"{name} {room.tiers.size(name):,} of {budget:,} bytes" for name, budget in BUDGETS.items())
        console = Console(highlight=False)
        console.print(shown)
        console.print(sizes)


def list_fading(room: Room, *, kind: str, as_json: bool) -> None:
    """What the next opening will lower by one, or send to cold, if nobody touches it before."""
    _check_kind(kind)
    with room:
        fading = [
            one
            for one in will_decay(room.tiers, packaged_rules(), room.tiers.session + 1)
            if kind in ("", one.line.kind)
        ]
        if as_json:
            print_json([{"line": plain(one.line), "priority": one.priority, "to_cold": one.to_cold} for one in fading])
            return
        shown = table("", "id", "kind", "p", "text", "why", "next")
        for one in fading:
            shown.add_row(*_cells(one.line), "to cold" if one.to_cold else f"p{one.priority}")
        Console(highlight=False).print(shown if fading else "Nothing will fade at the next opening.")


def list_history(room: Room, asked: str, *, as_json: bool) -> None:
    """Every change of one line, from its making on: when, who, what and why."""
    wanted = line_id(asked)
    with room:
        steps = line_history(room.all_events(), wanted)
        if not steps:
            raise InputError(f"There never was a line {wanted} in this room.")
        if as_json:
            print_json([plain(step) for step in steps])
            return
        shown = table("at", "session", "turn", "by", "what", "words", "why")
        for step in steps:
            after = step.change.after
            words = f"{after.tier}{f' p{after.priority}' if after.tier == 'warm' else ''}: {clean(after.text)}"
            shown.add_row(
                step.at[:16].replace("T", " "),
                str(step.session),
                str(step.turn or ""),
                step.by,
                step.op,
                Text(words),
                Text(clean(step.reason)),
            )
        Console(highlight=False).print(shown)


def change(room: Room, operation: Callable[[Room], Operation], *, as_json: bool) -> None:
    """One change by the operator's hand, as an event of the desk. Raises InputError with the gate's reason when it is
    refused; the refusal is an event too."""
    with room:
        judged = operate(room, operation(room))
        if isinstance(judged, Refused):
            raise InputError(judged.reason)
        if as_json:
            body = judged.body
            print_json({"op": body.op, "changes": [plain(one) for one in body.changes], "note": judged.note})
        else:
            print(clean(judged.note))


def operate(room: Room, operation: Operation) -> Accepted | Refused:
    """An operation of the operator outside of a session, through the one gate, counted to the newest session."""
    judged = judge(room.tiers, operation, by="operator", session=room.tiers.session, turn=0, evidence=Evidence())
    room.append(DESK, "operator", judged.body)
    return judged


def line_id(asked: str) -> LineId:
    """A line's id as a person writes it: ``L12``, ``l12`` or ``12``."""
    parsed = parse_operation("to_cold", {"id": asked, "reason": "-"})
    if isinstance(parsed, Refused) or not hasattr(parsed, "id"):
        raise InputError(f"{clean(asked)[:40]!r} is no line id; they look like L12.")
    return LineId(str(parsed.id))


def added(kind: str, text: str, reason: str) -> AddLine:
    """The operation that adds a line of the operator's own."""
    parsed = parse_operation("add_line", {"kind": kind, "text": text, "reason": reason})
    if isinstance(parsed, Refused):
        raise InputError(parsed.reason)
    assert isinstance(parsed, AddLine)
    return parsed


def in_cold(room: Room, wanted: LineId) -> Line:
    """A line as it stands in cold."""
    with Index.open(room) as index:
        found = index.cold_line(wanted)
    if found is None:
        where = room.tiers.lines.get(wanted)
        raise InputError(
            f"{wanted} is not in cold: it stands in {where.tier}." if where else f"There is no line {wanted} in cold."
        )
    return found


def to_take_back(room: Room, wanted: LineId | None) -> Event:
    """The operator's newest change, of one line or of any, that was not taken back yet."""
    event = last_change(room.all_events(), wanted)
    if event is None:
        whose = f"of {wanted} " if wanted else ""
        raise InputError(f"There is no change {whose}by your own hand to take back.")
    return event


def _cold(room: Room, words: str) -> tuple[Line, ...]:
    with Index.open(room) as index:
        return index.cold_lines(words, limit=MOST_COLD)


def _check_kind(kind: str) -> None:
    if kind not in ("", *LINE_KINDS):
        raise InputError(f"--kind takes {', '.join(LINE_KINDS)}, not {kind!r}.")


def _cells(line: Line) -> tuple[str | Text, ...]:
    return (
        line.tier + (" promoted" if line.promoted else ""),
        line.id,
        line.kind,
        str(line.priority) if line.tier != "hot" else "",
        Text(clean(line.text)),
        Text(clean(line.reason)),
    )
