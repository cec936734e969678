"""A session's log in small: said words and judged operations become events, folded into tiers and evidence."""

from __future__ import annotations

from collections.abc import Sequence

from store.bodies import (
    Body,
    By,
    Json,
    MessageEnded,
    OperatorSaid,
    TiersChanged,
    ToolEnded,
    Usage,
    WakePacket,
)
from store.events import NO_HASH, Event, fold
from store.evidence import Evidence
from store.gate import Accepted, judge
from store.lines import Line, LineId, LineKind, Tier, Tiers
from store.operations import Operation, Refused, parse_operation


def line(
    number: int,
    text: str = "",
    *,
    tier: Tier = "warm",
    kind: LineKind = "finding",
    priority: int = 3,
    touched: int = 1,
    promoted: bool = False,
) -> Line:
    """A line as it could have come to stand in session 1."""
    return Line(
        id=LineId(f"L{number}"),
        tier=tier,
        kind=kind,
        text=text or f"what number {number} says",
        reason="so that it is known",
        quote="" if tier == "hot" else f"quote number {number}",
        quote_turn=1,
        priority=priority,
        touched=touched,
        made_session=1,
        made_turn=1,
        made_by="keeper",
        promoted=promoted,
    )


def tiers_of(*lines: Line, session: int = 1) -> Tiers:
    """Tiers that hold ``lines``."""
    top = max((int(one.id[1:]) for one in lines), default=0)
    return Tiers({one.id: one for one in lines}, next_number=top + 1, session=session)


class Desk:
    """One session: ``session`` and ``turn`` can be set; every event is kept in ``events``."""

    def __init__(self, *lines: Line, session: int = 1) -> None:
        self.tiers = tiers_of(*lines, session=session)
        self.evidence = Evidence()
        self.events: list[Event] = []
        self.session = session
        self.turn = 0

    def append(self, by: By, body: Body) -> Event:
        number = len(self.events) + 1
        event = Event(number, number, "2026-09-08T10:00:00.000Z", float(number), by, self.turn, body, NO_HASH)
        self.events.append(event)
        self.evidence.add(event)
        self.tiers = fold(self.tiers, [event])
        return event

    def operator(self, text: str, tail: str = "") -> Event:
        """The operator's message opens the next turn."""
        self.turn += 1
        return self.append("operator", OperatorSaid(text, tail))

    def presence(self, text: str, *, thinking: str = "") -> Event:
        content: list[Json] = [{"type": "text", "text": text}]
        if thinking:
            content.insert(0, {"type": "thinking", "thinking": thinking, "signature": "s"})
        body = MessageEnded("presence", 1, "msg_1", "any", content, "end_turn", Usage(), None, 1.0, 2.0)
        return self.append("presence", body)

    def tool(self, text: str, *, memory: bool = False) -> Event:
        source = "memory" if memory else "world"
        return self.append("system", ToolEnded("toolu_1", "bash", "ok", text, 1.0, len(text.encode()), source))

    def woken_with(self, text: str) -> Event:
        return self.append("system", WakePacket("B", text, (), ""))

    def judged(self, operation: Operation, by: By = "keeper") -> Accepted | Refused:
        """What the gate says, without any effect."""
        return judge(self.tiers, operation, by=by, session=self.session, turn=self.turn, evidence=self.evidence)

    def do(self, operation: Operation, by: By = "keeper") -> Event:
        """An operation that must be accepted; its event is appended."""
        judged = self.judged(operation, by)
        assert isinstance(judged, Accepted), judged.reason
        return self.append(by, judged.body)

    def refuse(self, operation: Operation, by: By = "keeper") -> str:
        """Why an operation is refused, which it must be."""
        judged = self.judged(operation, by)
        assert isinstance(judged, Refused), judged.note
        return judged.reason

    def call(self, name: str, given: Json) -> Event:
        """A tool call of K that must be accepted."""
        operation = parse_operation(name, given)
        assert not isinstance(operation, Refused), operation.reason
        return self.do(operation)

    def call_refused(self, name: str, given: Json) -> str:
        """Why a tool call of K is refused, which it must be."""
        operation = parse_operation(name, given)
        return operation.reason if isinstance(operation, Refused) else self.refuse(operation)


def ids(lines: Sequence[Line]) -> list[str]:
    """The ids of lines, for comparing."""
    return [one.id for one in lines]


def changed(event: Event) -> TiersChanged:
    """The body of an event that changed the tiers."""
    assert isinstance(event.body, TiersChanged)
    return event.body
