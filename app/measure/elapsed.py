"""How long a session has run: the monotonic clock added up over every process that ran it."""

from __future__ import annotations

from datetime import UTC, datetime

from store.bodies import LogOpened, SessionClosed, SessionResumed, TailMoved
from store.events import Event

_NEW_PROCESS = (LogOpened, TailMoved, SessionResumed)
"""Events that may be the first of a process. The monotonic clock of another process says nothing about this one."""


class SessionClock:
    """Seconds of session time, from the first event applied.

    Time between a crash and the resume is not session time: nobody was there to use it. The clock stands still once
    the session is closed. One addition an event.
    """

    def __init__(self) -> None:
        self.elapsed = 0.0
        self._mono: float | None = None
        self._at = ""
        self._closed = False

    def apply(self, event: Event) -> float:
        """Move on to ``event``; the session time it happened at."""
        if self._closed:
            return self.elapsed
        same_process = not isinstance(event.body, _NEW_PROCESS)
        if self._mono is not None and same_process and event.mono >= self._mono:
            self.elapsed += event.mono - self._mono
        self._mono, self._at = event.mono, event.at
        self._closed = isinstance(event.body, SessionClosed)
        return self.elapsed

    def now(self, mono: float, wall: datetime) -> float:
        """Session time at this moment.

        ``wall`` (aware) only helps out when ``mono`` lies before the last event: the machine was started again and
        nobody has resumed the session.
        """
        if self._closed or self._mono is None:
            return self.elapsed
        if mono >= self._mono:
            return self.elapsed + mono - self._mono
        since = (wall.astimezone(UTC) - datetime.fromisoformat(self._at)).total_seconds()
        return self.elapsed + max(0.0, since)


def in_ms(seconds: float | None) -> float | None:
    """Seconds to the millisecond: an event's clock is finer in memory than in its log, and both measure the same."""
    return None if seconds is None else round(seconds, 3)
