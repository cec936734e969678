"""P's context and what an endpoint can: the window, compaction, the cache, thinking, and what is missing said once."""

from __future__ import annotations

from itertools import pairwise

import pytest
from session_plays import Stages, always, bash, beats, blocks, bodies, events, is_prefix, said

from app.measure.live import LiveMeter
from app.scripted.request import Request
from app.scripted.script import Reply, ToolCall
from app.session.session import Session
from store.bodies import ContextCompacted, MessageEnded, Notice, RequestFailed, SeatReady, ToolEnded, TurnEnded
from store.conversation import conversation

COUNTING = " ".join(map(str, range(4_000)))
PADDING = "all work and no play " * 400


def notices(live: Session) -> list[str]:
    return [notice.text for notice in bodies(live, Notice)]


async def test_the_window_comes_from_the_models_endpoint_and_the_setting_wins(stage: Stages) -> None:
    s = await stage(always(Reply("Well.")))
    live = await s.open("A")
    (ready,) = bodies(live, SeatReady)
    assert ready.context_window == 200_000 and ready.thinking and ready.compaction and ready.sandbox == "off"


async def test_a_setting_of_the_window_stands_before_the_endpoints_word_and_is_shown(stage: Stages) -> None:
    s = await stage(always(Reply("Well.")), settings={"endpoint": {"context_window": 50_000}})
    live = await s.open("A")
    await said(live, "one")
    meter = LiveMeter()
    for event in events(live):
        meter.apply(event)
    reading = meter.read(live.room.clock.mono(), live.room.clock.now())
    (ended,) = bodies(live, MessageEnded)
    assert (reading.context_window, reading.sandbox) == (50_000, "off")
    assert reading.context_tokens == ended.usage.prompt > 0


def plays_long(asked: Request) -> Reply:
    """Two commands with much output, then words; a letter when it is asked for."""
    done = sum(1 for role, block in blocks(asked) if role == "user" and '"tool_result"' in block)
    summed_up = any('"compaction"' in block for _, block in blocks(asked))
    if asked.operator_text == "go on":
        return Reply("Gone on.")
    if done < 2 and not summed_up:
        return Reply(tools=(ToolCall("bash", {"command": f"echo '{PADDING}'"}),))
    return Reply("All done.")


async def test_at_the_set_share_the_conversation_is_compacted_within_the_turn_and_goes_on(stage: Stages) -> None:
    s = await stage(plays_long, settings={"endpoint": {"context_window": 6_000}, "session": {"compact_at": 0.8}})
    live = await s.open("A")
    await said(live, "work")
    (compacted,) = bodies(live, ContextCompacted)
    assert compacted.window == 6_000 and compacted.tokens >= 4_800 and compacted.text.startswith("Summary of")
    assert bodies(live, TurnEnded) == [TurnEnded("done")]
    assert [body.purpose for body in bodies(live, MessageEnded)].count("compaction") == 1
    await live.leave()
    again = await s.resume(live.log)
    await said(again, "go on")
    last = s.asked()[-1].messages
    assert last[0]["role"] == "assistant" and last[0]["content"] == compacted.content, "signed and as it came"
    assert PADDING not in s.asked()[-1].raw.decode()
    assert bodies(again, TurnEnded)[-1].end == "done"
    # The full text stands in cold.
    assert any(PADDING[:200] in str(body.content) for body in bodies(again, ToolEnded))


async def test_the_requests_after_a_compaction_are_the_same_live_and_from_the_log(stage: Stages) -> None:
    s = await stage(plays_long, settings={"endpoint": {"context_window": 6_000}})
    live = await s.open("A")
    await said(live, "work", "go on")
    folded = conversation(events(live)).messages()
    sent = s.asked()[-1].messages
    assert folded[: len(sent)] == sent


async def test_a_context_that_is_full_at_the_end_of_a_turn_is_compacted_behind_it(stage: Stages) -> None:
    s = await stage(beats(one=Reply(COUNTING), two=Reply("Fine.")), settings={"endpoint": {"context_window": 6_000}})
    live = await s.open("A")
    await said(live, "one", "two")
    kinds = [type(event.body) for event in events(live) if event.turn == 1]
    assert kinds.index(ContextCompacted) < kinds.index(TurnEnded)
    assert [body.end for body in bodies(live, TurnEnded)] == ["done", "done"]
    fine = [{"type": "text", "text": "Fine."}]
    assert bodies(live, MessageEnded, purpose="turn")[1].content == fine


