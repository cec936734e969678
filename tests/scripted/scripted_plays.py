"""What the scripted server's tests share: a request, a seat that always answers, a clock moved by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from anthropic import AsyncAnthropic

from app.scripted.script import Beat, Reply, SeatScript
from app.scripted.server import ScriptedServer

#: Starts a server for a presence player (or a whole script) and gives it with a client of the real SDK.
Play = Callable[..., Awaitable[tuple[ScriptedServer, AsyncAnthropic]]]

HELLO: dict[str, Any] = {
    "model": "any",
    "max_tokens": 1024,
    "messages": [{"role": "user", "content": "hello"}],
}


def always(*replies: Reply) -> SeatScript:
    """A seat that answers whatever is said with these replies."""
    return SeatScript((Beat("", replies),))


class HandClock:
    """A clock that stands still until a test moves it, in seconds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now
