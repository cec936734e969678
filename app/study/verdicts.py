"""The hypotheses, judged from one cell a run; the simulation judges its invented cells with the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal

from app.study.exact import Bounds, Interval, interval, tail
from app.study.prereg import Hypothesis, Preregistration
from store.bodies import ConditionRecord

Outcome = Literal["held", "did not hold", "not enough runs"]
LEAST_TASKS = 3
"""Tasks that a verdict needs at the least (the paper's first pass has three)."""
LEAST_SESSIONS = 3
"""Both-talk sessions that H6 needs at the least (our choice)."""


@dataclass(frozen=True, slots=True)
class Time:
    """Minutes until the first right action; ``censored``: only known to be longer."""

    minutes: float
    censored: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """One run in numbers; None where there is no value. ``heard`` is the mean rating of its both-talk sessions."""

    run: str
    task: str
    condition: str
    hf: float | None = None
    ret: Time | None = None
    presence: float | None = None
    wwr: float | None = None
    heard: float | None = None
    entries: int = 0
    verdicts: int = 0


@dataclass(frozen=True, slots=True)
class Judgement:
    """One hypothesis: what was predicted, what the baseline and the Keeper came to, and the verdict with its reason.

    ``difference`` is the Keeper's less the baseline's, the mean over tasks; ``n`` counts tasks (ratings for H6,
    models for H5), ``runs`` the runs that went in.
    """

    hypothesis: Hypothesis
    predicted: float | None
    unit: str
    baseline: float | None
    measured: float | None
    difference: float | None
    n: int
    runs: int
    interval: Interval | None
    p: float | None
    outcome: Outcome
    why: str


@dataclass(frozen=True)
class Design:
    """What of the terms the judging needs."""

    preregistration: Preregistration
    conditions: Mapping[str, ConditionRecord]
    keepers: tuple[str, ...] = field(init=False)
    mechanical: tuple[str, ...] = field(init=False)
    voiced: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        others = [name for name in self.preregistration.conditions if name != self.preregistration.baseline]
        snug = {name for name in others if self.conditions[name].write_snug}
        object.__setattr__(self, "keepers", tuple(others))
        object.__setattr__(self, "mechanical", tuple(name for name in others if name not in snug))
        object.__setattr__(self, "voiced", tuple(name for name in others if name in snug))


@dataclass(frozen=True, slots=True)
class TaskRuns:
    """The runs of one task that have a value: the baseline's, and those it is compared with."""

    base: Cell
    others: tuple[Cell, ...]


def task_runs(cells: Sequence[Cell], base: str, others: Sequence[str], has: Callable[[Cell], bool]) -> list[TaskRuns]:
    names = dict.fromkeys(cell.task for cell in cells)
    found = []
    for name in names:
        mine = [cell for cell in cells if cell.task == name and has(cell)]
        first = next((cell for cell in mine if cell.condition == base), None)
        rest = tuple(cell for cell in mine if cell.condition in others)
        if first is not None and rest:
            found.append(TaskRuns(first, rest))
    return found


def judge(
    design: Design, cells: Sequence[Cell], offline: Sequence[tuple[str, float, float]] = ()
) -> tuple[Judgement, ...]:
    """H1 to H6. ``offline`` holds replays of recorded runs (H5): the model, its HF, the twin's HF of that run."""
    return (
        _mean_judged(design, cells, "H1", design.keepers, lambda cell: cell.hf, higher=True),
        _time_judged(design, cells),
        _mean_judged(design, cells, "H3", design.keepers, lambda cell: cell.presence, higher=True),
        _mean_judged(design, cells, "H4", design.mechanical, lambda cell: cell.wwr, higher=False),
        _offline_judged(design, offline),
        _heard_judged(design, cells),
    )


def _mean_judged(
    design: Design,
    cells: Sequence[Cell],
    name: Hypothesis,
    others: Sequence[str],
    value: Callable[[Cell], float | None],
    *,
    higher: bool,
) -> Judgement:
    """A hypothesis on a mean: the Keeper's runs of a task against its baseline run, over tasks."""
    claim = design.preregistration.hypotheses[name]
    sign = 1 if higher else -1

    def of(cell: Cell) -> float:
        found = value(cell)
        return found if found is not None else math.nan

    tasks = task_runs(cells, design.preregistration.baseline, others, lambda cell: value(cell) is not None)
    if not tasks:
        return _nothing(design, name, "no task has both a baseline and a Keeper run with a value")
    differences = [fmean(map(of, task.others)) - of(task.base) for task in tasks]
    choices = [_as_baseline([of(task.base), *map(of, task.others)], sign) for task in tasks]
    p = tail(choices, [one[0] for one in choices])
    measured = fmean(fmean(map(of, task.others)) for task in tasks)
    difference = fmean(differences)
    reaches = sign * difference > 0 and (claim.predicted is None or measured >= claim.predicted)
    outcome, why = _called(design, p, choices, len(tasks), reaches, rises=sign * difference > 0)
    return Judgement(
        name,
        claim.predicted,
        claim.unit,
        fmean(of(task.base) for task in tasks),
        measured,
        difference,
        len(tasks),
        sum(1 + len(task.others) for task in tasks),
        interval([Bounds(one, one) for one in differences]),
        p,
        outcome,
        why,
    )


def _as_baseline(values: Sequence[float], sign: int) -> list[float]:
    """For each run of a task: how far the others lie in the predicted direction if it were the baseline."""
    total, count = math.fsum(values), len(values)
    return [sign * ((total - value) / (count - 1) - value) for value in values]


def _time_judged(design: Design, cells: Sequence[Cell]) -> Judgement:
    """H2, on order rather than on means, because some times are only known to be longer (Gehan's comparison)."""
    claim = design.preregistration.hypotheses["H2"]
    tasks = task_runs(cells, design.preregistration.baseline, design.keepers, lambda cell: cell.ret is not None)
    if not tasks:
        return _nothing(design, "H2", "no task has both a baseline and a Keeper run with a time")
    choices = [slower_than_others([time_in(cell) for cell in (task.base, *task.others)]) for task in tasks]
    p = tail(choices, [one[0] for one in choices])
    differences = [_time_difference(task) for task in tasks]
    measured = median_time([time_in(cell) for task in tasks for cell in task.others])
    baseline = median_time([time_in(task.base) for task in tasks])
    falls = math.fsum(one[0] for one in choices) > 0
    reaches = falls and measured is not None and claim.predicted is not None and measured <= claim.predicted
    outcome, why = _called(design, p, choices, len(tasks), reaches, rises=falls)
    exact = all(one.low == one.high for one in differences)
    return Judgement(
        "H2",
        claim.predicted,
        claim.unit,
        baseline,
        measured,
        fmean(one.low for one in differences) if exact else None,
        len(tasks),
        sum(1 + len(task.others) for task in tasks),
        interval(differences),
        p,
        outcome,
        why,
    )


def time_in(cell: Cell) -> Time:
    if cell.ret is None:
        raise ValueError(f"{cell.run} has no time")
    return cell.ret


def slower(one: Time, two: Time) -> int:
    """1 when ``one`` is known to be the slower, -1 when ``two`` is, 0 when that cannot be told."""
    if not two.censored and (one.minutes > two.minutes or (one.censored and one.minutes >= two.minutes)):
        return 1
    if not one.censored and (two.minutes > one.minutes or (two.censored and two.minutes >= one.minutes)):
        return -1
    return 0


def slower_than_others(times: Sequence[Time]) -> list[float]:
    """For each run of a task: how much of the others it is slower than, less how much it is faster than."""
    return [
        fmean(slower(time, other) for place, other in enumerate(times) if place != here)
        for here, time in enumerate(times)
    ]


def _time_difference(task: TaskRuns) -> Bounds:
    def high(time: Time) -> float:
        return math.inf if time.censored else time.minutes

    base = time_in(task.base)
    others = [time_in(cell) for cell in task.others]
    low = fmean(time.minutes for time in others) - high(base)
    return Bounds(low, fmean(map(high, others)) - base.minutes)


def median_time(times: Sequence[Time]) -> float | None:
    """The median in minutes by the product-limit estimate; None when more than half are only known to be longer."""
    alive, left = 1.0, len(times)
    for time in sorted(times, key=lambda one: (one.minutes, one.censored)):
        if not time.censored:
            alive *= (left - 1) / left
            if alive <= 0.5 + 1e-9:
                return time.minutes
        left -= 1
    return None


def _offline_judged(design: Design, offline: Sequence[tuple[str, float, float]]) -> Judgement:
    claim = design.preregistration.hypotheses["H5"]
    models = dict.fromkeys(model for model, _, _ in offline)
    if not models:
        return _nothing(design, "H5", "no recorded run was replayed through another Keeper (twins study offline)")
    shares = {model: [hf / twin for name, hf, twin in offline if name == model and twin > 0] for model in models}
    best = max(models, key=lambda model: fmean(shares[model]) if shares[model] else 0.0)
    values = shares[best]
    reaches = bool(values) and claim.predicted is not None and fmean(values) >= claim.predicted
    enough = len(values) >= LEAST_TASKS
    outcome: Outcome = "not enough runs" if not enough else "held" if reaches else "did not hold"
    return Judgement(
        "H5",
        claim.predicted,
        claim.unit,
        None,
        fmean(values) if values else None,
        None,
        len(models),
        len(values),
        interval([Bounds(one, one) for one in values[:16]]),
        None,
        outcome,
        f"best model: {best}, {len(values)} recorded runs; no test, only the predicted share",
    )


def _heard_judged(design: Design, cells: Sequence[Cell]) -> Judgement:
    claim = design.preregistration.hypotheses["H6"]
    ratings = [cell.heard for cell in cells if cell.heard is not None]
    entries = sum(cell.entries for cell in cells)
    verdicts = sum(cell.verdicts for cell in cells)
    if not ratings:
        return _nothing(design, "H6", "no both-talk session was rated (twins study heard)")
    measured = fmean(ratings)
    dominated = entries > 0 and verdicts * 2 > entries
    reaches = claim.predicted is not None and measured >= claim.predicted and not dominated
    enough = len(ratings) >= LEAST_SESSIONS
    outcome: Outcome = "not enough runs" if not enough else "held" if reaches else "did not hold"
    said = f"{verdicts} of {entries} entries of the Keeper are verdicts" if entries else "the Keeper wrote no entries"
    return Judgement(
        "H6",
        claim.predicted,
        claim.unit,
        None,
        measured,
        None,
        len(ratings),
        len(ratings),
        interval([Bounds(one, one) for one in ratings[:16]]),
        None,
        outcome,
        f"{said}; exploratory, no test",
    )


def _called(
    design: Design, p: float, choices: Sequence[Sequence[float]], tasks: int, reaches: bool, *, rises: bool
) -> tuple[Outcome, str]:
    alpha = design.preregistration.alpha
    least = 1 / math.prod(len(options) for options in choices)
    if tasks < LEAST_TASKS:
        return "not enough runs", f"{tasks} of the {LEAST_TASKS} tasks that a verdict needs have both values"
    if least > alpha + 1e-12:
        return "not enough runs", f"so few runs cannot give a p below {least:.3f}, and the locked alpha is {alpha:g}"
    if p <= alpha + 1e-12 and reaches:
        return "held", f"the p of {p:.4f} is within the locked alpha {alpha:g}, and what was predicted is reached"
    if p <= alpha + 1e-12:
        return "did not hold", "the direction is as predicted, but the predicted number is not reached"
    direction = "in the predicted direction but" if rises else "against the predicted direction, and"
    return "did not hold", f"the difference lies {direction} its p of {p:.4f} is beyond the locked alpha {alpha:g}"


def _nothing(design: Design, name: Hypothesis, why: str) -> Judgement:
    claim = design.preregistration.hypotheses[name]
    return Judgement(name, claim.predicted, claim.unit, None, None, None, 0, 0, None, None, "not enough runs", why)
