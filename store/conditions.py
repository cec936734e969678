"""Conditions: what the Keeper may do and what the successor is given, as flags in TOML files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

import briefs
from store.bodies import ConditionRecord
from store.plain import PlainError
from store.toml import LISTED, Section, TomlError, checked, read_toml, toml_tables

SHIPPED = Path(briefs.__file__).with_name("conditions.toml")
"""The conditions that come with the program (DESIGN §8)."""

Handed = Literal["letters", "handoff", "hot", "warm", "cold"]


class ConditionError(PlainError, ValueError):
    """A condition does not exist or its file cannot be used; one plain sentence."""


class _Condition(Section):
    title: str = Field(min_length=1)
    keeper: bool
    hot_each_turn: bool = False
    whisper: bool = False
    speak: bool = False
    write_snug: bool = False
    successor: Annotated[tuple[Handed, ...], LISTED]

    @model_validator(mode="after")
    def _nothing_without_a_keeper(self) -> _Condition:
        if not self.keeper:
            for flag in ("hot_each_turn", "whisper", "speak", "write_snug"):
                if getattr(self, flag):
                    raise PydanticCustomError("flags", "{flag} needs keeper = true", {"flag": flag})
        return self


class _ConditionsFile(Section):
    format: Literal[1]
    conditions: Mapping[str, _Condition]


def load_conditions(*paths: Path) -> dict[str, ConditionRecord]:
    """The conditions by name: the shipped ones when no path is given, else those of the files, later ones first in
    rank. Raises ConditionError with file, line and key."""
    found: dict[str, ConditionRecord] = {}
    for path in paths or (SHIPPED,):
        try:
            text = read_toml(path)
            file = checked(toml_tables(text, path.name), text, path.name, _ConditionsFile)
        except TomlError as error:
            raise ConditionError(str(error)) from error
        for name, flags in file.conditions.items():
            found[name] = ConditionRecord(
                name=name,
                title=flags.title,
                keeper=flags.keeper,
                hot_each_turn=flags.hot_each_turn,
                whisper=flags.whisper,
                speak=flags.speak,
                write_snug=flags.write_snug,
                successor=flags.successor,
            )
    return found


def condition_named(conditions: Mapping[str, ConditionRecord], name: str) -> ConditionRecord:
    """The condition called ``name``. Raises ConditionError naming the ones that exist."""
    if name not in conditions:
        known = ", ".join(f"{key} ({record.title})" for key, record in conditions.items())
        raise ConditionError(f"there is no condition {name!r}; choose one of {known}")
    return conditions[name]
