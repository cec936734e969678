"""A long agent turn: two hundred tool calls, stopped in any, killed at every event, and no message said twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from session_plays import Stages, bash, blocks, bodies, events, finding, keeping, said, set_stage, until

from app.scripted.request import Request
from app.scripted.script import Reply, ToolCall
from store.bodies import (
    BODY_BY_KIND,
    MessageCut,
    MessageEnded,
    OperatorSaid,
    SessionResumed,
    ToolCalled,
    ToolEnded,
    TurnEnded,
)
from store.conversation import conversation
from store.events import decode
from store.room import Room

LONG = 200
VICTIM = Path(__file__).with_name("p_killed.py")


def works(calls: int) -> object:
    """P that makes so many calls, a step each, and then says so; it goes by what stands in the request alone."""

    def plays(asked: Request) -> Reply:
        if asked.operator_text != "work":
            return Reply("Fine.")
        done = asked.round
        return Reply("All of it is done.") if done >= calls else bash(f"echo step {done}")

    return plays


async def test_two_hundred_tool_calls_stay_one_turn(stage: Stages) -> None:
    s = await stage(works(LONG))
    live = await s.open("A")
    await said(live, "work")
    assert len(bodies(live, ToolEnded)) == len(bodies(live, ToolCalled)) == LONG
    assert len(bodies(live, OperatorSaid)) == 1 and bodies(live, TurnEnded) == [TurnEnded("done")]
    assert {event.turn for event in events(live) if isinstance(event.body, ToolEnded)} == {1}
    late = bodies(live, MessageEnded)[LONG // 2 :]
    assert min(body.usage.cache_read / body.usage.prompt for body in late) > 0.95


IN_THE_LONG_LANE = [pytest.param(at, marks=pytest.mark.long) for at in (199, 200)]


@pytest.mark.parametrize("at", [1, 2, 57, *IN_THE_LONG_LANE])
async def test_a_long_turn_can_be_stopped_in_any_of_its_calls_and_gone_on_with(stage: Stages, at: int) -> None:
    def plays(asked: Request) -> Reply:
        if asked.operator_text != "work":
            return Reply("Fine.")
        ran = sum(1 for _, block in blocks(asked) if '"tool_result"' in block)
        return bash("sleep 600") if ran + 1 == at else bash("true") if ran < LONG else Reply("Done.")

    s = await stage(plays)
    live = await s.open("A")
    live.say("work")
    await until(lambda: len(bodies(live, ToolCalled)) == at, "the call")
    assert live.stop()
    await live.turn_over()
    assert bodies(live, ToolEnded)[-1].outcome == "stopped"
    assert bodies(live, TurnEnded)[-1].end == "stopped"
    await said(live, "and now?")
    assert bodies(live, TurnEnded)[-1] == TurnEnded("done")


async def test_the_log_cut_behind_any_event_resumes_with_a_valid_list_and_says_nothing_twice(tmp_path: Path) -> None:
    """The server refuses every list that is not valid, so that a turn that is done proves that it was."""
    async with AsyncExitStack() as stack:
        (tmp_path / "whole").mkdir()
        s = await set_stage(stack, tmp_path / "whole", odd_work)
        live = await s.open("A")
        await said(live, "work")
        await live.leave()
        log = s.room.log_path(live.log)
        lines = log.read_bytes().splitlines(keepends=True)
        name = live.log
    kinds = Counter(decode(line).kind for line in lines)
    assert {"message.ended", "tool.called", "tool.answered", "tool.ended", "stream.partial", "turn.ended"} <= set(kinds)
    begins = next(at for at, line in enumerate(lines) if decode(line).kind == "operator.said")
    for at in range(begins + 1, len(lines) + 1):
        async with AsyncExitStack() as stack:
            folder = tmp_path / f"cut-{at}"
            folder.mkdir()
            s = await set_stage(stack, folder, odd_work)
            s.room.close()
            cut = folder / "room" / "sessions" / name / "events.jsonl"
            cut.parent.mkdir(parents=True)
            whole = b"".join(lines[:at]).replace(str(tmp_path / "whole").encode(), str(folder).encode())
            cut.write_bytes(whole)
            s.room = stack.enter_context(Room.open(folder / "room"))
            again = await s.resume(name)
            before = spoken(again)
            if again.go_on():
                await again.turn_over()
            await said(again, "and now?")
            where = f"cut behind {at}: {decode(lines[at - 1]).kind}"
            assert bodies(again, TurnEnded)[-1] == TurnEnded("done"), where
            after = spoken(again)
            assert after[: len(before)] == before, where
            assert len(after) == len(set(after)) + after.count("Gone on.") - bool(after.count("Gone on.")), where
            assert "All of it is done." in after or "Gone on." in after, where
            calls = [body.tool_use_id for body in bodies(again, ToolCalled)]
            assert len(calls) == len(set(calls)) == len(bodies(again, ToolEnded)), where


def odd_work(asked: Request) -> Reply:
    """Thinking, two calls at once, words between; then done. It is told of what was cut off, and goes on from there."""
    if asked.operator_text == "and now?":
        return Reply("Fine.")
    ran = sum(1 for _, block in blocks(asked) if '"tool_result"' in block)
    told_of_a_cut = any("your answer above was cut off" in block for role, block in blocks(asked) if role == "user")
    if ran == 0:
        tools = (ToolCall("bash", {"command": "echo a"}), ToolCall("glob", {"pattern": "*"}))
        return Reply("Gone on." if told_of_a_cut else "First two.", thinking="Hm.", tools=tools)
    if ran == 2:
        return Reply(thinking="And one.", tools=(ToolCall("bash", {"command": "echo b"}),))
    return Reply("Gone on." if told_of_a_cut else "All of it is done.")


def spoken(live: object) -> list[str]:
    """What P has said in this session, answer by answer, whole or cut."""
    found = []
    for body in (event.body for event in events(live)):  # type: ignore[arg-type]
        if isinstance(body, MessageEnded) and body.purpose == "turn" and isinstance(body.content, list):
            found += [str(b["text"]) for b in body.content if isinstance(b, dict) and b.get("type") == "text"]
        elif isinstance(body, MessageCut) and body.purpose == "turn":
            found.append(body.text)
    return found


KILLED_AT = (
    "log.opened",
    "session.opened",
    "wake.packet",
    "seat.ready",
    "operator.said",
    "request.sent",
    "stream.first_token",
    "stream.partial",
    "message.ended",
    "tool.called",
    "tool.answered",
    "tool.ended",
    "tiers.changed",
    "keeper.chunk",
    "keeper.passed",
    "keeper.state",
    "turn.ended",
    "letter.drafted",
    "letter.filed",
    "workspace.diff",
    "session.closed",
)


@pytest.mark.parametrize("kind", KILLED_AT)
async def test_a_process_that_dies_at_an_event_of_any_kind_leaves_a_session_that_goes_on(
    tmp_path: Path, kind: str
) -> None:
    assert kind in BODY_BY_KIND
    async with AsyncExitStack() as stack:
        keeper = keeping(Reply(tools=(finding("work was asked for", "work"),)), Reply("ok"))
        s = await set_stage(stack, tmp_path, odd_work, keeper)
        s.room.close()
        ran = subprocess.Popen(  # noqa: ASYNC220 — waited for without blocking below
            [sys.executable, str(VICTIM), str(tmp_path), s.server.base_url, kind],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        await until(lambda: ran.poll() is not None, "the end of the victim")
        assert ran.returncode == -signal.SIGKILL, f"it was never at {kind}"
        with Room.open(tmp_path / "room") as room:
            s.room = room
            rows = room.sessions()
            if not rows or rows[-1].closed_at or kind in ("log.opened",):
                fresh = await s.open("B")
                await said(fresh, "and now?")
                assert bodies(fresh, TurnEnded)[-1] == TurnEnded("done")
                await fresh.leave()
                return
            again = await s.resume(rows[-1].id)
            assert len(bodies(again, SessionResumed)) == 1
            if again.go_on():
                await again.turn_over()
            await said(again, "and now?")
            assert bodies(again, TurnEnded)[-1] == TurnEnded("done")
            assert spoken(again).count("All of it is done.") <= 1
            sent = s.asked()[-1].messages
            assert json.dumps(conversation(events(again)).messages()).startswith(json.dumps(sent)[:-2])
            await again.close()
            assert room.sessions()[-1].closed_at
