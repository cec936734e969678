"""P's tools of the room: what they find, that a use keeps a line, and that memory is never taken for evidence."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from session_plays import Stages, always, bash, beats, bodies, calls, events, keeping, said

from app.scripted.script import Reply, ToolCall
from app.session.session import Session
from app.session.sources import MemoryPlaces
from store.bodies import JournalWritten, TiersChanged, ToolEnded
from store.clock import FrozenClock
from store.operations import AddLine

MONDAY = datetime(2026, 11, 30, 9, 30, tzinfo=UTC)


def kept(live: Session, text: str) -> str:
    """A warm line of the operator's; its id."""
    live.operate(AddLine(kind="trap", text=text, reason="it bit us", quote=text))
    return next(line.id for line in live.room.tiers.warm() if line.text == text)


def touches(live: Session) -> list[str]:
    return [
        change.after.id
        for event in events(live)
        if event.by == "presence" and isinstance(event.body, TiersChanged)
        for change in event.body.changes
    ]


async def next_session(s: object, live: Session) -> Session:
    await live.close(letters=False)
    return await s.open("B")  # type: ignore[attr-defined,no-any-return]


async def test_recall_by_words_gives_the_kept_line_and_counts_as_a_touch(stage: Stages) -> None:
    s = await stage(beats(two=(calls("recall", query="parser nested"), Reply("I see."))))
    first = await s.open("B")
    await said(first, "one")
    line = kept(first, "the parser drops nested quotes")
    live = await next_session(s, first)
    await said(live, "two")
    (ended,) = bodies(live, ToolEnded)
    assert ended.outcome == "ok" and ended.source == "memory"
    assert f"[{line} trap" in str(ended.content) and "it bit us" in str(ended.content)
    assert touches(live) == [line]
    assert live.room.tiers.lines[line].touched == live.record.number


async def test_recall_finds_what_was_said_in_an_earlier_session_but_not_the_question_itself(stage: Stages) -> None:
    s = await stage(beats(two=(calls("recall", query="zebra"), calls("recall", query="okapi"), Reply("I see."))))
    first = await s.open("B")
    await said(first, "we saw a zebra in the workshop")
    live = await next_session(s, first)
    await said(live, "two")
    zebra, okapi = bodies(live, ToolEnded)
    assert "we saw a zebra" in str(zebra.content) and first.log in str(zebra.content)
    assert "nothing found" in str(okapi.content)


async def test_recall_by_id_gives_live_and_cold_lines_and_names_a_missing_one(stage: Stages) -> None:
    s = await stage(beats(two=(*(calls("recall", query=one) for one in ("L1", "[L2 trap p4]", "L99")), Reply("So."))))
    first = await s.open("B")
    await said(first, "one")
    live_one, cold_one = kept(first, "keep the kettle full"), kept(first, "never feed the printer")
    from store.operations import Retire

    first.operate(Retire(cold_one, "done with"))
    live = await next_session(s, first)
    await said(live, "two")
    found, cold, missing = bodies(live, ToolEnded)
    assert "keep the kettle full" in str(found.content) and "(warm)" in str(found.content)
    assert "never feed the printer" in str(cold.content) and "(cold)" in str(cold.content)
    assert missing.outcome == "error" and "L99" in str(missing.content)
    assert touches(live) == [live_one]


async def test_a_line_that_p_names_in_its_text_is_touched_once_a_session(stage: Stages) -> None:
    s = await stage(beats(two=Reply("As L1 says, and L1 again; L77 and xL1 are no lines."), three=Reply("L1.")))
    first = await s.open("B")
    await said(first, "one")
    line = kept(first, "the parser drops nested quotes")
    live = await next_session(s, first)
    await said(live, "two", "three")
    assert touches(live) == [line]


async def test_the_wake_packet_alone_touches_nothing(stage: Stages) -> None:
    s = await stage(always(Reply("Well.")))
    first = await s.open("B")
    await said(first, "one")
    kept(first, "the parser drops nested quotes")
    live = await next_session(s, first)
    await said(live, "two")
    assert touches(live) == []


async def test_under_letters_only_there_is_no_recall(stage: Stages) -> None:
    s = await stage(always(Reply("Well.")))
    live = await s.open("A")
    await said(live, "one")
    names = [tool["name"] for tool in s.asked()[0].body["tools"]]
    assert "recall" not in names and {"read_clock", "read_letter", "read_snug", "note_improvement"} <= set(names)


async def test_the_clock_tells_date_weekday_and_time(stage: Stages) -> None:
    s = await stage(always(calls("read_clock"), Reply("So.")), clock=FrozenClock(MONDAY))
    live = await s.open("A")
    await said(live, "one")
    (ended,) = bodies(live, ToolEnded)
    assert "Monday 30 November 2026, 09:30 UTC" in str(ended.content) and ended.source == "world"


