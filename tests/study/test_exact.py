"""Exact tests and intervals, held against plain enumeration and against what they promise."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.study.exact import Bounds, interval, tail

CHOICES = st.lists(st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=4), min_size=1, max_size=5)


@given(choices=CHOICES, pick=st.randoms(use_true_random=False))
def test_the_tail_is_the_share_of_all_choices_counted_one_by_one(
    choices: list[list[float]], pick: random.Random
) -> None:
    found = [pick.choice(options) for options in choices]
    every = list(itertools.product(*choices))
    wanted = sum(sum(one) >= sum(found) for one in every) / len(every)
    assert tail(choices, found) == pytest.approx(wanted)


@given(choices=CHOICES, pick=st.randoms(use_true_random=False))
def test_what_was_found_is_one_of_the_choices_so_p_is_never_nought(
    choices: list[list[float]], pick: random.Random
) -> None:
    assert tail(choices, [pick.choice(options) for options in choices]) > 0


def test_the_best_of_five_tasks_with_five_runs_is_one_in_3125() -> None:
    assert tail([[0.1, 0.2, 0.3, 0.4, 0.7]] * 5, [0.7] * 5) == pytest.approx(1 / 3125)


def test_sums_that_differ_only_by_rounding_count_as_equal() -> None:
    assert tail([[0.1, 0.3], [0.2, 0.0]], [0.1, 0.2]) == pytest.approx(0.75)


def test_the_interval_covers_the_centre_as_often_as_it_says() -> None:
    draw = random.Random(8)
    for n in (3, 5, 7):
        hits, rounds = 0, 3000
        for _ in range(rounds):
            found = interval([Bounds(value, value) for value in (draw.gauss(1.5, 1) for _ in range(n))])
            assert found is not None
            hits += found.low <= 1.5 <= found.high
        assert hits / rounds == pytest.approx(found.coverage, abs=0.03)


def test_three_tasks_give_an_interval_from_the_smallest_to_the_largest_difference() -> None:
    found = interval([Bounds(1, 1), Bounds(2, 2), Bounds(4, 4)])
    assert found is not None and (found.low, found.high, found.coverage) == (1, 4, 0.75)


def test_a_censored_difference_only_widens_the_interval() -> None:
    exact = interval([Bounds(-3, -3), Bounds(-2, -2), Bounds(-4, -4)])
    bounded = interval([Bounds(-3, -3), Bounds(-math.inf, -2), Bounds(-4, -4)])
    assert exact is not None and bounded is not None
    assert bounded.low == -math.inf and bounded.high == exact.high


def test_nothing_measured_gives_no_interval() -> None:
    assert interval([]) is None
