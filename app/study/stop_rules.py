"""The paper's stop rules (§5.5), judged from the same cells as the hypotheses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from app.study.prereg import RuleName
from app.study.verdicts import LEAST_TASKS, Cell, Design, slower_than_others, task_runs, time_in
from store.study_bodies import Observed, RuleState


@dataclass(frozen=True, slots=True)
class Ruling:
    """Where a stop rule stands and why."""

    rule: RuleName
    state: RuleState
    why: str


def rule_on(design: Design, cells: Sequence[Cell], observed: Sequence[Observed]) -> tuple[Ruling, ...]:
    """The paper's four stop rules (§5.5), as far as the runs go."""
    return (
        _fidelity_rule(design, cells),
        _time_rule(design, cells),
        _warmth_rule(design, cells),
        _observed_rule(observed),
    )


def _fidelity_rule(design: Design, cells: Sequence[Cell]) -> Ruling:
    rule = design.preregistration.stop_rules["fidelity"]
    bad_at, of = rule.tasks or 2, rule.of or LEAST_TASKS
    tasks = task_runs(cells, design.preregistration.baseline, design.keepers, lambda cell: cell.hf is not None)
    bad = [
        task.base.task
        for task in tasks
        if fmean(cell.hf for cell in task.others if cell.hf is not None) <= (task.base.hf or 0.0) + 1e-12
    ]
    said = f"at or below the baseline on {len(bad)} of {len(tasks)} tasks"
    if len(bad) >= bad_at and len(bad) * of >= bad_at * len(tasks):
        return Ruling("fidelity", "fired", f"the Keeper's fidelity is {said}")
    if len(tasks) < of:
        return Ruling("fidelity", "waiting", f"{said}; the rule looks at {of}")
    return Ruling("fidelity", "quiet", f"the Keeper's fidelity is {said}")


def _time_rule(design: Design, cells: Sequence[Cell]) -> Ruling:
    of = design.preregistration.stop_rules["time"].of or LEAST_TASKS
    tasks = task_runs(cells, design.preregistration.baseline, design.keepers, lambda cell: cell.ret is not None)
    if len(tasks) < of:
        return Ruling("time", "waiting", f"{len(tasks)} tasks have both times; the rule looks at {of}")
    falls = math.fsum(slower_than_others([time_in(cell) for cell in (task.base, *task.others)])[0] for task in tasks)
    if falls <= 1e-12:
        return Ruling("time", "fired", "with the Keeper re-earning takes no less time than with letters alone")
    return Ruling("time", "quiet", "with the Keeper re-earning takes less time than with letters alone")


def _warmth_rule(design: Design, cells: Sequence[Cell]) -> Ruling:
    base = design.preregistration.baseline
    tasks = task_runs(cells, base, design.mechanical, lambda cell: cell.wwr is not None)
    if len(tasks) < LEAST_TASKS:
        return Ruling("warmth", "waiting", f"{len(tasks)} tasks have both scores; the rule looks at {LEAST_TASKS}")
    falls = fmean(_mean_wwr(task.others) - _mean_wwr((task.base,)) for task in tasks) < -1e-12
    if not falls:
        return Ruling("warmth", "quiet", "warmth does not fall with a Keeper")
    if not design.voiced:
        return Ruling("warmth", "waiting", "warmth falls; whether a voice in the snug recovers it is not in this study")
    voiced = task_runs(cells, base, design.voiced, lambda cell: cell.wwr is not None)
    if len(voiced) < LEAST_TASKS:
        return Ruling("warmth", "waiting", f"warmth falls; {len(voiced)} tasks have a score under a voiced Keeper")
    if fmean(_mean_wwr(task.others) - _mean_wwr((task.base,)) for task in voiced) < -1e-12:
        return Ruling("warmth", "fired", "warmth falls, and a Keeper with a voice in the snug does not recover it")
    return Ruling("warmth", "quiet", "warmth falls, and a Keeper with a voice in the snug recovers it")


def _mean_wwr(cells: Sequence[Cell]) -> float:
    return fmean(cell.wwr for cell in cells if cell.wwr is not None)


def _observed_rule(observed: Sequence[Observed]) -> Ruling:
    worse = sum(one == "worse" for one in observed)
    if worse:
        return Ruling("observed", "fired", f"{worse} of {len(observed)} letters say that being observed made it worse")
    if not observed:
        return Ruling("observed", "waiting", "no letter has been read for it yet")
    return Ruling("observed", "quiet", f"none of {len(observed)} letters says that being observed made it worse")
