"""Stopping P at any moment, and what the operator says while P works: nothing that came is lost or said twice."""

from __future__ import annotations

import asyncio

import pytest
from session_plays import PATIENCE_S, Stages, always, bash, beats, blocks, bodies, running, said, until

from app.scripted.script import Reply, ToolCall
from app.session.session import Session
from store.bodies import (
    MessageCut,
    OperatorQueued,
    OperatorSaid,
    OperatorUnqueued,
    Partial,
    ToolAsked,
    ToolCalled,
    ToolEnded,
    TurnEnded,
)

LONG = Reply(text="word " * 4_000, pace=200)


async def stopped(live: Session) -> None:
    assert live.stop()
    async with asyncio.timeout(PATIENCE_S):
        await live.turn_over()


async def test_words_that_had_come_when_p_is_stopped_are_kept_and_go_into_the_next_request(stage: Stages) -> None:
    s = await stage(beats(one=LONG, two=Reply("Fine.")))
    live = await s.open("A")
    live.say("one")
    await until(lambda: bodies(live, Partial))
    await stopped(live)
    (cut,) = bodies(live, MessageCut)
    assert cut.text == "".join(part.text for part in bodies(live, Partial)) and cut.text.startswith("word ")
    assert cut.usage.prompt > 0
    assert bodies(live, TurnEnded)[-1].end == "stopped"
    await said(live, "two")
    sent = [block for role, block in blocks(s.asked()[-1]) if role == "assistant"]
    assert len(sent) == 1 and cut.text.rstrip() in sent[0]
    assert bodies(live, TurnEnded)[-1].end == "done"


async def test_a_stop_before_the_first_word_leaves_a_conversation_that_goes_on(stage: Stages) -> None:
    s = await stage(beats(one=Reply("late", delay_s=30), two=Reply("Fine.")))
    live = await s.open("A")
    live.say("one")
    await until(lambda: s.asked())
    await stopped(live)
    assert [body.end for body in bodies(live, TurnEnded)] == ["stopped"]
    await said(live, "two")
    assert [body.end for body in bodies(live, TurnEnded)] == ["stopped", "done"]
    assert [block for role, block in blocks(s.asked()[-1]) if role == "user"][-2:] == [
        '{"type": "text", "text": "one"}',
        '{"type": "text", "text": "two"}',
    ]


async def test_a_stop_at_the_very_moment_of_speaking_ends_the_turn_as_stopped(stage: Stages) -> None:
    s = await stage(always(Reply("Fine.")))
    live = await s.open("A")
    live.say("one")
    await stopped(live)
    assert [body.end for body in bodies(live, TurnEnded)] == ["stopped"]
    await said(live, "two")
    assert [body.end for body in bodies(live, TurnEnded)] == ["stopped", "done"]


async def test_a_stop_while_the_seats_are_not_ready_yet_ends_the_turn_as_stopped(stage: Stages) -> None:
    s = await stage(always(Reply("Fine.")))
    live = await s.open("A", connect=False)
    live.say("one")
    await asyncio.sleep(0.01)
    await stopped(live)
    assert [body.end for body in bodies(live, TurnEnded)] == ["stopped"]
    await live.connect()
    await said(live, "two")
    assert [body.end for body in bodies(live, TurnEnded)] == ["stopped", "done"]


