"""Leaving in order when the program is told to end, when its terminal is lost, and when its own screen fails."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress

from store.plain import PlainError

PATIENCE_S = 3.0
"""So long may leaving a session take once a signal came; whoever sent it may not wait for ever."""
SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGINT") if hasattr(signal, name))


class ScreenFailed(PlainError):
    """The screen came down over a fault of the program; one sentence that says how to go on."""


class Leaving:
    """Takes the signals from Python's own handling, which would drop terminal and session as they are.

    ``leave`` leaves the session, ``end`` ends the program with an exit code (128 and the signal's number, as shells
    count).
    """

    def __init__(self, leave: Callable[[], Awaitable[None]], end: Callable[[int], None]) -> None:
        self._leave, self._end = leave, end
        self._task: asyncio.Task[None] | None = None

    def listen(self) -> None:
        """Listen from now on. A loop that can not (a thread's, or Windows') goes on without."""
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self.told, int(number))

    def told(self, number: int) -> None:
        """Leave once, whatever else comes."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._go(number), name="leaving")

    async def _go(self, number: int) -> None:
        try:
            await asyncio.wait_for(self._leave(), PATIENCE_S)
        except TimeoutError:
            pass  # what is in the log stays; the session is taken up from there
        finally:
            self._end(128 + number)
