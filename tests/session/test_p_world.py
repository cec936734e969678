"""The world check in a session: who wrote a wrong date is told, and the flag says where it stands."""

from __future__ import annotations

from datetime import UTC, datetime

from session_plays import Stages, always, beats, blocks, bodies, events, keeping, said

from app.scripted.script import Reply, ToolCall
from store.bodies import DateFlagged, LetterFiled, MessageEnded, OperatorSaid
from store.clock import FrozenClock
from store.operations import AddLine

NOW = datetime(2026, 9, 8, 9, 30, tzinfo=UTC)  # a Tuesday
WRONG = "We ship on Monday, September 8, 2026."


async def test_a_wrong_date_of_p_is_flagged_where_it_stands_and_named_at_the_next_message(stage: Stages) -> None:
    s = await stage(
        beats(one=Reply(text=f"Fine. {WRONG}", thinking="Monday, September 8, 2026?"), two=Reply("Tuesday then.")),
        clock=FrozenClock(NOW),
    )
    live = await s.open("A")
    await said(live, "one", "two", "three")
    (flag,) = bodies(live, DateFlagged)
    event = next(event for event in events(live) if event.n == flag.of)
    assert isinstance(event.body, MessageEnded) and isinstance(event.body.content, list)
    block = event.body.content[flag.block]
    assert isinstance(block, dict) and str(block["text"])[flag.start : flag.end] == flag.said
    assert (flag.writer, flag.right) == ("presence", "Tuesday")
    tails = [body.tail for body in bodies(live, OperatorSaid)]
    assert tails[0] == tails[2] == "" and "that day is a Tuesday" in tails[1]
    assert tails[1].startswith("<two-twins ")
    asked = s.asked()[1]
    assert blocks(asked)[-1][1].count("that day is a Tuesday") == 1


async def test_what_was_flagged_before_a_crash_is_still_named_after_a_resume(stage: Stages) -> None:
    s = await stage(beats(one=Reply(WRONG), two=Reply("So.")), clock=FrozenClock(NOW))
    live = await s.open("A")
    await said(live, "one")
    await live.leave()
    again = await s.resume(live.log)
    await said(again, "two")
    assert len(bodies(again, DateFlagged)) == 1
    assert "that day is a Tuesday" in bodies(again, OperatorSaid)[1].tail


async def test_a_right_date_is_not_flagged(stage: Stages) -> None:
    s = await stage(always(Reply("We ship on Tuesday, September 8, 2026.")), clock=FrozenClock(NOW))
    live = await s.open("A")
    await said(live, "one")
    assert not bodies(live, DateFlagged)


async def test_a_wrong_date_in_a_line_of_ks_is_flagged_and_told_with_its_result(stage: Stages) -> None:
    quote = "we ship on Monday, September 8, 2026"
    add = ToolCall("add_line", {"kind": "finding", "text": quote, "reason": "a date", "quote": quote, "turn": 1})
    s = await stage(always(Reply("Fine.")), keeping(Reply(tools=(add,)), Reply("ok")), clock=FrozenClock(NOW))
    live = await s.open("B")
    await said(live, quote, "and on")
    flags = bodies(live, DateFlagged)
    assert [(flag.writer, flag.where) for flag in flags] == [("keeper", "line L1")]
    assert any("that day is a Tuesday" in request.raw.decode() for request in s.asked("keeper"))


async def test_letters_and_the_operators_lines_are_checked_too(stage: Stages) -> None:
    plays = beats(**{"Write your": Reply(f"# A letter\n{WRONG}"), "one": Reply("Fine.")})
    s = await stage(plays, clock=FrozenClock(NOW))
    live = await s.open("A")
    await said(live, "one")
    live.operate(AddLine(kind="finding", text=WRONG, reason="a date", quote=WRONG))
    await live.close()
    flags = bodies(live, DateFlagged)
    filed = [event.n for event in events(live) if isinstance(event.body, LetterFiled)]
    assert {flag.of for flag in flags} >= set(filed) and len(filed) == 2
    assert [flag.writer for flag in flags if flag.where.startswith("line")] == ["operator"]
