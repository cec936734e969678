"""The program behind a web page on the loopback address, through textual-serve; other machines and other pages are
refused."""

from __future__ import annotations

import secrets
import shlex
import socket
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from app.plan import InputError, room_path

if TYPE_CHECKING:
    from aiohttp import web

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def serve_here(room: Path | None, *, host: str, port: int, demo: bool) -> None:
    """Serve until ctrl+c. Raises InputError for another host, a port in use, and when the extra is not installed."""
    if host not in LOOPBACK:
        raise InputError(
            f"{host} is not this machine. Whoever reaches the page can run tools here, so only 127.0.0.1, ::1 and "
            "localhost are served; from elsewhere, use an ssh tunnel."
        )
    if find_spec("textual_serve") is None:
        raise InputError('The browser needs textual-serve: pip install "two-twins[serve]"')
    chosen = _free_port(host, port)
    words = ["demo"] if demo else ["--room", str(room_path(room).resolve())]
    command = shlex.join([sys.executable, "-c", "from app.cli import main; main()", *words])
    make_server(command, host, chosen).serve()


def _free_port(host: str, port: int) -> int:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            why = f"Port {port} on {host} cannot be used ({error.strerror}); choose another with --port."
            raise InputError(why) from error
        return int(probe.getsockname()[1])


def make_server(command: str, host: str, port: int) -> Any:
    """textual-serve's server with a guard before it."""
    from aiohttp import web
    from textual_serve.server import Server

    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    key = secrets.token_urlsafe(24)

    @web.middleware
    async def guard(request: web.Request, handler: Any) -> web.StreamResponse:
        # A page from elsewhere may ask a browser here for a web socket (no browser forbids it) or point a name of its
        # own at this address. And other users of this machine can reach the port: they do not know the key.
        if request.host != place:
            raise web.HTTPForbidden(text="This server answers to the loopback address only.")
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.host:
            raise web.HTTPForbidden(text="This server answers its own page only.")
        known = request.cookies.get("twins") == key
        if not known and not secrets.compare_digest(request.query.get("key", ""), key):
            raise web.HTTPForbidden(text="Open the address that twins serve printed, with its key.")
        if not known:
            arrived = web.HTTPFound("/")
            arrived.set_cookie("twins", key, httponly=True, samesite="Strict")
            raise arrived
        response: web.StreamResponse = await handler(request)
        return response

    class TwinsServer(Server):
        """Loopback only, with nothing taken from other servers."""

        def initialize_logging(self) -> None:
            """Quiet: the terminal shows where the page is, and no more."""

        async def on_startup(self, app: web.Application) -> None:
            """Nothing yet: the page can be asked for only a moment later."""

        def serve(self, debug: bool = False) -> None:
            """Serve until ctrl+c or SIGTERM; aiohttp has its word as soon as the page can be asked for."""
            words = f"Two Twins is at http://{place}/?key={key}  (ctrl+c ends it)"
            told = partial(print, words, flush=True)
            web.run_app(self._make_app(), host=self.host, port=self.port, print=lambda _: told())

        async def _make_app(self) -> web.Application:
            served = await super()._make_app()
            served.middlewares.append(guard)
            served.on_response_prepare.append(_nothing_from_elsewhere)
            return served

    return TwinsServer(command, host=host, port=port, title="Two Twins", public_url=f"http://{place}")


async def _nothing_from_elsewhere(request: web.Request, response: web.StreamResponse) -> None:
    """textual-serve's page asks Google for a font; this machine's fonts do."""
    response.headers["Content-Security-Policy"] = (
        f"default-src 'self' 'unsafe-inline' data: blob: ws://{request.host}; frame-ancestors 'none'"
    )
    response.headers["Referrer-Policy"] = "no-referrer"
