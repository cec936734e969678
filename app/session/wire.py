"""The SDK's client for one seat, with every request, attempt and wait told to the log as it happens."""

from __future__ import annotations

import hashlib
import json
import logging
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.session.endpoint import Endpoint
from store.bodies import Seat

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic._request import APIRequest
    from anthropic._response import AsyncAPIResponse

SEAT_HEADER = "x-twins-seat"
"""Tells a server (the scripted one, or a gateway that splits cost) which seat asks."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One HTTP attempt about to leave: which it is (from 0), the hash and length of its body."""

    number: int
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """An attempt that will be tried again: which it was (from 1). ``status`` 0: no answer came. ``wait_s`` until the
    next one."""

    number: int
    status: int
    reason: str
    wait_s: float


@dataclass(frozen=True, slots=True)
class WireTap:
    """Who is told of attempts; both are called in order, from the event loop."""

    leaving: Callable[[Attempt], None]
    failed: Callable[[FailedAttempt], None]


def quiet_sdk() -> None:
    """Keep the SDK's log lines and warnings off the terminal: the screen is Textual's, and failed tools and
    unknown names are events already."""
    logger = logging.getLogger("anthropic")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    warnings.filterwarnings("ignore", message=r"Tool .* not found in tool runner", category=UserWarning)


def connect(endpoint: Endpoint, seat: Seat, tap: WireTap, *, max_retries: int, timeout_s: float) -> AsyncAnthropic:
    """A client of the SDK for one seat. Importing the SDK takes over a second: call it after the first paint."""
    import anthropic
    import httpx2

    quiet_sdk()

    class TappedClient(anthropic.AsyncAnthropic):
        """The SDK's client, which also says how long it will wait before it tries again."""

        def _calculate_retry_timeout(self, remaining_retries: int, options: Any, response_headers: Any = None) -> float:
            # The SDK's one place that knows the wait (retry-after or its own back-off with jitter). It has no
            # public hook for it; tests/session hold this against the scripted server's retry-after.
            wait = float(super()._calculate_retry_timeout(remaining_retries, options, response_headers))
            status, reason = last_failure
            tap.failed(
                FailedAttempt(options.get_max_retries(self.max_retries) - remaining_retries + 1, status, reason, wait)
            )
            return wait

    last_failure: tuple[int, str] = (0, "no answer")

    async def watch(
        request: APIRequest, call_next: Callable[[APIRequest], Awaitable[AsyncAPIResponse[Any]]]
    ) -> AsyncAPIResponse[Any]:
        nonlocal last_failure
        if request.method.upper() == "POST" and request.url.rstrip("/").split("?")[0].endswith("/messages"):
            body = json.dumps(request.json, default=_plain, ensure_ascii=False, separators=(",", ":")).encode(
                "utf-8", "replace"
            )
            tap.leaving(Attempt(request.retries_taken, hashlib.sha256(body).hexdigest(), len(body)))
        try:
            response = await call_next(request)
        except Exception as error:
            last_failure = (0, f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
            raise
        if response.status_code >= 400:
            last_failure = (response.status_code, REASONS.get(response.status_code, f"HTTP {response.status_code}"))
        return response

    return TappedClient(
        api_key=endpoint.key,
        base_url=endpoint.base_url or None,
        max_retries=max_retries,
        timeout=httpx2.Timeout(timeout_s, connect=10.0),
        default_headers={SEAT_HEADER: seat},
        middleware=[watch],
    )


REASONS = {408: "timed out", 409: "conflict", 429: "rate limited", 500: "server error", 529: "overloaded"}


def _plain(value: object) -> object:
    """Content blocks that the SDK keeps as models, as it will send them."""
    to_dict = getattr(value, "to_dict", None)
    return to_dict() if callable(to_dict) else str(value)
