"""What K and the operator can ask of the tiers: the operations, their tool schemas, and how a tool call is read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from store.bodies import Json, TiersRefused
from store.events import Event
from store.lines import LINE_KINDS, Line, LineId, LineKind

TEXT_LIMIT: Final = 600
"""Bytes of UTF-8 that the text of a line, or its reason, may take: a line is a sentence or two (our choice)."""
QUOTE_LIMIT: Final = 2_000
"""Bytes of UTF-8 that a quote may take (our choice)."""
_KEPT_OF_INPUT: Final = 1_000
"""Characters of each text that a refusal keeps; the whole stands in the event of the answer that asked for it."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The gate said no; ``body`` is the event that records it."""

    body: TiersRefused

    @property
    def reason(self) -> str:
        """One or two sentences that say what would be accepted."""
        return self.body.reason


# ---------------------------------------------------------------- shapes that small models send

_ID = re.compile(r"\[\s*[Ll](?P<shown>\d{1,9})(?:\s[^\]]*)?\]|[Ll]?(?P<bare>\d{1,9})")
_NUMBER = re.compile(r"(?:turn\s*|p)?(\d{1,9})(?:\.0)?", re.IGNORECASE)


def _as_id(value: object) -> object:
    """``3``, ``"l3"``, ``"[L3 trap p4]"`` are all the line L3."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"L{value}"
    if isinstance(value, str) and (found := _ID.fullmatch(value.strip())):
        return f"L{int(found['shown'] or found['bare'])}"
    return value


def _as_number(value: object) -> object:
    """``"4"``, ``"p4"``, ``"turn 4"`` and ``4.0`` are the number 4."""
    if isinstance(value, str) and (found := _NUMBER.fullmatch(value.strip())):
        return int(found[1])
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _as_kind(value: object) -> object:
    """``"Way back"`` and ``"way-back"`` are ``way_back``."""
    return re.sub(r"[\s-]+", "_", value.strip().lower()) if isinstance(value, str) else value


def _unpacked(value: object) -> object:
    """A list that came as JSON in a text is that list; a plain text is a list of its lines."""
    if not isinstance(value, str):
        return value
    try:
        found: object = json.loads(value)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, list):
        return found
    return [line for line in value.splitlines() if line.strip()]


def _as_texts(value: object) -> object:
    """Texts, also where each came as an object with a ``text`` (and nothing else that a hot line can hold)."""
    found = _unpacked(value)
    if not isinstance(found, list):
        return value
    return [item["text"] if isinstance(item, dict) and "text" in item else item for item in found]


def _as_ids(value: object) -> object:
    if isinstance(value, str) and re.search(r"[,\s]", value.strip()) and "[" not in value:
        value = re.split(r"[,\s]+", value.strip())
    found = _unpacked(value) if isinstance(value, str) else [value] if isinstance(value, int) else value
    if not isinstance(found, list):
        return value
    return [_as_id(item["id"] if isinstance(item, dict) and "id" in item else item) for item in found]


def _an_id(value: str) -> LineId:
    if not re.fullmatch(r"L\d{1,9}", value):
        raise ValueError(f"{value[:40]!r} is no line id; they look like L12")
    return LineId(value)


_Id = Annotated[LineId, BeforeValidator(_as_id), AfterValidator(_an_id)]
_Turn = Annotated[int, BeforeValidator(_as_number), Field(ge=0, strict=True)]
_Priority = Annotated[int, BeforeValidator(_as_number), Field(ge=1, le=5, strict=True)]
_Kind = Annotated[LineKind, BeforeValidator(_as_kind)]
_Texts = Annotated[tuple[str, ...], BeforeValidator(_as_texts)]
_Ids = Annotated[tuple[_Id, ...], BeforeValidator(_as_ids)]


# ---------------------------------------------------------------- what K's tools (and the operator) can ask


class _Asked(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    op: ClassVar[str]


class AddLine(_Asked):
    """A new warm line. ``turn`` is where the quote stands; None: wherever it stands."""

    op = "add_line"
    kind: _Kind
    text: str
    reason: str
    quote: str = ""
    turn: _Turn | None = None
    priority: _Priority | None = None


class EditLine(_Asked):
    """A line's text said better. ``reason`` says why it is edited; ``why`` becomes the line's own reason when given.
    A new ``quote`` takes the old one's place."""

    op = "edit_line"
    id: _Id
    text: str
    reason: str
    quote: str = ""
    turn: _Turn | None = None
    why: str = ""


