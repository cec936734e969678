"""Verdicts and stop rules on cells written by hand: signs, censoring, too few, and what each rule fires on."""

from __future__ import annotations

import random
import tomllib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.study.prereg import Preregistration, Preset, draft
from app.study.stop_rules import rule_on
from app.study.verdicts import Cell, Design, Judgement, Time, judge, median_time, slower
from store.conditions import load_conditions

TIMES = st.builds(Time, st.floats(0, 60), st.booleans())


def design(preset: Preset = "first-pass", **changes: Any) -> Design:
    read = Preregistration.model_validate(tomllib.loads(draft(preset, "s", "Ada")))
    return Design(read.model_copy(update=changes), load_conditions())


def cells(conditions: str = "AB", tasks: int = 3, **values: dict[str, Any]) -> list[Cell]:
    """One cell for each task and condition; each value is given by condition, or by condition and task."""
    found = []
    for task in range(tasks):
        for condition in conditions:
            given = {}
            for name, by_condition in values.items():
                value = by_condition.get(condition)
                given[name] = value[task] if isinstance(value, list) else value
            found.append(Cell(f"run-{len(found) + 1:02d}", f"t{task}", condition, **given))
    return found


def of(found: tuple[Judgement, ...], name: str) -> Judgement:
    return next(one for one in found if one.hypothesis == name)


def test_a_clear_rise_holds_and_a_rise_short_of_the_predicted_number_does_not() -> None:
    high = of(judge(design(), cells(hf={"A": 0.6, "B": [0.9, 0.86, 0.95]})), "H1")
    short = of(judge(design(), cells(hf={"A": 0.6, "B": [0.7, 0.8, 0.75]})), "H1")
    assert high.outcome == "held" and high.p == pytest.approx(1 / 8)
    assert short.outcome == "did not hold" and "predicted number is not reached" in short.why


def test_one_task_against_the_others_is_no_rise() -> None:
    mixed = of(judge(design(), cells(hf={"A": [0.6, 0.6, 0.9], "B": [0.9, 0.9, 0.86]})), "H1")
    assert mixed.outcome == "did not hold" and mixed.p is not None and mixed.p > 0.125


def test_a_fall_is_never_called_held() -> None:
    found = judge(design(), cells(hf={"A": 0.9, "B": 0.6}, presence={"A": 0.9, "B": 0.5}, wwr={"A": 1, "B": 3}))
    assert [of(found, name).outcome for name in ("H1", "H3", "H4")] == ["did not hold"] * 3


def test_two_tasks_or_a_stricter_alpha_are_not_enough_runs() -> None:
    few = of(judge(design(), cells(tasks=2, hf={"A": 0.6, "B": 0.9})), "H1")
    strict = of(judge(design(alpha=0.05), cells(hf={"A": 0.6, "B": 0.9})), "H1")
    assert few.outcome == strict.outcome == "not enough runs"
    assert "0.125" in strict.why


def test_a_run_without_a_value_is_left_out_with_its_task() -> None:
    found = of(judge(design(), cells(hf={"A": 0.6, "B": [0.9, 0.9, None]})), "H1")
    assert found.n == 2 and found.outcome == "not enough runs"


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_verdict_does_not_depend_on_the_order_in_which_runs_came(one: float, two: float) -> None:
    found = cells(hf={"A": [one, 0.5, 0.6], "B": [two, 0.9, 0.8]}, ret={"A": Time(9), "B": Time(3 + two)})
    shuffled = random.Random(3).sample(found, len(found))
    outcomes = [[(one.hypothesis, one.outcome, one.n) for one in judge(design(), given)] for given in (found, shuffled)]
    assert outcomes[0] == outcomes[1]


# ---------------------------------------------------------------- times


def test_times_only_known_to_be_longer_count_as_far_as_they_are_known() -> None:
    never = Time(30, censored=True)
    found = of(judge(design(), cells(ret={"A": [Time(9), Time(11), never], "B": Time(3)})), "H2")
    assert found.outcome == "held" and found.measured == 3 and found.baseline == 11
    assert found.difference is None and found.interval is not None and found.interval.low == float("-inf")


def test_a_keeper_run_that_never_came_is_not_dropped() -> None:
    never = Time(30, censored=True)
    found = of(judge(design(), cells(ret={"A": Time(10), "B": [Time(3), Time(3), never]})), "H2")
    assert found.n == 3 and found.outcome == "did not hold"


