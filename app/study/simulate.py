"""Power: the schedule played many times with assumed effects and judged by the same rules, before any session."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.study.prereg import Hypothesis
from app.study.verdicts import Cell, Design, Outcome, Time, judge
from store.study_bodies import ScheduledRun


@dataclass(frozen=True, slots=True)
class Effects:
    """What is assumed. Means for the baseline, for the Keeper's conditions and (warmth) for a voiced Keeper; ``*_sd``
    is the spread from run to run, ``task_sd`` how much tasks differ, in units of that spread. Minutes spread on the
    logarithm. The first numbers are the paper's predictions with spreads of our own choice."""

    hf: float = 0.65
    hf_keeper: float = 0.88
    hf_sd: float = 0.08
    minutes: float = 10.0
    minutes_keeper: float = 4.0
    minutes_sd: float = 0.4
    never: float = 0.05
    presence: float = 0.75
    presence_keeper: float = 0.9
    presence_sd: float = 0.08
    wwr: float = 2.4
    wwr_keeper: float = 1.8
    wwr_voiced: float = 2.3
    wwr_sd: float = 0.5
    heard: float = 4.2
    heard_sd: float = 0.6
    task_sd: float = 1.0

    def null(self) -> Effects:
        """The same spreads with no effect at all: how often a hypothesis is called held by chance."""
        return replace(
            self,
            hf_keeper=self.hf,
            minutes_keeper=self.minutes,
            presence_keeper=self.presence,
            wwr_keeper=self.wwr,
            wwr_voiced=self.wwr,
            heard=3.0,
        )


@dataclass(frozen=True, slots=True)
class Power:
    """How often, 0 to 1, each verdict was given to a hypothesis over ``rounds`` plays."""

    hypothesis: Hypothesis
    shares: Mapping[Outcome, float]
    rounds: int

    @property
    def error(self) -> float:
        """The standard error of the share of "held"."""
        held = self.shares["held"]
        return math.sqrt(held * (1 - held) / self.rounds)


def simulate(
    design: Design, schedule: tuple[ScheduledRun, ...], effects: Effects, *, rounds: int = 1000, seed: str = "power"
) -> tuple[Power, ...]:
    """Plays ``schedule`` ``rounds`` times. H5 is offline and is not simulated."""
    draw = random.Random(seed)  # noqa: S311 - chance, not secrets
    counts: dict[Hypothesis, dict[Outcome, int]] = {}
    for _ in range(rounds):
        for one in judge(design, _played(design, schedule, effects, draw)):
            if one.hypothesis != "H5":
                tally = counts.setdefault(one.hypothesis, {"held": 0, "did not hold": 0, "not enough runs": 0})
                tally[one.outcome] += 1
    return tuple(
        Power(name, {outcome: count / rounds for outcome, count in tally.items()}, rounds)
        for name, tally in counts.items()
    )


def _played(design: Design, schedule: tuple[ScheduledRun, ...], effects: Effects, draw: random.Random) -> list[Cell]:
    hard = {name: draw.gauss(0, effects.task_sd) for name in dict.fromkeys(run.task for run in schedule)}
    return [_cell(design, run, effects, hard[run.task], draw) for run in schedule]


def _cell(design: Design, run: ScheduledRun, effects: Effects, hard: float, draw: random.Random) -> Cell:
    """One run. A hard task costs fidelity and time in every condition alike."""
    keeper = run.condition in design.keepers
    voiced = run.condition in design.voiced
    minutes = effects.minutes_keeper if keeper else effects.minutes
    log_minutes = math.log(minutes) + effects.minutes_sd * (hard / 2 + draw.gauss(0, 1))
    warm = effects.wwr_voiced if voiced else effects.wwr_keeper if keeper else effects.wwr
    never = draw.random() < effects.never
    return Cell(
        run=run.run,
        task=run.task,
        condition=run.condition,
        hf=_within((effects.hf_keeper if keeper else effects.hf) + effects.hf_sd * (draw.gauss(0, 1) - hard / 2), 0, 1),
        ret=Time(60.0, censored=True) if never else Time(min(60.0, math.exp(log_minutes))),
        presence=_within(
            (effects.presence_keeper if keeper else effects.presence) + effects.presence_sd * draw.gauss(0, 1), 0, 1
        ),
        wwr=float(round(_within(warm + effects.wwr_sd * draw.gauss(0, 1), 0, 3))),
        heard=_within(effects.heard + effects.heard_sd * draw.gauss(0, 1), 1, 5)
        if design.conditions[run.condition].speak
        else None,
        entries=2 if voiced else 0,
        verdicts=0,
    )


def _within(value: float, low: float, high: float) -> float:
    return min(high, max(low, value))
