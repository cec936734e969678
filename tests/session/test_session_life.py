"""A session from wake to close and on: what the next one is given, what fades, what changed, what a resume finds."""

from __future__ import annotations

import asyncio
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from session_plays import (
    PATIENCE_S,
    Stage,
    Stages,
    always,
    bash,
    bodies,
    events,
    finding,
    keeping,
    said,
    texts,
    until,
)

from app.scripted.request import Request
from app.scripted.script import Reply, ToolCall
from app.session.opening import SessionError, open_session, preview, resume_session
from app.session.session import Session
from store.bodies import (
    KeeperPassed,
    LetterFiled,
    MessageEnded,
    SessionClosed,
    SessionOpened,
    SessionResumed,
    TiersChanged,
    WakePacket,
    WorkspaceDiffed,
)
from store.clock import FrozenClock
from store.conditions import load_conditions
from store.letters import letters
from store.lines import LineId
from store.operations import Promote
from store.room import LogName


def closing(asked: Request) -> Reply:
    """P's words: a letter and a handoff when asked, a short answer else."""
    if "Write your letter" in asked.operator_text:
        return Reply("# To the next one\n\nIt was good work. — P")
    if "Write your handoff" in asked.operator_text:
        return Reply("- run `make test`")
    return Reply("Well.")


KEEPS = keeping(
    Reply(
        tools=(
            finding("the cellar pump runs at noon", "one", priority=1),
            ToolCall("rewrite_hot", {"lines": ["hot and short-lived", "hot and held"]}),
        )
    ),
    Reply("ok"),
)


async def closed(live: Session) -> None:
    async with asyncio.timeout(PATIENCE_S):
        await live.close()


async def whole(s: Stage, condition: str = "B", *lines: str) -> Session:
    """A session that was opened, spoken in and closed."""
    live = await s.open(condition)
    await said(live, *(lines or ("one",)))
    await closed(live)
    return live


def packet(live: Session) -> str:
    (found,) = bodies(live, WakePacket)
    return found.text


async def test_letter_and_handoff_are_asked_for_and_filed_at_the_close(stage: Stages) -> None:
    s = await stage(closing, KEEPS)
    live = await whole(s)
    assert [body.which for body in bodies(live, LetterFiled)] == ["letter", "handoff"]
    assert all(not body.tiers_seen for body in bodies(live, LetterFiled))
    assert [letter.text for letter in letters(s.room)] == [
        "# To the next one\n\nIt was good work. — P",
        "- run `make test`",
    ]
    assert [body.purpose for body in bodies(live, MessageEnded, seat="presence")] == ["turn", "letter", "handoff"]
    assert isinstance(events(live)[-1].body, SessionClosed)


async def test_a_session_in_which_nothing_was_said_closes_without_letters(stage: Stages) -> None:
    s = await stage(closing)
    live = await s.open("B")
    await closed(live)
    assert bodies(live, LetterFiled) == [] and s.asked() == []
    assert s.room.sessions()[0].closed_at


async def test_letters_are_written_without_sight_of_the_tiers(stage: Stages) -> None:
    s = await stage(closing, KEEPS)
    await whole(s)
    assert s.room.tiers.warm() and "cellar pump" not in texts(s.asked())


@pytest.mark.parametrize(("condition", "given"), [("A", False), ("B", True)])
async def test_the_next_wake_packet_holds_letters_always_and_tiers_by_condition(
    stage: Stages, condition: str, given: bool
) -> None:
    s = await stage(closing, KEEPS)
    await whole(s, "B")
    second = await s.open(condition)
    text = packet(second)
    assert "It was good work." in text and "- run `make test`" in text
    assert ("the cellar pump runs at noon" in text) == given
    assert ("Cold" in text) == given
    assert "hot and short-lived" not in text
    await said(second, "hello")
    assert ("the cellar pump runs at noon" in s.asked()[-1].raw.decode()) == given


