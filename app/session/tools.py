"""P's tools: the SDK's own, each behind one gate that logs, asks, runs and logs again."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaAsyncLocalFilesystemMemoryTool
from anthropic.lib.tools._beta_functions import BetaAsyncBuiltinFunctionTool, BetaFunctionToolResultType
from anthropic.lib.tools.agent_toolset import AgentToolContext, beta_agent_toolset_20260401
from anyio import Path as AsyncPath

from app.session.policy import Policy, what_will_run
from app.session.record import SessionLog
from app.session.shell import Shell
from store.bodies import Json, ToolAnswered, ToolAsked, ToolCalled, ToolEnded, ToolOutcome
from store.events import plain

ResultT = TypeVar("ResultT")
Run = Callable[[dict[str, Json]], Awaitable[BetaFunctionToolResultType]]
Ask = Callable[[str], Awaitable[ToolAnswered]]
"""Waits for the operator's answer to the question about one tool call, by its id."""

MEMORY_SOURCES = frozenset({"memory", "recall", "read_letter", "read_snug"})
"""Tools whose results come out of the room's own memory: no evidence for a new line (DESIGN §7)."""

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


async def off_loop(work: Callable[[], Coroutine[object, object, ResultT]]) -> ResultT:
    """Run the SDK's file tools away from the event loop, where a large tree or a slow disk would freeze the screen.

    A daemon thread, not the loop's own pool: a walk that takes long must not hold up quitting (Textual #3966).
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[ResultT] = loop.create_future()

    def settle(result: ResultT | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(cast(ResultT, result))
        else:
            done.set_exception(error)

    def run() -> None:
        try:
            outcome: tuple[ResultT | None, BaseException | None] = (asyncio.run(work()), None)
        except BaseException as error:  # noqa: BLE001 — handed on to the caller's future
            outcome = (None, error)
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=run, daemon=True, name="file tool").start()
    return await done


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
        self._expected: deque[dict[str, Json]] = deque()
        self.tools: list[GatedTool] = []
        room = record.room
        context = AgentToolContext(workdir=workspace, allowed_roots=[room.memory], env={})
        for tool in beta_agent_toolset_20260401(context):
            if tool.name == "bash":
                self.add(tool.to_dict(), self._bash)
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

    def add(self, definition: Mapping[str, Any], run: Run) -> None:
        """One more tool, behind the same gate."""
        self.tools.append(GatedTool(definition, run, self._call))

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
        return await self._shell.run(command, limit if isinstance(limit, int) else None)

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
        began = clock.mono()
        try:
            result = await tool.run(tool_input)
            content: Json = result if isinstance(result, str) else plain(list(result))
        except asyncio.CancelledError:
            self._over(call_id, name, "stopped", f"{name}: stopped by the operator", clock.mono() - began)
            raise
        except ToolError as error:
            raised: Json = error.content if isinstance(error.content, str) else plain(list(error.content))
            raise self._over(call_id, name, "error", raised, clock.mono() - began) from error
        except Exception as error:
            raise self._over(call_id, name, "error", f"{name}: {error}", clock.mono() - began) from error
        self._over(call_id, name, "ok", content, clock.mono() - began)
        return cast(BetaFunctionToolResultType, content)

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

    def _over(self, call_id: str, name: str, outcome: ToolOutcome, content: Json, seconds: float) -> ToolError:
        self._record.append(
            "system",
            ToolEnded(
                call_id,
                name,
                outcome,
                content,
                round(seconds * 1000, 3),
                byte_size(content),
                "memory" if name in MEMORY_SOURCES else "world",
            ),
        )
        return ToolError(cast(BetaFunctionToolResultType, content))


def byte_size(content: Json) -> int:
    """Bytes of what a tool gave back: of the text, or of the blocks as JSON."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return len(text.encode("utf-8", "replace"))
