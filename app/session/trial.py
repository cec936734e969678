"""One short request to an endpoint, to hear whether key, address and model are right before a room is made."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from time import monotonic

from app.session.endpoint import Endpoint, EndpointError, check_reachable, resolve_endpoint
from store.settings import Settings
from store.text import clean

ANSWER_TOKENS = 16
PATIENCE_S = 60.0
"""A small model on the operator's machine may have to be loaded first."""


def try_endpoint(settings: Settings, environment: Mapping[str, str]) -> str:
    """One line: which model answered and how fast. Not on the event loop: it loads the SDK and waits for the answer.

    Raises EndpointError with what to mend when none came.
    """
    endpoint = resolve_endpoint(settings, environment)
    check_reachable(endpoint)
    return asyncio.run(_asked(endpoint))


async def _asked(endpoint: Endpoint) -> str:
    from app.session.presence import BROKEN, failure_of
    from app.session.wire import WireTap, connect

    tap = WireTap(lambda _: None, lambda _: None)
    began = monotonic()
    async with connect(endpoint, "presence", tap, max_retries=0, timeout_s=PATIENCE_S) as client:
        try:
            answer = await client.messages.create(
                model=endpoint.model,
                max_tokens=ANSWER_TOKENS,
                messages=[{"role": "user", "content": "Answer with the one word: ready"}],
            )
        except BROKEN as error:
            raise EndpointError(f"No answer from {endpoint.place}: {clean(failure_of(error).reason)}.") from error
    return f"{clean(answer.model)[:80]} at {endpoint.place} answered in {monotonic() - began:.1f} s."