async def test_the_packet_says_whose_room_which_session_and_the_weekday(stage: Stages) -> None:
    s = await stage(closing, clock=FrozenClock(datetime(2026, 11, 30, 0, 5, tzinfo=UTC)))
    text = packet(await s.open("B"))
    assert "Ada's room, session 1. It is Monday 30 November 2026, 00:05 UTC." in text
    assert "you are the first here" in text


async def test_a_preview_is_the_packet_that_the_next_session_gives_and_writes_nothing(stage: Stages) -> None:
    s = await stage(closing, KEEPS, clock=FrozenClock(datetime(2026, 11, 30, 0, 5, tzinfo=UTC)))
    await whole(s)
    await whole(s, "B", "hello")
    seq = s.room.seq
    shown = preview(s.room, load_conditions()["B"], None)
    assert s.room.seq == seq
    third = await s.open("B")
    assert packet(third) == shown.text


async def test_lines_fade_before_the_packet_is_made(stage: Stages) -> None:
    s = await stage(closing, KEEPS)
    await whole(s)
    await whole(s, "A", "hello")
    third = await s.open("B")
    kinds = [(event.kind, getattr(event.body, "op", "")) for event in events(third)]
    assert kinds.index(("tiers.changed", "decay")) < kinds.index(("wake.packet", ""))
    assert "the cellar pump runs at noon" not in packet(third)
    (faded,) = bodies(third, TiersChanged, op="decay")
    assert faded.changes[0].after.tier == "cold" and faded.changes[0].after.text == "the cellar pump runs at noon"


async def test_hot_ends_with_the_session_and_what_was_promoted_heads_the_next_packet_once(stage: Stages) -> None:
    s = await stage(closing, KEEPS)
    live = await s.open("B")
    await said(live, "one")
    (held,) = [line.id for line in s.room.tiers.hot() if line.text == "hot and held"]
    live.operate(Promote(id=LineId(held)))
    await closed(live)
    assert [line.text for line in s.room.tiers.hot()] == ["hot and held"]
    second = await whole(s, "B", "hello")
    assert "hot and held" in packet(second) and "hot and short-lived" not in packet(second)
    assert s.room.tiers.hot() == () or all(line.text != "hot and held" for line in s.room.tiers.hot())
    assert "hot and held" not in packet(await s.open("B"))


async def test_the_closing_pass_lets_the_keeper_save_hot_lines(stage: Stages) -> None:
    def keeper(asked: Request) -> Reply:
        if "The session closes" in asked.operator_text and asked.round == 0:
            return Reply(tools=(finding("saved at the last moment", "one"),))
        return Reply("ok")

    s = await stage(closing, keeper)
    live = await whole(s)
    assert bodies(live, KeeperPassed)[-1].purpose == "closing"
    assert [line.text for line in s.room.tiers.warm()] == ["saved at the last moment"]


CHANGES = always(
    bash("echo new > new.txt; echo changed > old.txt; rm gone.txt; printf '\\377' > noise.bin"), Reply("ok")
)


async def test_what_the_session_changed_is_kept_without_git(stage: Stages) -> None:
    s = await stage(CHANGES)
    (s.workspace / "old.txt").write_text("old\n")
    (s.workspace / "gone.txt").write_text("was here\n")
    live = await whole(s, "A")
    (diffed,) = bodies(live, WorkspaceDiffed)
    assert diffed.how == "files"
    for line in ("+new", "-old", "+changed", "-was here", "--- /dev/null", "+++ /dev/null"):
        assert line in diffed.diff.splitlines()


def git(folder: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-C", str(folder), "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *words],
        check=True,
        capture_output=True,
    )


@pytest.mark.parametrize("committed", [False, True])
async def test_what_the_session_changed_is_kept_with_git_committed_or_not(stage: Stages, committed: bool) -> None:
    commit = "; git add -A; git -c user.name=Ada -c user.email=a@example.org commit -qm done" if committed else ""
    s = await stage(always(bash(f"echo new > new.txt; echo changed > old.txt{commit}"), Reply("ok")))
    (s.workspace / "old.txt").write_text("old\n")
    git(s.workspace, "init", "-q")
    git(s.workspace, "add", "-A")
    git(s.workspace, "commit", "-qm", "begin")
    live = await whole(s, "A")
    (diffed,) = bodies(live, WorkspaceDiffed)
    assert diffed.how == "git" and "+changed" in diffed.diff and "new.txt" in diffed.diff


