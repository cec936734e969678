"""Runs slow blocking work of tools away from the event loop, where it would freeze the screen."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import TypeVar, cast

ResultT = TypeVar("ResultT")


async def off_loop(work: Callable[[], Coroutine[object, object, ResultT]]) -> ResultT:
    """What a coroutine gives that runs in a thread with a loop of its own.

    A daemon thread, not the loop's own pool: a walk of a large tree must not hold up quitting (Textual #3966).
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[ResultT] = loop.create_future()

    def settle(result: ResultT | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(cast(ResultT, result))
        else:
            done.set_exception(error)

    def run() -> None:
        try:
            outcome: tuple[ResultT | None, BaseException | None] = (asyncio.run(work()), None)
        except BaseException as error:  # noqa: BLE001 — handed on to the caller's future
            outcome = (None, error)
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=run, daemon=True, name="file tool").start()
    return await done
