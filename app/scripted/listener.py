"""A uvicorn server that leaves signals alone, can hang up on one client and stops with streams still open."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol


class Listener(uvicorn.Server):
    """Serves one application on sockets that the caller has bound.

    `ready` is set for other threads, `listening` for tasks of the same event loop.
    """

    def __init__(self, app: Starlette) -> None:
        # h11 is named, so that the same code runs whatever other HTTP parser happens to be installed.
        config = uvicorn.Config(
            app,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            timeout_graceful_shutdown=1,
        )
        super().__init__(config)
        self.ready = threading.Event()
        self.listening = asyncio.Event()
        self._leaving = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals belong to the program around the server."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.listening.set()
        self.ready.set()

    async def main_loop(self) -> None:
        """Waits to be told to leave, in place of uvicorn's look ten times a second."""
        await self.on_tick(0)
        await self._leaving.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends what is open first: a stalled or paced stream would otherwise hold the server."""
        for connection in list(self.server_state.connections):
            _transport(connection).abort()
        for task in list(self.server_state.tasks):
            task.cancel()
        await super().shutdown(sockets=sockets)

    def leave(self) -> None:
        """Makes `serve` return. To be called in the server's event loop."""
        self._leaving.set()

    def hang_up(self, client: tuple[str, int]) -> None:
        """Closes the connection of the client at this address, after what has been written to it."""
        for connection in list(self.server_state.connections):
            if isinstance(connection, H11Protocol) and connection.client == client:
                connection.transport.close()


def _transport(connection: object) -> asyncio.Transport:
    if not isinstance(connection, H11Protocol):
        raise TypeError(f"The scripted server speaks plain HTTP/1.1, not {type(connection).__name__}.")
    return connection.transport