class TouchLine(_Asked):
    """A line was of use, as the quote shows."""

    op = "touch_line"
    id: _Id
    reason: str = ""
    quote: str = ""
    turn: _Turn | None = None


class Reprioritise(_Asked):
    op = "reprioritise"
    id: _Id
    priority: _Priority
    reason: str


class ToCold(_Asked):
    op = "to_cold"
    id: _Id
    reason: str


class RewriteHot(_Asked):
    """Hot is then the kept lines and the new ones; without ``keep`` only the new ones."""

    op = "rewrite_hot"
    lines: _Texts
    keep: _Ids = ()
    reason: str = ""


# ---------------------------------------------------------------- what only the operator can ask


@dataclass(frozen=True, slots=True)
class Promote:
    """A hot line outlives the close (a second time: no longer); a warm line rises by one."""

    op: ClassVar[str] = "promote"
    id: LineId


@dataclass(frozen=True, slots=True)
class Retire:
    """A line moves to cold, whatever its kind."""

    op: ClassVar[str] = "retire"
    id: LineId
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Restore:
    """A line comes back from cold. ``line`` is the line as it stands there."""

    op: ClassVar[str] = "restore"
    line: Line
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Undo:
    """An operator's change of the tiers is taken back. ``event`` is the event of that change."""

    op: ClassVar[str] = "undo"
    event: Event
    reason: str = ""


KeeperOperation: TypeAlias = AddLine | EditLine | TouchLine | Reprioritise | ToCold | RewriteHot
Operation: TypeAlias = KeeperOperation | Promote | Retire | Restore | Undo


# ---------------------------------------------------------------- tool schemas


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the Messages API is told of it: ``schema`` is its input's JSON schema."""

    name: str
    description: str
    schema: Mapping[str, Json]


_Type = Literal["string", "integer"]


def _schema(required: Mapping[str, Json], optional: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


def _field(type_: _Type, description: str, **limits: Json) -> Json:
    return {"type": type_, "description": description, **limits}


_ID_FIELD: Final = _field("string", "The line's id, such as L12.")
_TEXT_FIELD: Final = _field("string", f"The line: one or two sentences, at most {TEXT_LIMIT} bytes.")
_QUOTE_FIELD: Final = _field(
    "string",
    "Words copied exactly from this session: from the operator for a decision, else from the operator, Presence or a "
    "tool's result. Not from memory.",
)
_TURN_FIELD: Final = _field("integer", "The turn in which the quote stands.", minimum=0)
_PRIORITY_FIELD: Final = _field("integer", "1 (least) to 5 (most).", minimum=1, maximum=5)

KEEPER_TOOLS: Final[tuple[ToolSpec, ...]] = (
    ToolSpec(
        "rewrite_hot",
        "Rewrite the hot tier (what the next turn needs). It then holds the lines you keep by id and the new ones "
        "you write; lines the operator promoted always stay. The rest moves to cold.",
        _schema(
            {"lines": {"type": "array", "items": {"type": "string"}, "description": "Texts of new hot lines."}},
            {
                "keep": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Ids of hot lines that stay as they are.",
                },
                "reason": _field("string", "Why; needed only when this empties hot."),
            },
        ),
    ),
    ToolSpec(
        "add_line",
        "Add a line to the warm tier (what the next session needs). A decision is said in the operator's own words.",
        _schema(
            {
                "kind": {"type": "string", "enum": list(LINE_KINDS)},
                "text": _TEXT_FIELD,
                "reason": _field("string", "Why the next instance needs this."),
                "quote": _QUOTE_FIELD,
                "turn": _TURN_FIELD,
            },
            {"priority": _PRIORITY_FIELD},
        ),
    ),
    ToolSpec(
        "edit_line",
        "Say a line better or bring it up to date. A decision stays in the operator's words: quote them when they "
        "changed it.",
        _schema(
            {"id": _ID_FIELD, "text": _TEXT_FIELD, "reason": _field("string", "Why it is edited.")},
            {
                "quote": _QUOTE_FIELD,
                "turn": _TURN_FIELD,
                "why": _field("string", "The line's own reason, when that changed too."),
            },
        ),
    ),
    ToolSpec(
        "touch_line",
        "Say that a line was of use in this session, so that it does not fade.",
        _schema(
            {
                "id": _ID_FIELD,
                "reason": _field("string", "How it was of use."),
                "quote": _field("string", "Words of this session, copied exactly, that show the use."),
            },
            {"turn": _TURN_FIELD},
        ),
    ),
    ToolSpec(
        "reprioritise",
        "Set the priority of a warm line. Decisions stay at 3 or higher.",
        _schema({"id": _ID_FIELD, "priority": _PRIORITY_FIELD, "reason": _field("string", "Why.")}, {}),
    ),
    ToolSpec(
        "to_cold",
        "Move a line that is done with to cold, where it can be found. Only the operator retires decisions.",
        _schema({"id": _ID_FIELD, "reason": _field("string", "Why it is no longer needed.")}, {}),
    ),
)
"""The tier tools of DESIGN §7. K's other tools (notes, reads, words) change no tier and are the engine's."""

