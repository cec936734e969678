"""Scripts as TOML files: read, checked, and refused in one sentence that names the file and the key."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from app.scripted.request import JsonObject
from app.scripted.script import Beat, Reply, Script, SeatScript, ToolCall
from store.plain import PlainError


class ScriptError(PlainError, ValueError):
    """A script file that can not be played; the message names the file, the key and what to do."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Tool(_Table):
    name: str = Field(min_length=1)
    input: JsonObject = Field(default_factory=dict)

    def call(self) -> ToolCall:
        return ToolCall(self.name, self.input)


class _Reply(_Table):
    text: str = ""
    thinking: str = ""
    tool: tuple[_Tool, ...] = ()
    blocks: tuple[JsonObject, ...] | None = None
    pace: float | None = Field(default=None, gt=0)
    delay_s: float = Field(default=0.0, ge=0)
    stop_reason: str | None = None
    usage: dict[str, int] | None = None

    def reply(self) -> Reply:
        return Reply(
            text=self.text,
            thinking=self.thinking,
            tools=tuple(tool.call() for tool in self.tool),
            blocks=self.blocks,
            pace=self.pace,
            delay_s=self.delay_s,
            stop_reason=self.stop_reason,
            usage=self.usage,
        )


def _regular_expression(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from error
    return pattern


class _Beat(_Table):
    when: Annotated[str, AfterValidator(_regular_expression)]
    reply: tuple[_Reply, ...] = Field(min_length=1)


class _Seat(_Table):
    otherwise: str | None = None
    every_match: bool = False
    beat: tuple[_Beat, ...] = ()

    def script(self) -> SeatScript:
        beats = tuple(Beat(beat.when, tuple(reply.reply() for reply in beat.reply)) for beat in self.beat)
        if self.otherwise is None:
            return SeatScript(beats, every_match=self.every_match)
        return SeatScript(beats, Reply(text=self.otherwise), self.every_match)


class _Script(_Table):
    presence: _Seat = _Seat()
    keeper: _Seat = _Seat()
    reader: _Seat = _Seat()


def load_script(path: Path) -> Script:
    """The script in the TOML file at `path`; raises `ScriptError` when there is none to play."""
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ScriptError(f"{path}: can not be read ({error.strerror}); give the path of a script file.") from error
    except UnicodeDecodeError as error:
        raise ScriptError(f"{path}: is not UTF-8 at byte {error.start}; save it as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise ScriptError(f"{path}: is not valid TOML: {error}; mend it there.") from error
    try:
        script = _Script.model_validate(read)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ScriptError(f"{path}: {key}: {_lower_first(first['msg'])}; mend it there.") from error
    return Script(script.presence.script(), script.keeper.script(), script.reader.script())


def _lower_first(message: str) -> str:
    message = message.removeprefix("Value error, ")
    return message[:1].lower() + message[1:]
