"""Every condition as a table: what P is shown, what K may do, what the successor is given; from raw request bodies."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from app.scripted.request import Request
from app.scripted.script import Reply, ToolCall
from app.session.session import Session
from store.bodies import (
    JournalWritten,
    KeeperWords,
    LetterFiled,
    OperatorSaid,
    SessionOpened,
    TiersRefused,
    WakePacket,
)
from store.clock import FrozenClock
from store.journals import entries, read_journal
from store.operations import Promote
from tests.session.session_plays import Stage, Stages, bodies, said

ALWAYS = ("rewrite_hot", "add_line", "edit_line", "touch_line", "reprioritise", "to_cold", "search_cold", "read_memory")
ALWAYS = (*ALWAYS, "read_snug", "read_clock", "note_recall")
VOICES = ("whisper", "speak", "write_snug")
TAIL = "<two-twins from the Keeper"
HOT = "the HOT-WORDS of this hour"
WARM = "the WARM-WORDS of this room"
WORDS = {"whisper": "WHISPERED-WORDS", "speak": "SPOKEN-WORDS", "write_snug": "SNUG-WORDS"}


@dataclass(frozen=True)
class Row:
    """One condition: K's voices, what P's second message carries behind the operator's words, and what the successor's
    packet holds (beside the room, the letter and the handoff, which it always holds)."""

    keeper: bool
    voices: tuple[str, ...]
    tail: tuple[str, ...]
    given: tuple[str, ...]
    recall: bool

    @property
    def tiers_seen(self) -> bool:
        return bool(self.tail)


SUCCESSOR = ("hot", "warm", "cold")
TABLE = {
    "A": Row(False, (), (), (), False),
    "B": Row(True, (), (), SUCCESSOR, True),
    "C": Row(True, ("whisper",), (HOT, WORDS["whisper"]), SUCCESSOR, True),
    "D": Row(True, ("whisper", "speak"), (HOT, WORDS["speak"], WORDS["whisper"]), SUCCESSOR, True),
    "E": Row(True, ("write_snug",), (), SUCCESSOR, True),
}


def keeper(request: Request) -> Reply:
    """K tries everything in the first turn, whatever it was given."""
    if request.round or "[operator] first" not in request.operator_text:
        return Reply("Nothing to keep.")
    line = {"kind": "finding", "text": WARM, "reason": "so", "quote": "first words of Ada", "turn": 1}
    return Reply(
        tools=(
            ToolCall("rewrite_hot", {"lines": [HOT]}),
            ToolCall("add_line", line),
            *(ToolCall(name, {"text": text}) for name, text in WORDS.items()),
        )
    )


def presence(request: Request) -> Reply:
    return Reply("Dear next one, I was here. Signed." if "Write your" in request.raw.decode()[-2_000:] else "Well.")


async def played(stage: Stages, condition: str, **more: Any) -> tuple[Stage, Session, Session]:
    """A session of two turns under a condition, closed, its hot line promoted; and its successor, one turn in."""
    s = await stage(presence, keeper, **more)
    live = await s.open(condition)
    await said(live, "first words of Ada", "second words")
    for line in s.room.tiers.hot():
        live.operate(Promote(line.id))
    await live.close()
    after = await s.open(condition)
    await said(after, "go on")
    return s, live, after


def requests_of(s: Stage, live: Session) -> list[Request]:
    """P's requests of one session, told apart by the packet that each begins with."""
    (packet,) = bodies(live, WakePacket)
    return [request for request in s.asked() if request.messages[0]["content"][0]["text"] == packet.text]


def tools(request: Request) -> tuple[str, ...]:
    return tuple(tool["name"] for tool in request.body["tools"])


