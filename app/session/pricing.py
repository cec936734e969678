"""What a response costs in US dollars, by the dated and tiered prices of genai-prices."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Literal

from store.bodies import Usage

CacheTtl = Literal["5m", "1h"]


def usd(usage: Usage, model: str, at: datetime, cache_ttl: CacheTtl = "5m") -> Decimal | None:
    """The price of one response in US dollars, None when the price table does not know ``model``.

    Only the model's own provider is asked: the same weights behind another host cost something else, and a model on
    the operator's own machine must not be given a price by a likeness of names. ``at`` (aware, UTC) picks the rate
    that held then; ``cache_ttl`` is the life asked for what was written to the prompt cache, since an hour costs more
    to write than five minutes. Source: https://github.com/pydantic/genai-prices
    """
    # Imported here because it takes about 0.15 s, which belongs behind the first paint.
    import genai_prices

    tokens = genai_prices.Usage(
        # The table's `input_tokens` is the whole prompt, of which cache reads and writes are parts.
        input_tokens=usage.prompt,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        output_tokens=usage.output,
        **({"cache_write_1h_tokens": usage.cache_write} if cache_ttl == "1h" else {}),
    )
    try:
        found = genai_prices.calc_price(tokens, model, provider_id="anthropic", genai_request_timestamp=at)
    except LookupError:
        return None
    return found.total_price
