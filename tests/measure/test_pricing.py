"""Prices: cached tokens cost what they cost, and an unknown model costs nothing that we know of."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal

from genai_prices.data import providers

from app.session.pricing import usd
from store.bodies import Usage

AT = datetime(2026, 11, 30, tzinfo=UTC)


def test_each_kind_of_token_has_its_own_rate() -> None:
    anthropic = next(provider for provider in providers if provider.id == "anthropic")
    rate = next(model for model in anthropic.models if model.id == "claude-opus-4-5").get_prices(AT)
    rates = (rate.input_mtok, rate.cache_read_mtok, rate.cache_write_mtok, rate.output_mtok)
    assert len({*rates}) == 4  # no two alike, or the test could not tell them apart
    expected = sum(
        Decimal(count) * per_million / 1_000_000
        for count, per_million in zip((1000, 2000, 3000, 400), rates, strict=True)
    )
    assert usd(Usage(1000, 2000, 3000, 400), "claude-opus-4-5", AT) == expected


def test_a_cache_write_for_an_hour_costs_more_than_for_five_minutes() -> None:
    used = Usage(0, 0, 1_000_000, 0)
    short, hour = usd(used, "claude-opus-4-5", AT), usd(used, "claude-opus-4-5", AT, cache_ttl="1h")
    assert short is not None and hour is not None and hour > short


def test_an_unknown_or_local_model_has_no_price() -> None:
    assert usd(Usage(10, 0, 0, 10), "smol", AT) is None
    assert usd(Usage(10, 0, 0, 10), "llama-3.3-70b", AT) is None


def test_the_price_table_is_not_loaded_before_it_is_asked() -> None:
    code = "import sys, app.session.pricing; sys.exit('genai_prices' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