async def test_letters_are_read_newest_first_or_by_name_and_nothing_else_is(stage: Stages) -> None:
    names: list[str] = ["", "", ""]
    asks = (
        lambda: ToolCall("read_letter", {}),
        lambda: ToolCall("read_letter", {"file": names[0]}),
        lambda: ToolCall("read_letter", {"file": "../room.toml"}),
    )

    def plays(asked: object) -> Reply:
        text = asked.operator_text  # type: ignore[attr-defined]
        if "Write your letter" in text:
            return Reply("# How it went\nWell enough.")
        if "Write your handoff" in text:
            return Reply("# Where it stands\nHalf way.")
        return Reply(tools=tuple(ask() for ask in asks)) if text == "read" and asked.round == 0 else Reply("So.")  # type: ignore[attr-defined]

    s = await stage(plays)
    first = await s.open("A")
    await said(first, "one")
    await first.close()
    (handoff,) = (s.root / "letters").glob("*handoff.md")
    names[0] = handoff.name
    live = await s.open("A")
    await said(live, "read")
    newest, named, outside = bodies(live, ToolEnded)
    assert "Well enough." in str(newest.content) and "Half way." in str(named.content)
    assert outside.outcome == "error" and handoff.name in str(outside.content)
    assert newest.source == named.source == "memory"


async def test_an_improvement_is_noted_in_the_rooms_journal_once_the_operator_allows_it(stage: Stages) -> None:
    s = await stage(always(calls("note_improvement", text="a shorter\x1b[31m brief"), Reply("So.")))
    live = await s.open("A", approve="all")
    await said(live, "one")
    (entry,) = bodies(live, JournalWritten)
    assert (entry.journal, entry.text) == ("improvements", "a shorter brief")
    assert "a shorter brief" in (s.root / "improvements.md").read_text()


READS = {
    "memory tool": ToolCall("memory", {"command": "view", "path": "/memories/old.txt"}),
    "read": ToolCall("read", {"file_path": "{room}/memory/old.txt"}),
    "grep": ToolCall("grep", {"pattern": "quagga", "path": "{room}/memory"}),
    "bash": ToolCall("bash", {"command": "cat {room}/memory/old.txt"}),
    "bash from inside": ToolCall("bash", {"command": "cd {room}/memory; cat old.txt"}),
    "bash after a cd": ToolCall("bash", {"command": "cat old.txt"}),
    "bash on the log": ToolCall("bash", {"command": "grep -h quagga {room}/sessions/*/events.jsonl; echo quagga"}),
}


async def test_what_is_read_out_of_memory_is_marked_however_it_is_read_and_is_no_evidence(stage: Stages) -> None:
    quote = "the quagga sleeps in the shed"
    add = ToolCall(
        "add_line", {"kind": "finding", "text": quote, "reason": "seen", "quote": quote, "turn": 1}
    )
    root: list[Path] = []

    def plays(asked: object) -> Reply:
        if asked.round:  # type: ignore[attr-defined]
            return Reply("So.")
        filled = [
            ToolCall(call.name, {key: value.replace("{room}", str(root[0])) for key, value in call.input.items()})
            for call in READS.values()
        ]
        return Reply(tools=tuple(filled))

    s = await stage(plays, keeping(Reply(tools=(add,)), Reply("ok")))
    root.append(s.root)
    (s.root / "memory" / "old.txt").write_text(quote + "\n")
    live = await s.open("B")
    await said(live, "look")
    assert [body.source for body in bodies(live, ToolEnded)] == ["memory"] * len(READS)
    assert not live.room.tiers.warm(), "K filed a line on what came out of memory"


async def test_what_is_read_in_the_workspace_is_of_the_world(stage: Stages) -> None:
    several = tuple(
        ToolCall(name, given)
        for name, given in (
            ("read", {"file_path": "memory.txt"}),
            ("grep", {"pattern": "x"}),
            ("glob", {"pattern": "*"}),
            ("bash", {"command": "cat memory.txt letters/one.md"}),
        )
    )
    s = await stage(always(Reply(tools=several), bash("ls"), Reply("So.")))
    (s.workspace / "memory.txt").write_text("x\n")
    (s.workspace / "letters").mkdir()
    (s.workspace / "letters" / "one.md").write_text("x\n")
    live = await s.open("B")
    await said(live, "look")
    assert [body.source for body in bodies(live, ToolEnded)] == ["world"] * 5


@pytest.mark.parametrize(
    ("name", "given", "content", "origin"),
    [
        ("bash", {"command": "cat room/snug.md"}, "", "memory"),
        ("bash", {"command": "cat ./room/letters/a.md"}, "", "memory"),
        ("bash", {"command": "cat src/snug.md"}, "", "world"),
        ("grep", {"pattern": "x"}, "room/memory/a.txt:1:x", "memory"),
        ("grep", {"pattern": "x"}, "src/a.py:1:x", "world"),
        ("read", {"file_path": "room/snug.md"}, "x", "memory"),
        ("read", {"file_path": "room/plan/a.md"}, "x", "world"),
        ("recall", {"query": "x"}, "", "memory"),
        ("other__tool", {"path": "room/snug.md"}, "", "world"),
        ("read", {"file_path": 7}, "", "world"),
    ],
)
def test_memory_is_told_from_the_world_when_the_room_lies_in_the_workspace(
    tmp_path: Path, name: str, given: dict, content: str, origin: str
) -> None:
    places = MemoryPlaces(tmp_path / "room", tmp_path)
    assert places.origin(name, given, content) == origin