@pytest.mark.parametrize(
    "lesser",
    [{"without": {"compaction"}}, {"without": {"models"}}, {"refuses": {"compaction"}}],
    ids=["not told", "no models endpoint", "refused"],
)
async def test_where_nobody_can_compact_it_is_said_once_and_the_turn_goes_on(stage: Stages, lesser: dict) -> None:
    s = await stage(plays_long, settings={"endpoint": {"context_window": 6_000}}, **lesser)
    live = await s.open("A")
    await said(live, "work", "go on")
    assert not bodies(live, ContextCompacted)
    assert len([text for text in notices(live) if "compact" in text and "close" in text]) >= 1
    assert len(notices(live)) == len(set(notices(live)))
    assert [body.end for body in bodies(live, TurnEnded)] == ["done", "done"]
    spoken = [body for body in bodies(live, MessageEnded, purpose="turn") if "All done." in str(body.content)]
    assert len(spoken) == 1


async def test_thinking_is_asked_for_only_where_the_endpoint_says_so_and_the_room_wants_it(stage: Stages) -> None:
    s = await stage(always(Reply("Well.")))
    live = await s.open("A")
    await said(live, "one")
    assert s.asked()[0].body["thinking"] == {"type": "adaptive"}


@pytest.mark.parametrize(
    ("lesser", "settings"),
    [
        ({"without": {"models"}}, {}),
        ({"without": {"thinking"}}, {}),
        ({}, {"endpoint": {"thinking": "off"}}),
    ],
    ids=["no models endpoint", "the model cannot", "switched off"],
)
async def test_thinking_is_never_sent_to_an_endpoint_that_did_not_say_it_can(
    stage: Stages, lesser: dict, settings: dict
) -> None:
    s = await stage(always(Reply("Well.")), settings=settings, **lesser)
    live = await s.open("A")
    await said(live, "one")
    assert "thinking" not in s.asked()[0].body


@pytest.mark.parametrize("feature", ["thinking", "tools", "cache_control"])
async def test_an_endpoint_that_refuses_a_feature_is_asked_without_it_and_it_is_said_once(
    stage: Stages, feature: str
) -> None:
    s = await stage(beats(one=Reply("First."), two=Reply("Second."), three=Reply("Third.")), refuses={feature})
    live = await s.open("A")
    await said(live, "one", "two")
    await live.leave()
    again = await s.resume(live.log)
    await said(again, "three")
    assert [body.end for body in bodies(again, TurnEnded)] == ["done"] * 3
    assert len([text for text in notices(again) if feature.split("_")[0] in text.lower()]) == 1
    answered = [request for request in s.asked() if not request.body.get(feature)]
    assert len(answered) == 3 and len(s.asked()) == 5, "asked with it once in each process"
    assert len(bodies(again, RequestFailed)) == 2


async def test_an_endpoint_with_nothing_but_messages_works_and_says_what_is_missing_once(stage: Stages) -> None:
    everything = {"cache", "count_tokens", "thinking", "models", "batches", "compaction"}
    s = await stage(always(bash("echo hi"), Reply("Done.")), without=everything)
    live = await s.open("A")
    await said(live, "one", "two")
    assert [body.end for body in bodies(live, TurnEnded)] == ["done", "done"]
    told = notices(live)
    assert len(told) == len(set(told)) == 2
    assert any("prompt cache" in text for text in told) and any("context_window" in text for text in told)


ODD = (
    {"type": "thinking", "thinking": "", "signature": "c2lnbmF0dXJl/+=="},
    {"type": "redacted_thinking", "data": "opaque/+=="},
    {"type": "from_the_future", "zebra": 1, "apple": [1.5, None, {"b": 1, "a": "ü🙂"}], "text_like": "x"},
    {"type": "text", "text": "Words."},
)


async def test_thinking_and_unknown_blocks_go_back_as_they_came_also_after_a_resume(stage: Stages) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"command": "echo hi"}}
    s = await stage(beats(one=(Reply(blocks=(*ODD, call)), Reply("So.")), two=Reply("Fine."), three=Reply("Fine.")))
    live = await s.open("A")
    await said(live, "one", "two")
    await live.leave()
    again = await s.resume(live.log)
    await said(again, "three")
    first, after_tool, second, resumed = s.asked()
    for request in (after_tool, second, resumed):
        answer = next(message for message in request.messages if message["role"] == "assistant")
        assert answer["content"] == [*ODD, call]
        assert list(answer["content"][2]) == list(ODD[2]), "keys in the order they came"
    assert all(is_prefix(before, after) for before, after in pairwise((first, after_tool, second, resumed)))


async def test_thirty_calls_in_one_answer_do_not_lose_the_cache(stage: Stages) -> None:
    many = Reply(tools=tuple(ToolCall("bash", {"command": f"echo {number} {'word ' * 40}"}) for number in range(30)))
    s = await stage(beats(one=Reply(PADDING), two=(many, Reply("So.")), three=Reply("Fine.")))
    live = await s.open("A")
    await said(live, "one", "two", "three")
    ended = bodies(live, MessageEnded)
    for before, after in pairwise(ended):
        assert after.usage.cache_read >= before.usage.cache_read + before.usage.cache_write
    assert bodies(live, TurnEnded)[-1].end == "done"
