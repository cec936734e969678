"""What an endpoint can do wrong: each fault ends in a shown, recorded state from which the session goes on."""

from __future__ import annotations

import asyncio

import pytest
from session_plays import PATIENCE_S, Stage, Stages, always, bash, beats, blocks, bodies, calls, said, until

from app.scripted.faults import Fault
from app.scripted.request import Request
from app.scripted.script import Reply, ToolCall
from app.session.session import Session
from store.bodies import (
    MessageCut,
    MessageEnded,
    OperatorSaid,
    Partial,
    RequestFailed,
    RequestRetried,
    RequestSent,
    ToolEnded,
    TurnEnded,
)

QUICK = {"endpoint": {"max_retries": 1, "idle_timeout_s": 0.6}}
WORDS = Reply("one two three four five six seven eight nine ten")


async def went_on(live: Session) -> None:
    assert live.go_on()
    async with asyncio.timeout(PATIENCE_S):
        await live.turn_over()


def told_once(request: Request, *texts: str) -> bool:
    """Whether each text stands exactly once in the user's part of a request."""
    said_ = [block for role, block in blocks(request) if role == "user"]
    return all(sum(f'"text": "{text}"' in block for block in said_) == 1 for text in texts)


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (Fault("rate_limit", retry_after=0.2), 429),
        (Fault("overloaded"), 529),
        (Fault("server_error"), 500),
        (Fault("hang_up"), 0),
    ],
    ids=lambda value: value.kind if isinstance(value, Fault) else "",
)
async def test_a_refusal_that_passes_is_asked_again_and_said(stage: Stages, fault: Fault, status: int) -> None:
    s = await stage(always(WORDS))
    live = await s.open("A")
    s.server.misbehave("presence", fault)
    await said(live, "one")
    (again,) = bodies(live, RequestRetried)
    assert (again.seat, again.request, again.attempt, again.status) == ("presence", 1, 1, status)
    assert again.reason and again.wait_s >= 0
    if fault.retry_after:
        assert again.wait_s == fault.retry_after
    assert len(bodies(live, RequestSent)) == 1, "one request, two attempts"
    assert bodies(live, TurnEnded) == [TurnEnded("done")] and len(bodies(live, MessageEnded)) == 1
    assert s.asked()[0].raw == s.asked()[1].raw


async def test_the_wait_that_is_told_is_the_wait_that_is_kept(stage: Stages) -> None:
    s = await stage(always(WORDS))
    live = await s.open("A")
    s.server.misbehave("presence", Fault("rate_limit", retry_after=0.4), Fault("rate_limit", retry_after=0.3))
    await said(live, "one")
    waits = [body.wait_s for body in bodies(live, RequestRetried)]
    assert waits == [0.4, 0.3]
    at = [request.at for request in s.asked()]
    assert at[1] - at[0] >= 0.4 and at[2] - at[1] >= 0.3


@pytest.mark.parametrize(
    "fault",
    [
        Fault("rate_limit", retry_after=0.05),
        Fault("overloaded", retry_after=0.05),
        Fault("server_error"),
        Fault("hang_up"),
        Fault("error_mid_stream"),
        Fault("disconnect"),
        Fault("stall"),
    ],
    ids=lambda fault: fault.kind,
)
@pytest.mark.parametrize("how", ["go_on", "say"])
async def test_a_fault_that_stays_ends_the_turn_and_the_session_goes_on(stage: Stages, fault: Fault, how: str) -> None:
    s = await stage(always(WORDS), settings=QUICK)
    live = await s.open("A")
    s.server.misbehave("presence", *[fault] * 2)
    await said(live, "hello")
    (ended,) = bodies(live, TurnEnded)
    assert ended.end == "failed" and ended.detail.endswith(".") and ended.detail[0].isupper()
    assert len(bodies(live, RequestFailed)) == 1 and bodies(live, MessageCut) == []
    assert len(s.asked()) == 2
    if how == "go_on":
        await went_on(live)
        assert told_once(s.asked()[-1], "hello")
    else:
        await said(live, "again")
        assert told_once(s.asked()[-1], "hello", "again")
    assert bodies(live, TurnEnded)[-1] == TurnEnded("done")


@pytest.mark.parametrize("kind", ["error_mid_stream", "disconnect", "stall"])
async def test_a_stream_that_dies_before_its_first_word_is_asked_for_again(stage: Stages, kind: str) -> None:
    s = await stage(always(WORDS), settings=QUICK)
    live = await s.open("A")
    s.server.misbehave("presence", Fault(kind))
    await said(live, "one")
    assert bodies(live, TurnEnded) == [TurnEnded("done")]
    assert len(bodies(live, RequestRetried)) == 1 and len(bodies(live, MessageEnded)) == 1
    assert bodies(live, MessageCut) == []


@pytest.mark.parametrize("kind", ["error_mid_stream", "disconnect", "stall"])
@pytest.mark.parametrize("how", ["go_on", "say"])
async def test_a_stream_that_dies_in_the_middle_keeps_its_words_and_is_not_asked_again(
    stage: Stages, kind: str, how: str
) -> None:
    s = await stage(lambda asked: WORDS if len(asked.messages) == 1 else Reply("The rest."), settings=QUICK)
    live = await s.open("A")
    s.server.misbehave("presence", Fault(kind, after_deltas=5))
    await said(live, "hello")
    (cut,) = bodies(live, MessageCut)
    assert cut.text == WORDS.text[:20] == "".join(part.text for part in bodies(live, Partial))
    assert cut.reason and cut.usage.prompt > 0
    assert len(s.asked()) == 1 and bodies(live, RequestRetried) == []
    (ended,) = bodies(live, TurnEnded)
    assert ended.end == "failed" and ended.detail
    if how == "go_on":
        await went_on(live)
    else:
        await said(live, "again")
    last = s.asked()[-1]
    assert told_once(last, "hello", *(["again"] if how == "say" else []))
    assert sum(cut.text.rstrip() in block for role, block in blocks(last) if role == "assistant") == 1
    assert bodies(live, TurnEnded)[-1] == TurnEnded("done")
    assert len(bodies(live, OperatorSaid)) == (2 if how == "say" else 1)


