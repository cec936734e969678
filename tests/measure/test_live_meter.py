"""The live meter: it says at every event what the pure measures say of the whole log."""

from __future__ import annotations

from decimal import Decimal

import pytest
from builders import CONDITION_A, RIGHT, WRONG, Tape
from hypothesis import given
from hypothesis import strategies as st

from app.measure.cost import cost
from app.measure.live import LiveMeter
from app.measure.ret import ret
from store.bodies import (
    KeeperState,
    LetterFiled,
    OperatorQueued,
    OperatorUnqueued,
    RetMarked,
    SessionClosed,
    ToolAnswered,
    ToolAsked,
    TurnEnded,
    Usage,
    WakePacket,
)
from store.readings import LiveReading


class Watched:
    """A tape with a meter that has seen all of it."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.meter = LiveMeter()
        self.seen = 0

    def read(self) -> LiveReading:
        for event in self.tape.events[self.seen :]:
            self.meter.apply(event)
        self.seen = len(self.tape.events)
        return self.meter.read(self.tape.clock.mono(), self.tape.clock.now())


def test_before_any_event_it_reads_a_waking_session() -> None:
    tape = Tape()
    reading = LiveMeter(read_only=True).read(tape.clock.mono(), tape.clock.now())
    assert reading.state == "waking" and reading.read_only


def test_the_state_follows_presence_through_a_turn() -> None:
    tape = Tape()
    watched = Watched(tape)
    states = [watched.read().state]
    tape.add(WakePacket("B", "packet", (), "0" * 64), by="system")
    states.append(watched.read().state)
    tape.said("Go.")
    tape.sent()
    states.append(watched.read().state)
    tape.token()
    states.append(watched.read().state)
    tape.answered()
    tape.called("t1", WRONG)
    states.append(watched.read().state)
    tape.add(ToolAsked("t1", "bash", "…"), by="system")
    states.append(watched.read().state)
    tape.add(ToolAnswered("t1", "bash", "allow", "once"), by="operator")
    states.append(watched.read().state)
    tape.ended("t1")
    states.append(watched.read().state)
    tape.handed_back()
    states.append(watched.read().state)
    tape.sent(purpose="letter")
    tape.token()
    states.append(watched.read().state)
    tape.add(LetterFiled("letter", "a-letter.md", "Dear next", "0" * 64, False))
    tape.add(SessionClosed("done"), by="operator")
    states.append(watched.read().state)
    assert states == [
        "waking", "ready", "waiting", "streaming", "tool", "asking", "tool", "waiting", "ready", "closing", "closed",
    ]  # fmt: skip


def test_a_failed_turn_shows_until_the_operator_speaks() -> None:
    tape = Tape().begun()
    watched = Watched(tape)
    tape.add(TurnEnded("failed", "the endpoint is down"), by="system")
    assert watched.read().state == "failed"
    tape.said("Again.")
    assert watched.read().state == "waiting"


def test_the_ret_clock_runs_on_between_events_and_stops_at_the_action() -> None:
    tape = Tape()
    watched = Watched(tape)
    assert (watched.read().ret.state, watched.read().ret.seconds) == ("waiting", None)
    tape.begun().after(3)
    reading = watched.read()
    assert reading.ret.state == "running" and reading.ret.seconds == pytest.approx(3)
    tape.after(1).called("t1", RIGHT)
    tape.after(50)
    reading = watched.read()
    assert reading.ret.state == "stopped" and reading.ret.seconds == pytest.approx(4)
    tape.add(RetMarked("void", "why"), by="operator")
    assert watched.read().ret.state == "void"


def test_told_shows_as_soon_as_it_was_given_away() -> None:
    tape = Tape().begun("Run output_test on the north.")
    assert Watched(tape).read().ret.state == "told"


def test_the_turns_own_times_are_those_of_the_running_turn_or_else_the_last() -> None:
    tape = Tape().begun()
    watched = Watched(tape)
    tape.after(3)
    assert watched.read().turn_ms == pytest.approx(5000)
    tape.answered()
    tape.handed_back()
    tape.after(60)
    reading = watched.read()
    assert reading.turn_ms == pytest.approx(5000) and reading.ttft_ms == 800.0
    tape.said("More.")
    reading = watched.read()
    assert reading.ttft_ms is None and reading.turn_ms == 0 and reading.turn == 2


def test_each_ended_turn_leaves_its_length_and_its_money() -> None:
    tape = Tape()
    for usd, seconds in (("0.02", 3), (None, 4)):
        tape.said("Go.")
        tape.sent()
        tape.after(seconds).answered(usd=usd)
        tape.handed_back()
    recent = Watched(tape).read().recent
    assert [(turn.ms, turn.usd) for turn in recent] == [(pytest.approx(3000), Decimal("0.02")), (4000, None)]


def test_cache_share_and_context_are_those_of_presences_last_prompt() -> None:
    tape = Tape().begun()
    tape.answered(usage=Usage(10, 0, 90, 5))
    tape.sent("keeper")
    tape.answered(seat="keeper", usage=Usage(500, 0, 0, 5))
    tape.sent()
    tape.answered(usage=Usage(20, 60, 0, 5))
    reading = Watched(tape).read()
    assert reading.cache_share == pytest.approx(0.75) and reading.context_tokens == 80


def test_queued_messages_are_counted_until_taken_back_or_sent() -> None:
    tape = Tape().begun()
    watched = Watched(tape)
    for key, text in (("a", "first"), ("b", "second"), ("c", "third")):
        tape.add(OperatorQueued(key, text), by="operator")
    assert watched.read().queued == 3
    tape.add(OperatorUnqueued("b"), by="operator")
    tape.handed_back()
    tape.said("first\n\nthird")
    assert watched.read().queued == 0


def test_the_keepers_standing_is_shown_and_absent_without_one() -> None:
    assert Watched(Tape(condition=CONDITION_A)).read().keeper_standing == "absent"
    tape = Tape()
    tape.add(KeeperState("paused", 3, "budget"), by="system")
    reading = Watched(tape).read()
    assert (reading.keeper_standing, reading.behind, reading.keeper_reason) == ("paused", 3, "budget")


def test_events_of_other_logs_are_passed_over() -> None:
    tape = Tape().begun()
    watched = Watched(tape)
    before = watched.read()
    tape.add(SessionClosed("another session"), by="system", log="desk")
    assert watched.read() == before


def test_a_closed_session_stands_still() -> None:
    tape = Tape().begun()
    tape.after(5).add(SessionClosed("done"), by="operator")
    watched = Watched(tape)
    first = watched.read()
    tape.after(100)
    assert watched.read() == first and first.wall_s == pytest.approx(7)


STEPS = st.sampled_from(["said", "sent", "token", "answered", "wrong", "right", "deny", "back", "keeper", "cut"])


@given(st.lists(st.tuples(STEPS, st.floats(0, 50)), max_size=25))
def test_at_every_event_it_agrees_with_the_measures_of_the_log_so_far(steps: list[tuple[str, float]]) -> None:
    tape = Tape()
    watched = Watched(tape)
    for index, (what, seconds) in enumerate(steps):
        tape.after(seconds)
        match what:
            case "said":
                tape.said("Go on.")
            case "sent":
                tape.sent()
            case "token":
                tape.token()
            case "answered":
                tape.answered(message_id=f"msg_{index}")
            case "wrong":
                tape.called(f"t{index}", WRONG)
            case "right":
                tape.called(f"t{index}", RIGHT)
                tape.ended(f"t{index}")
            case "deny":
                tape.called(f"t{index}", RIGHT)
                tape.ended(f"t{index}", "denied")
            case "back":
                tape.handed_back()
            case "keeper":
                tape.sent("keeper")
                tape.answered(seat="keeper", message_id=f"msg_{index}")
            case "cut":
                tape.cut(usage=Usage(1, 2, 3, 4), usd="0.001")
        reading = watched.read()
        whole, money = ret(tape.events), cost(tape.events)
        if whole.source == "clock":
            assert reading.ret.seconds == pytest.approx(whole.seconds.value, abs=1e-3)
        for seat, shown in (("presence", reading.presence), ("keeper", reading.keeper)):
            if seat in money.seats:
                expected = money.seats[seat]
                assert (shown.usage, shown.usd, shown.calls) == (expected.usage, expected.usd, expected.calls)
        assert reading.wall_s == pytest.approx(money.wall.value, abs=1e-3)
