"""MCP servers of room.toml behind P's gate: a real one from a package, one of our own, over stdio and HTTP."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from session_plays import Stages, always, bodies, calls, events, running, said, until

from app.scripted.script import Reply, ToolCall
from app.session.mcp_servers import McpServers
from store.bodies import Notice, SeatReady, ToolAnswered, ToolAsked, ToolCalled, ToolEnded, TurnEnded
from store.settings import McpServer

GREETER = Path(__file__).with_name("mcp_greeter.py")
GREET = Reply(tools=(ToolCall("greeter__greet", {"name": "Ada"}),))
STDIO = {"command": [sys.executable, str(GREETER)]}


def set_up(**servers: dict[str, object]) -> dict[str, dict[str, object]]:
    return {f"mcp.{name}": server for name, server in servers.items()}


async def test_a_server_from_a_package_gives_its_tools_to_p(stage: Stages) -> None:
    s = await stage(
        always(
            calls("time__convert_time", source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo"), Reply("So.")
        ),
        settings=set_up(time={"command": [sys.executable, "-m", "mcp_server_time"]}),
    )
    live = await s.open("A")
    (ready,) = bodies(live, SeatReady)
    assert {"time__convert_time", "time__get_current_time"} <= set(ready.tools)
    await said(live, "what time is noon in Tokyo")
    (ended,) = bodies(live, ToolEnded)
    assert (ended.outcome, ended.source) == ("ok", "world") and "21:00" in str(ended.content)
    assert bodies(live, TurnEnded)[-1].end == "done"


async def test_a_tool_of_a_server_is_asked_about_and_logged_like_any_other(stage: Stages) -> None:
    s = await stage(always(GREET, Reply("So.")), settings=set_up(greeter=STDIO))
    live = await s.open("A", approve="ask")
    live.say("greet me")
    await until(lambda: bodies(live, ToolAsked), "the question")
    (asked,) = bodies(live, ToolAsked)
    assert "greeter__greet" in asked.shown and '"Ada"' in asked.shown
    assert not bodies(live, ToolEnded)
    live.answer(asked.tool_use_id, allow=True)
    await live.turn_over()
    assert "Good morning, Ada." in str(bodies(live, ToolEnded)[0].content)
    kinds = [type(event.body) for event in events(live)]
    assert [kinds.index(k) for k in (ToolCalled, ToolAsked, ToolAnswered, ToolEnded)] == sorted(
        kinds.index(k) for k in (ToolCalled, ToolAsked, ToolAnswered, ToolEnded)
    )


async def test_a_server_that_fails_shouts_hangs_or_dies_never_breaks_the_turn(stage: Stages) -> None:
    several = tuple(
        ToolCall(f"greeter__{name}", given)
        for name, given in (
            ("fail", {}),
            ("shout", {"times": 40_000}),
            ("greet", {"nobody": 1}),
            ("hang", {}),
            ("die", {}),
            ("greet", {"name": "Ada"}),
        )
    )
    settings = {**set_up(greeter=STDIO), "tools": {"bash_timeout_s": 3.0, "sandbox": "off"}}
    s = await stage(always(Reply(tools=several), Reply("So.")), settings=settings)
    live = await s.open("A")
    await said(live, "go")
    fail, shout, wrong, hang, die, after = bodies(live, ToolEnded)
    assert fail.outcome == "error" and "lost its voice" in str(fail.content)
    assert isinstance(shout.content, list) and isinstance(shout.content[0], dict)
    assert shout.outcome == "ok" and len(str(shout.content[0]["text"])) < 300_000
    assert "left out" in str(shout.content[0]["text"])
    assert shout.whole is not None and shout.whole.bytes == 40_000 * len("\x1b]0;gotcha\x07HELLO ")
    assert wrong.outcome == "error"
    assert hang.outcome == "error" and "limit" in str(hang.content)
    assert die.outcome == after.outcome == "error"
    assert bodies(live, TurnEnded)[-1].end == "done"


async def test_a_server_that_does_not_start_is_said_once_and_left_out(stage: Stages) -> None:
    settings = set_up(
        greeter=STDIO,
        gone={"command": ["no-such-program-anywhere"]},
        silent={"command": [sys.executable, "-c", "raise SystemExit(1)"]},
        elsewhere={"url": "http://127.0.0.1:9/mcp"},
    )
    s = await stage(always(Reply("Well.")), settings=settings)
    live = await s.open("A")
    notices = [notice.text for notice in bodies(live, Notice) if "MCP" in notice.text]
    assert len(notices) == 3
    assert all(
        any(f"server {name} is left out" in text for text in notices) for name in ("gone", "silent", "elsewhere")
    )
    assert "there is no program no-such-program-anywhere" in " ".join(notices)
    (ready,) = bodies(live, SeatReady)
    assert "greeter__greet" in ready.tools
    await live.leave()
    again = await s.resume(live.log)
    assert len([notice for notice in bodies(again, Notice) if "MCP" in notice.text]) == 3


async def test_servers_end_with_the_session(stage: Stages) -> None:
    s = await stage(always(Reply("Well.")), settings=set_up(greeter=STDIO))
    live = await s.open("A")
    assert running("mcp_greeter.py")
    await live.leave()
    await until(lambda: not running("mcp_greeter.py"), "the end of the server")
    (said_by_it,) = s.root.glob("sessions/*/mcp-greeter.log")
    assert "the greeter is awake" in said_by_it.read_text()


async def test_a_server_sees_no_credential_but_those_that_its_section_names(
    stage: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "GREETER_TOKEN", "OTHER_TOKEN"):
        monkeypatch.setenv(name, f"value of {name}")
    several = tuple(
        ToolCall("greeter__sees", {"name": name}) for name in ("ANTHROPIC_API_KEY", "OTHER_TOKEN", "GREETER_TOKEN")
    )
    settings = set_up(greeter={**STDIO, "env": ["GREETER_TOKEN"]})
    s = await stage(always(Reply(tools=several), Reply("So.")), settings=settings)
    live = await s.open("A")
    await said(live, "go")
    key, other, own = (str(ended.content) for ended in bodies(live, ToolEnded))
    assert "(nothing)" in key and "(nothing)" in other and "value of GREETER_TOKEN" in own


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


async def test_a_server_over_http_works_the_same(stage: Stages) -> None:
    port = free_port()
    served = subprocess.Popen(  # noqa: ASYNC220 — starts a server and waits for nothing
        [sys.executable, str(GREETER), str(port)], stderr=subprocess.DEVNULL
    )
    try:

        def listens() -> bool:
            with socket.socket() as tried:
                return tried.connect_ex(("127.0.0.1", port)) == 0

        await until(listens, "the server")
        s = await stage(
            always(Reply(tools=(ToolCall("far__greet", {"name": "Ada"}),)), Reply("So.")),
            settings=set_up(far={"url": f"http://127.0.0.1:{port}/mcp"}),
        )
        live = await s.open("A")
        await said(live, "greet me")
        (ended,) = bodies(live, ToolEnded)
        assert ended.outcome == "ok" and "Good morning, Ada." in str(ended.content)
        await live.leave()
    finally:
        served.kill()
        served.wait()  # noqa: ASYNC222 — it was killed


async def test_names_of_tools_are_unlike_each_other_and_as_the_api_takes_them(tmp_path: Path) -> None:
    said: list[str] = []
    same = McpServer(command=tuple(STDIO["command"]))
    servers = McpServers({"a b": same, "a_b": same, "ünïcode" * 12: same}, {}, tmp_path, tmp_path / "s", said.append)
    try:
        tools = await servers.start(frozenset({"a_b__greet"}))
    finally:
        await asyncio.shield(servers.close())
    names = [str(tool.definition["name"]) for tool in tools]
    assert not said and len(names) == len(set(names)) == 18 and "a_b__greet" not in names
    assert all(
        name.isascii() and name.replace("_", "").replace("-", "").isalnum() and len(name) <= 64 for name in names
    )
