"""Where the model is: endpoint, key and model from the command line, the room and the environment."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from store.plain import PlainError
from store.settings import Settings

DEFAULT_BASE_URL = "https://api.anthropic.com"
CREDENTIAL_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH")


class EndpointError(PlainError):
    """The endpoint cannot be used as it is set; the message is one plain sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A Messages API endpoint. ``base_url`` empty means Anthropic's own; ``key`` never enters an event, a file or
    an error text. ``scripted`` tells that no model is behind it."""

    base_url: str
    key: str
    model: str
    scripted: bool = False

    def __repr__(self) -> str:
        return f"Endpoint(base_url={self.base_url!r}, model={self.model!r}, scripted={self.scripted})"

    @property
    def place(self) -> str:
        """Host and port for the screen and the log; no path, no user info, no query."""
        parts = urlsplit(self.base_url or DEFAULT_BASE_URL)
        host = parts.hostname or "?"
        return f"{host}:{parts.port}" if parts.port else host


def resolve_endpoint(settings: Settings, environment: Mapping[str, str], model: str = "") -> Endpoint:
    """The endpoint that holds: what the command line names, then ``room.toml``, then the environment.

    Raises EndpointError when there is neither a key nor a base URL, or the base URL is none.
    """
    base_url = settings.endpoint.base_url or environment.get("ANTHROPIC_BASE_URL", "")
    variable = settings.endpoint.api_key_env
    key = environment.get(variable, "")
    if base_url:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise EndpointError(
                # It is not repeated: what was set in its place may be the key.
                "The base URL is not one; write it like http://127.0.0.1:8088 in room.toml "
                "([endpoint] base_url) or in ANTHROPIC_BASE_URL."
            )
    elif not key:
        raise EndpointError(
            f"There is no API key: set {variable}, or set ANTHROPIC_BASE_URL to a server that speaks the Messages API. "
            "To look around without a key, run: twins demo"
        )
    # A local server wants no key, yet the SDK refuses to send a request without one.
    return Endpoint(base_url, key or "none", model or settings.endpoint.model)


def check_reachable(endpoint: Endpoint, timeout_s: float = 5.0) -> None:
    """Open and close one connection, so that an endpoint that is not there is told before anything is written.

    Raises EndpointError with what to check.
    """
    parts = urlsplit(endpoint.base_url or DEFAULT_BASE_URL)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout_s).close()
    except OSError as error:
        raise EndpointError(
            f"The endpoint {endpoint.place} cannot be reached ({error.strerror or error}); check the network, "
            "the base URL and that the server runs, then try again. Nothing was written."
        ) from error


def without_credentials(environment: Mapping[str, str], extra: tuple[str, ...] = ()) -> dict[str, str]:
    """The environment that a tool of P may see: nothing whose name speaks of a credential, nothing of Anthropic."""
    return {
        name: value
        for name, value in environment.items()
        if not name.upper().startswith("ANTHROPIC_")
        and name not in extra
        and not any(word in name.upper() for word in CREDENTIAL_WORDS)
    }


def environment() -> Mapping[str, str]:
    """The process's environment, at the edge where it is read."""
    return os.environ
