"""Prompt-cache accounting as the API bills it, seen through the usage that the real SDK reports."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_plays import HandClock, Play, always

from app.scripted.prompt_cache import PromptCache, count_tokens, total_tokens
from app.scripted.script import Reply

FIVE = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}


def text(words: str, control: dict[str, str] | None = None) -> dict[str, Any]:
    return {"type": "text", "text": words} | ({"cache_control": control} if control else {})


def asking(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "any", "max_tokens": 99, "messages": [{"role": "user", "content": list(blocks)}], **more}


async def test_a_growing_conversation_reads_what_it_wrote_and_writes_only_what_is_new(play: Play) -> None:
    _, client = await play(always(Reply(text="answer")), minimum_cached_tokens=0)
    messages: list[dict[str, Any]] = []
    known = 0
    for turn in range(8):
        messages.append({"role": "user", "content": f"turn {turn} " * 50})
        message = await client.beta.messages.create(
            model="any", max_tokens=99, system="brief " * 100, messages=messages, cache_control=FIVE
        )
        usage = message.usage
        assert usage.cache_read_input_tokens == known
        assert usage.cache_creation_input_tokens > 0 and usage.input_tokens == 0
        known += usage.cache_creation_input_tokens
        messages.append({"role": "assistant", "content": [block.to_dict() for block in message.content]})


async def test_usage_adds_up_to_the_counted_tokens_and_splits_by_ttl(play: Play) -> None:
    _, client = await play(always(Reply(text="answer")), minimum_cached_tokens=0)
    asked = asking(text("b" * 400, FIVE), text("tail"), system=[text("a" * 800, HOUR)])
    usage = (await client.messages.create(**asked)).usage
    counted = await client.messages.count_tokens(**{k: v for k, v in asked.items() if k != "max_tokens"})
    assert usage.cache_creation is not None
    hour, five = usage.cache_creation.ephemeral_1h_input_tokens, usage.cache_creation.ephemeral_5m_input_tokens
    assert (hour, five) == (count_tokens(text("a" * 800)), count_tokens(text("b" * 400)))
    assert usage.cache_creation_input_tokens == hour + five
    assert usage.input_tokens == count_tokens(text("tail"))
    assert counted.input_tokens == usage.input_tokens + hour + five


@pytest.mark.parametrize("changed", ["tools", "system", "model", "thinking"])
async def test_a_change_before_the_breakpoint_loses_the_cache(play: Play, changed: str) -> None:
    _, client = await play(always(Reply(text="answer")), minimum_cached_tokens=0)
    tool = {"name": "look", "description": "d", "input_schema": {"type": "object"}}
    asked = asking(text("words " * 50, FIVE), system="s", tools=[tool], thinking={"type": "adaptive"})
    await client.messages.create(**asked)
    other = {
        "tools": [{**tool, "description": "e"}],
        "system": "t",
        "model": "other",
        "thinking": {"type": "disabled"},
    }
    assert (await client.messages.create(**asked)).usage.cache_read_input_tokens > 0
    usage = (await client.messages.create(**{**asked, changed: other[changed]})).usage
    assert usage.cache_read_input_tokens == 0 and usage.cache_creation_input_tokens > 0


async def test_another_order_of_keys_in_a_tool_input_is_another_prefix(play: Play) -> None:
    _, client = await play(always(Reply(text="a"), Reply(text="b")), minimum_cached_tokens=0)

    def asked(tool_input: dict[str, int]) -> dict[str, Any]:
        call = {"type": "tool_use", "id": "t1", "name": "look", "input": tool_input}
        result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok", "cache_control": FIVE}
        history = [{"role": "user", "content": "go"}, {"role": "assistant", "content": [call]}]
        return asking() | {"messages": [*history, {"role": "user", "content": [result]}]}

    await client.messages.create(**asked({"a": 1, "b": 2}))
    assert (await client.messages.create(**asked({"a": 1, "b": 2}))).usage.cache_read_input_tokens > 0
    assert (await client.messages.create(**asked({"b": 2, "a": 1}))).usage.cache_read_input_tokens == 0


@pytest.mark.parametrize(("added", "hit"), [(19, True), (20, False)])
async def test_a_breakpoint_finds_an_entry_at_most_twenty_positions_back(play: Play, added: int, hit: bool) -> None:
    _, client = await play(always(Reply(text="answer")), minimum_cached_tokens=0)
    await client.messages.create(**asking(text("start", FIVE)))
    blocks = [text("start"), *(text(f"block {n}") for n in range(added))]
    blocks[-1]["cache_control"] = FIVE
    usage = (await client.messages.create(**asking(*blocks))).usage
    assert usage.cache_read_input_tokens == (count_tokens(text("start")) if hit else 0)


async def test_an_entry_dies_five_minutes_after_its_last_use_and_a_long_one_after_an_hour(play: Play) -> None:
    clock = HandClock()
    _, client = await play(always(Reply(text="answer")), minimum_cached_tokens=0, clock=clock)
    short, long = asking(text("short " * 20, FIVE)), asking(text("long " * 20, HOUR))

    async def read(asked: dict[str, Any]) -> bool:
        return (await client.messages.create(**asked)).usage.cache_read_input_tokens > 0

    assert not await read(short) and not await read(long)
    for _ in range(3):
        clock.now += 299
        assert await read(short)  # every use renews it
    clock.now += 301
    assert not await read(short)
    assert await read(long)
    clock.now += 3601
    assert not await read(long)


async def test_a_prefix_below_the_minimum_is_not_cached_and_no_error(play: Play) -> None:
    _, client = await play(always(Reply(text="answer")), minimum_cached_tokens=1000)
    small, large = asking(text("x" * 2000, FIVE)), asking(text("x" * 4000, FIVE))
    for _ in range(2):
        usage = (await client.messages.create(**small)).usage
        assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (0, 0)
        assert usage.input_tokens > 500
    assert (await client.messages.create(**large)).usage.cache_creation_input_tokens > 1000
    assert (await client.messages.create(**large)).usage.cache_read_input_tokens > 1000


async def test_nothing_is_cached_without_a_breakpoint(play: Play) -> None:
    _, client = await play(always(Reply(text="answer")), minimum_cached_tokens=0)
    for _ in range(2):
        usage = (await client.messages.create(**asking(text("x" * 9000)))).usage
        assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (0, 0)


_BLOCKS = st.lists(
    st.tuples(st.text(min_size=1, max_size=9), st.sampled_from([None, FIVE])), min_size=1, max_size=30
).filter(lambda blocks: sum(control is not None for _, control in blocks) <= 4)


@given(st.lists(_BLOCKS, min_size=1, max_size=6))
def test_the_parts_of_the_usage_always_add_up_and_a_repeat_never_writes(requests: list[Any]) -> None:
    cache = PromptCache(HandClock(), minimum=0)
    for blocks in requests:
        body = asking(*(text(words, control) for words, control in blocks))
        first, again = cache.account(body), cache.account(body)
        for usage in (first, again):
            assert usage.total == total_tokens(body)
            assert min(usage.fresh, usage.read, usage.written) >= 0
        assert again.written == 0 and again.fresh == first.fresh


@given(st.text(), st.text())
def test_a_string_and_one_text_block_are_the_same_prefix(said: str, brief: str) -> None:
    cache = PromptCache(HandClock(), minimum=0)
    message = {"role": "user", "content": said}
    cache.account({"model": "m", "system": brief, "messages": [message], "cache_control": FIVE})
    blocks = asking(text(said, FIVE), system=[text(brief)]) | {"model": "m"}
    assert cache.account(blocks).written == 0
