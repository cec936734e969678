"""RET: when it starts, what stops it, who gave it away, and what is said when it never comes."""

from __future__ import annotations

import pytest
from builders import RIGHT, TASK, WRONG, Tape
from hypothesis import given
from hypothesis import strategies as st

from app.measure.ret import Ret, RetClock, ret
from store.bodies import (
    RetMarked,
    SessionClosed,
    SessionResumed,
    TailMoved,
    ToolAnswered,
    ToolAsked,
)


def of(tape: Tape) -> Ret:
    return ret(tape.events)


def test_runs_from_the_first_token_to_the_first_right_action() -> None:
    tape = Tape().after(30).begun()
    start = tape.events[-1]
    tape.after(41.5)
    action = tape.called("t1", RIGHT)
    tape.after(9).ended("t1")
    found = of(tape)
    assert found.source == "clock" and not found.told
    assert found.seconds.value == pytest.approx(41.5)
    assert found.seconds.unit == "s" and found.seconds.n == 1
    assert [at.n for at in found.seconds.events] == [start.n, action.n]


def test_the_wrong_region_first_does_not_stop_it() -> None:
    tape = Tape().begun().after(5)
    tape.called("t1", WRONG)
    tape.ended("t1")
    tape.after(5).called("t2", RIGHT)
    assert of(tape).seconds.value == pytest.approx(10)


def test_the_right_words_to_another_tool_do_not_stop_it() -> None:
    tape = Tape().begun()
    tape.after(5).called("t1", RIGHT, name="write")
    assert of(tape).source == "censored"


@pytest.mark.parametrize(
    "command",
    [
        "python output_test.py --region=NO",
        "python   output_test.py  --region 'NO'",
        'cd finder && python output_test.py --region="NO" 2>&1 | tail -3',
        "python output_test.py \\\n  --region NO",
        "ls; PYTHON OUTPUT_TEST.PY --region no",
    ],
)
def test_another_spelling_of_the_same_arguments_stops_it(command: str) -> None:
    tape = Tape().begun().after(3)
    tape.called("t1", {"command": command})
    assert of(tape).seconds.value == pytest.approx(3)


@pytest.mark.parametrize(
    "command",
    [
        'echo "python output_test.py --region NO"',
        "# python output_test.py --region NO",
        'echo "; python output_test.py --region NO"',
        'echo ";" python output_test.py --region NO',
        "cat output_test.py",
    ],
)
def test_a_command_that_is_only_mentioned_does_not_stop_it(command: str) -> None:
    tape = Tape().begun().after(3)
    tape.called("t1", {"command": command})
    assert of(tape).source == "censored"


def test_a_denied_action_was_not_run_and_the_next_one_counts() -> None:
    tape = Tape().begun().after(4)
    tape.called("t1", RIGHT)
    tape.add(ToolAsked("t1", "bash", "python output_test.py --region NO"), by="system")
    tape.after(6).add(ToolAnswered("t1", "bash", "deny", "once", word="not yet"), by="operator")
    tape.ended("t1", "denied")
    tape.after(10).called("t2", RIGHT)
    assert of(tape).seconds.value == pytest.approx(20)


def test_an_action_that_failed_was_still_the_right_one() -> None:
    tape = Tape().begun().after(4)
    tape.called("t1", RIGHT)
    tape.after(1).ended("t1", "error")
    tape.after(5).called("t2", RIGHT)
    assert of(tape).seconds.value == pytest.approx(4)


def test_it_is_told_when_the_operator_gives_it_away_before_the_action() -> None:
    tape = Tape().begun()
    tape.after(10).handed_back()
    tape.after(5).said("Try output_test on the north.")
    tape.after(3).called("t1", RIGHT)
    found = of(tape)
    assert found.told and found.source == "clock"
    assert found.told_after_s == pytest.approx(15)
    assert found.seconds.value == pytest.approx(18)


def test_it_is_told_when_the_first_message_gives_it_away() -> None:
    tape = Tape().begun("Run OUTPUT_TEST first.").after(3)
    tape.called("t1", RIGHT)
    found = of(tape)
    assert found.told and found.told_after_s == 0


def test_it_is_told_when_a_denial_gives_it_away() -> None:
    tape = Tape().begun().after(3)
    tape.called("t1", WRONG)
    tape.add(ToolAnswered("t1", "bash", "deny", "once", word="output_test --region NO, please"), by="operator")
    tape.ended("t1", "denied")
    tape.after(1).called("t2", RIGHT)
    assert of(tape).told


def test_words_after_the_action_give_nothing_away() -> None:
    tape = Tape().begun().after(3)
    tape.called("t1", RIGHT)
    tape.ended("t1")
    tape.handed_back()
    tape.said("Good, output_test was right.")
    assert not of(tape).told


def test_time_spent_waiting_for_the_operator_is_reported_apart() -> None:
    tape = Tape().begun()
    tape.after(10).handed_back()
    tape.after(60).said("Go on.")
    tape.after(5).called("t1", WRONG)
    tape.add(ToolAsked("t1", "bash", "…"), by="system")
    tape.after(7).add(ToolAnswered("t1", "bash", "allow", "once"), by="operator")
    tape.after(2).ended("t1")
    tape.after(1).called("t2", RIGHT)
    tape.add(ToolAsked("t2", "bash", "…"), by="system")
    tape.after(500).add(ToolAnswered("t2", "bash", "allow", "once"), by="operator")
    found = of(tape)
    assert found.seconds.value == pytest.approx(85)
    assert found.waiting.value == pytest.approx(67)


