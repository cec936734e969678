"""The pre-registration: a TOML file that says what is predicted and what would stop the study, checked and hashed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Annotated, Any, Literal, cast

import rfc8785
from pydantic import Field

import briefs
from app.study.errors import StudyError
from store.bodies import Json
from store.toml import LISTED, Section, Texts, TomlError, checked, read_toml, toml_tables

FILE = "preregistration.toml"
Preset = Literal["full", "first-pass"]
TASKS: Mapping[Preset, int] = {"full": 5, "first-pass": 3}
"""How many tasks each preset has (paper §4: five states by five conditions, or A against B on three each)."""
CONDITIONS: Mapping[Preset, tuple[str, ...]] = {"full": ("A", "B", "C", "D", "E"), "first-pass": ("A", "B")}
ALPHA: Mapping[Preset, float] = {"full": 0.05, "first-pass": 0.125}
"""Largest p that counts. Three tasks with two runs each cannot give less than 1/8: the first pass is a screen."""

Hypothesis = Literal["H1", "H2", "H3", "H4", "H5", "H6"]
RuleName = Literal["fidelity", "time", "warmth", "observed"]


class Task(Section):
    """A task of the study: its file, and the operator's messages for runs without a screen."""

    file: str = Field(min_length=1)
    turns: str = ""


class Scoring(Section):
    """Whose answers the verdicts stand on. Where ``primary`` is "reader", a person's answer stands in for what the
    reader could not verify or tell."""

    primary: Literal["reader", "person"] = "reader"


class Claim(Section):
    """A hypothesis in the paper's words, with its predicted number (None: direction only) and the unit."""

    claim: str = Field(min_length=1)
    predicted: float | None = None
    unit: str = ""
    note: str = ""


class StopRule(Section):
    """A rule that would stop the study; ``tasks`` of ``of`` where it counts tasks."""

    rule: str = Field(min_length=1)
    tasks: Annotated[int, Field(ge=1)] | None = None
    of: Annotated[int, Field(ge=1)] | None = None


class Preregistration(Section):
    """All that is fixed before the first run."""

    format: Literal[1]
    title: str = Field(min_length=1)
    cites: str = Field(min_length=1)
    preset: Preset
    seed: str = Field(min_length=1)
    alpha: Annotated[float, Field(gt=0, lt=1)]
    baseline: str = "A"
    conditions: Texts
    tasks: Annotated[tuple[Task, ...], LISTED] = ()
    kill: str = Field(min_length=1)
    scoring: Scoring = Scoring()
    hypotheses: Mapping[Hypothesis, Claim]
    stop_rules: Mapping[RuleName, StopRule]


def draft(preset: Preset, seed: str, operator: str, tasks: tuple[Task, ...] = ()) -> str:
    """The text of a new pre-registration: the paper's hypotheses, predictions, kill criterion and stop rules."""
    words = (Path(briefs.__file__).with_name("study") / "preregistration.toml").read_text(encoding="utf-8")
    listed = "\n".join(f"[[tasks]]\nfile = {_quoted(task.file)}\nturns = {_quoted(task.turns)}\n" for task in tasks)
    return Template(words).substitute(
        preset=_quoted(preset),
        seed=_quoted(seed),
        operator=operator.replace("\\", "").replace('"', "'"),
        alpha=f"{ALPHA[preset]}",
        conditions="[" + ", ".join(_quoted(name) for name in CONDITIONS[preset]) + "]",
        count=str(TASKS[preset]),
        tasks=listed or '# [[tasks]]\n# file = "tasks/first.toml"\n# turns = "tasks/first.turns.md"\n',
    )


def read(path: Path) -> tuple[Preregistration, bytes]:
    """The pre-registration in ``path`` and the file's bytes. Raises StudyError with file, line and key."""
    try:
        text = read_toml(path)
        found = checked(toml_tables(text, path.name), text, path.name, Preregistration)
    except TomlError as error:
        raise StudyError(str(error)) from error
    for name in ("H1", "H2", "H3", "H4", "H5", "H6"):
        if name not in found.hypotheses:
            raise StudyError(f"{path.name}: hypotheses.{name} is missing; all six of the paper belong in the file")
    for name in ("fidelity", "time", "warmth", "observed"):
        if name not in found.stop_rules:
            raise StudyError(f"{path.name}: stop_rules.{name} is missing; all four of the paper belong in the file")
    if found.baseline not in found.conditions:
        raise StudyError(f"{path.name}: baseline: {found.baseline} is none of the conditions of this study")
    return found, text.encode()


def canonical(value: Json) -> str:
    """``value`` as RFC 8785 JSON: the same text for the same value, whoever writes it."""
    return rfc8785.dumps(cast(Any, value)).decode()


def sha256(text: str | bytes) -> str:
    """SHA-256 in hex of a text's UTF-8, or of bytes."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def _quoted(text: str) -> str:
    """A TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
