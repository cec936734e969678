"""A room's settings: what `room.toml` may say, how it is checked, and the file that a new room starts with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from store.bodies import Json
from store.plain import PlainError
from store.toml import Section, Texts, TomlError, checked, read_toml, toml_tables

ROOM_FORMAT = 1
"""Version of a room's layout; `room.toml` carries it."""


class SettingsError(PlainError, ValueError):
    """`room.toml` cannot be used; one plain sentence with line and key."""


class Endpoint(Section):
    """Where the model is. The key itself never stands in the file: only the name of the variable that holds it."""

    base_url: str = ""
    api_key_env: str = "ANTHROPIC_API_KEY"
    model: str = Field(default="claude-opus-5-5", min_length=1)
    max_tokens: int = Field(default=0, ge=0)
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


class SessionSettings(Section):
    """What a session starts with when the command line does not say otherwise."""

    condition: str = Field(default="B", min_length=1)
    cache_ttl: Literal["5m", "1h"] = "5m"
    compact_at: float = Field(default=0.8, gt=0, le=1, allow_inf_nan=False)
    wake_packet_touches: bool = False


class KeeperSettings(Section):
    """What the Keeper may spend in one session, and how much it is given to hear."""

    max_usd: float = Field(default=5.0, ge=0, allow_inf_nan=False)
    max_tokens: int = Field(default=2_000_000, ge=0)
    window_turns: int = Field(default=12, ge=1)
    tool_result_bytes: int = Field(default=320, ge=0)


class ToolSettings(Section):
    """Which tools run without asking, and what bash may do."""

    approve: Literal["ask", "none", "read", "all"] = "ask"
    allow: Texts = ()
    allow_prefixes: Texts = ()
    sandbox: Literal["auto", "off", "required"] = "auto"
    network: bool = True
    bash_timeout_s: float = Field(default=120.0, gt=0, allow_inf_nan=False)


class McpServer(Section):
    """One MCP server: a command to start, or the address of one that runs."""

    command: Texts = ()
    url: str = ""
    env: Texts = ()

    @model_validator(mode="after")
    def _one_of_both(self) -> McpServer:
        if bool(self.command) == bool(self.url):
            raise PydanticCustomError("mcp", "needs either a command (a list of words) or a url, and not both")
        return self


class ScreenSettings(Section):
    """How the screen looks. An empty theme is the one that was chosen last in the room."""

    theme: str = ""
    bell: bool = True


def _by_dotted_name(value: object) -> object:
    """TOML reads ``tiers.promote = "k"`` as a table in a table."""
    if not isinstance(value, dict):
        return value
    flat: dict[str, object] = {}
    for name, key in value.items():
        inner = _by_dotted_name(key)
        flat |= {f"{name}.{rest}": one for rest, one in inner.items()} if isinstance(inner, dict) else {name: key}
    return flat


class Settings(Section):
    """All of `room.toml`."""

    format: Literal[1]
    operator: str = Field(min_length=1)
    endpoint: Endpoint = Endpoint()
    session: SessionSettings = SessionSettings()
    keeper: KeeperSettings = KeeperSettings()
    tools: ToolSettings = ToolSettings()
    mcp: Mapping[str, McpServer] = Field(default_factory=dict)
    keys: Annotated[Mapping[str, str], BeforeValidator(_by_dotted_name)] = Field(default_factory=dict)
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
        return parse_settings(read_toml(path), path.name)
    except TomlError as error:
        raise SettingsError(str(error)) from error


def parse_settings(text: str, name: str = "room.toml") -> Settings:
    """The settings that ``text`` holds; ``name`` is how errors call the file. Raises SettingsError."""
    try:
        found = toml_tables(text, name)
        version = found.get("format")
        if isinstance(version, int) and version > ROOM_FORMAT:
            raise SettingsError(
                f"this room has format {version}, and this program reads formats up to {ROOM_FORMAT}; "
                "update two-twins to open it"
            )
        return checked(found, text, name, Settings)
    except TomlError as error:
        raise SettingsError(str(error)) from error


# ---------------------------------------------------------------- the file of a new room


def _quoted(text: str) -> str:
    """``text`` as a TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\u{ord(found[0]):04x}", escaped) + '"'


def room_toml(
    operator: str, model: str = "claude-opus-5-5", base_url: str = "", api_key_env: str = "ANTHROPIC_API_KEY"
) -> str:
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
api_key_env = {_quoted(api_key_env)}
# The model of both twins: the Keeper is an identical twin of the Presence.
model = {_quoted(model)}
# The most tokens that one answer may have. 0: 16,000 at Anthropic's own endpoint, 4,096 elsewhere.
max_tokens = 0
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
# The share of the model's context from which on the endpoint is asked to compact the conversation; its full text stays
# in the log. An endpoint that cannot do it is told to you instead.
compact_at = 0.8
# Whether standing in a wake packet counts as a use of a line, which keeps it from decaying.
wake_packet_touches = false

[keeper]
# The most that the Keeper may spend in one session, in US dollars and in tokens. Past it, it waits.
max_usd = 5.0
max_tokens = 2000000
# Turns after which the Keeper's own conversation starts again from its brief and the tiers.
window_turns = 12
# Bytes of each tool result that the Keeper is given to hear, three times as many of one that failed; it can search for
# the whole. What it hears is most of what it costs.
tool_result_bytes = 320

[tools]
# Which tools run without asking: "ask" (reading tools run, the rest ask), "none" (no tool runs),
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
# "env" names variables of your environment that a started one may see; by itself it sees no credential.
# [mcp.files]
# command = ["my-mcp-server", "--flag"]
# env = ["MY_TOKEN"]
# [mcp.elsewhere]
# url = "http://127.0.0.1:9000/mcp"

[keys]
# Other keys for actions, for example: mark_break = "alt+b", or tiers.promote = "k". The help (F1) lists them by name.

[screen]
# A theme by name: night, paper, high-contrast, high-contrast-light, or one of Textual's. Empty: the one chosen last.
theme = ""
# Whether the terminal's bell calls you when a tool, a letter or the Keeper waits for you.
bell = true
"""
