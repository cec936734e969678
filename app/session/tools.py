"""P's tools: the SDK's own, each behind one gate that logs, asks, runs and logs again."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, cast

from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaAsyncLocalFilesystemMemoryTool
from anthropic.lib.tools._beta_functions import BetaAsyncBuiltinFunctionTool, BetaFunctionToolResultType
from anthropic.lib.tools.agent_toolset import AgentToolContext, beta_agent_toolset_20260401
from anyio import Path as AsyncPath

from app.session.off_loop import off_loop
from app.session.outputs import output_path, sent_of
from app.session.policy import Policy, what_will_run
from app.session.record import SessionLog
from app.session.room_tools import room_tools
from app.session.shell import Shell
from app.session.sources import MemoryPlaces
from store.bodies import Json, ToolAnswered, ToolAsked, ToolCalled, ToolEnded, ToolOutcome
from store.events import plain

Run = Callable[[dict[str, Json]], Awaitable[BetaFunctionToolResultType]]
Ask = Callable[[str], Awaitable[ToolAnswered]]
"""Waits for the operator's answer to the question about one tool call, by its id."""

MEMORY_SCHEMA: dict[str, Json] = {
    "type": "object",
    "properties": {
        "command": {"type": "string", "enum": ["view", "create", "str_replace", "insert", "delete", "rename"]},
        "path": {"type": "string", "description": "begins with /memories"},
        "view_range": {"type": "array", "items": {"type": "integer"}},
        "file_text": {"type": "string"},
        "old_str": {"type": "string"},
        "new_str": {"type": "string"},
        "insert_line": {"type": "integer"},
        "insert_text": {"type": "string"},
        "old_path": {"type": "string"},
        "new_path": {"type": "string"},
    },
    "required": ["command"],
}
"""The memory tool for endpoints that know no built-in tools; the commands are the SDK's."""


class GatedTool(BetaAsyncBuiltinFunctionTool):
    """One tool as the runner sees it: its definition, and a call that goes through the belt's gate."""

    def __init__(self, definition: Mapping[str, Any], run: Run, gate: Callable[[GatedTool, object], Awaitable[Any]]):
        self._definition = dict(definition)
        self.run = run
        self._gate = gate

    def to_dict(self) -> Any:
        return self._definition

    async def call(self, input: object) -> BetaFunctionToolResultType:
        return cast(BetaFunctionToolResultType, await self._gate(self, input))


