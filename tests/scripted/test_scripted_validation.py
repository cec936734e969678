"""The scripted server refuses what the Messages API refuses, and takes what it takes."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest
from scripted_plays import HELLO, Play, always

from app.scripted.refusals import Refusal
from app.scripted.script import Reply
from app.scripted.validation import check_request

USE = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
USE2 = {**USE, "id": "t2"}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
RESULT2 = {**RESULT, "tool_use_id": "t2"}
HI = {"role": "user", "content": "hi"}
FIVE = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def tool(name: str, schema: Any) -> dict[str, Any]:
    return {"name": name, "input_schema": schema}


OBJECT = {"type": "object"}

REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("at least one message", {"messages": []}),
    ('first message must use the "user" role', {"messages": [assistant(text("x")), HI]}),
    ("does not support assistant message prefill", {"messages": [HI, assistant(text("x"))]}),
    ("t1.*must have a corresponding `tool_result`", {"messages": [HI, assistant(USE), user(text("go on"))]}),
    ("found without `tool_result`.*: t2", {"messages": [HI, assistant(USE, USE2), user(RESULT)]}),
    ("found without", {"messages": [HI, assistant(USE), HI, assistant(text("x")), user(RESULT)]}),
    ("unexpected `tool_use_id`", {"messages": [user(RESULT)]}),
    ("unexpected `tool_use_id`", {"messages": [HI, assistant(USE), user(RESULT, RESULT2)]}),
    ("answered twice", {"messages": [HI, assistant(USE), user(RESULT, RESULT)]}),
    ("must come first", {"messages": [HI, assistant(USE), user(text("so"), RESULT)]}),
    ("ids must be unique", {"messages": [HI, assistant(USE), user(RESULT), assistant(USE), user(RESULT)]}),
    ("only be in `assistant`", {"messages": [user(USE)]}),
    ("only be in `user`", {"messages": [HI, assistant(RESULT), HI]}),
    ("content blocks must be non-empty", {"messages": [user(text(""))]}),
    ("non-whitespace", {"messages": [user(text(" \n"))]}),
    ("non-empty content", {"messages": [HI, {"role": "assistant", "content": ""}, HI]}),
    ("non-empty content", {"messages": [HI, assistant(), HI]}),
    ("messages.0.role", {"messages": [{"role": "robot", "content": "x"}]}),
    ("system: text content blocks", {"system": [text("")]}),
    ("newest models reject", {"tool_choice": {"type": "any"}}),
    ("newest models reject", {"tool_choice": {"type": "tool", "name": "look"}}),
    ("temperature", {"extra_body": {"temperature": 1.0}}),
    ("top_p", {"extra_body": {"top_p": 0.5}}),
    ("top_k", {"extra_body": {"top_k": 5}}),
    ("max_tokens", {"max_tokens": 0}),
    ("names must be unique", {"tools": [tool("a", OBJECT), tool("a", OBJECT)]}),
    ("tools.0.name", {"tools": [tool("a b", OBJECT)]}),
    ("input_schema.type", {"tools": [tool("a", {"properties": {}})]}),
    ("maximum of 4 blocks", {"messages": [user(*(text("x", cache_control=FIVE) for _ in range(5)))]}),
    ("must not come after", {"messages": [user(text("x", cache_control=FIVE), text("y", cache_control=HOUR))]}),
]


@pytest.mark.parametrize(("complaint", "change"), REFUSED, ids=[f"{n}-{c}" for n, (c, _) in enumerate(REFUSED)])
async def test_a_request_the_api_would_refuse_is_refused_with_its_reason(
    play: Play, complaint: str, change: dict[str, Any]
) -> None:
    server, client = await play(always(Reply(text="hi")), retries=2)
    with pytest.raises(anthropic.BadRequestError, match=complaint) as caught:
        await client.beta.messages.create(**{**HELLO, **change})
    assert caught.value.type == "invalid_request_error"
    assert len(server.requests) == 1


TAKEN: list[dict[str, Any]] = [
    {"messages": [HI, HI]},
    {"messages": [HI, assistant(USE, USE2), user(RESULT2, RESULT, text("and?"))]},
    {"messages": [HI, assistant(USE, USE2), user(RESULT), user(RESULT2)]},
    {"messages": [HI, assistant(USE), user(RESULT, text("x")), assistant(USE2), user(RESULT2)]},
    {"messages": [HI, assistant(text("a")), assistant(USE), user(RESULT)]},
    {"messages": [user({"type": "image", "source": {"type": "url", "url": "x"}}, text("see"))]},
    {"tool_choice": {"type": "auto"}, "tools": [tool("a", OBJECT), {"type": "bash_20250124", "name": "bash"}]},
    {"messages": [user(text("x", cache_control=HOUR), text("y", cache_control=FIVE))]},
    {"model": "no-such-model"},
]


@pytest.mark.parametrize("change", TAKEN)
async def test_a_request_the_api_would_take_is_taken(play: Play, change: dict[str, Any]) -> None:
    _, client = await play(always(*[Reply(text="hi")] * 3))
    assert (await client.beta.messages.create(**{**HELLO, **change})).content[0].text == "hi"


@pytest.mark.parametrize("missing", ["model", "max_tokens", "messages"])
def test_a_required_field_is_asked_for_by_name(missing: str) -> None:
    with pytest.raises(Refusal, match=f"{missing}: Field required"):
        check_request({key: value for key, value in HELLO.items() if key != missing})


async def test_token_counting_checks_messages_but_asks_for_no_max_tokens(play: Play) -> None:
    _, client = await play(always(Reply(text="hi")))
    assert (await client.messages.count_tokens(model="any", messages=[HI])).input_tokens > 0
    with pytest.raises(anthropic.BadRequestError, match="tool_result"):
        await client.messages.count_tokens(model="any", messages=[HI, assistant(USE), user(text("x"))])


async def test_a_body_that_is_no_json_and_a_seat_that_is_none_are_refused(play: Play) -> None:
    server, client = await play(always(Reply(text="hi")))
    with pytest.raises(anthropic.BadRequestError, match="'cat' is no seat"):
        await client.messages.create(**HELLO, extra_headers={"x-twins-seat": "cat"})
    broken = await client._client.post(f"{server.base_url}/v1/messages", content=b"{")
    assert broken.status_code == 400 and broken.json()["error"]["type"] == "invalid_request_error"
    missing = await client._client.get(f"{server.base_url}/v1/nothing")
    assert missing.status_code == 404 and missing.json()["error"]["type"] == "not_found_error"
