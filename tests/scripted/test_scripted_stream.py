"""What the real SDK makes of the scripted server's streamed and whole answers."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time

import pytest
from anthropic import Anthropic, beta_async_tool
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripted_plays import HELLO, Play, always

from app.scripted.prompt_cache import Usage
from app.scripted.script import Beat, Reply, Script, SeatScript, ToolCall
from app.scripted.server import ScriptedServer
from app.scripted.wire import answer, sse, stream_events

LONG = "Grüße — the bridge is 🌉 out.\n\n```python\nprint('[red]')\n```\nÉ\x1b[2J ‮ end"


async def test_streamed_text_is_the_scripts_text_in_many_small_deltas(play: Play) -> None:
    _, client = await play(always(Reply(text=LONG)))
    async with client.beta.messages.stream(**HELLO) as stream:
        deltas = [event.text async for event in stream if event.type == "text"]
        message = await stream.get_final_message()
    assert "".join(deltas) == message.content[0].text == LONG
    assert max(map(len, deltas)) <= 5
    assert message.stop_reason == "end_turn"


async def test_both_message_endpoints_say_the_same_streamed_or_whole(play: Play) -> None:
    _, client = await play(always(Reply(text=LONG, thinking="let me see")))
    whole = await client.messages.create(**HELLO)
    whole_beta = await client.beta.messages.create(**HELLO)
    async with client.messages.stream(**HELLO) as stream:
        streamed = await stream.get_final_message()
    contents = [[block.to_dict() for block in m.content] for m in (whole, whole_beta, streamed)]
    assert contents[0] == contents[1] == contents[2]
    assert [block["type"] for block in contents[0]] == ["thinking", "text"]
    assert whole.usage.output_tokens == streamed.usage.output_tokens > 0


async def test_events_come_in_the_order_the_api_documents(play: Play) -> None:
    _, client = await play(always(Reply(text="hi", thinking="hm", tools=(ToolCall("look", {"at": "it"}),))))
    async with client.messages.stream(**HELLO) as stream:
        raw = [
            line.removeprefix("event: ") async for line in stream.response.aiter_lines() if line.startswith("event: ")
        ]
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    folded = [kind for at, kind in enumerate(raw) if kind != "ping" and raw[at - 1 : at] != [kind]]
    assert folded == ["message_start", *block, *block, *block, "message_delta", "message_stop"]
    assert "ping" in raw


async def test_usage_at_the_end_is_cumulative_and_starts_with_the_input(play: Play) -> None:
    _, client = await play(always(Reply(text=LONG)))
    stream = await client.messages.create(**HELLO, stream=True)
    events = [event async for event in stream]
    start = next(e for e in events if e.type == "message_start").message.usage
    end = next(e for e in events if e.type == "message_delta").usage
    assert start.input_tokens == end.input_tokens > 0
    assert end.output_tokens > start.output_tokens


async def test_a_signature_reaches_the_client_and_a_changed_thought_is_refused(play: Play) -> None:
    _, client = await play(always(Reply(text="hi", thinking="a thought"), Reply(text="again")))
    async with client.beta.messages.stream(**HELLO) as stream:
        thought = (await stream.get_final_message()).content[0].to_dict()
    assert thought["signature"]
    history = [
        *HELLO["messages"],
        {"role": "assistant", "content": [thought]},
        {"role": "user", "content": "go on"},
    ]
    await client.beta.messages.create(**{**HELLO, "messages": history})
    thought["thinking"] = "another thought"
    with pytest.raises(Exception, match="Invalid `signature`"):
        await client.beta.messages.create(**{**HELLO, "messages": history})


async def test_unknown_blocks_and_stop_reasons_are_sent_as_the_script_has_them(play: Play) -> None:
    blocks = ({"type": "from_the_future", "payload": [1, {"a": 2}]}, {"type": "text", "text": "hi"})
    _, client = await play(always(Reply(blocks=blocks, stop_reason="some_new_reason", usage={"input_tokens": 7})))
    async with client.beta.messages.stream(**HELLO) as stream:
        message = await stream.get_final_message()
    assert [block.to_dict() for block in message.content] == list(blocks)
    assert message.stop_reason == "some_new_reason"
    assert message.usage.input_tokens == 7


async def test_the_tool_runner_runs_a_scripted_tool_loop_to_its_end(play: Play) -> None:
    calls: list[tuple[str, int]] = []

    @beta_async_tool
    async def look(place: str, times: int) -> str:
        """Looks at a place.

        Args:
            place: where
            times: how often
        """
        calls.append((place, times))
        return f"saw {place}"

    tools = (ToolCall("look", {"place": "Käldvik", "times": 2}), ToolCall("look", {"place": "north", "times": 1}))
    server, client = await play(
        always(Reply(text="Looking.", tools=tools), Reply(text="It says: {{last_tool}}"), Reply(text="never"))
    )
    runner = client.beta.messages.tool_runner(**HELLO, tools=[look], stream=True, thread=False)
    texts = []
    async for stream in runner:
        message = await stream.get_final_message()
        texts.append(message.content[0].text)
    assert calls == [("Käldvik", 2), ("north", 1)]
    assert texts == ["Looking.", "It says: saw north"]
    assert len({block.id for block in message.content if block.type == "tool_use"}) == 0
    sent_back = server.requests[1].messages[-1]["content"]
    assert len({block["tool_use_id"] for block in sent_back}) == 2


async def test_message_ids_are_unique_here_and_the_same_in_another_server(play: Play) -> None:
    ids = []
    for _ in range(2):
        _, client = await play(always(Reply(text="hi")))
        ids.append([(await client.messages.create(**HELLO)).id for _ in range(3)])
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 3


async def test_each_seat_plays_its_own_part_and_its_requests_can_be_told_apart(play: Play) -> None:
    parts = Script(presence=always(Reply("p")), keeper=always(Reply("k")), reader=lambda request: Reply(request.seat))
    server, client = await play(parts)
    said = {}
    for seat in ("presence", "keeper", "reader"):
        message = await client.messages.create(**HELLO, extra_headers={"x-twins-seat": seat})
        said[seat] = message.content[0].text
    unnamed = await client.messages.create(**HELLO)
    assert said == {"presence": "p", "keeper": "k", "reader": "reader"}
    assert unnamed.content[0].text == "p"
    assert [request.seat for request in server.requests] == ["presence", "keeper", "reader", "presence"]
    assert len(server.requests_of("presence")) == 2
    assert not any("x-api-key" in request.headers for request in server.requests)
    assert server.requests[0].body["messages"] == HELLO["messages"]


async def test_a_pace_spreads_the_deltas_over_time(play: Play) -> None:
    _, client = await play(always(Reply(text="x" * 80, pace=100, delay_s=0.05)))
    began = time.monotonic()
    async with client.messages.stream(**HELLO) as stream:
        await stream.until_done()
    assert time.monotonic() - began >= 0.05 + 20 / 100  # a lower bound: no machine is too fast for it


async def test_a_pace_can_be_ignored(play: Play) -> None:
    _, client = await play(always(Reply(text="x" * 80, pace=0.0001, delay_s=1e6)), ignore_pace=True)
    async with client.messages.stream(**HELLO) as stream:
        assert await stream.get_final_text() == "x" * 80


async def test_models_and_token_counts_are_there(play: Play) -> None:
    _, client = await play(always(Reply(text="hi")))
    listed = [model.id async for model in client.models.list()]
    assert listed
    model = await client.models.retrieve("claude-any-9")
    assert model.id == "claude-any-9" and model.max_input_tokens
    asked = {"model": "any", "messages": HELLO["messages"], "system": "be brief"}
    counted = await client.messages.count_tokens(**asked)
    answered = await client.messages.create(**asked, max_tokens=9)
    assert counted.input_tokens == answered.usage.input_tokens


async def test_a_script_that_fails_is_told_to_the_client_and_not_retried(play: Play) -> None:
    def broken(request: object) -> Reply:
        raise KeyError("no such part")

    server, client = await play(broken, retries=3)
    with pytest.raises(Exception, match="presence's script failed: KeyError: 'no such part'"):
        await client.messages.create(**HELLO)
    assert len(server.requests) == 1


def test_a_server_in_a_thread_serves_the_blocking_client_and_stops_with_a_stream_open() -> None:
    with ScriptedServer(Script(presence=always(Reply(text="slow " * 500, pace=5)))) as server:
        client = Anthropic(base_url=server.base_url, api_key="scripted", max_retries=0)
        stream = client.messages.create(**HELLO, stream=True)
        next(iter(stream))
        thread = server._thread
    assert thread is not None and not thread.is_alive()
    client.close()
    with pytest.raises(RuntimeError, match="not running"):
        _ = server.base_url


async def test_an_answer_without_a_pace_leaves_the_event_loop_free_after_every_delta(play: Play) -> None:
    _, client = await play(always(Reply(text="x" * 2000)))
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count_turns())
    async with client.messages.stream(**HELLO) as stream:
        await stream.until_done()
    counting.cancel()
    assert turns >= 2000 / 4  # a turn of the loop for each delta: others run while the answer is written


async def test_a_client_that_leaves_does_not_hold_the_stream(play: Play) -> None:
    server, client = await play(always(Reply(text="slow " * 500, pace=5)))
    async with client.messages.stream(**HELLO) as stream:
        await anext(aiter(stream))
    listener = server._listener
    assert listener is not None
    async with asyncio.timeout(5):
        while listener.server_state.tasks:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def test_importing_the_server_loads_neither_the_sdk_nor_the_web_framework() -> None:
    code = (
        "import sys, app.scripted.server; print([m for m in ('anthropic','uvicorn','starlette') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(), st.text(min_size=1), st.dictionaries(st.text(), st.integers() | st.text() | st.none()))
def test_deltas_add_up_to_the_blocks_whatever_they_hold(text: str, thinking: str, tool_input: dict) -> None:
    import json

    reply = Reply(text=text, thinking=thinking, tools=(ToolCall("t", tool_input),))
    made = answer(reply, message_id="msg_1", model="m", spent=Usage(1, 0, 0, 0))
    events = [json.loads(sse(e).split(b"data: ", 1)[1]) for e in stream_events(made)]
    sums: dict[int, dict[str, str]] = {}
    for event in events:
        if event["type"] == "content_block_delta":
            for key in ("text", "thinking", "partial_json", "signature"):
                if key in event["delta"]:
                    block = sums.setdefault(event["index"], {})
                    block[key] = block.get(key, "") + event["delta"][key]
    rebuilt = list(sums.values())
    assert rebuilt[0]["thinking"] == thinking
    assert text == "" or rebuilt[1]["text"] == text
    assert json.loads(rebuilt[-1]["partial_json"]) == tool_input


async def test_after_its_last_reply_a_turn_ends_with_words_that_can_be_sent_back(play: Play) -> None:
    _, client = await play(SeatScript((Beat("hello", (Reply(tools=(ToolCall("look", {}),)),)),)))
    first = await client.messages.create(**HELLO)
    history = [
        *HELLO["messages"],
        {"role": "assistant", "content": [b.to_dict() for b in first.content]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": first.content[0].id, "content": "x"}]},
    ]
    second = await client.messages.create(**{**HELLO, "messages": history})
    assert second.stop_reason == "end_turn" and second.content[0].text
