"""A room's study: drafted, locked, amended, aborted, stopped; every step an event, every forbidden one refused."""

from __future__ import annotations

import difflib
import json
import os
import secrets
import shutil
from pathlib import Path
from types import TracebackType

from app.plan import operator_turns
from app.study import prereg
from app.study.draw import schedule
from app.study.errors import StudyError
from app.study.prereg import CONDITIONS, TASKS, Preregistration, Preset
from app.study.prereg import Task as NamedTask
from app.study.state import STUDY_LOG, Run, StudyState, study_state
from app.study.terms import METHODS, StudyTask, Terms, folder_digest, terms_of
from store.bodies import Body, By, ConditionRecord
from store.conditions import SHIPPED, load_conditions
from store.documents import write_whole
from store.events import Event, line_hash
from store.log import check_chain
from store.room import LogName, Room
from store.study_bodies import OfflineScored, RunAborted, StudyAmended, StudyLocked, StudyStopped
from store.tasks import Task, load_task

LOCK_FILE = "lock.json"
_FIXED = ("format", "preset", "seed", "baseline", "conditions", "tasks")
"""Keys that no amendment can change: the schedule is drawn, the runs are made of them."""
NOT_LOCKED = "This study is not locked yet; look through its file, then: twins study lock"
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".venv", "node_modules")


def draft_study(
    room: Room, preset: Preset, *, seed: str = "", tasks: tuple[tuple[Path, Path | None], ...] = ()
) -> Path:
    """Writes the pre-registration of a new study into the room; the file's path. ``tasks`` are task files, each with
    the operator's messages or None.

    Raises StudyError when the room has a study already.
    """
    folder = room.root / "study"
    path = folder / prereg.FILE
    if path.exists():
        raise StudyError(f"{room.root} has a study already: {path}; a room has one study, so use another room")
    folder.mkdir(mode=0o700, exist_ok=True)
    named = tuple(
        NamedTask(file=_from(folder, file), turns=_from(folder, turns) if turns else "") for file, turns in tasks
    )
    text = prereg.draft(preset, seed or secrets.token_hex(8), room.settings.operator, named)
    write_whole(path, text.encode())
    return path


def _from(folder: Path, path: Path) -> str:
    return os.path.relpath(path.resolve(), folder.resolve())


