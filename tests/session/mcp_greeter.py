"""A small MCP server for the tests: greets, fails, hangs, shouts, and says which of its environment it sees."""

from __future__ import annotations

import asyncio
import os
import sys

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("greeter")


@server.tool()
def greet(name: str) -> str:
    """Greet someone by name."""
    return f"Good morning, {name}."


@server.tool()
def fail() -> str:
    """Fail with a reason."""
    raise ToolError("the greeter has lost its voice")


@server.tool()
async def hang() -> str:
    """Never answer."""
    await asyncio.Event().wait()
    return "never"


@server.tool()
def shout(times: int) -> str:
    """Say a lot, with terminal controls in it."""
    return "\x1b]0;gotcha\x07HELLO " * times


@server.tool()
def sees(name: str) -> str:
    """The value of an environment variable, as this server sees it."""
    return os.environ.get(name, "(nothing)")


@server.tool()
def die() -> str:
    """End the server."""
    os._exit(3)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        print("the greeter is awake", file=sys.stderr)
        server.run("stdio")
