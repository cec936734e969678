"""The reading of a running session, kept in step with its log event by event."""

from __future__ import annotations

from collections import deque
from datetime import datetime
from decimal import Decimal

from app.measure.cost import CostMeter
from app.measure.elapsed import SessionClock
from app.measure.ret import RetClock
from store.bodies import (
    ChunkGiven,
    FirstToken,
    KeeperState,
    LetterFiled,
    MessageCut,
    MessageEnded,
    OperatorQueued,
    OperatorSaid,
    OperatorUnqueued,
    Partial,
    RequestSent,
    SeatReady,
    SessionClosed,
    SessionOpened,
    SessionResumed,
    ToolAnswered,
    ToolAsked,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    Usage,
    WakePacket,
)
from store.events import Event
from store.readings import LiveReading, SessionState, TurnReading

RECENT_TURNS = 60
"""Ended turns kept for the sparklines; more than any meter bar is wide."""


class LiveMeter:
    """What the header and the meter bar show of one session.

    The first ``session.opened`` applied says which log is read; events before it and of other logs are passed
    over, so the meter can be subscribed to the whole room. Constant work an event. What no event says is handed
    in: ``read_only``. The model's ``context_window`` in tokens (0: unknown) and what holds bash (``sandbox``) may be,
    until ``seat.ready`` tells.
    """

    def __init__(self, *, read_only: bool = False, context_window: int = 0, sandbox: str = "") -> None:
        self.context_window = context_window
        self.sandbox = sandbox
        self._read_only = read_only
        self._opened: SessionOpened | None = None
        self._log = ""
        self._clock, self._ret, self._cost = SessionClock(), RetClock(), CostMeter()
        self._state: SessionState = "waking"
        self._turn = 0
        self._turn_began: float | None = None
        self._turn_usd: tuple[Decimal | None, int] = (Decimal(0), 0)
        self._turn_s: float | None = None
        self._ttft_ms: float | None = None
        self._calls: set[str] = set()
        self._asked: set[str] = set()
        self._prompt = Usage()
        self._keeper = KeeperState("absent", 0)
        self._queued: dict[str, str] = {}
        self._recent: deque[TurnReading] = deque(maxlen=RECENT_TURNS)

    def apply(self, event: Event) -> None:
        """Take one event in, in the order of the log."""
        if self._opened is not None and event.log != self._log:
            return
        if self._opened is None and not isinstance(event.body, SessionOpened):
            return
        elapsed = self._clock.apply(event)
        self._ret.apply(event)
        self._cost.apply(event)
        self._turn = max(self._turn, event.turn)
        self._take(event, elapsed)

    def read(self, mono_now: float, wall_now: datetime) -> LiveReading:
        """The reading at this moment: ``mono_now`` on the monotonic clock, ``wall_now`` aware."""
        opened = self._opened
        if opened is None:
            return LiveReading(
                read_only=self._read_only, sandbox=self.sandbox, context_window=self.context_window
            )
        elapsed = self._clock.now(mono_now, wall_now)
        turn_s = elapsed - self._turn_began if self._turn_began is not None else self._turn_s
        return LiveReading(
            operator=opened.operator,
            task=opened.task.title if opened.task else "",
            condition=opened.condition.name,
            condition_title=opened.condition.title,
            model=opened.model,
            scripted=opened.scripted,
            read_only=self._read_only,
            state=self._state,
            turn=self._turn,
            ret=self._ret.read(elapsed),
            ttft_ms=self._ttft_ms,
            turn_ms=turn_s * 1000 if turn_s is not None else None,
            wall_s=elapsed,
            presence=self._cost.read("presence"),
            keeper=self._cost.read("keeper"),
            keeper_standing=self._keeper.standing,
            keeper_reason=self._keeper.reason,
            behind=self._keeper.behind,
            cache_share=self._prompt.cache_read / self._prompt.prompt if self._prompt.prompt else None,
            context_tokens=self._prompt.prompt,
            context_window=self.context_window,
            sandbox=self.sandbox,
            queued=len(self._queued),
            recent=tuple(self._recent),
        )

    def _take(self, event: Event, elapsed: float) -> None:
        body = event.body
        match body:
            case SessionOpened():
                self._opened, self._log = body, event.log
                self._keeper = KeeperState("idle" if body.condition.keeper else "absent", 0)
            case WakePacket():
                self._state = "ready"
            case SeatReady():
                self.sandbox, self.context_window = body.sandbox, body.context_window
            case SessionResumed():
                self._settle_turn(elapsed)
                self._state = "ready"
            case SessionClosed():
                self._settle_turn(elapsed)
                self._state = "closed"
            case OperatorSaid():
                self._begin_turn(elapsed)
                self._queued = {key: text for key, text in self._queued.items() if text not in body.text}
            case OperatorQueued():
                self._queued[body.key] = body.text
            case OperatorUnqueued():
                self._queued.pop(body.key, None)
            case TurnEnded():
                self._end_turn(body, elapsed)
            case KeeperState():
                self._keeper = body
            case ChunkGiven(purpose="closing") | LetterFiled():
                self._state = "closing"
            case _:
                self._take_presence(event)

    def _take_presence(self, event: Event) -> None:
        """P's requests, answers and tools: what it does within a turn."""
        body = event.body
        match body:
            case RequestSent(seat="presence"):
                self._state = "waiting" if body.purpose == "turn" else "closing"
            case FirstToken(seat="presence") | Partial(seat="presence"):
                if isinstance(body, FirstToken) and self._ttft_ms is None:
                    self._ttft_ms = body.ms
                if self._state != "closing":
                    self._state = "streaming"
            case MessageEnded(seat="presence"):
                # A summary was made of all the context; what is in use is known again from the next answer.
                self._prompt = body.usage if body.purpose != "compaction" else Usage()
                if self._state != "closing":
                    self._state = "waiting"
            case MessageCut(seat="presence"):
                if self._state != "closing":
                    self._state = "waiting"
            case ToolCalled():
                self._calls.add(body.tool_use_id)
                self._state = self._tool_state()
            case ToolAsked():
                self._asked.add(body.tool_use_id)
                self._state = self._tool_state()
            case ToolAnswered():
                self._asked.discard(body.tool_use_id)
                self._state = self._tool_state()
            case ToolEnded():
                self._calls.discard(body.tool_use_id)
                self._asked.discard(body.tool_use_id)
                self._state = self._tool_state()
            case _:
                pass

    def _tool_state(self) -> SessionState:
        if self._asked:
            return "asking"
        return "tool" if self._calls else "waiting"

    def _presence_usd(self) -> tuple[Decimal | None, int]:
        reading = self._cost.read("presence")
        return reading.usd, reading.calls

    def _begin_turn(self, elapsed: float) -> None:
        self._turn_began, self._ttft_ms = elapsed, None
        self._turn_usd = self._presence_usd()
        self._state = "waiting"

    def _end_turn(self, ended: TurnEnded, elapsed: float) -> None:
        if self._turn_began is not None:
            before, calls_before = self._turn_usd
            after, calls = self._presence_usd()
            spent = None if before is None or after is None else after - before
            self._recent.append(
                TurnReading((elapsed - self._turn_began) * 1000, spent if calls > calls_before else Decimal(0))
            )
        self._settle_turn(elapsed)
        self._state = "failed" if ended.end == "failed" else "ready"

    def _settle_turn(self, elapsed: float) -> None:
        if self._turn_began is not None:
            self._turn_s, self._turn_began = elapsed - self._turn_began, None
        self._calls.clear()
        self._asked.clear()
