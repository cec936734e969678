"""The scripted server's life: it listens on loopback, in this event loop or in a thread, and stops at once."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from types import TracebackType
from typing import TYPE_CHECKING

from app.scripted.capabilities import Capabilities, Feature, RefusableFeature
from app.scripted.faults import Fault
from app.scripted.prompt_cache import MINIMUM_TOKENS, PromptCache
from app.scripted.request import Request, Seat
from app.scripted.script import Script

if TYPE_CHECKING:
    from starlette.requests import Request as HttpRequest

    from app.scripted.endpoints import Endpoints
    from app.scripted.listener import Listener

_LOOPBACK = "127.0.0.1"
_STARTED_WITHIN_S = 10.0
_STOPPED_WITHIN_S = 5.0


class ScriptedServer:
    """A server that plays `script`, reachable at `base_url` while it runs.

    `with` runs it in a background thread, `async with` in the event loop of the caller. `port` 0 takes a free
    one. `clock` (seconds) ages the prompt cache, `minimum_cached_tokens` is the shortest prefix it keeps.
    `ignore_pace` plays every reply without its pace and delay. A batch ends `batch_seconds` of the clock after it
    was made. `without` and `refuses` make it a lesser endpoint, see `Capabilities`.
    """

    def __init__(
        self,
        script: Script,
        *,
        port: int = 0,
        clock: Callable[[], float] = time.monotonic,
        minimum_cached_tokens: int = MINIMUM_TOKENS,
        ignore_pace: bool = False,
        batch_seconds: float = 0.0,
        without: AbstractSet[Feature] = frozenset(),
        refuses: AbstractSet[RefusableFeature] = frozenset(),
    ) -> None:
        self._script = script
        self._port = port
        self._clock = clock
        self._minimum = minimum_cached_tokens
        self._ignore_pace = ignore_pace
        self._batch_seconds = batch_seconds
        self._capabilities = Capabilities(without, refuses)
        self._socket: socket.socket | None = None
        self._endpoints: Endpoints | None = None
        self._listener: Listener | None = None
        self._task: asyncio.Task[None] | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def base_url(self) -> str:
        """Where the SDK finds the server, without a trailing slash."""
        if self._socket is None:
            raise RuntimeError("The scripted server is not running: start it, or use it in a with statement.")
        return f"http://{_LOOPBACK}:{self._socket.getsockname()[1]}"

    @property
    def requests(self) -> list[Request]:
        """Every POST received, of all seats and paths, in the order of arrival."""
        return list(self._running().received)

    def requests_of(self, seat: Seat) -> list[Request]:
        """The message requests of one seat, in the order of arrival."""
        return [r for r in self._running().received if r.seat == seat and r.path == "/v1/messages"]

    def misbehave(self, seat: Seat, *faults: Fault) -> None:
        """Orders faults: each of the seat's next message requests consumes one."""
        self._running().faults.order(seat, *faults)

    def start(self) -> None:
        """Listens in a background thread; returns when requests are answered."""
        listener = self._prepare()
        self._thread = threading.Thread(target=self._run_thread, args=(listener,), name="scripted", daemon=True)
        self._thread.start()
        if not listener.ready.wait(_STARTED_WITHIN_S):
            raise RuntimeError(f"The scripted server did not start within {_STARTED_WITHIN_S:g} s.")

    def stop(self) -> None:
        """Drops every open connection and ends the thread."""
        if self._thread is None or self._loop is None or self._listener is None:
            return
        self._loop.call_soon_threadsafe(self._listener.leave)
        self._thread.join(_STOPPED_WITHIN_S)
        if self._thread.is_alive():
            raise RuntimeError(f"The scripted server did not stop within {_STOPPED_WITHIN_S:g} s.")
        self._thread = None
        self._close()

    async def astart(self) -> None:
        """Listens in the running event loop."""
        listener = self._prepare()
        self._task = asyncio.create_task(listener.serve(sockets=[self._bound()]), name="scripted")
        await listener.listening.wait()

    async def astop(self) -> None:
        """Drops every open connection and stops listening."""
        if self._task is None or self._listener is None:
            return
        self._listener.leave()
        await self._task
        self._task = None
        self._close()

    def __enter__(self) -> ScriptedServer:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    async def __aenter__(self) -> ScriptedServer:
        await self.astart()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.astop()

    def _prepare(self) -> Listener:
        """Binds the port and builds the application. Starlette and uvicorn are loaded here and not before."""
        from app.scripted.endpoints import Endpoints
        from app.scripted.listener import Listener

        if self._socket is not None:
            raise RuntimeError("The scripted server is running already.")
        bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((_LOOPBACK, self._port))
        except OSError:
            bound.close()
            raise
        self._socket = bound
        cache = PromptCache(self._clock, self._minimum)
        self._endpoints = Endpoints(
            self._script,
            cache,
            hang_up=self._hang_up,
            capabilities=self._capabilities,
            clock=self._clock,
            batch_seconds=self._batch_seconds,
            ignore_pace=self._ignore_pace,
        )
        self._listener = Listener(self._endpoints.app())
        return self._listener

    def _run_thread(self, listener: Listener) -> None:
        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            await listener.serve(sockets=[self._bound()])

        asyncio.run(serve())

    def _hang_up(self, http: HttpRequest) -> None:
        if self._listener is not None and http.client is not None:
            self._listener.hang_up((http.client.host, http.client.port))

    def _bound(self) -> socket.socket:
        if self._socket is None:
            raise RuntimeError("The scripted server has no socket.")
        return self._socket

    def _running(self) -> Endpoints:
        if self._endpoints is None:
            raise RuntimeError("The scripted server has not been started.")
        return self._endpoints

    def _close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
