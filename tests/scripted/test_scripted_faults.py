"""What each fault of the scripted server becomes in the real SDK."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anthropic
import httpx2
import pytest
from scripted_plays import HELLO, Play, always

from app.scripted.faults import Fault
from app.scripted.script import Reply, Script, ToolCall

WORDS = "one two three four five six seven eight nine ten"


async def read_until_it_breaks(client: anthropic.AsyncAnthropic) -> tuple[str, Exception | None]:
    """The text that came, and what ended the stream if not its own end."""
    came = ""
    try:
        async with client.beta.messages.stream(**HELLO) as stream:
            async for event in stream:
                if event.type == "text":
                    came += event.text
    except (anthropic.AnthropicError, httpx2.HTTPError) as error:
        return came, error
    return came, None


async def test_a_rate_limit_is_waited_out_for_as_long_as_the_server_says(play: Play) -> None:
    server, client = await play(always(Reply(text=WORDS)), retries=2)
    server.misbehave("presence", Fault("rate_limit", retry_after=0.2))
    assert (await client.messages.create(**HELLO)).content[0].text == WORDS
    first, second = server.requests
    assert second.at - first.at >= 0.2
    assert first.raw == second.raw


@pytest.mark.parametrize(
    ("fault", "raised", "kind"),
    [
        (Fault("rate_limit", retry_after=3), anthropic.RateLimitError, "rate_limit_error"),
        (Fault("overloaded"), anthropic.OverloadedError, "overloaded_error"),
        (Fault("server_error", message="The lamp is out."), anthropic.InternalServerError, "api_error"),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
async def test_an_error_before_the_answer_has_its_status_type_and_message(
    play: Play, fault: Fault, raised: type[anthropic.APIStatusError], kind: str, stream: bool
) -> None:
    server, client = await play(always(Reply(text=WORDS)))
    server.misbehave("presence", fault)
    with pytest.raises(raised) as caught:
        await client.messages.create(**HELLO, stream=stream)
    assert caught.value.type == kind
    assert caught.value.request_id
    if fault.message:
        assert fault.message in str(caught.value)
    if fault.retry_after:
        assert float(caught.value.response.headers["retry-after"]) == fault.retry_after
    assert (await client.messages.create(**HELLO)).content[0].text == WORDS  # one fault, one request


@pytest.mark.parametrize("after", [0, 1, 5])
async def test_an_error_inside_a_stream_has_status_200_and_is_told_by_its_type(play: Play, after: int) -> None:
    server, client = await play(always(Reply(text=WORDS)), retries=2)
    server.misbehave("presence", Fault("error_mid_stream", after_deltas=after))
    came, error = await read_until_it_breaks(client)
    assert came == WORDS[: 4 * after]
    assert isinstance(error, anthropic.APIStatusError)
    assert (error.status_code, error.type) == (200, "overloaded_error")
    assert len(server.requests) == 1  # the SDK does not retry it


@pytest.mark.parametrize("after", [0, 3, 10_000])
async def test_a_dropped_connection_keeps_the_text_that_came_and_is_no_clean_end(play: Play, after: int) -> None:
    server, client = await play(always(Reply(text=WORDS)), retries=2)
    server.misbehave("presence", Fault("disconnect", after_deltas=after))
    came, error = await read_until_it_breaks(client)
    assert came == WORDS[: 4 * after]
    assert isinstance(error, httpx2.RemoteProtocolError)
    assert len(server.requests) == 1


async def test_a_connection_closed_before_any_answer_is_retried(play: Play) -> None:
    server, client = await play(always(Reply(text=WORDS)), retries=1)
    server.misbehave("presence", Fault("hang_up"))
    assert await read_until_it_breaks(client) == (WORDS, None)
    assert len(server.requests) == 2
    server.misbehave("presence", Fault("hang_up"), Fault("disconnect"))
    with pytest.raises(anthropic.APIConnectionError):
        await client.messages.create(**HELLO)


async def test_a_stall_sends_nothing_at_all_until_it_is_over(play: Play) -> None:
    server, client = await play(always(Reply(text=WORDS)))
    server.misbehave("presence", Fault("stall", after_deltas=3))
    came = ""
    with pytest.raises(TimeoutError):
        async with client.messages.stream(**HELLO) as stream:
            while True:
                event = await asyncio.wait_for(anext(aiter(stream)), 0.3)
                came += event.text if event.type == "text" else ""
    assert came == WORDS[:12]
    server.misbehave("presence", Fault("stall", after_deltas=3, seconds=0.05))
    assert await read_until_it_breaks(client) == (WORDS, None)


async def test_a_slow_start_is_a_timeout_for_an_impatient_client(play: Play) -> None:
    server, client = await play(always(Reply(text=WORDS)))
    server.misbehave("presence", Fault("slow_start"), Fault("slow_start", seconds=0.05))
    with pytest.raises(anthropic.APITimeoutError):
        await client.messages.create(**HELLO, timeout=0.2)
    assert (await client.messages.create(**HELLO)).content[0].text == WORDS


CALL = Reply(tools=(ToolCall("look", {"place": "north", "times": 12}),))


async def streamed_json(client: anthropic.AsyncAnthropic) -> str:
    stream = await client.messages.create(**HELLO, stream=True)
    deltas = [event.delta async for event in stream if event.type == "content_block_delta"]
    return "".join(delta.partial_json for delta in deltas if delta.type == "input_json_delta")


async def test_malformed_tool_input_is_json_cut_short_and_the_sdk_guesses_a_part_of_it(play: Play) -> None:
    server, client = await play(always(CALL))
    server.misbehave("presence", *[Fault("malformed_tool_input")] * 2)
    with pytest.raises(json.JSONDecodeError):
        json.loads(await streamed_json(client))
    async with client.messages.stream(**HELLO) as stream:
        call = (await stream.get_final_message()).content[0]
    assert call.input != CALL.tools[0].input
    assert json.loads(await streamed_json(client)) == CALL.tools[0].input


async def test_malformed_tool_input_can_be_any_text_and_then_the_sdk_raises(play: Play) -> None:
    server, client = await play(always(CALL))
    server.misbehave("presence", Fault("malformed_tool_input", message='{"place": nowhere]'))
    with pytest.raises(ValueError, match="Unable to parse tool parameter JSON"):
        async with client.beta.messages.stream(**HELLO) as stream:
            await stream.get_final_message()


async def test_a_fault_strikes_only_its_own_seat(play: Play) -> None:
    server, client = await play(Script(presence=always(Reply("p")), keeper=always(Reply("k"))))
    server.misbehave("keeper", Fault("overloaded"))
    assert (await client.messages.create(**HELLO)).content[0].text == "p"
    keeper: dict[str, Any] = {**HELLO, "extra_headers": {"x-twins-seat": "keeper"}}
    with pytest.raises(anthropic.OverloadedError):
        await client.messages.create(**keeper)
    assert (await client.messages.create(**keeper)).content[0].text == "k"


async def test_the_server_stops_while_streams_stall_and_requests_wait(play: Play) -> None:
    server, client = await play(always(Reply(text=WORDS)))
    server.misbehave("presence", Fault("stall"), Fault("slow_start"))
    reading = [asyncio.create_task(read_until_it_breaks(client)) for _ in range(2)]
    async with asyncio.timeout(5):
        while len(server.requests) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await server.astop()
        outcomes = await asyncio.gather(*reading)
    assert all(error is not None for _, error in outcomes)
