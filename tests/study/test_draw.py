"""The draw: one schedule a seed, the same everywhere, balanced, and every order as likely."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.study.draw import Draw, schedule

NAMES = st.lists(st.text("abcdefghij", min_size=1, max_size=4), min_size=2, max_size=7, unique=True)


@given(seed=st.text(max_size=20), tasks=NAMES, conditions=NAMES)
def test_each_task_meets_each_condition_once(seed: str, tasks: list[str], conditions: list[str]) -> None:
    drawn = schedule(seed, tasks, conditions)
    assert Counter((run.task, run.condition) for run in drawn) == Counter((t, c) for t in tasks for c in conditions)
    assert len({run.run for run in drawn}) == len(drawn)


@given(seed=st.text(max_size=20), tasks=NAMES, conditions=NAMES)
def test_every_round_holds_each_task_once_so_that_time_does_not_favour_a_condition(
    seed: str, tasks: list[str], conditions: list[str]
) -> None:
    drawn = schedule(seed, tasks, conditions)
    for start in range(0, len(drawn), len(tasks)):
        round_ = drawn[start : start + len(tasks)]
        assert sorted(run.task for run in round_) == sorted(tasks)
        if len(tasks) == len(conditions):
            assert sorted(run.condition for run in round_) == sorted(conditions)


def test_the_successor_always_takes_the_next_task() -> None:
    drawn = schedule("s", ["one", "two", "three"], ["A", "B"])
    assert {(run.task, run.successor) for run in drawn} == {("one", "two"), ("two", "three"), ("three", "one")}


def test_a_seed_gives_the_schedule_that_it_gave_when_this_was_written() -> None:
    drawn = schedule("September 8, 2026", ["kv", "br", "os"], ["A", "B"])
    assert [f"{run.task}{run.condition}" for run in drawn] == GOLDEN


def test_the_schedule_does_not_hang_on_the_hash_seed_of_the_interpreter() -> None:
    code = "from app.study.draw import schedule; print(schedule('x', ['kv', 'br', 'os'], ['A', 'B', 'C']))"
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": given, "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for given in ("0", "1", "77")
    }
    assert len(printed) == 1 and "run-09" in printed.pop()


def test_the_numbers_are_those_that_the_method_describes() -> None:
    word = int.from_bytes(hashlib.sha256(b"two-twins draw 1|s|0").digest()[:8], "big")
    assert Draw("s").below(1000) == word % 1000


def test_all_orders_of_three_come_about_as_often() -> None:
    orders = Counter(tuple(Draw(f"seed {n}").shuffled("abc")) for n in range(6000))
    assert len(orders) == 6 and all(850 < count < 1150 for count in orders.values())


def test_a_seed_can_draw_below_a_number_that_no_power_of_two_divides() -> None:
    draw = Draw("many")
    counts = Counter(draw.below(3) for _ in range(9000))
    assert set(counts) == {0, 1, 2} and all(2800 < count < 3200 for count in counts.values())


@pytest.mark.parametrize(("tasks", "conditions"), [(["a"], ["A", "B"]), (["a", "b"], ["A"]), (["a", "a"], ["A", "B"])])
def test_too_few_or_twice_the_same_is_refused(tasks: list[str], conditions: list[str]) -> None:
    with pytest.raises(ValueError):
        schedule("s", tasks, conditions)


GOLDEN = ["kvA", "brB", "osB", "kvB", "brA", "osA"]
