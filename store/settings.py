"""A room's settings: what `room.toml` may say, how it is checked, and the file that a new room starts with."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from store.bodies import Json

ROOM_FORMAT = 1
"""Version of a room's layout; `room.toml` carries it."""


class SettingsError(ValueError):
    """`room.toml` cannot be used; one plain sentence with line and key."""


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


Texts = Annotated[tuple[str, ...], BeforeValidator(_as_tuple)]
"""A TOML list of texts."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Endpoint(_Section):
    """Where the model is. The key itself never stands in the file: only the name of the variable that holds it."""

    base_url: str = ""
    api_key_env: str = "ANTHROPIC_API_KEY"
    model: str = Field(default="claude-opus-5-5", min_length=1)
    max_tokens: int = Field(default=16_000, ge=1)
    context_window: int = Field(default=0, ge=0)
    thinking: Literal["auto", "off"] = "auto"
    idle_timeout_s: float = Field(default=90.0, gt=0, allow_inf_nan=False)
    max_retries: int = Field(default=4, ge=0)

    @field_validator("base_url")
    @classmethod
    def _a_plain_url(cls, url: str) -> str:
        if not url:
            return url
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise PydanticCustomError("url", "must begin with http:// or https:// and name a host")
        if parts.username or parts.password or parts.query:
            raise PydanticCustomError("url", "must hold no key or password; put it into the variable of api_key_env")
        return url

    @field_validator("api_key_env")
    @classmethod
    def _a_variable(cls, name: str) -> str:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise PydanticCustomError("env", "must be the name of an environment variable, never the key itself")
        return name


class SessionSettings(_Section):
    """What a session starts with when the command line does not say otherwise."""

    condition: str = Field(default="B", min_length=1)
    cache_ttl: Literal["5m", "1h"] = "5m"
    wake_packet_touches: bool = False


class KeeperSettings(_Section):
    """What the Keeper may spend in one session, and how much it is given to hear."""

    max_usd: float = Field(default=5.0, ge=0, allow_inf_nan=False)
    max_tokens: int = Field(default=2_000_000, ge=0)
    window_turns: int = Field(default=12, ge=1)
    tool_result_bytes: int = Field(default=1_200, ge=0)


class ToolSettings(_Section):
    """Which tools run without asking, and what bash may do."""

    approve: Literal["ask", "none", "read", "all"] = "ask"
    allow: Texts = ()
    allow_prefixes: Texts = ()
    sandbox: Literal["auto", "off", "required"] = "auto"
    network: bool = True
    bash_timeout_s: float = Field(default=120.0, gt=0, allow_inf_nan=False)


class McpServer(_Section):
    """One MCP server: a command to start, or the address of one that runs."""

    command: Texts = ()
    url: str = ""

    @model_validator(mode="after")
    def _one_of_both(self) -> McpServer:
        if bool(self.command) == bool(self.url):
            raise PydanticCustomError("mcp", "needs either a command (a list of words) or a url, and not both")
        return self


class ScreenSettings(_Section):
    """How the screen looks. An empty theme is Textual's own choice."""

    theme: str = ""


class Settings(_Section):
    """All of `room.toml`."""

    format: Literal[1]
    operator: str = Field(min_length=1)
    endpoint: Endpoint = Endpoint()
    session: SessionSettings = SessionSettings()
    keeper: KeeperSettings = KeeperSettings()
    tools: ToolSettings = ToolSettings()
    mcp: Mapping[str, McpServer] = Field(default_factory=dict)
    keys: Mapping[str, str] = Field(default_factory=dict)
    screen: ScreenSettings = ScreenSettings()

    def public(self) -> Json:
        """The settings as a session's log keeps them: of MCP servers only the names, whose commands and addresses
        may hold secrets."""
        kept: Json = self.model_dump(mode="json", exclude={"mcp"})
        assert isinstance(kept, dict)
        kept["mcp"] = list(self.mcp)
        return kept


def load_settings(path: Path) -> Settings:
    """The settings in ``path``. Raises SettingsError with one sentence: file, line, key, what it must be."""
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path.name} is not UTF-8 (byte {error.start}); save it as UTF-8") from error
    except OSError as error:
        raise SettingsError(f"{path.name} cannot be read: {error.strerror}") from error
    return parse_settings(text, path.name)


