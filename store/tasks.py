"""Tasks: one unit of work as a TOML file, with how to know its first right action."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from store.bodies import FirstAction, TaskRecord
from store.plain import PlainError
from store.toml import Section, TomlError, checked, read_toml, toml_tables


class TaskError(PlainError, ValueError):
    """A task file cannot be used; one plain sentence."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task as its file gives it: what the log keeps, the folder to work in, the file itself."""

    record: TaskRecord
    workspace: Path
    path: Path


def _a_pattern(pattern: str) -> str:
    try:
        re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise PydanticCustomError("regex", "is no regular expression: {why}", {"why": str(error)}) from error
    return pattern


_Pattern = Annotated[str, Field(min_length=1), AfterValidator(_a_pattern)]


class _FirstAction(Section):
    tool: str = Field(min_length=1)
    pattern: _Pattern
    told_pattern: Annotated[str, AfterValidator(_a_pattern)] = ""


class _TaskFile(Section):
    format: Literal[1] = 1
    name: str = Field(min_length=1, max_length=80)
    title: str = Field(min_length=1)
    workspace: str = Field(min_length=1)
    brief: str = Field(min_length=1)
    first_action: _FirstAction
    breaks: Mapping[str, _Pattern] = Field(default_factory=dict)


def load_task(path: Path) -> Task:
    """The task in ``path``; its ``workspace`` is taken from the file's own folder.

    Raises TaskError: no such file, not UTF-8, no TOML, a key missing or unknown, no patterns, a pattern that is no
    regular expression, no such workspace.
    """
    try:
        text = read_toml(path)
        tables = toml_tables(text, path.name)
        if "first_action" not in tables:
            raise TaskError(
                f"{path.name} has no [first_action] with its tool and pattern, so nothing can tell when the first "
                "right action is done; add them"
            )
        found = checked(tables, text, path.name, _TaskFile)
    except TomlError as error:
        raise TaskError(str(error)) from error
    workspace = (path.parent / found.workspace).resolve()
    if not workspace.is_dir():
        raise TaskError(f"{path.name}: workspace: there is no folder {workspace}; make it or name another")
    first = found.first_action
    record = TaskRecord(
        name=found.name,
        title=found.title,
        brief=found.brief,
        first_action=FirstAction(first.tool, first.pattern, first.told_pattern),
        breaks=dict(found.breaks),
    )
    return Task(record, workspace, path)
