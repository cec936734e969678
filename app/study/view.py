"""`study.json`: the study at a glance as a TinyDB document; a view that can be thrown away."""

from __future__ import annotations

import logging

from tinydb import TinyDB

from app.study.state import StudyState
from store.documents import CrashSafeStorage
from store.events import plain
from store.room import Room

_log = logging.getLogger(__name__)


def save_view(room: Room, state: StudyState) -> None:
    """Writes `study.json`. It tells no condition before the key is opened. A disk that refuses is no failure: the log
    stands."""
    try:
        with TinyDB(room.root / "study.json", storage=CrashSafeStorage, on_damage=_log.warning) as document:
            document.drop_tables()
            locked = state.locked
            document.table("study").insert(
                {
                    "lock": locked.sha256 if locked else None,
                    "stopped": state.stopped.why if state.stopped else None,
                    "key_opened": state.key_opened,
                    "scores": len(state.scores),
                }
            )
            document.table("runs").insert_multiple(
                {
                    "run": run.name,
                    "task": run.scheduled.task,
                    "successor": run.scheduled.successor,
                    **({"condition": run.scheduled.condition} if state.key_opened else {}),
                    "repeats": run.scheduled.repeats,
                    "standing": run.standing,
                    "sessions": dict(run.sessions),
                    "facts": len(run.checklist.facts) if run.checklist else None,
                    "aborted": run.aborted.why if run.aborted else None,
                }
                for run in state.runs.values()
            )
            document.table("stop_rules").insert_multiple(plain(rule) for rule in state.rules.values())
            document.table("amendments").insert_multiple(
                {"number": one.number, "why": one.why} for one in state.amendments
            )
    except OSError as error:
        _log.warning("study.json was not saved: %s", error)
