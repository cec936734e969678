"""Builders for the logs that the measures are tested on: a tape of events under a clock that stands still."""

from __future__ import annotations

from datetime import UTC, datetime

from store.bodies import (
    Body,
    By,
    ConditionRecord,
    FirstAction,
    FirstToken,
    Json,
    MessageCut,
    MessageEnded,
    OperatorSaid,
    RequestSent,
    Seat,
    SessionOpened,
    TaskRecord,
    ToolCalled,
    ToolEnded,
    ToolOutcome,
    TurnEnded,
    Usage,
)
from store.clock import FrozenClock, stamp
from store.events import NO_HASH, Event, encode, line_hash

SESSION = "20261130T000000Z-a1"
CONDITION_B = ConditionRecord("B", "silent", True, False, False, False, False, ("letters", "handoff", "hot", "warm"))
CONDITION_A = ConditionRecord("A", "letters", False, False, False, False, False, ("letters", "handoff"))
TASK = TaskRecord(
    "no",
    "The northern list",
    "The north's list lacks meetings.",
    FirstAction("bash", r"^(python )?(\S*/)?output_test\.py --region NO\b", r"\boutput_test\b"),
)
SOME_USAGE = Usage(10, 90, 0, 5)
NO_USAGE = Usage()
RIGHT: Json = {"command": "python output_test.py --region NO"}
WRONG: Json = {"command": "python output_test.py --region SO"}


class Tape:
    """A session's events as its log would hold them; ``after(seconds)`` moves the clock on."""

    def __init__(self, task: TaskRecord | None = TASK, condition: ConditionRecord = CONDITION_B) -> None:
        self.clock = FrozenClock(datetime(2026, 11, 30, tzinfo=UTC), mono=1000.0)
        self.events: list[Event] = []
        self.turn = 0
        self.requests = 0
        self._hash = NO_HASH
        opened = SessionOpened(
            SESSION, 1, condition, task, "Robin", "claude-opus-5-5", "loopback", True, "workspace", {}
        )
        self.add(opened, by="system")

    def after(self, seconds: float) -> Tape:
        self.clock.advance(seconds)
        return self

    def add(self, body: Body, by: By = "presence", log: str = SESSION) -> Event:
        event = Event(
            n=len(self.events) + 1,
            seq=len(self.events) + 1,
            at=stamp(self.clock.now()),
            mono=self.clock.mono(),
            by=by,
            turn=self.turn,
            body=body,
            prev=self._hash,
            log=log,
        )
        self._hash = line_hash(encode(event))
        self.events.append(event)
        return event

    def said(self, text: str) -> Event:
        self.turn += 1
        return self.add(OperatorSaid(text), by="operator")

    def sent(self, seat: Seat = "presence", purpose: str = "turn") -> Event:
        self.requests += 1
        return self.add(RequestSent(seat, self.requests, "claude-opus-5-5", "0" * 64, 100, purpose), by="system")

    def token(self, ms: float = 800.0, seat: Seat = "presence") -> Event:
        return self.add(FirstToken(seat, self.requests, ms), by=seat)

    def answered(
        self,
        text: str = "Done.",
        *,
        seat: Seat = "presence",
        usage: Usage = SOME_USAGE,
        usd: str | None = "0.01",
        message_id: str = "",
        ttft_ms: float | None = 800.0,
        purpose: str = "turn",
    ) -> Event:
        content: Json = [{"type": "text", "text": text}]
        name = message_id or f"msg_{self.requests}"
        body = MessageEnded(
            seat, self.requests, name, "claude-opus-5-5", content, "end_turn", usage, usd, ttft_ms, 2000.0, purpose
        )
        return self.add(body, by=seat)

    def cut(self, text: str = "Half", *, usage: Usage = NO_USAGE, usd: str | None = None) -> Event:
        return self.add(MessageCut("presence", self.requests, text, "stopped", usage, usd))

    def called(self, call: str, called_with: Json, name: str = "bash") -> Event:
        return self.add(ToolCalled(call, name, called_with))

    def ended(self, call: str, outcome: ToolOutcome = "ok", name: str = "bash") -> Event:
        return self.add(ToolEnded(call, name, outcome, "out", 12.0, 3), by="system")

    def handed_back(self) -> Event:
        return self.add(TurnEnded("done"), by="system")

    def begun(self, text: str = "Please look at the north.") -> Tape:
        """The operator spoke, P's request left, and two seconds later its first token came."""
        self.said(text)
        self.sent()
        self.after(2).token()
        return self
