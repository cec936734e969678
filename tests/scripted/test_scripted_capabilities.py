"""The scripted server as one of the lesser endpoints that also speak the Messages API."""

from __future__ import annotations

import anthropic
import pytest
from scripted_plays import HELLO, Play, always

from app.scripted.capabilities import Capabilities
from app.scripted.script import Reply, ToolCall

EVERYTHING = Reply(text="hi", thinking="hm", tools=(ToolCall("look", {}),))
LOOK = {"name": "look", "input_schema": {"type": "object"}}
FULL = {**HELLO, "tools": [LOOK], "thinking": {"type": "adaptive"}, "cache_control": {"type": "ephemeral"}}


async def test_without_a_cache_the_usage_has_no_cache_fields_and_counts_all_input(play: Play) -> None:
    _, plain = await play(always(EVERYTHING), without={"cache"}, minimum_cached_tokens=0)
    _, full = await play(always(EVERYTHING), minimum_cached_tokens=0)
    for _ in range(2):
        usage = (await plain.messages.create(**FULL)).usage
        assert usage.to_dict().keys() == {"input_tokens", "output_tokens"}
        async with plain.beta.messages.stream(**FULL) as stream:
            assert (await stream.get_final_message()).usage.cache_read_input_tokens is None
    other = (await full.messages.create(**FULL)).usage
    assert usage.input_tokens == other.input_tokens + (other.cache_creation_input_tokens or 0)


async def test_without_counting_models_or_batches_their_routes_are_not_found(play: Play) -> None:
    _, client = await play(always(EVERYTHING), without={"count_tokens", "models", "batches"})
    with pytest.raises(anthropic.NotFoundError):
        await client.messages.count_tokens(model="any", messages=HELLO["messages"])
    with pytest.raises(anthropic.NotFoundError):
        await client.models.retrieve("any")
    with pytest.raises(anthropic.NotFoundError):
        await client.messages.batches.create(requests=[{"custom_id": "a", "params": HELLO}])
    assert (await client.messages.create(**FULL)).content


async def test_without_thinking_or_tools_they_are_taken_and_never_come_back(play: Play) -> None:
    raw = Reply(blocks=({"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "hi"}))
    for reply in (EVERYTHING, raw):
        _, client = await play(always(reply), without={"thinking", "tools"})
        message = await client.beta.messages.create(**FULL)
        assert [block.type for block in message.content] == ["text"]
        assert message.stop_reason == "end_turn"


@pytest.mark.parametrize("feature", ["thinking", "tools"])
async def test_a_refused_feature_is_named_in_a_400_only_when_it_is_asked_for(play: Play, feature: str) -> None:
    _, client = await play(always(EVERYTHING), refuses={feature})
    with pytest.raises(anthropic.BadRequestError, match=f"does not support {feature}"):
        await client.messages.create(**FULL)
    assert (await client.messages.create(**HELLO)).content


def test_a_feature_that_is_none_is_refused_when_the_server_is_made() -> None:
    with pytest.raises(ValueError, match="'colour' can not be left out"):
        Capabilities(without={"colour"})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'cache' can not be left out or refused"):
        Capabilities(refuses={"cache"})  # type: ignore[arg-type]
