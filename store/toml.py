"""TOML files that a person writes: read, checked by a model, and what is wrong told in one sentence."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, TypeVar, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from store.bodies import Json
from store.plain import PlainError


class TomlError(PlainError, ValueError):
    """A file cannot be used; one plain sentence with file, line, key and what it must be."""


class Section(BaseModel):
    """A table of a TOML file: its keys and no others, each of its own kind."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


LISTED = BeforeValidator(_as_tuple)
"""Marks a tuple that TOML gives as a list."""
Texts = Annotated[tuple[str, ...], LISTED]
"""A TOML list of texts."""

_Model = TypeVar("_Model", bound=BaseModel)


def read_toml(path: Path) -> str:
    """The text of a TOML file. Raises TomlError when it is not there or not UTF-8."""
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise TomlError(f"{path.name} is not UTF-8 (byte {error.start}); save it as UTF-8") from error
    except FileNotFoundError as error:
        raise TomlError(f"there is no file {path}; check its name") from error
    except OSError as error:
        raise TomlError(f"{path} cannot be read: {error.strerror}") from error


def toml_tables(text: str, name: str) -> dict[str, Json]:
    """What the text says, unchecked; ``name`` is how errors call the file. Raises TomlError."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TomlError(f"{name}{_toml_place(error)}") from error


def checked(tables: dict[str, Json], text: str, name: str, model: type[_Model]) -> _Model:
    """``tables``, which ``text`` holds, as a ``model``. Raises TomlError with the first thing wrong."""
    try:
        return model.model_validate(tables)
    except ValidationError as error:
        raise TomlError(_sentence(error, text, name, model)) from error


def _toml_place(error: tomllib.TOMLDecodeError) -> str:
    said = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", str(error), re.DOTALL)
    if not said:
        return f": is no TOML: {error}"
    where = f" line {said[2]}, column {said[3]}" if said[2] else ", at its end"
    return f"{where}: is no TOML: {said[1][:1].lower()}{said[1][1:]}"


def _sentence(error: ValidationError, text: str, name: str, model: type[BaseModel]) -> str:
    """The first thing wrong in a TOML file as one sentence: ``name line 7: keeper.max_usd: must be a number``."""
    found = error.errors(include_url=False)
    # A misspelt key makes the right one missing: the first is what to mend.
    misspelt = [one for one in found if one["type"] == "extra_forbidden"] if found[0]["type"] == "missing" else []
    first = misspelt[0] if misspelt else found[0]
    keys = tuple(str(part) for part in first["loc"] if isinstance(part, str) and not part.startswith("function-"))
    line = _line_of(text, keys)
    where = f" line {line}" if line else ""
    key = f"{'.'.join(keys)}: " if keys else ""
    return f"{name}{where}: {key}{_must(first, keys, model)}"


def _must(error: ErrorDetails, keys: tuple[str, ...], model: type[BaseModel]) -> str:
    # What stood there is never repeated: it may be a key pasted in the wrong place.
    said = error["type"]
    about = error.get("ctx", {})
    if said == "missing":
        return "is missing; add it"
    if said == "extra_forbidden":
        known = _known_keys(model, keys[:-1])
        near = get_close_matches(keys[-1], known, 1)
        return f"is not a key here; {f'did you mean {near[0]}?' if near else 'the keys are ' + ', '.join(known)}"
    sentences = {
        "string_type": "must be text in quotes",
        "string_too_short": "must not be empty",
        "bool_type": "must be true or false",
        "int_type": "must be a whole number",
        "float_type": "must be a number",
        "finite_number": "must be a finite number",
        "tuple_type": "must be a list of texts",
        "mapping_type": "must be a table of keys",
        "dict_type": "must be a table of keys",
        "model_type": "must be a section of keys",
        "model_attributes_type": "must be a section of keys",
    }
    if said in sentences:
        return sentences[said]
    if said == "literal_error":
        return f"must be {about.get('expected')}"
    bounds = {"greater_than_equal": "at least", "greater_than": "more than", "less_than_equal": "at most"}
    if said in bounds:
        return f"must be {bounds[said]} {next(iter(about.values()))}"
    return error["msg"]


def _known_keys(model: type[BaseModel], path: tuple[str, ...]) -> list[str]:
    for key in path:
        field = model.model_fields.get(key)
        inner = field.annotation if field else None
        if get_origin(inner) is Mapping:
            inner = get_args(inner)[1]
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            model = inner
    return list(model.model_fields)


_TABLE = re.compile(r"""\s*\[{1,2}\s*([^\]#]+?)\s*\]{1,2}\s*(?:#.*)?$""")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")


def _line_of(text: str, keys: tuple[str, ...]) -> int:
    """The line that sets ``keys``, or the nearest table around it; 0 when neither stands in the file."""
    table: tuple[str, ...] = ()
    best, best_line = 0, 0
    for number, line in enumerate(text.splitlines(), 1):
        if opened := _TABLE.match(line):
            table = _parts(opened[1])
            here = table
        elif key := _KEY.match(line):
            here = table + _parts(key[1])
        else:
            continue
        if len(here) > best and keys[: len(here)] == here:
            best, best_line = len(here), number
    return best_line


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in re.findall(r"""[\w-]+|"[^"]*"|'[^']*'""", dotted))
