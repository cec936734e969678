"""A turn of P through the real SDK: words, usage, and requests that the prompt cache can read."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from session_plays import Stages, always, bash, beats, blocks, bodies, calls, events, finding, is_prefix, keeping, said

from app.scripted.request import Request
from app.scripted.script import Reply, ToolCall
from store.bodies import FirstToken, MessageEnded, OperatorSaid, Partial, RequestSent, TurnEnded, Usage, WakePacket

FENCE = "Look:\n```python\nx = '[red]' # ünïcode 🙂 [/]\n```\nand `[@click=quit]`"


async def test_the_streamed_words_come_to_the_whole_message_character_for_character(stage: Stages) -> None:
    s = await stage(always(Reply(text=FENCE, thinking="hm, [bold]")))
    live = await s.open()
    await said(live, "hello")
    parts = bodies(live, Partial, seat="presence")
    assert "".join(part.text for part in parts if part.what == "text") == FENCE
    assert "".join(part.text for part in parts if part.what == "thinking") == "hm, [bold]"
    (ended,) = bodies(live, MessageEnded, seat="presence")
    assert [block["text"] for block in ended.content if block["type"] == "text"] == [FENCE]
    assert bodies(live, TurnEnded) == [TurnEnded("done")]


async def test_every_event_of_a_turn_stands_in_the_order_in_which_it_happened(stage: Stages) -> None:
    s = await stage(always(Reply(text="Hello.")))
    live = await s.open("A")
    await said(live, "hello")
    kinds = [type(event.body) for event in events(live)]
    order = [kinds.index(kind) for kind in (OperatorSaid, RequestSent, FirstToken, Partial, MessageEnded, TurnEnded)]
    assert order == sorted(order)


async def test_usage_is_assigned_from_the_cumulative_count_and_stands_once_a_message(stage: Stages) -> None:
    spent = {"input_tokens": 7, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3, "output_tokens": 900}
    s = await stage(always(Reply(text="word " * 40, usage=spent)))
    live = await s.open("A")
    await said(live, "hello", "again")
    ended = bodies(live, MessageEnded)
    assert [body.usage for body in ended] == [Usage(7, 5, 3, 900)] * 2
    assert len({body.message_id for body in ended}) == 2


async def test_an_answer_of_an_endpoint_without_a_prompt_cache_has_plain_usage(stage: Stages) -> None:
    s = await stage(always(Reply(text="Hello.")), without={"cache", "count_tokens", "models"})
    live = await s.open("A")
    await said(live, "hello")
    (ended,) = bodies(live, MessageEnded)
    assert ended.usage.input > 0 and ended.usage.cache_read == ended.usage.cache_write == 0


ODD = always(
    Reply(
        text="First ünïcode.",
        thinking="Thinking first.",
        tools=(ToolCall("bash", {"command": "printf 'a\\nb'"}), ToolCall("glob", {"pattern": "*"})),
    ),
    calls("read", file_path="none.txt"),
    calls("no_such_tool", z=1, a=2),
    Reply(text="Done."),
)


async def test_each_request_begins_byte_for_byte_with_the_one_before_also_after_a_resume(stage: Stages) -> None:
    s = await stage(ODD, keeping(Reply(tools=(finding("seen once", "one"),)), Reply(text="ok")))
    live = await s.open()
    await said(live, "one", "two\n  lines")
    await live.leave()
    again = await s.resume(live.log)
    await said(again, "three")
    await again.close()
    asked = s.asked()
    assert len(asked) >= 12 + 2
    for before, after in pairwise(asked[:13]):
        assert is_prefix(before, after), (blocks(before)[-2:], blocks(after)[len(blocks(before)) - 2 :][:3])


async def test_what_is_asked_for_at_the_close_stands_behind_the_same_words(stage: Stages) -> None:
    s = await stage(always(Reply(text="Well.")))
    live = await s.open("A")
    await said(live, "one")
    await live.close()
    turn, *closing = s.asked()
    assert len(closing) == 2
    assert all(is_prefix(turn, request) for request in closing)


async def test_the_prompt_is_read_from_the_cache_from_the_second_request_on(stage: Stages) -> None:
    s = await stage(always(bash("true"), Reply(text="Done.")))
    live = await s.open("A")
    await said(live, "one", "two")
    ended = bodies(live, MessageEnded)
    assert ended[0].usage.cache_read == 0 and ended[0].usage.cache_write > 0
    for before, after in pairwise(ended):
        assert after.usage.cache_read >= before.usage.cache_read + before.usage.cache_write
        assert after.usage.input < 50


def fixed_parts(request: Request) -> bytes:
    return json.dumps([request.body.get("system"), request.body.get("tools")], sort_keys=False).encode()


async def test_system_and_tools_are_the_same_bytes_in_every_request_of_a_session(stage: Stages) -> None:
    s = await stage(ODD, keeping(Reply(text="ok")))
    live = await s.open()
    await said(live, "one", "two")
    await live.leave()
    again = await s.resume(live.log)
    await said(again, "three")
    await again.close()
    assert len({fixed_parts(request) for request in s.asked()}) == 1
    assert len({fixed_parts(request) for request in s.asked("keeper")}) == 1


async def test_neither_seat_ever_forces_a_tool_or_sets_sampling(stage: Stages) -> None:
    s = await stage(ODD, keeping(Reply(tools=(finding("seen once", "one"),)), Reply(text="ok")))
    live = await s.open()
    await said(live, "one")
    await live.close()
    for request in s.server.requests:
        assert {"temperature", "top_p", "top_k"}.isdisjoint(request.body)
        assert (request.body.get("tool_choice") or {"type": "auto"})["type"] in ("auto", "none")


async def test_the_wake_packet_stands_before_the_first_message_and_only_there(stage: Stages) -> None:
    s = await stage(always(Reply(text="Well.")))
    live = await s.open()
    await said(live, "one", "two")
    (packet,) = bodies(live, WakePacket)
    last = s.asked()[-1]
    assert last.messages[0]["content"][0]["text"] == packet.text
    assert last.raw.decode().count("<two-twins wake packet>") == 1


async def test_the_log_says_the_hash_and_length_of_what_was_sent(stage: Stages) -> None:
    s = await stage(always(Reply(text="Well.")))
    live = await s.open("A")
    await said(live, "ünïcode 🙂")
    (sent,) = bodies(live, RequestSent)
    (got,) = s.asked()
    assert sent.bytes == len(got.raw)


@pytest.mark.parametrize(
    "odd",
    [
        ({"type": "text", "text": ""},),
        ({"type": "text", "text": "  \n"},),
        (),
        ({"type": "text", "text": ""}, {"type": "text", "text": "Words."}),
    ],
    ids=["empty text", "white space", "no block", "an empty block beside words"],
)
async def test_an_answer_without_words_does_not_spoil_the_conversation(stage: Stages, odd: tuple) -> None:
    s = await stage(beats(one=Reply(blocks=odd), two=Reply(text="Fine.")))
    live = await s.open("A")
    await said(live, "one", "two")
    assert [body.end for body in bodies(live, TurnEnded)] == ["done", "done"]


async def test_an_empty_text_beside_a_tool_call_does_not_spoil_the_turn(stage: Stages) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"command": "echo hi"}}
    s = await stage(beats(one=(Reply(blocks=({"type": "text", "text": ""}, call)), Reply(text="Said hi."))))
    live = await s.open("A")
    await said(live, "one", "two")
    assert [body.end for body in bodies(live, TurnEnded)] == ["done", "done"]


async def test_an_answer_at_its_limit_of_tokens_says_so_and_its_half_call_is_answered(stage: Stages) -> None:
    cut = Reply(text="I will", tools=(ToolCall("bash", {"command": "echo never"}),), stop_reason="max_tokens")
    s = await stage(beats(one=cut, two=Reply(text="Fine.")))
    live = await s.open("A")
    await said(live, "one", "two")
    first, second = bodies(live, TurnEnded)
    assert first.end == "done" and "limit of tokens" in first.detail
    assert second == TurnEnded("done")


async def test_a_blank_message_of_the_operator_is_still_a_valid_request(stage: Stages) -> None:
    s = await stage(always(Reply(text="Yes?")))
    live = await s.open("A")
    await said(live, "  \n", "two")
    assert [body.end for body in bodies(live, TurnEnded)] == ["done", "done"]


async def test_a_tool_stop_without_a_call_and_without_words_ends_the_turn(stage: Stages) -> None:
    s = await stage(beats(one=Reply(blocks=({"type": "text", "text": " "},), stop_reason="tool_use")))
    live = await s.open("A")
    await said(live, "one")
    assert len(bodies(live, TurnEnded)) == 1 and len(s.asked()) == 1
