"""The runs of a study: what comes next, its room and workspace made ready, played, and settled into the record."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.headless import Print, run_turns
from app.measure.scored import decayed_to_cold
from app.session.endpoint import Endpoint
from app.session.opening import Opened, open_session, resume_session
from app.session.policy import Approve
from app.study.errors import StudyError
from app.study.state import Run
from app.study.study import Study
from app.study.terms import StudyTask
from store.bodies import ConditionRecord, JournalWritten, OperatorSaid
from store.decay import decayed, packaged_rules
from store.events import Event, line_hash
from store.lines import Line
from store.room import LogName, Room
from store.study_bodies import KeeperEntry, Part, RunBegan, RunOver, RunSession, RunSessionOver

PARTS: tuple[Part, ...] = ("run", "successor")


@dataclass(frozen=True, slots=True)
class Next:
    """The session that comes next: its run, which of the two it is, the run's own room, the task, where P works.
    ``session`` is empty when it is still to be opened."""

    run: Run
    part: Part
    room: Path
    task: StudyTask
    condition: ConditionRecord
    workspace: Path
    session: str


def make_next(study: Study) -> Next | None:
    """The next session, with its room and its fresh workspace made ready; None when the schedule is through.

    A run that is under way comes first. Every run has a room of its own, made from what the lock froze, so that
    nothing that was kept under one condition reaches another. Raises StudyError when the study must not go on.
    """
    study.check()
    study.unfinished()
    settle(study)
    run = next(study.state.of("running"), None) or next(study.state.of("scheduled"), None)
    if run is None:
        return None
    part: Part = "run" if "run" not in run.closed else "successor"
    terms = study.terms
    task = terms.task(run.scheduled.task if part == "run" else run.scheduled.successor)
    folder = study.run_folder(run)
    if not run.began:
        study.check_base()
        shutil.rmtree(folder, ignore_errors=True)  # what a crash left before the run began
        _make_room(study, folder / "room")
        study.append("system", RunBegan(run.name, study.lock))
    workspace = folder / f"workspace-{part}"
    session = run.sessions.get(part, "")
    if not session:
        study.check_base()
        shutil.rmtree(workspace, ignore_errors=True)
        shutil.copytree(study.folder / "base" / "tasks" / task.folder, workspace, symlinks=True)
    return Next(run, part, folder / "room", task, terms.conditions[run.scheduled.condition], workspace, session)


def _make_room(study: Study, root: Path) -> None:
    base = study.folder / "base"
    Room.create(root, study.room.settings.operator)
    for path in base.iterdir():
        if path.name == "tasks":
            continue
        if path.is_dir():
            shutil.copytree(path, root / path.name, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copyfile(path, root / path.name)


def settle(study: Study) -> Run | None:
    """Writes into the study's log what its run under way has come to: sessions opened, sessions closed, the run over.
    The run that is over now, None when none is. Safe to call at any time, after a crash too."""
    run = next(study.state.of("running"), None)
    if run is None:
        return None
    with Room.open(study.run_folder(run) / "room", read_only=True, clock=study.room.clock) as room:
        rows = room.sessions()
        for part, row in zip(PARTS, rows, strict=False):
            if part not in run.sessions:
                study.append("system", RunSession(run.name, part, row.id))
            if row.closed_at and part not in run.closed:
                lines = room.log_path(row.id).read_bytes().splitlines()
                study.append("system", RunSessionOver(run.name, part, row.id, len(lines), line_hash(lines[-1])))
        if set(run.closed) != set(PARTS):
            return None
        logs = {part: tuple(room.events(LogName(run.sessions[part]))) for part in PARTS}
        dropped = (*decayed_to_cold(logs["successor"]), *_dropped_next(room))
        study.append("system", RunOver(run.name, dropped, tuple(_entries(logs))))
    return run


def _dropped_next(room: Room) -> tuple[Line, ...]:
    """What the decay pass before session N+2 would send to cold (paper §4.4). Reckoned, not applied: nobody wakes."""
    fading = decayed(room.tiers, packaged_rules(), room.tiers.session + 1)
    changes = fading.changes if fading else ()
    return tuple(change.before for change in changes if change.before and change.after.tier == "cold")


def _entries(logs: dict[Part, tuple[Event, ...]]) -> list[KeeperEntry]:
    return [
        KeeperEntry(part, event.n, event.body.text)
        for part, events in logs.items()
        for event in events
        if isinstance(event.body, JournalWritten) and event.by == "keeper" and event.body.journal == "snug"
    ]


async def play_session(
    study: Study, following: Next, endpoint: Endpoint, *, approve: Approve, tell: Print | None = None
) -> str:
    """Plays the next session without a screen from the task's frozen turns; what failed, empty when nothing did.

    A session that was interrupted goes on with the messages that it has not had yet. Raises StudyError when the task
    has no turns.
    """
    if not following.task.turns:
        raise StudyError(
            f"The task {following.task.record.name} was locked without the operator's messages, so its sessions need "
            "a screen: twins study next"
        )
    with Room.open(following.room, clock=study.room.clock) as room:
        opened = _open(room, following, endpoint)
        said = sum(isinstance(event.body, OperatorSaid) for event in room.events(opened.record.log))
        run = await run_turns(opened, endpoint, following.task.turns[said:], approve=approve, tell=tell)
    settle(study)
    return run.failed


def _open(room: Room, following: Next, endpoint: Endpoint) -> Opened:
    if following.session:
        return resume_session(room, LogName(following.session))
    return open_session(
        room,
        endpoint,
        condition=following.condition,
        task=following.task.record,
        workspace=following.workspace,
    )


async def play_run(
    study: Study,
    endpoint: Endpoint,
    *,
    approve: Approve = "all",
    tell: Callable[[str], None] | None = None,
) -> Run | None:
    """Plays the run that is under way or comes next, both sessions; the run, None when the schedule is through.

    What is told names the run, never its condition. Raises StudyError when a turn failed; the run can be taken up.
    """
    played: Run | None = None
    while (following := make_next(study)) is not None and (played is None or following.run is played):
        played = following.run
        if tell:
            tell(f"{played.name}, {following.part}: {following.task.record.title}")
        if failed := await play_session(study, following, endpoint, approve=approve):
            raise StudyError(f"{played.name} was interrupted: {failed} Go on with: twins study next")
        if played.standing == "over":
            break
    return played


def run_logs(study: Study, run: Run) -> dict[Part, tuple[Event, ...]]:
    """The events of a run's sessions, as far as there are any."""
    if not run.began:
        return {}
    with Room.open(study.run_folder(run) / "room", read_only=True, clock=study.room.clock) as room:
        return {part: tuple(room.events(LogName(name))) for part, name in run.sessions.items()}