class ToolBelt:
    """All tools of P for one session. ``close`` ends what they started."""

    def __init__(
        self,
        record: SessionLog,
        policy: Policy,
        workspace: Path,
        shell: Shell,
        ask: Ask,
        *,
        built_in_memory: bool,
        no_bash: str = "",
    ) -> None:
        """``no_bash`` says why no command may run at all; empty when commands may."""
        self._record = record
        self._policy = policy
        self._workspace = workspace
        self._shell = shell
        self._ask = ask
        self._no_bash = no_bash
        self._bash_tool: GatedTool | None = None
        self._cwd: Path | None = None
        self._keep: Path | None = None
        self._expected: deque[dict[str, Json]] = deque()
        self.tools: list[GatedTool] = []
        room = record.room
        self._limit_s = room.settings.tools.bash_timeout_s
        self._folder = room.sessions_dir / record.log
        self._places = MemoryPlaces(room.root, workspace)
        context = AgentToolContext(workdir=workspace, allowed_roots=[room.memory], env={})
        for tool in beta_agent_toolset_20260401(context):
            if tool.name == "bash":
                self._bash_tool = self.add(tool.to_dict(), self._bash)
            else:
                self.add(tool.to_dict(), lambda given, tool=tool: off_loop(lambda: tool.call(given)))  # type: ignore[misc]
        memory = BetaAsyncLocalFilesystemMemoryTool(str(room.root))
        memory.memory_root = AsyncPath(room.memory)
        definition: Mapping[str, Any] = (
            memory.to_dict()
            if built_in_memory
            else {
                "name": "memory",
                "description": "Your own notes, kept from session to session under /memories.",
                "input_schema": MEMORY_SCHEMA,
            }
        )
        self.add(definition, memory.call)
        for spec, run in room_tools(record):
            self.add({"name": spec.name, "description": spec.description, "input_schema": dict(spec.schema)}, run)

    def add(self, definition: Mapping[str, Any], run: Run) -> GatedTool:
        """One more tool, behind the same gate. Raises ValueError when its name is taken."""
        tool = GatedTool(definition, run, self._call)
        if any(other.name == tool.name for other in self.tools):
            raise ValueError(f"there is a tool {tool.name} already")
        self.tools.append(tool)
        return tool

    def expect(self, calls: list[dict[str, Json]]) -> None:
        """The tool calls of the answer that the runner is about to work through, in their order."""
        self._expected = deque(calls)

    def settle(self, results: Json) -> None:
        """Log the calls that the runner answered by itself (names that no tool has)."""
        given = {
            str(result["tool_use_id"]): result
            for result in (results if isinstance(results, list) else [])
            if isinstance(result, dict) and "tool_use_id" in result
        }
        for call in self._expected:
            self._unknown(call, given.get(str(call["id"])))
        self._expected.clear()

    async def close(self) -> None:
        await self._shell.close()

    async def _bash(self, given: dict[str, Json]) -> str:
        if self._no_bash:
            raise ToolError(f"bash: {self._no_bash}")
        if given.get("restart"):
            await self._shell.close()
            return "bash restarted"
        command, limit = given.get("command"), given.get("timeout_ms")
        if not isinstance(command, str) or not command.strip():
            raise ToolError("bash: give a command, or restart: true for a fresh shell")
        return await self._shell.run(command, limit if isinstance(limit, int) else None, self._keep)

    def _take(self, name: str, given: object) -> dict[str, Json]:
        while self._expected:
            call = self._expected.popleft()
            if call.get("name") == name:
                return call
            self._unknown(call, None)
        raise ToolError(f"{name}: called without having been asked for")

    def _unknown(self, call: dict[str, Json], result: dict[str, Json] | None) -> None:
        name = str(call.get("name"))
        content: Json = result["content"] if result else f"Error: Tool '{name}' not found"
        call_id = str(call["id"])
        self._record.append("presence", ToolCalled(call_id, name, call.get("input")))
        self._record.append("system", ToolEnded(call_id, name, "unknown_tool", content, 0.0, byte_size(content)))

    async def _call(self, tool: GatedTool, given: object) -> BetaFunctionToolResultType:
        call = self._take(tool.name, given)
        call_id, name, tool_input = str(call["id"]), tool.name, call.get("input")
        self._record.append("presence", ToolCalled(call_id, name, tool_input))
        if not isinstance(tool_input, dict):
            raise self._over(call_id, name, "error", f"{name}: the input must be an object with named fields", 0.0)
        answer = await self._allowed(call_id, name, tool_input)
        if answer is not None:
            raise self._over(call_id, name, "denied", answer, 0.0)
        clock = self._record.room.clock
        self._cwd = self._shell.cwd() if tool is self._bash_tool else None
        self._keep = output_path(self._folder, self._record.turn, call_id)
        began = clock.mono()
        try:
            result = await self._in_time(tool, tool_input)
            content: Json = result if isinstance(result, str) else plain(list(result))
        except asyncio.CancelledError:
            self._over(call_id, name, "stopped", f"{name}: stopped by the operator", clock.mono() - began, tool_input)
            raise
        except ToolError as error:
            raised: Json = error.content if isinstance(error.content, str) else plain(list(error.content))
            raise self._over(call_id, name, "error", raised, clock.mono() - began, tool_input) from error
        except Exception as error:
            said = f"{name}: {error or type(error).__name__}"
            raise self._over(call_id, name, "error", said, clock.mono() - began, tool_input) from error
        return self._over(call_id, name, "ok", content, clock.mono() - began, tool_input).content

    async def _in_time(self, tool: GatedTool, tool_input: dict[str, Json]) -> BetaFunctionToolResultType:
        """Run a tool within the room's limit; bash keeps to it by itself, and ends what it started."""
        if tool is self._bash_tool:
            return await tool.run(tool_input)
        try:
            async with asyncio.timeout(self._limit_s):
                return await tool.run(tool_input)
        except TimeoutError:
            raise ToolError(f"{tool.name}: stopped after {self._limit_s:g} s, its limit") from None

    async def _allowed(self, call_id: str, name: str, tool_input: dict[str, Json]) -> str | None:
        """None when the call may run, else what P is told."""
        verdict = self._policy.verdict(name, tool_input)
        if verdict == "allow":
            self._record.append("system", ToolAnswered(call_id, name, "allow", "policy"))
            return None
        if verdict == "deny":
            self._record.append("system", ToolAnswered(call_id, name, "deny", "policy"))
            return f"{name}: not allowed in this session (approval policy: {self._policy.approve})"
        self._record.append("system", ToolAsked(call_id, name, what_will_run(name, tool_input, self._workspace)))
        try:
            answer = await self._ask(call_id)
        except asyncio.CancelledError:
            self._over(call_id, name, "stopped", f"{name}: stopped before the operator had answered", 0.0)
            raise
        self._record.append("operator", answer)
        if answer.decision == "deny":
            return f"{name}: the operator said no" + (f": {answer.word}" if answer.word else "")
        if answer.scope == "tool":
            self._policy.tools.add(name)
        elif answer.scope == "prefix" and answer.prefix:
            self._policy.prefixes.append(answer.prefix)
        return None

    def _over(
        self,
        call_id: str,
        name: str,
        outcome: ToolOutcome,
        content: Json,
        seconds: float,
        tool_input: Json = None,
    ) -> ToolError:
        """Log how a call ended; what P is to be told of it."""
        sent, whole = sent_of(content, output_path(self._folder, self._record.turn, call_id))
        ended = ToolEnded(
            call_id,
            name,
            outcome,
            sent,
            round(seconds * 1000, 3),
            byte_size(sent),
            "world" if tool_input is None else self._places.origin(name, tool_input, content, self._cwd),
            self._shell.take_whole() or whole,
        )
        self._record.append("system", ended)
        return ToolError(cast(BetaFunctionToolResultType, sent))


def byte_size(content: Json) -> int:
    """Bytes of what a tool gave back: of the text, or of the blocks as JSON."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return len(text.encode("utf-8", "replace"))