@pytest.mark.parametrize("kind", ["error_mid_stream", "disconnect", "stall"])
async def test_a_fault_behind_a_tool_call_does_not_run_the_tool_twice(stage: Stages, kind: str) -> None:
    s = await stage(always(bash("echo x >> ran; wc -l < ran"), WORDS), settings=QUICK)
    live = await s.open("A")
    live.say("one")
    await until(lambda: s.asked())
    s.server.misbehave("presence", Fault(kind, after_deltas=3), Fault(kind))
    async with asyncio.timeout(PATIENCE_S):
        await live.turn_over()
    assert bodies(live, TurnEnded)[-1].end == "failed"
    await went_on(live)
    assert bodies(live, TurnEnded)[-1] == TurnEnded("done")
    assert (s.workspace / "ran").read_text() == "x\n"
    assert len(bodies(live, ToolEnded)) == 1


BROKEN = ('{"command": "echo', "", "[]", "null", '"text"', '{"command": "echo 1"} trailing', "{'command': 'x'}", "\x00")


@pytest.mark.parametrize("given", BROKEN, ids=repr)
async def test_tool_input_that_is_no_object_never_runs_and_never_spoils_the_session(stage: Stages, given: str) -> None:
    s = await stage(beats(one=(bash("touch ran"), Reply("I see.")), two=Reply("Fine.")), settings=QUICK)
    live = await s.open("A")
    s.server.misbehave("presence", *[Fault("malformed_tool_input", message=given)] * 3)
    await said(live, "one")
    assert len(bodies(live, TurnEnded)) == 1
    await said(live, "two")
    assert bodies(live, TurnEnded)[-1] == TurnEnded("done")


async def test_a_tool_call_that_is_cut_off_is_forgotten_with_its_words_kept(stage: Stages) -> None:
    reply = Reply("I will write.", tools=(ToolCall("write", {"file_path": "a", "content": "x" * 400}),))
    s = await stage(beats(one=reply, two=Reply("Fine.")), settings=QUICK)
    live = await s.open("A")
    s.server.misbehave("presence", Fault("error_mid_stream", after_deltas=8))
    await said(live, "one")
    assert [body.text for body in bodies(live, MessageCut)] == ["I will write."]
    assert bodies(live, ToolEnded) == []
    await said(live, "two")
    assert bodies(live, TurnEnded)[-1] == TurnEnded("done")
    assert not (s.workspace / "a").exists()


@pytest.mark.parametrize("status", ["key", "no server"])
async def test_what_will_not_pass_is_said_plainly(stage: Stages, status: str) -> None:
    s = await stage(always(WORDS), settings=QUICK)
    live = await s.open("A")
    if status == "key":
        s.server.misbehave("presence", Fault("hang_up"), Fault("hang_up"))
    else:
        await s.server.astop()
    await said(live, "one")
    (ended,) = bodies(live, TurnEnded)
    assert ended.end == "failed" and "could not be reached" in ended.detail
    if status == "no server":
        await s.server.astart()


async def test_a_request_that_the_endpoint_says_not_to_repeat_is_not_sent_again(stage: Stages) -> None:
    def broken(_: Request) -> Reply:
        raise ValueError("the endpoint's own fault")

    s = await stage(broken)
    live = await s.open("A")
    await said(live, "one")
    (ended,) = bodies(live, TurnEnded)
    (failed,) = bodies(live, RequestFailed)
    assert ended.end == "failed" and failed.status == 500 and "500" in ended.detail
    assert len(s.asked()) == 1


async def test_the_watchdog_lets_a_slow_stream_live(stage: Stages) -> None:
    s = await stage(always(Reply("word " * 12, pace=8)), settings={"endpoint": {"idle_timeout_s": 0.5}})
    live = await s.open("A")
    await said(live, "one")
    assert bodies(live, TurnEnded) == [TurnEnded("done")]


@pytest.mark.parametrize(
    "fault",
    [
        Fault("rate_limit", retry_after=0.05),
        Fault("server_error"),
        Fault("hang_up"),
        Fault("error_mid_stream", after_deltas=3),
        Fault("disconnect", after_deltas=3),
        Fault("stall", after_deltas=3),
        Fault("malformed_tool_input"),
    ],
    ids=lambda fault: fault.kind,
)
async def test_a_fault_of_the_keepers_endpoint_never_reaches_p_and_the_turn_is_heard_later(
    stage: Stages, fault: Fault
) -> None:
    s = await stage(always(WORDS), always(calls("read_clock"), Reply("Nothing to keep.")), settings=QUICK)
    live = await s.open("B")
    s.server.misbehave("keeper", *[fault] * 2)
    await said(live, "hello")
    assert bodies(live, TurnEnded) == [TurnEnded("done")]
    assert "[operator] hello" in s.asked("keeper")[-1].raw.decode()
    await said(live, "again")
    assert bodies(live, TurnEnded)[-1] == TurnEnded("done")


async def test_letters_that_cannot_be_written_do_not_keep_the_session_open(stage: Stages) -> None:
    s: Stage = await stage(always(WORDS), settings=QUICK)
    live = await s.open("A")
    await said(live, "one")
    s.server.misbehave("presence", *[Fault("server_error")] * 4)
    async with asyncio.timeout(PATIENCE_S):
        await live.close()
    assert s.room.sessions()[0].closed_at