_BY_NAME: Final[Mapping[str, type[KeeperOperation]]] = {
    "add_line": AddLine,
    "edit_line": EditLine,
    "touch_line": TouchLine,
    "reprioritise": Reprioritise,
    "to_cold": ToCold,
    "rewrite_hot": RewriteHot,
}
_SPEC_BY_NAME: Final = {spec.name: spec for spec in KEEPER_TOOLS}
_OPERATOR_ONLY: Final = frozenset(kind.op for kind in (Promote, Retire, Restore, Undo))


def parse_operation(name: str, input: Json) -> KeeperOperation | Refused:
    """The operation that a tool call of K asks for, or why it asks for none.

    Shapes that small models send are read where they can mean only one thing: numbers and lists as text, ids in any
    dress, lines as objects with a text, nulls for what is optional. Everything else is refused, never guessed.
    """
    model = _BY_NAME.get(name)
    if name in _OPERATOR_ONLY:
        return refused(name, input, f"Only the operator can {name} a line.")
    if model is None:
        return refused(name, input, f"There is no such tool. The tools for the tiers are {', '.join(_BY_NAME)}.")
    given = input
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return refused(name, input, f"{name} takes a JSON object with {_keys(name)}.")
    if not isinstance(given, dict):
        return refused(name, input, f"{name} takes a JSON object with {_keys(name)}.")
    fields = {key: value for key, value in given.items() if value is not None}
    if "id" in model.model_fields and "id" not in fields:
        for alias in ("line_id", "line"):
            if alias in fields:
                fields["id"] = fields.pop(alias)
                break
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        return refused(name, input, _said_plainly(name, error))


def refused(op: str, input: Json, reason: str) -> Refused:
    """A refusal and its record; long texts of the input are cut there, with the number of characters left out."""
    return Refused(TiersRefused(op[:80], _shortened(input), reason))


def _shortened(value: Json, depth: int = 0) -> Json:
    if isinstance(value, str) and len(value) > _KEPT_OF_INPUT:
        return f"{value[:_KEPT_OF_INPUT]}… ({len(value) - _KEPT_OF_INPUT} characters left out)"
    if depth > 4 and isinstance(value, list | dict):
        return "… (left out)"
    if isinstance(value, list):
        kept = [_shortened(item, depth + 1) for item in value[:100]]
        return kept if len(value) <= 100 else [*kept, f"… ({len(value) - 100} items left out)"]
    if isinstance(value, dict):
        return {key[:80]: _shortened(item, depth + 1) for key, item in list(value.items())[:40]}
    return value


def _keys(name: str) -> str:
    properties = _SPEC_BY_NAME[name].schema["properties"]
    return ", ".join(properties) if isinstance(properties, dict) else ""


def _said_plainly(name: str, error: ValidationError) -> str:
    said: list[str] = []
    for problem in error.errors()[:3]:
        key = ".".join(str(part) for part in problem["loc"])[:80]
        match problem["type"]:
            case "missing":
                said.append(f"{key} is missing")
            case "extra_forbidden":
                said.append(f"there is no {key}")
            case "value_error":
                said.append(f"{key}: {problem['msg'].removeprefix('Value error, ')}")
            case _:
                said.append(f"{key}: {problem['msg'][:1].lower()}{problem['msg'][1:]}")
    return f"{name}: {'; '.join(said)}. It takes {_keys(name)}."
