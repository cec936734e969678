"""Cost: every response counted once, money only where every price is known, time without the gaps."""

from __future__ import annotations

from decimal import Decimal

import pytest
from builders import Tape
from hypothesis import given
from hypothesis import strategies as st

from app.measure.cost import cost
from store.bodies import SessionClosed, SessionResumed, Usage

tokens = st.integers(0, 1_000_000)
usages = st.builds(Usage, tokens, tokens, tokens, tokens)


@given(st.lists(st.tuples(usages, st.integers(1, 4)), max_size=8))
def test_usage_that_is_repeated_with_every_block_of_a_response_counts_once(
    responses: list[tuple[Usage, int]],
) -> None:
    tape = Tape()
    for index, (usage, times) in enumerate(responses):
        tape.sent()
        for _ in range(times):
            tape.answered(usage=usage, usd="0.5", message_id=f"msg_{index}")
    found = cost(tape.events).seats
    if responses:
        assert found["presence"].usage == sum((usage for usage, _ in responses), Usage())
        assert found["presence"].usd == Decimal("0.5") * len(responses)
        assert found["presence"].calls == len(responses)
    else:
        assert found == {}


def test_the_last_report_of_a_response_holds() -> None:
    tape = Tape()
    tape.sent()
    tape.answered(usage=Usage(10, 0, 0, 1), usd="0.1", message_id="msg_a")
    tape.answered(usage=Usage(10, 0, 0, 40), usd="0.4", message_id="msg_a")
    seat = cost(tape.events).seats["presence"]
    assert seat.usage == Usage(10, 0, 0, 40) and seat.usd == Decimal("0.4") and seat.calls == 1


def test_one_response_without_a_price_leaves_the_seats_money_unknown() -> None:
    tape = Tape()
    tape.sent()
    tape.answered(usd="0.25")
    tape.sent("keeper")
    tape.answered(seat="keeper", usd=None)
    tape.sent()
    tape.answered(usd=None)
    seats = cost(tape.events).seats
    assert seats["presence"].usd is None and seats["presence"].unpriced == 1
    assert seats["keeper"].usd is None


def test_a_cut_answer_is_counted_with_what_it_used_and_apart() -> None:
    tape = Tape()
    tape.sent()
    tape.token(650.0)
    tape.cut(usage=Usage(100, 0, 0, 7), usd="0.002")
    tape.sent()
    tape.answered(usd="0.01")
    seat = cost(tape.events).seats["presence"]
    assert seat.calls == 2 and seat.cut == 1
    assert seat.usd == Decimal("0.012")
    assert seat.ttft_ms == (650.0, 800.0)


def test_a_cut_answer_of_which_nothing_is_known_does_not_hide_the_money() -> None:
    tape = Tape()
    tape.sent()
    tape.cut()
    tape.sent()
    tape.answered(usd="0.01")
    assert cost(tape.events).seats["presence"].usd == Decimal("0.01")


@pytest.mark.parametrize("text", ["NaN", "Infinity", "a lot"])
def test_what_is_no_amount_of_money_is_refused(text: str) -> None:
    tape = Tape()
    tape.sent()
    tape.answered(usd=text)
    with pytest.raises(ValueError, match="no amount of money"):
        cost(tape.events)


def test_wall_time_leaves_out_the_gap_of_a_crash_and_stops_at_the_close() -> None:
    tape = Tape()
    tape.after(20).said("Go.")
    tape.after(500).add(SessionResumed("nothing"), by="system")
    last = tape.after(5).add(SessionClosed("done"), by="operator")
    tape.after(100).said("(an event behind the close)")
    wall = cost(tape.events).wall
    assert wall.value == pytest.approx(25) and wall.unit == "s"
    assert wall.events[-1].n == last.n
