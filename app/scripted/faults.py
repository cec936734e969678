"""How the scripted server can misbehave on order, and the queue of such orders per seat."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.scripted.request import SEATS, Seat

FaultKind: TypeAlias = Literal[
    "rate_limit",  # 429 with retry-after
    "overloaded",  # 529
    "server_error",  # 500
    "hang_up",  # the TCP connection is closed before any header
    "slow_start",  # nothing for `seconds`, then as if nothing had been
    "error_mid_stream",  # status 200, then an SSE error event after `after_deltas` deltas
    "disconnect",  # the TCP connection is closed after `after_deltas` deltas
    "stall",  # silence without pings after `after_deltas` deltas, for `seconds` or for ever
    "malformed_tool_input",  # tool input JSON that is cut short
]


@dataclass(frozen=True)
class Fault:
    """One misbehaviour.

    `after_deltas` counts content deltas of the whole stream; with 0 it strikes after `message_start`.
    `retry_after` and `seconds` are in seconds. `message` replaces the error's message; of a
    `malformed_tool_input` it is the JSON text to send as the input, broken as the test wants it.
    """

    kind: FaultKind
    after_deltas: int = 0
    retry_after: float | None = None
    message: str | None = None
    seconds: float | None = None


class FaultQueue:
    """Faults ordered per seat; each request of a seat consumes one. Safe to fill from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[Seat, deque[Fault]] = {seat: deque() for seat in SEATS}

    def order(self, seat: Seat, *faults: Fault) -> None:
        with self._lock:
            self._waiting[seat].extend(faults)

    def next_for(self, seat: Seat) -> Fault | None:
        with self._lock:
            waiting = self._waiting[seat]
            return waiting.popleft() if waiting else None
