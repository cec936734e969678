"""A study as its log comes to it: the lock, the amendments, each run, every score; a pure fold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from app.measure.result import EventRef, ref
from store.events import Event
from store.standing import LogName
from store.study_bodies import (
    ChecklistWritten,
    HeardRated,
    ItemScored,
    KeyOpened,
    ObservedAsked,
    OfflineScored,
    Part,
    ResultsWritten,
    RunAborted,
    RunBegan,
    RunOver,
    RunSession,
    RunSessionOver,
    ScheduledRun,
    StopRuleJudged,
    StudyAmended,
    StudyLocked,
    StudyStopped,
)

STUDY_LOG = LogName("study")
"""The standing log of a room's study."""

RunStanding = Literal["scheduled", "running", "over", "aborted"]


@dataclass(slots=True)
class Run:
    """One run as far as it has come."""

    scheduled: ScheduledRun
    began: bool = False
    sessions: dict[Part, str] = field(default_factory=dict)
    closed: dict[Part, RunSessionOver] = field(default_factory=dict)
    over: RunOver | None = None
    aborted: RunAborted | None = None
    checklist: ChecklistWritten | None = None
    heard: dict[Part, tuple[HeardRated, EventRef]] = field(default_factory=dict)
    observed: dict[Part, ObservedAsked] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.scheduled.run

    @property
    def standing(self) -> RunStanding:
        if self.aborted is not None:
            return "aborted"
        if self.over is not None:
            return "over"
        return "running" if self.began else "scheduled"


@dataclass(frozen=True, slots=True)
class Score:
    """One score with the event it is."""

    body: ItemScored
    event: EventRef


@dataclass(slots=True)
class StudyState:
    """All that the study's log says. ``runs`` are in the order of the schedule, repeats at its end."""

    locked: StudyLocked | None = None
    amendments: list[StudyAmended] = field(default_factory=list)
    runs: dict[str, Run] = field(default_factory=dict)
    scores: list[Score] = field(default_factory=list)
    rules: dict[str, StopRuleJudged] = field(default_factory=dict)
    offline: list[OfflineScored] = field(default_factory=list)
    stopped: StudyStopped | None = None
    key_opened: bool = False
    results: list[ResultsWritten] = field(default_factory=list)

    def apply(self, event: Event) -> None:
        """Take one event of the study's log in, in its order."""
        body = event.body
        match body:
            case StudyLocked():
                self.locked = body
                self.runs = {one.run: Run(one) for one in body.schedule}
            case StudyAmended():
                self.amendments.append(body)
            case RunBegan():
                self.runs[body.run].began = True
            case RunSession():
                self.runs[body.run].sessions[body.part] = body.session
            case RunSessionOver():
                self.runs[body.run].closed[body.part] = body
            case RunOver():
                self.runs[body.run].over = body
            case RunAborted():
                self._abort(body)
            case ChecklistWritten():
                self.runs[body.run].checklist = body
            case ItemScored():
                self.scores.append(Score(body, ref(event)))
            case HeardRated():
                self.runs[body.run].heard[body.part] = (body, ref(event))
            case ObservedAsked():
                self.runs[body.run].observed[body.part] = body
            case StopRuleJudged():
                self.rules[body.rule] = body
            case OfflineScored():
                self.offline.append(body)
            case StudyStopped():
                self.stopped = body
            case KeyOpened():
                self.key_opened = True
            case ResultsWritten():
                self.results.append(body)
            case _:
                pass

    def _abort(self, body: RunAborted) -> None:
        run = self.runs[body.run]
        run.aborted = body
        if body.repeat:
            cell = run.scheduled
            name = f"run-{len(self.runs) + 1:02d}"
            again = ScheduledRun(name, cell.task, cell.successor, cell.condition, repeats=cell.run)
            self.runs[name] = Run(again)

    def of(self, standing: RunStanding) -> Iterator[Run]:
        """The runs that stand so."""
        return (run for run in self.runs.values() if run.standing == standing)

    @property
    def complete(self) -> bool:
        """Whether no run is left to play: all are over or aborted, or the study was stopped and none is under way."""
        left = ("running",) if self.stopped else ("running", "scheduled")
        return not any(run.standing in left for run in self.runs.values())


def study_state(events: Iterable[Event]) -> StudyState:
    """The state that the events of a study's log come to."""
    state = StudyState()
    for event in events:
        state.apply(event)
    return state