class Study:
    """The study of one room, open. ``state`` is the fold of its log, ``terms`` what is locked (None before)."""

    def __init__(self, room: Room) -> None:
        """Raises StudyError when the room has no study, or when its lock was tampered with."""
        self.room = room
        self.folder = room.root / "study"
        self.file = self.folder / prereg.FILE
        if not self.file.is_file():
            raise StudyError(f"{room.root} has no study ({self.file} is missing); begin one with: twins study init")
        self.state: StudyState = study_state(room.events(STUDY_LOG))
        self._terms: Terms | None = None
        if self.state.locked is not None:
            if prereg.sha256(self.state.locked.canonical) != self.state.locked.sha256:
                raise StudyError("The study's log was changed: its lock is not the hash of what it fixes; restore it")
            self._terms = terms_of(self.state.locked.canonical)

    def __enter__(self) -> Study:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Brings `study.json` up to the log; the room stays open."""
        from app.study.view import save_view

        if not self.room.read_only:
            save_view(self.room, self.state)

    def append(self, by: By, body: Body) -> Event:
        """Writes one event of the study, durably, and folds it in."""
        event = self.room.append(STUDY_LOG, by, body)
        self.state.apply(event)
        return event

    @property
    def terms(self) -> Terms:
        """What is locked. Raises StudyError before the lock."""
        if self._terms is None:
            raise StudyError(NOT_LOCKED)
        return self._terms

    @property
    def lock(self) -> str:
        """The lock's hash. Raises StudyError before the lock."""
        return self.terms.sha256

    # ------------------------------------------------------------ the lock

    def fix(self) -> Terms:
        """Locks the study: copies what runs start from, draws the schedule, hashes all of it, writes `lock.json`.

        Raises StudyError when it is locked already or the file is not ready.
        """
        if self._terms is not None:
            raise StudyError(f"This study is locked ({self.lock[:12]}…); its schedule cannot be drawn again")
        found, raw = prereg.read(self.file)
        tasks = self._load_tasks(found)
        conditions = self._load_conditions(found)
        base = self.folder / "base"
        shutil.rmtree(base, ignore_errors=True)  # a copy that an earlier, interrupted lock left
        locked_tasks = self._copy_base(base, tasks)
        drawn = schedule(found.seed, [task.record.name for task in locked_tasks], found.conditions)
        terms = Terms(found, locked_tasks, conditions, folder_digest(base), drawn, METHODS)
        self.append(
            "operator",
            StudyLocked(
                sha256=terms.sha256,
                canonical=terms.canonical,
                file_sha256=prereg.sha256(raw),
                text=raw.decode(),
                salt=secrets.token_hex(16),
                schedule=drawn,
            ),
        )
        self._terms = terms
        self._write_lock_file()
        return terms

    def _write_lock_file(self) -> None:
        document = {"sha256": self.lock, "of": json.loads(self.terms.canonical)}
        write_whole(self.folder / LOCK_FILE, (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode())

    def _load_tasks(self, found: Preregistration) -> list[tuple[Task, tuple[str, ...]]]:
        wanted = TASKS[found.preset]
        if len(found.tasks) != wanted or set(found.conditions) != set(CONDITIONS[found.preset]):
            raise StudyError(
                f"{self.file.name}: a {found.preset} study has {wanted} tasks under the conditions "
                f"{', '.join(CONDITIONS[found.preset])}; the file names {len(found.tasks)} tasks under "
                f"{', '.join(found.conditions)}"
            )
        loaded = []
        for named in found.tasks:
            task = load_task(self.folder / named.file)
            turns = operator_turns(self.folder / named.turns) if named.turns else ()
            loaded.append((task, turns))
        names = [task.record.name for task, _ in loaded]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise StudyError(f"{self.file.name}: two tasks are called {twice}; each needs a name of its own")
        return loaded

    def _load_conditions(self, found: Preregistration) -> dict[str, ConditionRecord]:
        own = self.room.root / "conditions.toml"
        known = load_conditions(*([SHIPPED, own] if own.is_file() else [SHIPPED]))
        if missing := next((name for name in found.conditions if name not in known), None):
            raise StudyError(f"{self.file.name}: conditions: there is no condition {missing}")
        return {name: known[name] for name in found.conditions}

    def _copy_base(self, base: Path, tasks: list[tuple[Task, tuple[str, ...]]]) -> tuple[StudyTask, ...]:
        """What every run starts from, frozen: settings, briefs, conditions, memory, and each task's workspace."""
        base.mkdir(mode=0o700)
        root = self.room.root
        for name in ("room.toml", "conditions.toml"):
            if (root / name).is_file():
                shutil.copyfile(root / name, base / name)
        for name in ("briefs", "memory"):
            if (root / name).is_dir():
                shutil.copytree(root / name, base / name, symlinks=True)
        locked = []
        for number, (task, turns) in enumerate(tasks, 1):
            folder = f"{number:02d}"
            shutil.copytree(task.workspace, base / "tasks" / folder, symlinks=True, ignore=_LEFT_OUT)
            locked.append(StudyTask(task.record, turns, folder))
        return tuple(locked)

    # ------------------------------------------------------------ what must not happen

    def check(self) -> None:
        """Raises StudyError when nothing is locked yet, a locked file was edited, the schedule drawn again, or a run
        taken away or changed."""
        locked = self.state.locked
        if locked is None:
            raise StudyError(NOT_LOCKED)
        wanted = self.state.amendments[-1].after if self.state.amendments else locked.file_sha256
        if prereg.sha256(self.file.read_bytes()) != wanted:
            raise StudyError(
                f"{self.file} is locked and was changed; put it back as it was, or record the change with: "
                "twins study amend --why '…'"
            )
        lock_file = self.folder / LOCK_FILE
        try:
            kept = json.loads(lock_file.read_bytes())
            same = kept["sha256"] == self.lock and prereg.canonical(kept["of"]) == self.terms.canonical
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StudyError(f"{lock_file} is missing or damaged; put it back as it was") from error
        if not same:
            raise StudyError(f"{lock_file} was changed; a schedule is drawn once, so put the file back as it was")
        for run in self.state.runs.values():
            self._check_run(run)

    def check_base(self) -> None:
        """Raises StudyError when what runs start from is not what was locked."""
        if folder_digest(self.folder / "base") != self.terms.base:
            raise StudyError(f"{self.folder / 'base'} was changed since the lock; put it back as it was")

    def _check_run(self, run: Run) -> None:
        if run.began and not self.run_folder(run).is_dir():
            raise StudyError(f"{self.run_folder(run)} is gone, and a run is never deleted; put it back")
        for part, over in run.closed.items():
            path = self.session_log(run, over.session)
            try:
                lines = path.read_bytes().splitlines()
            except OSError as error:
                raise StudyError(f"{path} is gone, and a run is never deleted; put it back") from error
            # Exports add events behind the close; nothing before may differ, and the chain holds each line to the next.
            same = len(lines) >= over.events and line_hash(lines[over.events - 1]) == over.last_sha256
            if not same or check_chain(path, None, LogName(over.session)) is not None:
                raise StudyError(f"{path} ({run.name}, {part}) was changed after its close; put it back as it was")

    def run_folder(self, run: Run) -> Path:
        """Where a run has its room and its workspaces."""
        return self.folder / "runs" / run.name

    def session_log(self, run: Run, session: str) -> Path:
        """The log of one of a run's sessions."""
        return self.run_folder(run) / "room" / "sessions" / session / "events.jsonl"

    def unfinished(self) -> None:
        """Raises StudyError when the study goes on no more."""
        if self.state.key_opened:
            raise StudyError("The key of this study is open: what is run now would not be blind; it takes a new study")
        if self.state.stopped is not None:
            raise StudyError(f"This study was stopped: {self.state.stopped.why}")

    # ------------------------------------------------------------ amendments, aborts, the end

    def amend(self, why: str) -> StudyAmended:
        """A numbered amendment: what was changed in the file since the lock or the last amendment, or a note.

        Raises StudyError without a reason, or when the change touches what the schedule was drawn from.
        """
        if not why.strip():
            raise StudyError("An amendment needs its reason: twins study amend --why '…'")
        locked = self.state.locked
        if locked is None:
            raise StudyError("This study is not locked yet: change its file freely, then: twins study lock")
        last = self.state.amendments[-1] if self.state.amendments else None
        before = last.text if last else locked.text
        found, raw = prereg.read(self.file)
        original = self.terms.preregistration
        for key in _FIXED:
            if getattr(found, key) != getattr(original, key):
                raise StudyError(
                    f"{self.file.name}: {key} cannot be amended: the schedule was drawn from it; put it back as it was"
                )
        diff = "".join(
            difflib.unified_diff(
                before.splitlines(keepends=True), raw.decode().splitlines(keepends=True), "before", "after"
            )
        )
        body = StudyAmended(
            number=len(self.state.amendments) + 1,
            why=why.strip(),
            before=last.after if last else locked.file_sha256,
            after=prereg.sha256(raw),
            diff=diff,
            text=raw.decode(),
        )
        self.append("operator", body)
        return body

    def abort(self, why: str, *, repeat: bool, run: str = "") -> Run:
        """Ends the run under way, or the named one, without finishing it; it stays in the record with its reason."""
        self.check()
        self.unfinished()
        if not why.strip():
            raise StudyError("An aborted run needs its reason: twins study abort --why '…'")
        from app.study.runs import settle  # runs stand on the study; what this one has come to belongs in the record

        settle(self)
        found = self.run_named(run) if run else next(self.state.of("running"), None)
        if found is None:
            raise StudyError("No run is under way; the next one begins with: twins study next")
        if found.standing != "running":
            raise StudyError(f"{found.name} is {found.standing}; only a run that is under way can be aborted")
        self.append("operator", RunAborted(found.name, why.strip(), repeat))
        return found

    def stop(self, why: str) -> None:
        """Ends the study before its schedule does."""
        self.check()
        self.unfinished()
        if not why.strip():
            raise StudyError("Stopping needs its reason: twins study stop --why '…'")
        if running := next(self.state.of("running"), None):
            raise StudyError(f"{running.name} is under way; finish it, or abort it first: twins study abort --why '…'")
        self.append("operator", StudyStopped(why.strip()))

    def add_offline(self, run: str, model: str, hf: float, wwr: float | None, source: str) -> None:
        """A score of a recorded run replayed through another Keeper (H5)."""
        self.check()
        if self.run_named(run).standing != "over":
            raise StudyError(f"{run} is not over; only a recorded run can be replayed")
        if not 0 <= hf <= 1 or (wwr is not None and not 0 <= wwr <= 3):
            raise StudyError("A fidelity lies between 0 and 1, a warmth between 0 and 3")
        self.append("operator", OfflineScored(run, model, hf, wwr, source))

    def run_named(self, name: str) -> Run:
        """A run by name. Raises StudyError naming the ones that exist."""
        found = self.state.runs.get(name)
        if found is None:
            raise StudyError(f"There is no {name} in this study; there are {', '.join(self.state.runs) or 'none yet'}")
        return found
