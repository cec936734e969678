"""The terms of a locked study: everything that its hash covers, and nothing that may change after."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import TypeAdapter

from app.measure.handed import METHOD as HANDED_METHOD
from app.measure.lexical import METHOD as LEXICAL_METHOD
from app.measure.scored import WARMTH_RUBRIC
from app.study.draw import METHOD as DRAW_METHOD
from app.study.exact import INTERVAL_METHOD, P_METHOD
from app.study.prereg import Preregistration, canonical, sha256
from store.bodies import ConditionRecord, Json, TaskRecord
from store.events import plain
from store.study_bodies import ScheduledRun

METHODS: Mapping[str, str] = {
    "schedule": DRAW_METHOD,
    "material": HANDED_METHOD,
    "lexical": LEXICAL_METHOD,
    "warmth": WARMTH_RUBRIC,
    "p": P_METHOD,
    "interval": INTERVAL_METHOD,
}


@dataclass(frozen=True, slots=True)
class StudyTask:
    """A task as locked: its record, the operator's messages for runs without a screen (none: it needs a screen), and
    its frozen folder below ``base/tasks``."""

    record: TaskRecord
    turns: tuple[str, ...]
    folder: str


@dataclass(frozen=True)
class Terms:
    """What is fixed. ``base`` is the digest of every file that runs start from."""

    preregistration: Preregistration
    tasks: tuple[StudyTask, ...]
    conditions: Mapping[str, ConditionRecord]
    base: str
    schedule: tuple[ScheduledRun, ...]
    methods: Mapping[str, str]

    def document(self) -> Json:
        """The terms as JSON."""
        return {
            "format": 1,
            "preregistration": self.preregistration.model_dump(mode="json"),
            "tasks": plain(self.tasks),
            "conditions": plain(dict(self.conditions)),
            "base": self.base,
            "schedule": plain(self.schedule),
            "methods": dict(self.methods),
        }

    @cached_property
    def canonical(self) -> str:
        """The document as RFC 8785 JSON: what the lock hashes."""
        return canonical(self.document())

    @cached_property
    def sha256(self) -> str:
        """The lock."""
        return sha256(self.canonical)

    def task(self, name: str) -> StudyTask:
        """A task by name."""
        return next(task for task in self.tasks if task.record.name == name)

    @property
    def baseline(self) -> str:
        return self.preregistration.baseline


def terms_of(canonical_text: str) -> Terms:
    """The terms that a lock's canonical JSON holds. Raises ValueError when it holds none."""
    read = json.loads(canonical_text)
    return Terms(
        preregistration=Preregistration.model_validate(read["preregistration"]),
        tasks=TypeAdapter(tuple[StudyTask, ...]).validate_python(read["tasks"]),
        conditions=TypeAdapter(dict[str, ConditionRecord]).validate_python(read["conditions"]),
        base=str(read["base"]),
        schedule=TypeAdapter(tuple[ScheduledRun, ...]).validate_python(read["schedule"]),
        methods=read["methods"],
    )


def folder_digest(folder: Path) -> str:
    """One SHA-256 over every file and link below ``folder``: names in order, each with its content's hash."""
    lines = [f"{_content_hash(path)}  {path.relative_to(folder).as_posix()}\n" for path in _files(folder)]
    return sha256("".join(lines))


def _files(folder: Path) -> Iterator[Path]:
    found = (path for path in folder.rglob("*") if path.is_symlink() or path.is_file())
    return iter(sorted(found, key=lambda path: path.relative_to(folder).as_posix()))


def _content_hash(path: Path) -> str:
    if path.is_symlink():
        return sha256(f"link {path.readlink()}")
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
