"""The wall clock and the monotonic clock, handed in wherever time matters."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Two clocks: dates come from ``now``, durations from ``mono`` (DESIGN §3)."""

    def now(self) -> datetime:
        """The date and time in UTC."""
        ...

    def mono(self) -> float:
        """Seconds on a clock that nobody can set back; its zero means nothing."""
        ...


class SystemClock:
    """The machine's own clocks."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def mono(self) -> float:
        return time.monotonic()


class FrozenClock:
    """Clocks that stand still until told to move: for tests and pictures."""

    def __init__(self, start: datetime, mono: float = 0.0) -> None:
        if start.tzinfo is None:
            raise ValueError("a frozen clock starts at a time with a time zone; give it UTC")
        self._now = start.astimezone(UTC)
        self._mono = mono

    def now(self) -> datetime:
        return self._now

    def mono(self) -> float:
        return self._mono

    def advance(self, seconds: float) -> None:
        """Both clocks move on by ``seconds``."""
        self._now += timedelta(seconds=seconds)
        self._mono += seconds

    def set_wall(self, now: datetime) -> None:
        """The wall clock is set, as an operator or a time server does; the monotonic one is not."""
        self._now = now.astimezone(UTC)


def stamp(at: datetime) -> str:
    """``at`` in UTC to the millisecond, as events carry it: ``2026-11-30T00:00:00.000Z``."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_stamp(at: str) -> datetime:
    """The time that ``stamp`` wrote. Raises ValueError for anything else."""
    return datetime.fromisoformat(at)


def weekday_line(at: datetime) -> str:
    """The date as prose, with its weekday, for whoever has no clock: ``It is Monday 30 November 2026, 00:05 UTC.``"""
    at = at.astimezone(UTC)
    return f"It is {at:%A} {at.day} {at:%B %Y}, {at:%H:%M} UTC."