async def test_seats_that_cannot_be_made_ready_end_the_turn_as_failed(
    stage: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no SDK here")

    s = await stage(always(Reply("Fine.")))
    live = await s.open("A", connect=False)
    monkeypatch.setattr("app.session.seats.build_seats", broken)
    live.say("one")
    with pytest.raises(RuntimeError, match="no SDK here"):
        await live.connect()
    with pytest.raises(RuntimeError, match="no SDK here"):
        await live.turn_over()
    (ended,) = bodies(live, TurnEnded)
    assert ended.end == "failed" and "no SDK here" in ended.detail


async def test_who_waits_for_p_can_stop_waiting(stage: Stages) -> None:
    s = await stage(always(LONG))
    live = await s.open("A")
    live.say("one")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await live.turn_over()
    assert live.busy


async def test_a_tool_that_is_stopped_is_ended_with_its_children_and_answered(stage: Stages) -> None:
    s = await stage(beats(one=bash("sleep 7411 & sleep 7412"), two=(bash("echo alive"), Reply("Fine."))))
    live = await s.open("A")
    live.say("one")
    await until(lambda: running("sleep 7412"))
    await stopped(live)
    assert [body.outcome for body in bodies(live, ToolEnded)] == ["stopped"]
    await until(lambda: not running("sleep 741"), "the end of the stopped command")
    await said(live, "two")
    assert bodies(live, ToolEnded)[-1].content == "alive"
    assert bodies(live, TurnEnded)[-1].end == "done"


async def test_the_calls_behind_a_stopped_one_never_run_and_are_answered_too(stage: Stages) -> None:
    many = Reply(tools=(ToolCall("bash", {"command": "sleep 7421"}), ToolCall("bash", {"command": "touch ran"})))
    s = await stage(beats(one=many, two=Reply("Fine.")))
    live = await s.open("A")
    live.say("one")
    await until(lambda: running("sleep 7421"))
    await stopped(live)
    await said(live, "two")
    assert bodies(live, TurnEnded)[-1].end == "done"
    assert not (s.workspace / "ran").exists()
    assert s.asked()[-1].raw.count(b'"tool_result"') == 2


async def test_a_stop_while_the_operator_is_asked_runs_nothing(stage: Stages) -> None:
    s = await stage(beats(one=bash("touch ran"), two=Reply("Fine.")))
    live = await s.open("A", approve="ask")
    live.say("one")
    await until(lambda: bodies(live, ToolAsked))
    await stopped(live)
    (question,) = bodies(live, ToolAsked)
    assert not live.answer(question.tool_use_id, allow=True)
    assert [body.outcome for body in bodies(live, ToolEnded)] == ["stopped"]
    await said(live, "two")
    assert not (s.workspace / "ran").exists() and bodies(live, TurnEnded)[-1].end == "done"


async def test_after_a_stop_p_can_go_on_without_a_new_message(stage: Stages) -> None:
    s = await stage(lambda asked: LONG if len(asked.messages) == 1 else Reply("and the rest."))
    live = await s.open("A")
    live.say("one")
    await until(lambda: bodies(live, Partial))
    await stopped(live)
    assert live.go_on()
    async with asyncio.timeout(PATIENCE_S):
        await live.turn_over()
    assert [body.end for body in bodies(live, TurnEnded)] == ["stopped", "done"]
    assert len(bodies(live, OperatorSaid)) == 1


async def test_a_turn_that_went_on_is_heard_by_the_keeper_in_one_piece_when_it_waited(stage: Stages) -> None:
    s = await stage(lambda asked: LONG if len(asked.messages) == 1 else Reply("and the rest."))
    live = await s.open("B")
    live.toggle_keeper()
    live.say("one")
    await until(lambda: bodies(live, Partial))
    await stopped(live)
    live.go_on()
    async with asyncio.timeout(PATIENCE_S):
        await live.turn_over()
    live.toggle_keeper()
    await until(lambda: s.asked("keeper"))
    assert s.asked("keeper")[0].raw.decode().count("[operator] one") == 1


async def test_what_the_operator_said_in_a_turn_that_never_began_is_heard_by_the_keeper(stage: Stages) -> None:
    s = await stage(always(Reply("Fine.")))
    live = await s.open("B")
    live.say("one")
    await stopped(live)
    await until(lambda: s.asked("keeper"))
    assert "[operator] one" in s.asked("keeper")[0].operator_text


async def test_what_p_says_after_going_on_is_heard_although_the_keeper_is_at_the_turn_already(stage: Stages) -> None:
    s = await stage(
        lambda asked: LONG if len(asked.messages) == 1 else Reply("and the rest."),
        always(Reply("Nothing to keep.", delay_s=0.5)),
    )
    live = await s.open("B")
    live.say("one")
    await until(lambda: bodies(live, Partial))
    await stopped(live)
    await until(lambda: s.asked("keeper"))
    live.go_on()
    async with asyncio.timeout(PATIENCE_S):
        await live.turn_over()
        await live.keeper_at_rest()
    assert "and the rest." not in s.asked("keeper")[0].operator_text
    assert "and the rest." in s.asked("keeper")[1].operator_text
    assert len(s.asked("keeper")) == 2


async def test_nothing_is_stopped_when_p_is_not_at_work(stage: Stages) -> None:
    s = await stage(always(Reply("Fine.")))
    live = await s.open("A")
    assert not live.stop() and not live.go_on()
    await said(live, "one")
    assert not live.stop()
    assert [body.end for body in bodies(live, TurnEnded)] == ["done"]


async def test_a_message_said_while_p_works_waits_and_is_sent_when_p_hands_back(stage: Stages) -> None:
    s = await stage(beats(one=Reply("First.", delay_s=0.3), two=Reply("Second."), three=Reply("Third.")))
    live = await s.open("A")
    assert live.say("one") is None
    first, second = live.say("two"), live.say("three")
    assert first and second and first != second
    async with asyncio.timeout(PATIENCE_S):
        await live.turn_over()
    assert [body.text for body in bodies(live, OperatorSaid)] == ["one", "two", "three"]
    assert [body.key for body in bodies(live, OperatorUnqueued)] == [first, second]
    assert [body.end for body in bodies(live, TurnEnded)] == ["done"] * 3


async def test_a_queued_message_can_be_taken_back_until_it_leaves(stage: Stages) -> None:
    s = await stage(always(Reply("First.", delay_s=0.3)))
    live = await s.open("A")
    live.say("one")
    first, second = live.say("two"), live.say("three")
    assert live.take_back(first or "") == "two"
    assert live.take_back(first or "") is None
    async with asyncio.timeout(PATIENCE_S):
        await live.turn_over()
    assert live.take_back(second or "") is None
    assert [body.text for body in bodies(live, OperatorSaid)] == ["one", "three"]


async def test_a_queued_message_outlives_a_stop(stage: Stages) -> None:
    s = await stage(beats(one=LONG, two=Reply("Fine.")))
    live = await s.open("A")
    live.say("one")
    await until(lambda: bodies(live, Partial))
    key = live.say("two")
    await stopped(live)
    said_since = [body.text for body in bodies(live, OperatorSaid)][1:]
    assert said_since == ["two"] or live.take_back(key or "") == "two"


async def test_a_queued_message_outlives_the_program(stage: Stages) -> None:
    s = await stage(beats(one=LONG, two=Reply("Fine."), three=Reply("Fine.", delay_s=0.2), four=Reply("Fine.")))
    live = await s.open("A")
    live.say("one")
    await until(lambda: bodies(live, Partial))
    key = live.say("two")
    await live.leave()
    assert bodies(live, OperatorUnqueued) == []
    again = await s.resume(live.log)
    assert again.take_back(key or "") == "two"
    again.say("three")
    other = again.say("four")
    assert other not in (None, key)
    assert [body.key for body in bodies(again, OperatorQueued)] == [key, other]


async def test_quitting_while_p_streams_or_runs_a_tool_is_done_at_once_and_leaves_a_session_to_resume(
    stage: Stages,
) -> None:
    s = await stage(beats(one=bash("sleep 7431"), two=Reply("Fine.")))
    live = await s.open("B")
    live.say("one")
    await until(lambda: bodies(live, ToolCalled) and running("sleep 7431"))
    await live.leave()
    assert bodies(live, TurnEnded)[-1].end == "stopped"
    await until(lambda: not running("sleep 7431"))
    again = await s.resume(live.log)
    await said(again, "two")
    assert bodies(again, TurnEnded)[-1].end == "done"


async def test_what_was_queued_before_a_stop_goes_before_what_is_said_after_it(stage: Stages) -> None:
    s = await stage(beats(one=LONG, two=LONG, three=Reply("Fine.")))
    live = await s.open("A")
    live.say("one")
    await until(lambda: bodies(live, Partial))
    first = live.say("two")
    await stopped(live)
    second = live.say("three")
    assert [body.text for body in bodies(live, OperatorSaid)] == ["one", "two"]
    assert [body.key for body in bodies(live, OperatorUnqueued)] == [first]
    await stopped(live)
    await live.close(letters=False)
    assert [body.key for body in bodies(live, OperatorUnqueued)] == [first, second]
