"""The MCP servers that room.toml names: started or reached through the MCP SDK, their tools given to P's belt."""

from __future__ import annotations

import asyncio
import importlib.util
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from store.bodies import Json
from store.settings import McpServer

if TYPE_CHECKING:
    from anthropic.lib.tools import BetaAsyncFunctionTool
    from mcp import ClientSession

STARTED_WITHIN_S: Final = 20.0
ENDED_WITHIN_S: Final = 5.0
MOST_NAME: Final = 64
"""Characters of a tool's name; the Messages API takes 128, gateways often 64."""

Run = Callable[[dict[str, Json]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class McpTool:
    """One tool of a server as P is told of it (its name is unique in the session), and how it is called."""

    definition: Mapping[str, Any]
    run: Run


@dataclass(slots=True)
class _Served:
    """One server that runs: the task that holds its connection open, and what it offers."""

    name: str
    task: asyncio.Task[None]
    ready: asyncio.Future[list[BetaAsyncFunctionTool[Any]]]


@dataclass(slots=True)
class McpServers:
    """The servers of one session. ``start`` gives their tools; ``close`` ends them.

    ``environment`` is the operator's: of it a server sees what the MCP SDK passes on to any (no credential) and the
    variables that its section names. What a server writes to its standard error goes to a file in ``folder``.
    """

    servers: Mapping[str, McpServer]
    environment: Mapping[str, str]
    workspace: Path
    folder: Path
    tell: Callable[[str], None]
    _served: list[_Served] = field(default_factory=list)
    _closing: asyncio.Event = field(default_factory=asyncio.Event)

    async def start(self, taken: frozenset[str]) -> list[McpTool]:
        """Start all servers at once and give their tools, in the order of the servers' names. One that does not start
        is told once and left out. ``taken`` are the tool names that P has already."""
        if not self.servers:
            return []
        if importlib.util.find_spec("mcp") is None:
            self.tell('MCP servers are set in room.toml, but MCP is not installed: pip install "two-twins[mcp]"')
            return []
        for name, server in sorted(self.servers.items()):
            ready: asyncio.Future[list[BetaAsyncFunctionTool[Any]]] = asyncio.get_running_loop().create_future()
            task = asyncio.create_task(self._serve(name, server, ready), name=f"mcp {name}")
            self._served.append(_Served(name, task, ready))
        names = set(taken)
        tools: list[McpTool] = []
        for served in self._served:
            for tool in await self._offered(served):
                name = _free_name(f"{served.name}__{tool.name}", names)
                names.add(name)
                tools.append(McpTool({**tool.to_dict(), "name": name}, tool.call))
        return tools

    async def close(self) -> None:
        """End every server and its connection. Safe to call twice."""
        self._closing.set()
        served, self._served = self._served, []
        if not served:
            return
        _, late = await asyncio.wait([one.task for one in served], timeout=ENDED_WITHIN_S)
        for task in late:
            task.cancel()
        for one in served:
            with suppress(asyncio.CancelledError):
                await one.task

    async def _offered(self, served: _Served) -> list[BetaAsyncFunctionTool[Any]]:
        try:
            async with asyncio.timeout(STARTED_WITHIN_S):
                return sorted(await asyncio.shield(served.ready), key=lambda tool: tool.name)
        except TimeoutError:
            reason = f"it did not answer within {STARTED_WITHIN_S:g} s"
        except Exception as error:  # noqa: BLE001 — whatever a foreign server does, the session goes on without it
            reason = _innermost(error)
        served.task.cancel()
        self.tell(f"The MCP server {served.name} is left out: {reason}. See [mcp.{served.name}] in room.toml.")
        return []

    async def _serve(
        self, name: str, server: McpServer, ready: asyncio.Future[list[BetaAsyncFunctionTool[Any]]]
    ) -> None:
        """Hold one connection open until the session closes: it must be opened and closed in one task."""
        from anthropic.lib.tools.mcp import async_mcp_tool

        try:
            async with AsyncExitStack() as stack:
                session = await self._connected(stack, name, server)
                await session.initialize()
                listed = await _all_tools(session)
                ready.set_result([async_mcp_tool(tool, session) for tool in listed])
                await self._closing.wait()
        except Exception as error:  # noqa: BLE001 — handed on to whoever waits; afterwards its calls fail by themselves
            if not ready.done():
                ready.set_exception(error)
        finally:
            if not ready.done():
                ready.cancel()

    async def _connected(self, stack: AsyncExitStack, name: str, server: McpServer) -> ClientSession:
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client
        from mcp.client.streamable_http import streamable_http_client

        if server.command:
            command, *arguments = server.command
            parameters = StdioServerParameters(
                command=command,
                args=arguments,
                env={key: self.environment[key] for key in server.env if key in self.environment},
                cwd=self.workspace,
            )
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Its own words would spoil the screen.
            said = stack.enter_context((self.folder / f"mcp-{_plain(name)}.log").open("a", encoding="utf-8"))
            read, write = await stack.enter_async_context(stdio_client(parameters, errlog=said))
        else:
            read, write = await stack.enter_async_context(streamable_http_client(server.url))
        return await stack.enter_async_context(ClientSession(read, write))


async def _all_tools(session: ClientSession) -> list[Any]:
    from mcp.types import PaginatedRequestParams

    found = await session.list_tools()
    tools = list(found.tools)
    while found.next_cursor and len(tools) < 1_000:
        found = await session.list_tools(params=PaginatedRequestParams(cursor=found.next_cursor))
        tools += found.tools
    return tools


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def _free_name(wanted: str, taken: set[str]) -> str:
    """A tool's name as the API takes it, unlike all the others."""
    name = _plain(wanted)[:MOST_NAME]
    number = 1
    while name in taken:
        number += 1
        name = f"{_plain(wanted)[: MOST_NAME - 4]}_{number}"
    return name


def _innermost(error: BaseException) -> str:
    """What went wrong, without the groups that task groups wrap it in."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    if isinstance(error, FileNotFoundError):
        return f"there is no program {error.filename}" if error.filename else "there is no such program"
    said = " ".join(str(error).split())[:200]
    return said.rstrip(".") or type(error).__name__