def test_time_between_a_crash_and_the_resume_is_left_out() -> None:
    tape = Tape().begun()
    tape.after(10).cut("I was about")
    tape.after(3600)
    tape.add(TailMoved(12, "events.torn-1.jsonl"), by="system")
    tape.after(1).add(SessionResumed("partial text"), by="system")
    tape.after(4).said("Go on.")
    tape.after(2).called("t1", RIGHT)
    assert of(tape).seconds.value == pytest.approx(16)


def test_a_monotonic_clock_that_began_again_does_not_make_it_negative() -> None:
    tape = Tape().begun().after(10)
    tape.handed_back()
    tape.clock.advance(-1000)
    tape.add(SessionResumed("nothing"), by="system")
    tape.said("Go on.")
    tape.after(5).called("t1", RIGHT)
    assert of(tape).seconds.value == pytest.approx(15)


def test_an_action_without_a_token_before_it_starts_and_stops_the_clock_at_once() -> None:
    tape = Tape().after(3)
    tape.said("Go.")
    tape.called("t1", RIGHT)
    tape.after(4).token()
    assert of(tape).seconds.value == 0


def test_without_a_first_token_in_the_log_the_start_is_reckoned_from_the_answer() -> None:
    tape = Tape()
    tape.said("Go.")
    tape.sent()
    tape.after(2).answered(ttft_ms=500.0)  # it took 2 s in all, so its first token came 1.5 s before
    tape.after(3).called("t1", RIGHT)
    assert of(tape).seconds.value == pytest.approx(4.5)


def test_a_session_in_which_it_never_comes_is_censored_and_not_dropped() -> None:
    tape = Tape().begun()
    tape.after(100).add(SessionClosed("the operator closed it"), by="operator")
    found = of(tape)
    assert found.source == "censored" and found.seconds.value is None and found.seconds.n == 0
    assert found.censored_after_s == pytest.approx(100)
    assert found.seconds.events


def test_the_operator_sets_voids_and_restores_it_with_a_reason() -> None:
    tape = Tape().begun().after(5)
    tape.called("t1", RIGHT)
    tape.add(RetMarked("set", "the test was run by hand before", 2.5), by="operator")
    found = of(tape)
    assert (found.source, found.seconds.value) == ("set", 2.5)
    assert found.seconds.source == "operator" and found.reason == "the test was run by hand before"
    tape.add(RetMarked("void", "the network was down"), by="operator")
    found = of(tape)
    assert (found.source, found.seconds.value, found.seconds.n) == ("void", None, 0)
    tape.add(RetMarked("restore", "it was up after all"), by="operator")
    found = of(tape)
    assert found.source == "clock" and found.seconds.value == pytest.approx(5)


def test_set_without_seconds_means_the_moment_of_the_mark() -> None:
    tape = Tape().begun()
    tape.after(8).add(RetMarked("set", "this was it"), by="operator")
    assert of(tape).seconds.value == pytest.approx(8)


def test_without_a_task_there_is_none() -> None:
    tape = Tape(task=None).begun()
    tape.called("t1", RIGHT)
    found = of(tape)
    assert found.source == "none" and found.seconds.value is None


def test_the_keepers_own_tokens_do_not_start_it() -> None:
    tape = Tape()
    tape.said("Go.")
    tape.sent("keeper")
    tape.token(seat="keeper")
    tape.after(20)
    tape.sent()
    tape.token()
    tape.after(3).called("t1", RIGHT)
    assert of(tape).seconds.value == pytest.approx(3)


@given(
    steps=st.lists(st.tuples(st.floats(0, 100), st.sampled_from("wdbs")), max_size=12),
    last=st.floats(0, 100),
)
def test_whatever_happens_before_the_action_ret_is_the_time_that_passed(
    steps: list[tuple[float, str]], last: float
) -> None:
    tape = Tape(task=TASK).begun()
    for index, (seconds, what) in enumerate(steps):
        tape.after(seconds)
        if what == "w":
            tape.called(f"w{index}", WRONG)
            tape.ended(f"w{index}", "error")
        elif what == "d":
            tape.called(f"d{index}", RIGHT)
            tape.ended(f"d{index}", "denied")
        elif what == "b":
            tape.handed_back()
        else:
            tape.said("Go on.")
    tape.after(last).called("right", RIGHT)
    found = of(tape)
    assert found.seconds.value == pytest.approx(sum(seconds for seconds, _ in steps) + last, abs=1e-3)
    assert found.waiting.value is not None and 0 <= found.waiting.value <= found.seconds.value


def test_the_clock_stands_still_in_a_closed_session_and_says_that_it_did_not_come() -> None:
    tape = Tape().begun()
    tape.after(100).add(SessionClosed("the operator closed it"), by="operator")
    clock = RetClock()
    for event in tape.events:
        clock.apply(event)
    reading = clock.read(5_000.0)
    assert reading.state == "missed" and reading.seconds == pytest.approx(100)
