"""The tour as its files tell it, and a session of it played with the real agent tools in a copy of the workspace."""

import asyncio
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path

from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_functions import aclose_runnable_tool  # as the SDK's own session runner does
from anthropic.lib.tools.agent_toolset import AgentToolContext, beta_agent_toolset_20260401

from app.scripted.script import Beat, SeatScript
from app.scripted.script_file import load_script

TOUR = Path(__file__).resolve().parents[2] / "briefs" / "tour"


@dataclass(frozen=True)
class Turn:
    """One operator line and everything that really came of it; `calls` are (tool, input, failed, result)."""

    number: int
    operator: str
    texts: tuple[str, ...]
    calls: tuple[tuple[str, dict, bool, str], ...]

    @property
    def chunk(self) -> str:
        tools = [f"[tool {name}] {given} → {result}" for name, given, _, result in self.calls]
        return "\n".join([f"Turn {self.number}", f"[operator] {self.operator}", "[presence]", *self.texts, *tools])


@dataclass(frozen=True)
class Session:
    """One session of the tour: its task file and its operator lines."""

    task: dict
    task_file: Path
    lines: tuple[str, ...]

    @property
    def workspace(self) -> Path:
        return (self.task_file.parent / self.task["workspace"]).resolve()


def read_sessions() -> tuple[Session, ...]:
    tour = tomllib.loads((TOUR / "tour.toml").read_text(encoding="utf-8"))
    sessions = []
    for each in tour["session"]:
        file = TOUR / each["task"]
        sessions.append(Session(tomllib.loads(file.read_text(encoding="utf-8")), file, tuple(each["lines"])))
    return tuple(sessions)


SESSIONS = read_sessions()
SCRIPT = load_script(TOUR / "script.toml")


def seat(name: str) -> SeatScript:
    script = getattr(SCRIPT, name)
    assert isinstance(script, SeatScript)
    return script


def beats_for(name: str, text: str) -> tuple[Beat, ...]:
    return tuple(beat for beat in seat(name).beats if beat.matches(text))


def copy_of(session: Session, where: Path) -> Path:
    return Path(shutil.copytree(session.workspace, where, ignore=shutil.ignore_patterns("__pycache__", "out")))


def play(session: Session, workspace: Path) -> list[Turn]:
    """Run every tool call of a session's Presence, in order, with the SDK's own tools."""

    async def all_turns() -> list[Turn]:
        tools = {tool.name: tool for tool in beta_agent_toolset_20260401(AgentToolContext(workdir=workspace))}
        turns = []
        try:
            for number, line in enumerate(session.lines, 1):
                (beat,) = beats_for("presence", line)
                texts, calls = [], []
                last = ""
                for reply in beat.replies:
                    texts.append(reply.text.replace("{{last_tool}}", last))
                    for call in reply.tools:
                        try:
                            last, failed = str(await tools[call.name].call(dict(call.input))), False
                        except ToolError as error:
                            last, failed = str(error), True
                        calls.append((call.name, dict(call.input), failed, last))
                turns.append(Turn(number, line, tuple(texts), tuple(calls)))
        finally:
            await aclose_runnable_tool(tools["bash"])
        return turns

    return asyncio.run(all_turns())