async def test_a_workspace_that_changes_nothing_has_an_empty_diff(stage: Stages) -> None:
    s = await stage(closing)
    live = await whole(s, "A")
    assert bodies(live, WorkspaceDiffed) == [WorkspaceDiffed("files", "")]


async def test_a_session_that_was_left_goes_on_where_it_stood(stage: Stages) -> None:
    s = await stage(closing, KEEPS)
    live = await s.open("B")
    await said(live, "one")
    await live.leave()
    assert not s.room.sessions()[0].closed_at
    again = await s.resume(live.log)
    assert len(bodies(again, SessionOpened)) == len(bodies(again, WakePacket)) == 1
    assert bodies(again, SessionResumed)[0].found == "nothing was open"
    await said(again, "two")
    sent = s.asked()[-1].raw.decode()
    assert sent.count('"one"') == 1 and sent.count('"two"') == 1
    await closed(again)
    assert len(bodies(again, LetterFiled)) == 2
    assert [body.turns for body in bodies(again, KeeperPassed)][:2] == [(1,), (2,)]


async def test_turns_that_the_keeper_had_not_heard_are_heard_after_a_resume(stage: Stages) -> None:
    s = await stage(closing, KEEPS)
    live = await s.open("B")
    live.toggle_keeper()
    await said(live, "one")
    await live.leave()
    again = await s.resume(live.log)
    async with asyncio.timeout(PATIENCE_S):
        await again.keeper_at_rest()
    assert [body.turns for body in bodies(again, KeeperPassed)] == [(1,)]


async def test_a_letter_that_was_filed_is_not_written_twice_when_the_close_is_taken_up_again(stage: Stages) -> None:
    s = await stage(lambda asked: Reply("late", delay_s=30) if "handoff" in asked.operator_text else closing(asked))
    live = await s.open("A")
    await said(live, "one")
    ending = asyncio.create_task(live.close())
    await until(lambda: len(s.asked()) == 3, "the request for a handoff")
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    await live.leave()
    again = await s.resume(live.log)
    ending = asyncio.create_task(again.close())
    await until(lambda: len(s.asked()) == 4, "the second request for a handoff")
    ending.cancel()
    assert [body.which for body in bodies(again, LetterFiled)] == ["letter"]
    assert ["Write your letter" in request.operator_text for request in s.asked()] == [False, True, False, False]


async def test_a_closed_session_and_one_that_never_was_cannot_be_resumed(stage: Stages) -> None:
    s = await stage(closing)
    live = await whole(s, "A")
    seq = s.room.seq
    with pytest.raises(SessionError, match="is closed; open the next one"):
        resume_session(s.room, live.log)
    with pytest.raises(SessionError, match=r"no session 20990101T000000Z-a1 in this room; the newest are: 2"):
        resume_session(s.room, LogName("20990101T000000Z-a1"))
    assert s.room.seq == seq


async def test_a_workspace_that_is_gone_is_told_before_anything_is_written(stage: Stages, tmp_path: Path) -> None:
    s = await stage(closing)
    with pytest.raises(SessionError, match="is no folder"):
        open_session(s.room, s.endpoint, condition=load_conditions()["A"], task=None, workspace=tmp_path / "none")
    assert s.room.sessions() == ()
    live = await s.open("A")
    await live.leave()
    s.workspace.rename(tmp_path / "moved")
    seq = s.room.seq
    with pytest.raises(SessionError, match="put it back, then resume"):
        resume_session(s.room, live.log)
    assert s.room.seq == seq


async def test_no_secret_of_the_environment_is_in_the_log(stage: Stages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-very-secret")
    s = await stage(closing, KEEPS)
    live = await whole(s)
    assert b"sk-very-secret" not in s.room.log_path(live.log).read_bytes()
