"""Exact statistics for few runs: permutation tests within tasks, and intervals from subset means."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

_EQUAL = 1e-9
"""Sums that differ by less are the same sum in another order of adding."""
INTERVAL_METHOD = (
    "From the means of all subsets of the task differences (Hartigan 1969): between the k-th smallest and the k-th "
    "largest of the 2^n - 1 means lies the centre of symmetric differences with probability 1 - 2k/2^n; k is the "
    "largest that keeps 95 %, and 1 where no k does, so that few tasks give a wide interval of less coverage."
)
P_METHOD = (
    "Exact: conditions were drawn within each task, so each task's baseline run may have been any of its runs; the "
    "share of all such choices whose statistic is at least as far in the predicted direction as the one found."
)


def tail(choices: Sequence[Sequence[float]], found: Sequence[float]) -> float:
    """The share of all ways to choose one number from each of ``choices`` whose sum is at least that of ``found``.

    Every way is counted, by halves, so that five tasks with five runs each, or twelve with five, take no time.
    """
    if len(choices) != len(found):
        raise ValueError("one number is found for each choice")
    if not choices:
        return 1.0
    middle = len(choices) // 2
    left, right = _sums(choices[:middle]), sorted(_sums(choices[middle:]))
    wanted = math.fsum(found) - _EQUAL
    at_least = sum(len(right) - bisect_left(right, wanted - part) for part in left)
    return at_least / (len(left) * len(right))


def _sums(choices: Sequence[Sequence[float]]) -> list[float]:
    sums = [0.0]
    for options in choices:
        sums = [so_far + option for so_far in sums for option in options]
    return sums


@dataclass(frozen=True, slots=True)
class Interval:
    """From ``low`` to ``high`` (infinite where a value is only bounded), with the share of repetitions of the study in
    which such an interval holds the true value."""

    low: float
    high: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Bounds:
    """A difference known exactly (``low`` equals ``high``) or only within bounds, as where a time is censored."""

    low: float
    high: float


def interval(differences: Sequence[Bounds], least: float = 0.95) -> Interval | None:
    """The interval of the centre of ``differences``, one for each task; None without any. See INTERVAL_METHOD.

    What is only bounded counts with its lower bound below and its upper bound above: the interval can only be wider.
    """
    count = len(differences)
    if not count:
        return None
    if count > 16:
        raise ValueError("all subsets of more than 16 tasks are too many to go through")
    lows = _subset_means([one.low for one in differences])
    highs = _subset_means([one.high for one in differences])
    total = 2**count
    k = max(1, math.floor((1 - least) * total / 2 + _EQUAL))
    return Interval(lows[k - 1], highs[-k], 1 - 2 * k / total)


def _subset_means(values: Sequence[float]) -> list[float]:
    return sorted(sum(subset) / size for size in range(1, len(values) + 1) for subset in combinations(values, size))
