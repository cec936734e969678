"""The results of a study: outcomes, judgements, stop rules, agreement, deviations; from logs alone, pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from app.measure.cost import Cost, SeatCost
from app.measure.cost import cost as cost_of
from app.study.errors import StudyError
from app.study.items import Answers, RunLogs, items
from app.study.outcomes import RunOutcome, ScorerAgreement, agreement, outcomes
from app.study.runs import run_logs
from app.study.state import StudyState, study_state
from app.study.stop_rules import Ruling, rule_on
from app.study.study import Study
from app.study.terms import Terms, terms_of
from app.study.verdicts import Design, Judgement, judge
from store.bodies import Json, LetterFiled, Notice, SessionResumed
from store.events import Event, plain
from store.study_bodies import StopRuleJudged, StudyAmended


@dataclass(frozen=True)
class Results:
    """All that a study came to. ``deviations`` are sentences: what did not go as registered. ``reader`` is what the
    blind reader cost."""

    lock: str
    file_sha256: str
    locked_at: str
    terms: Terms
    runs: tuple[RunOutcome, ...]
    judgements: tuple[Judgement, ...]
    rulings: tuple[Ruling, ...]
    agreement: tuple[ScorerAgreement, ...]
    amendments: tuple[StudyAmended, ...]
    deviations: tuple[str, ...]
    reader: SeatCost | None

    def numbers(self) -> Json:
        """Every number of the results as JSON: equal results, equal numbers."""
        found: Json = json.loads(
            json.dumps(
                {
                    "lock": self.lock,
                    "runs": [_run_numbers(run) for run in self.runs],
                    "judgements": [plain(one) for one in self.judgements],
                    "stop_rules": [plain(one) for one in self.rulings],
                    "agreement": [plain(one) for one in self.agreement],
                    "deviations": list(self.deviations),
                    "reader": _seat_numbers(self.reader) if self.reader else None,
                }
            ),
            parse_constant=str,  # an interval may be open: JSON has no infinity
        )
        return found


def results(events: tuple[Event, ...], logs: Mapping[str, RunLogs]) -> Results:
    """The results that a study's own log and its runs' logs come to. Raises StudyError when nothing is locked."""
    state = study_state(events)
    if state.locked is None:
        raise StudyError("This study is not locked; there is nothing to report")
    terms = terms_of(state.locked.canonical)
    runs = outcomes(state, terms, logs)
    design = Design(terms.preregistration, terms.conditions)
    cells = [run.cell() for run in runs]
    twins = {run.run: run.fidelity.value for run in runs}
    replays = [(one.model, one.hf, twin) for one in state.offline if (twin := twins.get(one.run)) is not None]
    observed = [one.answer for run in state.runs.values() for one in run.observed.values()]
    return Results(
        lock=state.locked.sha256,
        file_sha256=state.locked.file_sha256,
        locked_at=next(event.at for event in events if event.body is state.locked),
        terms=terms,
        runs=runs,
        judgements=judge(design, cells, replays),
        rulings=rule_on(design, cells, observed),
        agreement=agreement(state),
        amendments=tuple(state.amendments),
        deviations=tuple(_deviations(state, runs, logs)),
        reader=cost_of(events).seats.get("reader"),
    )


def study_logs(study: Study) -> dict[str, RunLogs]:
    """The logs of all runs that are over."""
    return {run.name: run_logs(study, run) for run in study.state.of("over")}


def results_of(study: Study) -> Results:
    """The results as they stand now, the key open or not: who may see them is the caller's affair."""
    from app.study.state import STUDY_LOG

    return results(tuple(study.room.events(STUDY_LOG)), study_logs(study))


