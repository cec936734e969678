"""RET, re-earning time: from a fresh P's first token to its first correct, state-specific action (DESIGN §10)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from app.measure.call_text import found_in_call
from app.measure.elapsed import SessionClock, in_ms
from app.measure.result import EventRef, Measured, ref
from store.bodies import (
    FirstToken,
    MessageEnded,
    OperatorSaid,
    Partial,
    RetMarked,
    SessionClosed,
    SessionOpened,
    SessionResumed,
    ToolAnswered,
    ToolAsked,
    ToolCalled,
    ToolEnded,
    TurnEnded,
)
from store.events import Event
from store.readings import RetReading

RetSource = Literal["clock", "set", "void", "censored", "none"]
"""Where the seconds come from: measured, set by the operator, voided by the operator (no seconds), the action never
came or has not come yet (no seconds), or there is no task that would say what the action is."""

METHOD = (
    "Monotonic seconds from P's first token to the call of its first right tool that was not denied; time between a "
    "crash and the resume is left out. The task names the tool and the pattern of the call."
)
WAITING_METHOD = (
    "The part of RET in which P had handed back and waited for the operator's message, or a tool waited for the "
    "operator's answer."
)


@dataclass(frozen=True, slots=True)
class Ret:
    """The RET of one session.

    ``told``: the operator gave the action away before it came, ``told_after_s`` seconds after P's first token (0 when
    before it); the seconds are then still those to the action, but no re-earning. ``censored_after_s``: for how long
    P had worked when the log ends without the action. ``reason`` is the operator's, when the RET was set or voided.
    """

    seconds: Measured
    waiting: Measured
    source: RetSource
    told: bool
    told_after_s: float | None = None
    censored_after_s: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Mark:
    """A moment of the session: its time, how much of that the operator was waited for, its event."""

    elapsed: float
    waited: float
    event: EventRef


class RetClock:
    """The RET as far as the events go; constant work an event, apart from the task's own patterns."""

    def __init__(self) -> None:
        self._clock = SessionClock()
        self._tool = ""
        self._pattern: re.Pattern[str] | None = None
        self._told_pattern: re.Pattern[str] | None = None
        self._start: _Mark | None = None
        self._actions: dict[str, _Mark] = {}
        self._settled = False
        self._told: _Mark | None = None
        self._marked: RetMarked | None = None
        self._marked_at: _Mark | None = None
        self._closed_at: _Mark | None = None
        self._last: EventRef | None = None
        self._asked: set[str] = set()
        self._handed_back = False
        self._waited = 0.0
        self._waited_until = 0.0

    def apply(self, event: Event) -> None:
        """Take one event of the session in, in the order of its log. Raises ValueError for a task whose patterns are
        no regular expressions."""
        elapsed = self._clock.apply(event)
        if self._handed_back or self._asked:
            self._waited += elapsed - self._waited_until
        self._waited_until = elapsed
        self._last = ref(event)
        body = event.body
        match body:
            case SessionOpened():
                self._take_task(body)
            case FirstToken(seat="presence") | Partial(seat="presence"):
                self._begin(event, elapsed)
            case MessageEnded(seat="presence"):
                # An endpoint that does not stream leaves no first token in the log: reckon back from the end.
                since_token = (body.total_ms - body.ttft_ms) / 1000 if body.ttft_ms is not None else 0.0
                self._begin(event, max(0.0, elapsed - since_token))
            case ToolCalled():
                self._begin(event, elapsed)  # no call without a token, whatever the log lacks
                if self._is_right(body):
                    self._actions[body.tool_use_id] = self._mark(event, elapsed)
            case ToolAsked():
                self._asked.add(body.tool_use_id)
            case ToolAnswered():
                self._asked.discard(body.tool_use_id)
                if body.decision == "deny":
                    self._take_back(body.tool_use_id)
                self._listen(event, body.word, elapsed)
            case ToolEnded():
                self._asked.discard(body.tool_use_id)
                if body.outcome in ("denied", "unknown_tool"):
                    self._take_back(body.tool_use_id)
                elif body.tool_use_id in self._actions and next(iter(self._actions)) == body.tool_use_id:
                    self._settled = True
            case OperatorSaid():
                self._handed_back = False
                self._listen(event, body.text, elapsed)
            case TurnEnded() | SessionResumed():
                self._handed_back = True
                self._asked.clear()
            case RetMarked():
                self._marked = None if body.action == "restore" else body
                self._marked_at = self._mark(event, elapsed)
            case SessionClosed():
                self._closed_at = self._mark(event, elapsed)
            case _:
                pass

    def read(self, elapsed: float) -> RetReading:
        """What the header shows when the session has run for ``elapsed`` seconds."""
        if self._pattern is None:
            return RetReading("none")
        if self._marked is not None:
            return (
                RetReading("void") if self._marked.action == "void" else RetReading("set", self._set_seconds())
            )
        action = self._action()
        if self._start is None:
            return RetReading("told" if self._told else "waiting")
        ends = action or self._closed_at
        until = ends.elapsed if ends else max(elapsed, self._start.elapsed)
        seconds = until - self._start.elapsed
        if self._told_before(action):
            return RetReading("told", seconds)
        if action is None and self._closed_at is not None:
            return RetReading("missed", seconds)
        return RetReading("stopped" if action else "running", seconds)

    def result(self) -> Ret:
        """The RET as it stands after the events applied."""
        action, start = self._action(), self._start
        told = self._told_before(action)
        told_after = max(0.0, told.elapsed - start.elapsed) if told and start else (0.0 if told else None)
        seconds = waiting = censored = None
        events: tuple[EventRef, ...] = ()
        source: RetSource
        method, reason = METHOD, ""
        if self._pattern is None:
            source, method = "none", "No task says what the first right action is."
        elif self._marked is not None and self._marked_at is not None:
            source = "void" if self._marked.action == "void" else "set"
            seconds = self._set_seconds() if source == "set" else None
            method = f"By the operator's hand: {source}."
            reason, events = self._marked.reason, (self._marked_at.event,)
        elif start is not None and action is not None:
            source = "clock"
            seconds, waiting = action.elapsed - start.elapsed, action.waited - start.waited
            events = (start.event, *((told.event,) if told else ()), action.event)
        else:
            source = "censored"
            ends = self._closed_at.elapsed if self._closed_at else self._clock.elapsed
            censored = max(0.0, ends - start.elapsed) if start else 0.0
            method = f"{METHOD} It did not come: a lower bound only."
            end = self._closed_at.event if self._closed_at else self._last
            events = tuple(at for at in (start.event if start else None, end) if at is not None)
        log = self._last.log if self._last else ""
        return Ret(
            seconds=Measured(
                "ret",
                in_ms(seconds),
                "s",
                int(seconds is not None),
                "operator" if source in ("set", "void") else log,
                method,
                events,
            ),
            waiting=Measured(
                "ret_waiting", in_ms(waiting), "s", int(waiting is not None), log, WAITING_METHOD, events
            ),
            source=source,
            told=told is not None,
            told_after_s=in_ms(told_after),
            censored_after_s=in_ms(censored),
            reason=reason,
        )

    def _take_task(self, opened: SessionOpened) -> None:
        if opened.task is None:
            return
        first = opened.task.first_action
        self._tool = first.tool
        try:
            self._pattern = re.compile(first.pattern, re.IGNORECASE)
            self._told_pattern = re.compile(first.told_pattern, re.IGNORECASE) if first.told_pattern else None
        except re.error as error:
            raise ValueError(f"the task's pattern {error.pattern!r} is no regular expression: {error}") from error

    def _mark(self, event: Event, elapsed: float) -> _Mark:
        return _Mark(elapsed, self._waited, ref(event))

    def _begin(self, event: Event, elapsed: float) -> None:
        if self._start is None:
            self._start = self._mark(event, elapsed)

    def _is_right(self, call: ToolCalled) -> bool:
        return (
            not self._settled
            and self._pattern is not None
            and call.name == self._tool
            and found_in_call(self._pattern, call.input)
        )

    def _take_back(self, tool_use_id: str) -> None:
        self._actions.pop(tool_use_id, None)

    def _listen(self, event: Event, words: str, elapsed: float) -> None:
        if self._told is None and self._told_pattern is not None and self._told_pattern.search(words):
            self._told = self._mark(event, elapsed)

    def _action(self) -> _Mark | None:
        return next(iter(self._actions.values()), None)

    def _told_before(self, action: _Mark | None) -> _Mark | None:
        told = self._told
        return told if told is not None and (action is None or told.event.n < action.event.n) else None

    def _set_seconds(self) -> float | None:
        """The seconds that the operator set; without a number, the mark itself is the moment."""
        if self._marked is None or self._marked_at is None or self._marked.seconds is not None:
            return self._marked.seconds if self._marked else None
        return max(0.0, self._marked_at.elapsed - self._start.elapsed) if self._start else None


def ret(events: Iterable[Event]) -> Ret:
    """The RET of one session's ``events``, in the order of its log."""
    clock = RetClock()
    for event in events:
        clock.apply(event)
    return clock.result()
