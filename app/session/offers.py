"""What P's requests ask for beyond the plain Messages API, and taking it back from endpoints that refuse it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

if TYPE_CHECKING:
    from anthropic import APIStatusError, AsyncAnthropic

Offer = Literal["tools", "thinking", "compaction", "cache_control"]

COMPACT_BETA: Final = "compact-2026-09-04"
"""The beta that the SDK's ``compact_before_next_turn`` needs (its docstring)."""
LOOKED_UP_WITHIN_S: Final = 3.0
"""The model's card may take this long before the first request leaves without it."""

REFUSED: Final[dict[Offer, str]] = {
    "tools": "This endpoint takes no tools, so P can only talk here: it cannot read, write or run anything.",
    "thinking": "This endpoint gives no thinking on request; P answers without.",
    "compaction": "This endpoint cannot compact a conversation; close the session before its context is full.",
    "cache_control": "This endpoint takes no marks for a prompt cache; every request is read anew.",
}
_NAMES: Final[dict[Offer, str]] = {
    "tools": r"\btools?\b(?!\.\d)|\bfunction calling\b",
    "thinking": r"\bthinking\b",
    "compaction": r"\bcompaction\b|\bcompact-\d{4}",
    "cache_control": r"\bcache_control\b",
}
_UNKNOWN: Final = r"not support|unsupported|not permitted|not allowed|unknown|unrecogni[sz]ed|unexpected|requires? --"


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What an endpoint tells of its model. ``context_window`` in tokens, 0 when it does not say; ``known`` is False
    when there is no such endpoint or it did not answer."""

    context_window: int = 0
    thinking: bool = False
    compaction: bool = False
    known: bool = False


async def model_card(client: AsyncAnthropic, model: str) -> ModelCard:
    """The card of a model from the models endpoint; an empty one where there is none. Never raises for the endpoint."""
    import asyncio

    import httpx2
    from anthropic import AnthropicError

    try:
        async with asyncio.timeout(LOOKED_UP_WITHIN_S):
            found = await client.with_options(max_retries=0).beta.models.retrieve(model)
    except (AnthropicError, httpx2.HTTPError, TimeoutError, ValueError, AttributeError):
        return ModelCard()
    # The SDK does not check what came: a gateway's card may lack anything.
    window = getattr(found, "max_input_tokens", None)
    capabilities = getattr(found, "capabilities", None)
    return ModelCard(
        context_window=window if isinstance(window, int) and window > 0 else 0,
        thinking=_supported(capabilities, "thinking", "types", "adaptive"),
        compaction=_supported(capabilities, "compaction", "summarize"),
        known=True,
    )


def _supported(card: object, *path: str) -> bool:
    for name in path:
        card = getattr(card, name, None)
    return getattr(card, "supported", None) is True


class Offers:
    """What P's requests ask for. An endpoint that refuses one of them is asked again without, and it is said once."""

    def __init__(self, *, thinking: bool, compaction: bool) -> None:
        self._made: set[Offer] = {"tools", "cache_control"}
        if thinking:
            self._made.add("thinking")
        if compaction:
            self._made.add("compaction")

    def has(self, offer: Offer) -> bool:
        """Whether requests ask for it."""
        return offer in self._made

    def take_back(self, error: APIStatusError) -> Offer | None:
        """The one thing that a refusal is about, no longer asked for from now on; None when it is about none."""
        if error.status_code not in (400, 404, 422, 500, 501):
            return None
        said = str(error.message)
        for offer in get_args(Offer):
            named = rf"({_NAMES[offer]}).{{0,80}}({_UNKNOWN})|({_UNKNOWN}).{{0,80}}({_NAMES[offer]})"
            if offer in self._made and re.search(named, said, re.IGNORECASE | re.DOTALL):
                self._made.discard(offer)
                return offer  # type: ignore[no-any-return]
        return None
