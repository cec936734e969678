"""The clock of a transcript: it stands where the recorded turn stood, so that "yesterday" is yesterday there."""

from __future__ import annotations

from datetime import datetime


class TranscriptClock:
    """Clocks that follow recorded times. The monotonic one never goes back, whatever the records say."""

    def __init__(self, start: datetime) -> None:
        self._start = start
        self._now = start
        self._mono = 0.0

    def now(self) -> datetime:
        return self._now

    def mono(self) -> float:
        return self._mono

    def stand_at(self, at: datetime) -> None:
        """The clock reads ``at`` from now on."""
        self._now = at
        self._mono = max(self._mono, (at - self._start).total_seconds())
