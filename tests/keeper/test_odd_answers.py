"""Whatever K answers: a defined, recorded outcome, and never the end of a session."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from app.scripted.script import Reply, ToolCall
from app.session.keeper import CHARACTERS_A_TOKEN
from store.bodies import (
    KeeperPassed,
    KeeperState,
    MessageCut,
    MessageEnded,
    SessionClosed,
    TiersChanged,
    TiersRefused,
    TurnEnded,
)
from tests.keeper.room_check import wrong_with
from tests.session.session_plays import Stages, always, bodies, keeping, said

WELL = always(Reply("Well."))
LONG = " ".join(f"word{number}" for number in range(1_000))
MEGABYTE = " ".join(f"word{number}" for number in range(100_000))
LINE = {"kind": "finding", "text": "it was one", "reason": "so", "quote": "one is said", "turn": 1}
AS_TEXT = {
    "bare": f'{{"name": "add_line", "input": {json.dumps(LINE)}}}',
    "fenced": f'```json\n{{"name": "add_line", "arguments": {json.dumps(LINE)}}}\n```',
    "tagged": f'<tool_call>\n{{"name": "add_line", "arguments": {json.dumps(LINE)}}}\n</tool_call>',
    "function": f"<function=add_line>{json.dumps(LINE)}</function>",
    "openai": json.dumps({"tool_calls": [{"function": {"name": "add_line", "arguments": json.dumps(LINE)}}]}),
    "python": 'add_line(kind="finding", text="it was one", reason="so", quote="one is said", turn=1)',
}


def add(**changed: object) -> ToolCall:
    return ToolCall("add_line", {**LINE, **changed})


@dataclass(frozen=True)
class Odd:
    """One first answer of K; then how many of its calls are kept and refused, the note, and words of a refusal."""

    reply: Reply
    kept: int = 0
    refused: int = 0
    note: str = ""
    said: str = ""


ODD = {
    "nothing": Odd(Reply(blocks=()), note="nothing to keep"),
    "white space": Odd(Reply(" \n "), note="nothing to keep"),
    "prose": Odd(Reply("What a lovely turn. I would keep that one was said."), note="words without tools"),
    "an unknown tool": Odd(Reply(tools=(ToolCall("remember", {"x": 1}),)), refused=1, said="there is no tool"),
    "a tool that only the operator has": Odd(Reply(tools=(ToolCall("promote", {"id": "L1"}),)), refused=1),
    "wrong types": Odd(
        Reply(tools=(add(text=7), add(kind=["finding"]), add(turn="first"), ToolCall("to_cold", {"id": None}))),
        refused=4,
        said="to_cold: id is missing",
    ),
    "unknown keys": Odd(Reply(tools=(add(colour="red"),)), refused=1, said="there is no colour"),
    "a hundred operations": Odd(
        Reply(tools=tuple(add(text=f"it was one, number {number}") for number in range(100))), kept=100
    ),
    "a hundred bad operations": Odd(
        Reply(tools=tuple(add(quote=f"never said {number}") for number in range(100))), refused=100
    ),
    "a text of ten thousand bytes": Odd(Reply(tools=(add(text=LONG),)), refused=1, said="at most 600"),
    "a note of ten thousand bytes": Odd(
        Reply(tools=(ToolCall("note_recall", {"text": LONG}),)), refused=1, said="at most"
    ),
    "an invented quote": Odd(Reply(tools=(add(quote="two is said"),)), refused=1, said="stands nowhere"),
    "no quote": Odd(Reply(tools=(add(quote=""),)), refused=1, said="No quote, no line"),
    "an unknown id": Odd(
        Reply(tools=(ToolCall("touch_line", {"id": "L77", "quote": "one is said"}),)),
        refused=1,
        said="no live line L77",
    ),
    "an id that is none": Odd(Reply(tools=(ToolCall("to_cold", {"id": "the last", "reason": "r"}),)), refused=1),
    "too long a rewriting of hot": Odd(
        Reply(tools=(ToolCall("rewrite_hot", {"lines": [f"{n} " + "x" * 500 for n in range(5)]}),)),
        refused=1,
        said="bytes over",
    ),
    "good and bad mixed": Odd(Reply(tools=(add(), add(quote="never said"))), kept=1, refused=1),
    "the same line twice": Odd(Reply(tools=(add(), add())), kept=1, refused=1, said="L1"),
    **{f"a call as text, {name}": Odd(Reply(text), kept=1) for name, text in AS_TEXT.items()},
    "a broken call as text": Odd(Reply('{"name": "add_line", "input": {"kind": '), note="words without tools"),
}


@pytest.mark.parametrize("name", ODD)
async def test_every_odd_answer_has_its_defined_and_recorded_outcome(stage: Stages, name: str) -> None:
    odd = ODD[name]
    s = await stage(WELL, keeping(odd.reply, Reply("I let it go."), Reply("I let it go.")))
    live = await s.open("B")
    await said(live, "one is said")
    (passed,) = bodies(live, KeeperPassed)
    assert (passed.accepted, passed.refused, passed.note) == (odd.kept, odd.refused, odd.note)
    assert len(bodies(live, TiersRefused)) == odd.refused
    assert len([body for body in bodies(live, TiersChanged) if body.op == "add_line"]) == odd.kept
    if odd.said:
        assert odd.said in bodies(live, TiersRefused)[-1].reason
    assert bodies(live, KeeperState)[-1] == KeeperState("idle", 0)
    assert bodies(live, TurnEnded) == [TurnEnded("done")]
    assert wrong_with(s.room) == []
    await said(live, "and on it goes")
    assert [body.turns for body in bodies(live, KeeperPassed)] == [(1,), (2,)], "the next turn is heard as ever"
    await live.close()


async def test_a_refusal_keeps_little_of_a_long_text_and_the_answer_keeps_it_whole(stage: Stages) -> None:
    s = await stage(WELL, keeping(Reply(tools=(add(text=LONG),)), Reply("I let it go.")))
    live = await s.open("B")
    await said(live, "one is said")
    (refused,) = bodies(live, TiersRefused)
    assert len(json.dumps(refused.input)) < 3_000
    assert LONG in json.dumps(bodies(live, MessageEnded, seat="keeper")[0].content)


@pytest.mark.parametrize("reply", [Reply(MEGABYTE), Reply(tools=(add(text=MEGABYTE),))], ids=["prose", "input"])
async def test_a_megabyte_is_not_listened_to_to_its_end_and_stops_the_keeper_not_the_session(
    stage: Stages, reply: Reply
) -> None:
    s = await stage(WELL, keeping(reply), settings={"endpoint": {"max_tokens": 256}})
    live = await s.open("B")
    await said(live, "one is said", "and on it goes")
    last = bodies(live, KeeperState)[-1]
    assert last.standing == "failed" and "stopped after" in last.reason
    assert len(bodies(live, MessageCut, seat="keeper")) == 3, "what was spent is in the log"
    assert all(len(body.text) <= CHARACTERS_A_TOKEN * 256 for body in bodies(live, MessageCut))
    assert bodies(live, TurnEnded) == [TurnEnded("done")] * 2
    await live.close()
    assert bodies(live, SessionClosed)


async def test_results_of_calls_written_as_text_are_told_as_text_and_mended_in_the_next_round(stage: Stages) -> None:
    wrong = f'{{"name": "add_line", "input": {json.dumps({**LINE, "quote": "never said"})}}}'
    s = await stage(WELL, keeping(Reply(wrong), Reply(AS_TEXT["bare"])))
    live = await s.open("B")
    await said(live, "one is said")
    second = s.asked("keeper")[1].messages[-1]
    assert second["content"][0]["text"].startswith("<two-twins refused of your call add_line: ")
    assert [line.text for line in s.room.tiers.warm()] == ["it was one"]