def test_told_early_says_nothing_about_who_was_slower() -> None:
    assert slower(Time(1, censored=True), Time(5)) == 0
    assert slower(Time(5, censored=True), Time(5)) == 1


@given(TIMES, TIMES)
def test_slower_is_the_reverse_the_other_way_round(one: Time, two: Time) -> None:
    assert slower(one, two) == -slower(two, one)


@given(st.lists(st.floats(0, 60), min_size=1, max_size=9))
def test_without_censoring_the_median_is_the_lower_one_of_the_middle(minutes: list[float]) -> None:
    assert median_time([Time(one) for one in minutes]) == sorted(minutes)[(len(minutes) - 1) // 2]


@given(st.lists(TIMES, min_size=1, max_size=8))
def test_censoring_never_makes_a_median_shorter(times: list[Time]) -> None:
    all_known = median_time([Time(one.minutes) for one in times])
    some = median_time(times)
    assert some is None or (all_known is not None and some >= all_known)


# ---------------------------------------------------------------- H5 and H6


def test_small_models_are_judged_by_their_share_of_the_twins_fidelity() -> None:
    good = [("small", 0.8, 0.9), ("small", 0.75, 0.9), ("small", 0.9, 1.0)]
    assert of(judge(design(), [], good), "H5").outcome == "held"
    bad = [(name, hf / 2, twin) for name, hf, twin in good]
    assert of(judge(design(), [], bad), "H5").outcome == "did not hold"
    assert of(judge(design(), [], good[:2]), "H5").outcome == "not enough runs"


def test_heard_needs_ratings_and_entries_that_verdicts_do_not_dominate() -> None:
    rated = [Cell(f"r{n}", f"t{n}", "D", heard=4.5, entries=2, verdicts=1) for n in range(3)]
    assert of(judge(design("full"), rated), "H6").outcome == "held"
    assert of(judge(design("full"), [replace(one, verdicts=2) for one in rated]), "H6").outcome == "did not hold"
    assert of(judge(design("full"), [replace(one, heard=2.0) for one in rated]), "H6").outcome == "did not hold"
    assert of(judge(design("full"), rated[:2]), "H6").outcome == "not enough runs"


# ---------------------------------------------------------------- stop rules


def states(found: list[Cell], *observed: Any, preset: Preset = "first-pass") -> dict[str, str]:
    return {one.rule: one.state for one in rule_on(design(preset), found, observed)}


@pytest.mark.parametrize(
    ("keeper", "state"),
    [
        ([0.6, 0.5, 0.9], "fired"),
        ([0.6, 0.9, 0.9], "quiet"),
        ([0.5, 0.5, None], "fired"),
        ([0.9, 0.9, None], "waiting"),
    ],
)
def test_fidelity_stops_the_study_on_two_of_three_tasks_and_as_soon_as_that_is_known(
    keeper: list[float | None], state: str
) -> None:
    assert states(cells(hf={"A": 0.6, "B": keeper}))["fidelity"] == state


@pytest.mark.parametrize(
    ("keeper", "state"),
    [([3, 3, 3], "quiet"), ([10, 10, 10], "fired"), ([20, 20, 3], "fired"), ([3, 3, None], "waiting")],
)
def test_time_that_does_not_fall_stops_the_study(keeper: list[float | None], state: str) -> None:
    times = [None if one is None else Time(one) for one in keeper]
    assert states(cells(ret={"A": Time(10), "B": times}))["time"] == state


def test_warmth_stops_the_study_only_when_a_voice_in_the_snug_does_not_recover_it() -> None:
    def with_voice(voiced: float | None, mechanical: float = 1.0) -> str:
        warm = {"A": 2.0, "B": mechanical, "C": mechanical, "D": mechanical, "E": voiced}
        return states(cells("ABCDE", tasks=5, wwr=warm), preset="full")["warmth"]

    assert (with_voice(1.0), with_voice(2.0), with_voice(None), with_voice(1.0, 2.5)) == (
        "fired", "quiet", "waiting", "quiet",
    )  # fmt: skip
    assert states(cells(wwr={"A": 2.0, "B": 1.0}))["warmth"] == "waiting"


def test_one_letter_that_says_worse_is_enough() -> None:
    assert states([], "no", "worse")["observed"] == "fired"
    assert states([], "no", "better")["observed"] == "quiet"
    assert states([])["observed"] == "waiting"