def rule_study(study: Study) -> tuple[Ruling, ...]:
    """Judges the stop rules on what is scored so far; a rule that came to another state is an event. All rules as
    they stand. They tell no score and no condition, so that scoring stays blind."""
    if study.state.locked is None:
        return ()
    runs = outcomes(study.state, study.terms, study_logs(study))
    design = Design(study.terms.preregistration, study.terms.conditions)
    observed = [one.answer for run in study.state.runs.values() for one in run.observed.values()]
    found = rule_on(design, [run.cell() for run in runs], observed)
    for ruling in found:
        before = study.state.rules.get(ruling.rule)
        if before is None or (before.state, before.why) != (ruling.state, ruling.why):
            study.append("system", StopRuleJudged(ruling.rule, ruling.state, ruling.why))
    return found


def _deviations(state: StudyState, runs: tuple[RunOutcome, ...], logs: Mapping[str, RunLogs]) -> list[str]:
    said = []
    for run in state.runs.values():
        if run.aborted is not None:
            again = "; its cell was put at the end of the schedule" if run.aborted.repeat else ""
            said.append(f"{run.name} was aborted: {run.aborted.why}{again}.")
    if state.stopped is not None:
        left = [run.name for run in state.of("scheduled")]
        said.append(f"The study was stopped: {state.stopped.why} Not run: {', '.join(left) or 'none'}.")
    for outcome in runs:
        said += _run_deviations(outcome, logs[outcome.run])
    answers = Answers(state.scores)
    unverified = [
        item.id
        for item in items(state)
        if any(score.body.standing == "unverified" for score in answers.of(item.id, "reader").values())
    ]
    if unverified:
        said.append(
            f"{len(unverified)} answers of the reader had no words of the material to stand on; a person answered them."
        )
    return said


def _run_deviations(outcome: RunOutcome, logs: RunLogs) -> list[str]:
    said = []
    found = outcome.ret
    if found.source in ("void", "set"):
        hand = "voided" if found.source == "void" else "set"
        said.append(f"{outcome.run}: the RET was {hand} by hand: {found.reason or 'no reason given'}.")
    elif found.told:
        said.append(f"{outcome.run}: the first action was given away; its RET counts as longer than until then.")
    elif found.source == "censored":
        said.append(f"{outcome.run}: the first right action never came; its RET counts as longer than the session.")
    if not any(isinstance(event.body, LetterFiled) for event in logs["run"]):
        said.append(f"{outcome.run}: its run was closed without letter and handoff, so nothing of P's was handed on.")
    for part, events in logs.items():
        resumed = sum(isinstance(event.body, SessionResumed) for event in events)
        if resumed:
            said.append(f"{outcome.run}: its {part} session was interrupted and taken up {resumed} times.")
        errors = sum(isinstance(event.body, Notice) and event.body.level == "error" for event in events)
        if errors:
            said.append(f"{outcome.run}: its {part} session reported {errors} errors.")
    return said


def _run_numbers(run: RunOutcome) -> dict[str, Json]:
    return {
        "run": run.run,
        "task": run.task,
        "successor": run.successor,
        "condition": run.condition,
        "repeats": run.repeats,
        "sessions": plain(dict(run.sessions)),
        "model": run.model,
        "scripted": run.scripted,
        "ret": plain(run.ret),
        "hf": plain(run.fidelity),
        "hf_by_scorer": {scorer: plain(one) for scorer, one in run.by_scorer.items()},
        "wwr": plain(run.warmth),
        "false_decay": plain(run.false_decay),
        "verdicts": plain(run.verdicts),
        "heard": plain(run.heard),
        "presence_share": plain(run.presence.share),
        "longest_task_run": plain(run.presence.longest_run),
        "cost": {part: _cost_numbers(one) for part, one in run.cost.items()},
    }


def _cost_numbers(found: Cost) -> dict[str, Json]:
    return {"wall_s": found.wall.value, **{seat: _seat_numbers(used) for seat, used in found.seats.items()}}


def _seat_numbers(used: SeatCost) -> dict[str, Json]:
    return {**_plain(used.usage), "usd": _money(used.usd), "calls": used.calls}


def _plain(value: object) -> dict[str, Json]:
    found = plain(value)
    return found if isinstance(found, dict) else {}


def _money(usd: Decimal | None) -> float | None:
    return None if usd is None else float(usd)
