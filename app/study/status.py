"""How a study stands: as tables for a terminal and as JSON; nothing by condition before the key is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from app.study.items import Answers, items, unscored
from app.study.paper import number
from app.study.results import results_of, rule_study
from app.study.state import Run
from app.study.stop_rules import Ruling, rule_on
from app.study.study import Study
from app.study.verdicts import Design
from store.bodies import Json
from store.events import plain
from store.study_bodies import Part
from store.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARKS = {"scheduled": "○", "running": "◐", "over": "●", "aborted": "✕"}
_RULES = {"quiet": "○ quiet", "waiting": "… waiting", "fired": "■ FIRED"}


def rulings_of(study: Study) -> tuple[Ruling, ...]:
    """The stop rules as they stand: judged anew where the room can be written, else as last judged."""
    if study.state.locked is None:
        return ()
    if not study.room.read_only:
        return rule_study(study)
    if study.state.rules:
        return tuple(Ruling(one.rule, one.state, one.why) for one in study.state.rules.values())  # type: ignore[arg-type]
    return rule_on(Design(study.terms.preregistration, study.terms.conditions), (), ())


def fired(rulings: tuple[Ruling, ...]) -> bool:
    """Whether a stop rule has fired."""
    return any(one.state == "fired" for one in rulings)


def status_json(study: Study, rulings: tuple[Ruling, ...]) -> dict[str, Json]:
    """The study as one JSON object with its ``runs``."""
    state = study.state
    opened = state.key_opened
    left = {item.id for item in unscored(state, study.terms)} if state.locked else set()
    found = items(state)
    document: dict[str, Json] = {
        "lock": state.locked.sha256 if state.locked else None,
        "key_opened": opened,
        "stopped": state.stopped.why if state.stopped else None,
        "amendments": [{"number": one.number, "why": one.why} for one in state.amendments],
        "runs": [
            {
                "run": run.name,
                "task": run.scheduled.task,
                "successor": run.scheduled.successor,
                **({"condition": run.scheduled.condition} if opened else {}),
                "repeats": run.scheduled.repeats,
                "standing": run.standing,
                "sessions": plain(dict(run.sessions)),
                "aborted": run.aborted.why if run.aborted else None,
                "items": sum(item.run == run.name for item in found),
                "unscored": sum(item.run == run.name and item.id in left for item in found),
            }
            for run in state.runs.values()
        ],
        "stop_rules": [plain(one) for one in rulings],
        "open_questions": len(list(open_questions(study))),
    }
    if opened:
        document["judgements"] = [plain(one) for one in results_of(study).judgements]
    return document


def status_tables(study: Study, rulings: tuple[Ruling, ...]) -> RenderableType:
    """The study for a terminal."""
    state = study.state
    if state.locked is None:
        return Text(f"Not locked yet. Look through {study.file}, then: twins study lock")
    parts: list[RenderableType] = [
        Text.assemble(("Lock ", "bold"), state.locked.sha256, f", {len(state.amendments)} amendments")
    ]
    parts.append(_runs_table(study))
    rules = Table("stop rule", "state", "why", box=None, pad_edge=False)
    for ruling in rulings:
        style = "bold red" if ruling.state == "fired" else ""
        rules.add_row(ruling.rule, Text(_RULES[ruling.state], style), Text(ruling.why))
    parts += [Text(), rules]
    if state.key_opened:
        parts += [Text(), _judgements(study)]
    count = len(list(open_questions(study)))
    if count:
        # Which runs they are about would tell a scorer which of them were both-talk.
        parts += [Text(), Text(f"{count} questions for the operator are open: twins study questions")]
    parts += [Text(), Text(_next_step(study), "bold")]
    return Group(*parts)


def _runs_table(study: Study) -> Table:
    state = study.state
    table = Table(box=None, pad_edge=False)
    for head in ("run", "task", "successor", *(("condition",) if state.key_opened else ()), "standing", "scored"):
        table.add_column(head)
    left = {item.id for item in unscored(state, study.terms)}
    found = items(state)
    for run in state.runs.values():
        mine = [item.id for item in found if item.run == run.name]
        scored = f"{sum(one not in left for one in mine)} of {len(mine)}" if mine else ""
        if run.standing == "over" and run.checklist is None:
            scored = "no checklist yet"
        standing = f"{_MARKS[run.standing]} {run.standing}"
        if run.aborted is not None:
            standing += f": {clean(run.aborted.why)}"
        cells = [run.name, clean(run.scheduled.task), clean(run.scheduled.successor)]
        cells += [run.scheduled.condition] if state.key_opened else []
        table.add_row(*(Text(cell) for cell in (*cells, standing, scored)))
    return table


def _judgements(study: Study) -> Table:
    table = Table("", "predicted", "baseline", "measured", "p", "n", "verdict", box=None, pad_edge=False)
    for one in results_of(study).judgements:
        cells = (
            one.hypothesis,
            number(one.predicted),
            number(one.baseline),
            number(one.measured),
            number(one.p, places=4),
            str(one.n),
            one.outcome,
        )
        table.add_row(*(Text(cell) for cell in cells))
    return table


def open_questions(study: Study) -> Iterator[tuple[str, str]]:
    """What the operator is still to be asked after sessions: run and question. It tells which runs were both-talk, to
    the one who was there; it is not for scorers."""
    for run in study.state.runs.values():
        for part in run.closed:
            if part not in run.observed:
                yield (
                    run.name,
                    f"did P's letter ({part}) say that being observed changed its work? (twins study observed)",
                )
            if asks_heard(study, run, part):
                yield run.name, f"how was the {part} session, 1 to 5? (twins study heard)"


def asks_heard(study: Study, run: Run, part: Part) -> bool:
    """Whether the H6 question is open for a session: both talked, it is closed and not rated."""
    condition = study.terms.conditions[run.scheduled.condition]
    return condition.speak and part in run.closed and part not in run.heard


def _next_step(study: Study) -> str:
    state = study.state
    if state.key_opened:
        return "Next: twins study report"
    if not state.complete:
        return "Next: twins study next"
    if any(run.checklist is None for run in state.of("over")):
        return "Next: twins score reader"
    left = len(unscored(state, study.terms))
    if left:
        by_reader = sum(not Answers(state.scores).of(item.id, "reader") for item in unscored(state, study.terms))
        return f"Next: twins score reader ({by_reader} unread), twins score ({left} unscored)"
    return "Next: twins score reveal"
