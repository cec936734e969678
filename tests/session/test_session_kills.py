"""The program killed with SIGKILL at the worst moments; what a resume finds, and what runs on (nothing)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import pytest
from session_plays import Stage, bash, blocks, bodies, finding, keeping, running, said, until, write_settings

from app.scripted.request import Request
from app.scripted.script import Player, Reply, Script, ToolCall
from app.scripted.server import ScriptedServer
from store.bodies import (
    KeeperPassed,
    LetterFiled,
    MessageCut,
    OperatorSaid,
    Partial,
    SessionResumed,
    TiersChanged,
    ToolEnded,
    TurnEnded,
)
from store.room import Room

ROOT = Path(__file__).parents[2]
MAIN = "import sys; from app.cli import main; sys.argv[0] = 'twins'; main()"


@contextmanager
def program(
    folder: Path, server: ScriptedServer, *turns: str, condition: str = "B"
) -> Iterator[subprocess.Popen[bytes]]:
    """``twins run --headless`` in a process of its own, which is gone when the context ends."""
    (folder / "turns.txt").write_text("\n---\n".join(turns))
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("ANTHROPIC_")},
        "ANTHROPIC_BASE_URL": server.base_url,
        "ANTHROPIC_API_KEY": "scripted",
    }
    given = ["--room", "room", "--workspace", "workspace", "--input", "turns.txt", "--condition", condition]
    child = subprocess.Popen(
        [sys.executable, "-c", MAIN, "run", "--headless", "--approve", "all", *given],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


async def killed(
    stack: AsyncExitStack,
    folder: Path,
    presence: Player,
    keeper: Player,
    at: Callable[[str, ScriptedServer], object],
    *turns: str,
    sandbox: str = "off",
) -> Stage:
    """A room whose program was killed when ``at`` (of the log's text and the server) became true; opened again."""
    root = Room.create(folder / "room", "Ada")
    write_settings(root, tools={"sandbox": sandbox})
    (folder / "workspace").mkdir()
    server = stack.enter_context(ScriptedServer(Script(presence=presence, keeper=keeper), minimum_cached_tokens=0))

    def log() -> str:
        return "".join(path.read_text() for path in root.glob("sessions/*/events.jsonl"))

    with program(folder, server, *turns) as child:
        await until(lambda: at(log(), server) or child.poll() is not None, "the moment to kill")
        assert child.poll() is None, child.communicate()[1].decode()
        child.send_signal(signal.SIGKILL)
        child.wait()
    room = stack.enter_context(Room.open(root))
    stage = Stage(root, folder / "workspace", server, room, stack)

    async def leave_all() -> None:
        for session in stage.live:
            await session.leave()

    stack.push_async_callback(leave_all)
    return stage


LONG = Reply("many words " * 400, pace=60)


def at_two(late: Reply) -> Player:
    """Answers the first message at once, the second as given, others plainly."""

    def play(asked: Request) -> Reply:
        if asked.operator_text == "two":
            return late if asked.round == 0 else Reply("done with two")
        return Reply("First answer." if asked.operator_text == "one" else "Going on.")

    return play


async def test_killed_while_p_streams_the_words_are_kept_as_cut_off(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        s = await killed(
            stack,
            tmp_path,
            at_two(LONG),
            keeping(Reply("ok")),
            lambda log, _: log.count('"stream.partial"') > 4,
            "one",
            "two",
        )
        live = await s.resume(s.room.sessions()[0].id)
        partial = "".join(part.text for part in bodies(live, Partial)[1:])
        (cut,) = bodies(live, MessageCut)
        assert cut.text == partial and partial.startswith("many words ")
        assert "characters of an answer are kept" in bodies(live, SessionResumed)[0].found
        assert [body.end for body in bodies(live, TurnEnded)] == ["done", "interrupted"]
        await said(live, "three")
        assert bodies(live, TurnEnded)[-1] == TurnEnded("done")
        sent = "\n".join(block for _, block in blocks(s.asked()[-1]))
        for words in ('"one"', "First answer.", '"two"', cut.text.rstrip(), '"three"'):
            assert sent.count(words) == 1, words
        assert [body.text for body in bodies(live, OperatorSaid)] == ["one", "two", "three"]


@pytest.mark.parametrize("sandbox", ["off", "auto"])
async def test_killed_while_a_tool_runs_the_call_is_answered_and_nothing_runs_on(tmp_path: Path, sandbox: str) -> None:
    async with AsyncExitStack() as stack:
        s = await killed(
            stack,
            tmp_path,
            at_two(bash("sleep 7511 & sleep 7512")),
            keeping(Reply("ok")),
            lambda log, _: running("sleep 7511") and running("sleep 7512"),
            "one",
            "two",
            sandbox=sandbox,
        )
        await until(lambda: not running("sleep 751"), "the end of the killed program's command")
        live = await s.resume(s.room.sessions()[0].id)
        (ended,) = bodies(live, ToolEnded)
        assert ended.outcome == "stopped" and "interrupted" in str(ended.content)
        assert "the tool bash had no result" in bodies(live, SessionResumed)[0].found
        await said(live, "three")
        assert bodies(live, TurnEnded)[-1] == TurnEnded("done")


async def test_killed_between_two_calls_of_one_answer_both_are_answered(tmp_path: Path) -> None:
    two = Reply(
        "Both.", tools=(ToolCall("bash", {"command": "echo quick"}), ToolCall("bash", {"command": "sleep 7521"}))
    )
    async with AsyncExitStack() as stack:
        s = await killed(
            stack, tmp_path, at_two(two), keeping(Reply("ok")), lambda log, _: running("sleep 7521"), "one", "two"
        )
        live = await s.resume(s.room.sessions()[0].id)
        assert [body.outcome for body in bodies(live, ToolEnded)] == ["ok", "stopped"]
        await said(live, "three")
        assert bodies(live, TurnEnded)[-1] == TurnEnded("done")


async def test_killed_while_k_writes_the_turn_is_heard_again_and_kept_once(tmp_path: Path) -> None:
    line = Reply("Hm. " * 30, tools=(finding("kept through a kill", "one"),), pace=15)
    async with AsyncExitStack() as stack:
        s = await killed(
            stack,
            tmp_path,
            lambda asked: LONG if asked.operator_text == "two" else Reply("Well."),
            keeping(line, Reply("ok")),
            lambda log, server: '"seat":"keeper","request":2,"ms"' in log or log.count('"stream.first_token"') > 2,
            "one",
            "two",
        )
        live = await s.resume(s.room.sessions()[0].id)
        assert bodies(live, KeeperPassed) == [] and s.room.tiers.warm() == ()
        await said(live, "three")
        assert [kept.text for kept in s.room.tiers.warm()] == ["kept through a kill"]
        assert len([body for body in bodies(live, TiersChanged) if body.op == "add_line"]) == 1
        assert sorted(turn for body in bodies(live, KeeperPassed) for turn in body.turns) == [1, 2, 3]


async def test_killed_while_a_letter_is_written_the_session_can_still_be_closed_with_letters(tmp_path: Path) -> None:
    slow = [True]

    def presence(asked: Request) -> Reply:
        if "Write your letter" in asked.operator_text:
            return LONG if slow else Reply("Dear next one.")
        return Reply("Well.")

    async with AsyncExitStack() as stack:
        s = await killed(
            stack, tmp_path, presence, keeping(Reply("ok")), lambda log, _: log.count('"stream.partial"') > 4, "one"
        )
        slow.clear()
        live = await s.resume(s.room.sessions()[0].id)
        await live.close()
        assert [body.text for body in bodies(live, LetterFiled)] == ["Dear next one.", "Well."]
        assert "many words" not in "".join(block for _, block in blocks(s.asked()[-1]))


async def test_killed_before_the_first_word_the_message_is_not_lost(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        s = await killed(
            stack,
            tmp_path,
            at_two(Reply("late", delay_s=30)),
            keeping(Reply("ok")),
            lambda log, server: len(server.requests_of("presence")) == 2,
            "one",
            "two",
        )
        live = await s.resume(s.room.sessions()[0].id)
        assert "a request had no answer" in bodies(live, SessionResumed)[0].found
        await said(live, "three")
        users = [block for role, block in blocks(s.asked()[-1]) if role == "user"]
        assert users[-2:] == ['{"type": "text", "text": "two"}', '{"type": "text", "text": "three"}']
