"""The meter bar shows both seats' tokens, money and times at every width."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import get_args

import pytest
from panel_samples import HOSTILE, HOSTILE_SHOWN, READING, OneWidget, controls_in, rows_on_screen

from store.bodies import KeeperStanding
from store.readings import LiveReading, SeatReading, TurnReading
from widgets.meters import MeterBar

WIDTHS = (80, 120, 200)


def shown(reading: LiveReading, width: int = 120) -> tuple[str, str]:
    first, second = MeterBar.rows(reading, width - 2)
    return first.plain, second.plain


@pytest.mark.parametrize("width", WIDTHS)
def test_tokens_money_times_wall_and_lag_stand_at_every_width(width: int) -> None:
    presence, keeper = (" ".join(row.split()) for row in shown(READING, width))
    for words in ("P in 5.5k", "cached 118k", "out 3.2k", "$0.1234", "first 0.82s", "turn 14.2s"):
        assert words in presence
    for words in ("K in 1.5k", "cached 18k", "out 420", "$0.0134", "1 ", "behind", "11% of P", "wall 12:04"):
        assert words in keeper


def test_input_counts_what_was_written_to_the_cache_and_not_what_was_read_from_it() -> None:
    presence, _ = shown(READING, 200)
    assert " ".join(presence.split()).startswith("P in 5.5k to cache 3.1k cached 118k")


@pytest.mark.parametrize("width", WIDTHS)
def test_the_columns_of_both_seats_stand_under_each_other(width: int) -> None:
    presence, keeper = shown(READING, width)
    for word in ("cached", "out", "$"):
        assert presence.index(word) == keeper.index(word)


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_moves_sideways_while_the_numbers_grow(width: int) -> None:
    places = set()
    for step in range(1, 200, 3):
        usage = replace(READING.presence.usage, output=step * 431, input=step * 977, cache_read=step * 4_999)
        reading = replace(
            READING,
            presence=SeatReading(usage, Decimal(step) / 200, step),
            ttft_ms=step * 40.0,
            turn_ms=step * 450.0,
            wall_s=step * 15.0,
        )
        presence, keeper = shown(reading, width)
        places.add((presence.index("out"), presence.index("first"), presence.index("turn"), keeper.index("wall")))
    assert len(places) == 1


def test_a_seat_without_a_known_price_shows_a_dash_and_no_share() -> None:
    free = replace(READING, presence=replace(READING.presence, usd=None), keeper=replace(READING.keeper, usd=None))
    presence, keeper = shown(free)
    assert "$" not in presence + keeper and "–" in presence and "of P" not in keeper


def test_every_keeper_standing_reads_differently_without_colour() -> None:
    rows = {shown(replace(READING, keeper_standing=standing))[1] for standing in get_args(KeeperStanding)}
    assert len(rows) == len(get_args(KeeperStanding))


def test_why_the_keeper_is_paused_is_said_where_there_is_room() -> None:
    reading = replace(READING, keeper_standing="paused", keeper_reason="budget of $5 spent")
    assert "budget of $5 spent" in shown(reading, 200)[1]
    assert "paused" in shown(reading, 80)[1]


def test_sparklines_of_turn_time_and_money_stand_in_a_wide_bar() -> None:
    recent = tuple(TurnReading(float(ms), Decimal(ms) / 1000) for ms in (1, 2, 4, 8))
    presence, _ = shown(replace(READING, recent=recent), 200)
    assert "turns ▂▃▅█" in presence and "money ▂▃▅█" in presence


def test_a_context_without_a_known_window_is_a_number_and_no_gauge() -> None:
    presence, _ = shown(replace(READING, context_window=0))
    assert "context 61k" in presence and "━" not in presence


def test_a_reason_from_outside_is_shown_as_typed_and_without_controls() -> None:
    _, keeper = shown(replace(READING, keeper_standing="failed", keeper_reason=HOSTILE), 300)
    assert HOSTILE_SHOWN in keeper and not controls_in(keeper)


async def test_the_meter_bar_draws_what_its_rows_say() -> None:
    meters = MeterBar()
    async with OneWidget(meters).run_test(size=(80, 4)) as pilot:
        meters.reading = READING
        await pilot.pause()
        assert rows_on_screen(pilot.app)[:2] == [f" {row.rstrip()}" for row in shown(READING, 80)]