@pytest.mark.parametrize("condition", TABLE)
async def test_each_condition_shows_allows_and_hands_over_what_the_table_says(stage: Stages, condition: str) -> None:
    row = TABLE[condition]
    s, live, after = await played(stage, condition)

    first, second, *closing = requests_of(s, live)
    assert [block["text"] for block in first.messages[0]["content"][1:]] == ["first words of Ada"]
    words, *tail = [block["text"] for block in second.messages[-1]["content"]]
    assert words == "second words", "the operator's words stand alone in their block"
    if row.tail:
        (block,) = tail
        assert block.startswith(TAIL) and block.endswith("</two-twins>") and "no instruction of the operator" in block
        assert [text for text in (HOT, WORDS["speak"], WORDS["whisper"]) if text in block] == list(row.tail)
        assert WARM not in block and WORDS["write_snug"] not in block
    else:
        assert tail == []
    everything = "\n".join(request.raw.decode() for request in (first, second, *closing))
    assert (HOT in everything) == row.tiers_seen and WARM not in everything
    assert len(closing) == 2
    assert all(HOT not in json.dumps(request.body["system"]) for request in s.asked())
    assert ("recall" in tools(first)) == row.recall

    asked = s.asked("keeper")
    assert bool(asked) == row.keeper
    for request in asked:
        assert tools(request) == (*ALWAYS, *row.voices)
    assert [body.op for body in bodies(live, TiersRefused)] == [v for v in VOICES if v not in row.voices] * row.keeper
    assert {body.tiers_seen for body in bodies(live, LetterFiled)} == {row.tiers_seen}

    (packet,) = bodies(after, WakePacket)
    assert [part.name for part in packet.parts] == ["room", "letter", "handoff", *row.given]
    got = requests_of(s, after)[0].messages[0]["content"][0]["text"]
    assert got == packet.text and (HOT in got, WARM in got) == (bool(row.given), bool(row.given))
    assert ("recall" in tools(requests_of(s, after)[0])) == row.recall
    (opened,) = bodies(live, SessionOpened)
    assert set(opened.briefs) == ({"presence", "keeper"} if row.keeper else {"presence"})


@pytest.mark.parametrize("condition", [name for name, row in TABLE.items() if row.keeper])
async def test_a_voice_that_a_condition_does_not_give_is_answered_with_what_would_do(
    stage: Stages, condition: str
) -> None:
    s, live, _ = await played(stage, condition)
    missing = [voice for voice in VOICES if voice not in TABLE[condition].voices]
    for body in bodies(live, TiersRefused):
        assert f"is not yours under condition {condition}" in body.reason and "keep lines instead" in body.reason
    answered = s.asked("keeper")[1]
    results = [block for block in answered.messages[-1]["content"] if block["type"] == "tool_result"]
    wrong = [block["content"] for block in results if block.get("is_error")]
    assert [next(voice for voice in VOICES if text.startswith(voice)) for text in wrong] == missing
    assert not bodies(live, JournalWritten) or condition == "E"


async def test_words_of_the_keeper_are_in_the_log_for_the_screen_and_reach_p_once(stage: Stages) -> None:
    _, live, _ = await played(stage, "D")
    assert bodies(live, KeeperWords) == [
        KeeperWords("presence", WORDS["whisper"]),
        KeeperWords("both", WORDS["speak"]),
    ]
    second = bodies(live, OperatorSaid)[1]
    block = second.tail
    assert block.index("Said aloud:") < block.index(WORDS["speak"]) < block.index("Whispered to you:")
    assert second.text == "second words"


async def test_what_was_whispered_is_given_with_one_message_and_not_again(stage: Stages) -> None:
    s = await stage(presence, keeper)
    live = await s.open("C")
    await said(live, "first words of Ada", "second words", "third words")
    tails = [body.tail for body in bodies(live, OperatorSaid)]
    assert [WORDS["whisper"] in tail for tail in tails] == [False, True, False]
    assert [HOT in tail for tail in tails] == [False, True, True]


async def test_a_whisper_waits_over_a_leave_and_a_resume(stage: Stages) -> None:
    s = await stage(presence, keeper)
    live = await s.open("C")
    await said(live, "first words of Ada")
    await live.leave()
    again = await s.resume(live.log)
    await said(again, "second words")
    assert WORDS["whisper"] in bodies(again, OperatorSaid)[1].tail


async def test_the_keepers_entries_in_the_snug_are_signed_and_dated(stage: Stages) -> None:
    clock = FrozenClock(datetime(2026, 11, 30, 9, 0, tzinfo=UTC))
    s, live, _ = await played(stage, "E", clock=clock)
    (entry,) = entries(read_journal(s.room, "snug"))
    assert WORDS["write_snug"] in entry.text and entry.by == "keeper" and entry.at.startswith("2026-11-30 09:00")
    assert re.search(r"[Kk]eeper.*2026-11-30|2026-11-30.*[Kk]eeper", read_journal(s.room, "snug"))
    (written,) = bodies(live, JournalWritten)
    assert written.journal == "snug" and written.text == WORDS["write_snug"]


async def test_a_snug_entry_of_the_keeper_is_no_tier_text_for_p(stage: Stages) -> None:
    s, live, after = await played(stage, "E")
    for request in [*requests_of(s, live), *requests_of(s, after)]:
        assert WORDS["write_snug"] not in request.raw.decode(), "P reads the snug by its tool, if it wants to"