def parse_settings(text: str, name: str = "room.toml") -> Settings:
    """The settings that ``text`` holds; ``name`` is how errors call the file. Raises SettingsError."""
    try:
        found: dict[str, Json] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{name}{_toml_place(error)}") from error
    version = found.get("format")
    if isinstance(version, int) and version > ROOM_FORMAT:
        raise SettingsError(
            f"this room has format {version}, and this program reads formats up to {ROOM_FORMAT}; "
            "update two-twins to open it"
        )
    try:
        return Settings.model_validate(found)
    except ValidationError as error:
        raise SettingsError(toml_error(error, text, name, Settings)) from error


# ---------------------------------------------------------------- errors of TOML files in one sentence


def _toml_place(error: tomllib.TOMLDecodeError) -> str:
    said = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", str(error), re.DOTALL)
    if not said:
        return f": is no TOML: {error}"
    where = f" line {said[2]}, column {said[3]}" if said[2] else ", at its end"
    return f"{where}: is no TOML: {said[1][:1].lower()}{said[1][1:]}"


def toml_error(error: ValidationError, text: str, name: str, model: type[BaseModel]) -> str:
    """The first thing wrong in a TOML file as one sentence: ``name line 7: keeper.max_usd: must be a number``."""
    first = error.errors(include_url=False)[0]
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
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            model = inner
        elif key == "mcp":
            model = McpServer
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


# ---------------------------------------------------------------- the file of a new room


def _quoted(text: str) -> str:
    """``text`` as a TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\u{ord(found[0]):04x}", escaped) + '"'


def room_toml(operator: str, model: str = "claude-opus-5-5", base_url: str = "") -> str:
    """The `room.toml` of a new room, with every key documented in a comment."""
    return f"""\
# Settings of this room. Every key is here with its default; a key that is not known is refused.

# Version of the room's layout. Leave it.
format = {ROOM_FORMAT}

# Your name, as the twins and the letters use it.
operator = {_quoted(operator)}

[endpoint]
# Where the Messages API is spoken. Empty: Anthropic's own, or the variable ANTHROPIC_BASE_URL when it is set.
# A local server works too, for example "http://127.0.0.1:8080".
base_url = {_quoted(base_url)}
# The environment variable that holds the key. The key itself never stands in a file.
api_key_env = "ANTHROPIC_API_KEY"
# The model of both twins: the Keeper is an identical twin of the Presence.
model = {_quoted(model)}
# The most tokens that one answer may have.
max_tokens = 16000
# Tokens that fit into the model's context. 0: ask the endpoint.
context_window = 0
# "auto": the model thinks where it can. "off": never ask for it.
thinking = "auto"
# Seconds without a word from the endpoint after which an answer counts as broken off.
idle_timeout_s = 90.0
# How often a request is tried again when the endpoint is busy, before the first word of its answer.
max_retries = 4

[session]
# The condition a session runs under (A to E, or one of your own; see briefs/conditions.toml).
condition = "B"
# How long the endpoint keeps the prompt cache: "5m" or "1h".
cache_ttl = "5m"
# Whether standing in a wake packet counts as a use of a line, which keeps it from decaying.
wake_packet_touches = false

[keeper]
# The most that the Keeper may spend in one session, in US dollars and in tokens. Past it, it waits.
max_usd = 5.0
max_tokens = 2000000
# Turns after which the Keeper's own conversation starts again from its brief and the tiers.
window_turns = 12
# Bytes of each tool result that the Keeper is given to hear.
tool_result_bytes = 1200

[tools]
# Which tools run without asking: "ask" (reading tools run, the rest ask), "none" (every tool asks),
# "read" (reading tools run, the rest are denied), "all" (every tool runs).
approve = "ask"
# Tools that run without asking, by name, for example ["edit"].
allow = []
# Commands that run without asking, by how they begin, for example ["git status", "pytest"].
allow_prefixes = []
# Whether bash is kept inside the workspace by the operating system: "auto" (where it can), "off",
# "required" (no sandbox, no bash).
sandbox = "auto"
# Whether commands in the sandbox may use the network.
network = true
# Seconds after which a command is stopped.
bash_timeout_s = 120.0

# MCP servers, a section each: either a command that starts one, or the address of one that runs.
# [mcp.files]
# command = ["my-mcp-server", "--flag"]
# [mcp.elsewhere]
# url = "http://127.0.0.1:9000/mcp"

[keys]
# Other keys for actions, for example: mark_break = "ctrl+g". The help (F1) lists the actions by name.

[screen]
# A theme of Textual by name. Empty: the usual one.
theme = ""
"""
