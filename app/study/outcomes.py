"""What each run came to: every measure of it, from its logs and from the scores; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from app.measure.cost import Cost, cost
from app.measure.presence_share import PresenceShare, presence_share
from app.measure.result import EventRef, Measured
from app.measure.ret import Ret, ret
from app.measure.scored import WARMTH_RUBRIC, Scored, false_decay, fidelity, heard, verdict_share
from app.study.errors import StudyError
from app.study.items import Answers, Item, RunLogs, items
from app.study.state import Run, Score, StudyState
from app.study.terms import Terms
from app.study.verdicts import Cell, Time
from store.bodies import SessionOpened
from store.study_bodies import ItemKind, Part, ScorerKind

SCORERS: tuple[ScorerKind, ...] = ("person", "reader", "lexical")


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """All measures of one run. ``model`` sat behind both seats (``scripted``: none did).

    ``fidelity`` and ``warmth`` are those that the verdicts stand on; ``by_scorer`` keeps HF apart for each kind of
    scorer. Presence share is of session N, RET of its successor; cost of both.
    """

    run: str
    task: str
    successor: str
    condition: str
    repeats: str
    sessions: Mapping[Part, str]
    model: str
    scripted: bool
    ret: Ret
    fidelity: Measured
    by_scorer: Mapping[ScorerKind, Measured]
    warmth: Measured
    false_decay: Measured
    verdicts: Measured
    heard: Measured
    presence: PresenceShare
    cost: Mapping[Part, Cost]

    def cell(self) -> Cell:
        """What the hypotheses and stop rules look at."""
        entries = self.verdicts.n if self.verdicts.value is not None else 0
        return Cell(
            run=self.run,
            task=self.task,
            condition=self.condition,
            hf=self.fidelity.value,
            ret=time_of(self.ret),
            presence=self.presence.share.value,
            wwr=self.warmth.value,
            heard=self.heard.value,
            entries=entries,
            verdicts=round((self.verdicts.value or 0) * entries),
        )


def time_of(found: Ret) -> Time | None:
    """The RET in minutes as the study compares it: told is censored at the telling (what came after was no
    re-earning), one that never came at the end of its session, voided is none."""
    if found.told and found.told_after_s is not None and found.source != "set":
        return Time(found.told_after_s / 60, censored=True)
    if found.source == "censored":
        return Time((found.censored_after_s or 0.0) / 60, censored=True)
    if found.seconds.value is None:
        return None
    return Time(found.seconds.value / 60)


def outcomes(state: StudyState, terms: Terms, logs: Mapping[str, RunLogs]) -> tuple[RunOutcome, ...]:
    """The outcome of every run that is over, in the order of the schedule; ``logs`` holds their sessions' events."""
    answers = Answers(state.scores)
    by_run: dict[str, list[Item]] = {}
    for item in items(state):
        by_run.setdefault(item.run, []).append(item)
    return tuple(_outcome(run, by_run.get(run.name, []), answers, terms, logs[run.name]) for run in state.of("over"))


def _outcome(run: Run, found: Sequence[Item], answers: Answers, terms: Terms, logs: RunLogs) -> RunOutcome:
    source = terms.preregistration.scoring.primary

    def primary(kind: ItemKind) -> list[Scored | None]:
        return [_scored(answers.primary(item.id, terms)) for item in found if item.kind == kind]

    def by(scorer: ScorerKind) -> list[Scored | None]:
        return [_scored(answers.settled(item.id, scorer)) for item in found if item.kind == "present"]

    opened = next(event.body for event in logs["run"] if isinstance(event.body, SessionOpened))
    return RunOutcome(
        run=run.name,
        task=run.scheduled.task,
        successor=run.scheduled.successor,
        condition=run.scheduled.condition,
        repeats=run.scheduled.repeats,
        sessions=dict(run.sessions),
        model=opened.model,
        scripted=opened.scripted,
        ret=ret(logs["successor"]),
        fidelity=fidelity(primary("present"), source),
        by_scorer={scorer: fidelity(by(scorer), scorer) for scorer in SCORERS},
        warmth=_warmth(found, answers, terms),
        false_decay=false_decay(primary("needed"), source),
        verdicts=verdict_share(primary("verdict"), source),
        heard=heard([(body.rating, at) for body, at in run.heard.values()], "operator"),
        presence=presence_share(logs["run"]),
        cost={part: cost(events) for part, events in logs.items()},
    )


def _warmth(found: Sequence[Item], answers: Answers, terms: Terms) -> Measured:
    """The mean of the primary scorers' warmth: several persons may have read."""
    item = next(item for item in found if item.kind == "warmth")
    settled = answers.primary(item.id, terms)
    if settled is None:
        return Measured("wwr", None, "rubric 0-3", 0, terms.preregistration.scoring.primary, WARMTH_RUBRIC)
    alike = [one for one in answers.of(item.id, settled.body.scorer).values() if one.body.standing == "ok"]
    value = fmean(int(one.body.answer) for one in alike)
    events: tuple[EventRef, ...] = tuple(one.event for one in alike)
    return Measured("wwr", value, "rubric 0-3", len(alike), settled.body.scorer, WARMTH_RUBRIC, events)


def _scored(score: Score | None) -> Scored | None:
    return Scored(score.body.answer, score.event) if score else None


# ---------------------------------------------------------------- agreement


@dataclass(frozen=True, slots=True)
class ScorerAgreement:
    """Krippendorff's alpha of all scorers on one kind of item (ordinal for warmth, else nominal; "cannot tell" is no
    answer). ``alpha`` None: ``why`` says why there is none."""

    kind: ItemKind
    scorers: tuple[str, ...]
    items: int
    alpha: float | None
    why: str = ""


def agreement(state: StudyState) -> tuple[ScorerAgreement, ...]:
    """How scorers agree, for each kind of item that has been scored at all. Raises StudyError when the library that
    reckons alpha is not installed and there is something to reckon."""
    found = items(state)
    kinds: tuple[ItemKind, ...] = ("present", "warmth", "needed", "verdict")
    return tuple(
        one
        for kind in kinds
        if (one := _agreement(kind, [item.id for item in found if item.kind == kind], state.scores)) is not None
    )


def _agreement(kind: ItemKind, ids: Sequence[str], scores: Sequence[Score]) -> ScorerAgreement | None:
    table: dict[str, dict[str, float]] = {}
    values = {"y": 1.0, "n": 0.0, "0": 0.0, "1": 1.0, "2": 2.0, "3": 3.0}
    wanted = set(ids)
    for score in scores:
        body = score.body
        if body.item in wanted and body.standing == "ok" and body.answer in values:
            table.setdefault(f"{body.scorer} {body.name}", {})[body.item] = values[body.answer]
    if not table:
        return None
    names = tuple(sorted(table))
    shared = [one for one in ids if sum(one in row for row in table.values()) > 1]
    if not shared:
        return ScorerAgreement(kind, names, 0, None, "no item has two scorers")
    rows = [[table[name].get(one, float("nan")) for one in shared] for name in names]
    if len({value for row in rows for value in row if value == value}) < 2:
        return ScorerAgreement(kind, names, len(shared), None, "all gave the same answer to every item")
    try:
        import krippendorff
    except ImportError as error:
        raise StudyError(
            "Krippendorff's alpha needs the study's extra packages: pip install 'two-twins[study]'"
        ) from error
    level: Literal["ordinal", "nominal"] = "ordinal" if kind == "warmth" else "nominal"
    alpha = float(krippendorff.alpha(reliability_data=rows, level_of_measurement=level))
    return ScorerAgreement(kind, names, len(shared), alpha)
