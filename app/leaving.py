"""Leaving in order when the program is told to end, when its terminal is lost, and when its own screen fails."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress

from store.plain import PlainError

PATIENCE_S = 3.0
"""So long may leaving a session take once a signal came; whoever sent it may not wait for ever."""
FORCED_S = 8.0
"""So long after a signal the program ends whatever hangs in it: twice the patience (leaving, then what the screen does
as it goes down) and a little, and under the ten seconds after which containers are killed."""
SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGINT") if hasattr(signal, name))


class ScreenFailed(PlainError):
    """The screen came down over a fault of the program; one sentence that says how to go on."""


async def left_in_time(leave: Callable[[], Awaitable[None]]) -> bool:
    """Whether ``leave`` came to its end within the patience. What hangs is told to stop, and not waited for: it may
    not listen. What it raises is raised."""
    task = asyncio.ensure_future(leave())
    done, _ = await asyncio.wait({task}, timeout=PATIENCE_S)
    if not done:
        task.cancel()
        return False
    task.result()
    return True


class Leaving:
    """Takes the signals from Python's own handling, which would drop terminal and session as they are.

    ``leave`` leaves the session, ``end`` ends the program with an exit code (128 and the signal's number, as shells
    count). Where that does not end it, ``give_back`` gives the terminal back and the process ends there and then.
    """

    def __init__(
        self, leave: Callable[[], Awaitable[None]], end: Callable[[int], None], give_back: Callable[[], None]
    ) -> None:
        self._leave, self._end, self._give_back = leave, end, give_back
        self.code = 0
        """The exit code that a signal asks for; 0 when none came. It holds however the program ends then: leaving may
        have been under way already, by the operator's own keys."""
        self._listens = False
        self._forced = False
        self._task: asyncio.Task[None] | None = None

    def listen(self) -> None:
        """Listen from now on. A loop that can not (a thread's, or Windows') goes on without."""
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self.told, int(number))
                self._listens = True

    def told(self, number: int) -> None:
        """Leave once, whatever else comes."""
        if self._task is None:
            self.code = 128 + number
            self._end_at_the_latest(self.code)
            self._task = asyncio.get_running_loop().create_task(self._go(), name="leaving")

    async def _go(self) -> None:
        try:
            await left_in_time(self._leave)  # or not: what is in the log stays, the session is taken up from there
        finally:
            self._end(self.code)

    def over(self) -> None:
        """The program has ended by itself; nothing needs to be forced."""
        if self._listens and hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _end_at_the_latest(self, code: int) -> None:
        """An alarm, since it interrupts the main thread whatever that waits for, and only there Textual can give the
        terminal back. The next one, a second later, ends a process that hangs even in that."""
        if not self._listens or not hasattr(signal, "setitimer"):
            return

        def force(*_: object) -> None:
            if not self._forced:
                self._forced = True
                self._give_back()
            os._exit(code)

        signal.signal(signal.SIGALRM, force)
        signal.setitimer(signal.ITIMER_REAL, FORCED_S, 1.0)
