"""Message Batches of the scripted server, through the real SDK."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest
from scripted_plays import HELLO, HandClock, Play, always

from app.scripted.script import Reply, Script


def asking(**said: str) -> list[dict[str, Any]]:
    """One request for each custom id, which says the words."""
    return [
        {"custom_id": name, "params": {**HELLO, "messages": [{"role": "user", "content": words}]}}
        for name, words in said.items()
    ]


def echo(request: Any) -> Reply:
    return Reply(f"{request.seat}: {request.operator_text}")


async def test_a_batch_ends_by_the_clock_and_gives_each_requests_own_result(play: Play) -> None:
    clock = HandClock()
    _, client = await play(Script(reader=echo), clock=clock, batch_seconds=60)
    requests = [*asking(one="1", two="2"), {"custom_id": "bad", "params": {**HELLO, "messages": []}}]
    batch = await client.messages.batches.create(requests=requests, extra_headers={"x-twins-seat": "reader"})
    assert (batch.processing_status, batch.request_counts.processing) == ("in_progress", 3)
    clock.now = 59
    batch = await client.messages.batches.retrieve(batch.id)
    assert batch.processing_status == "in_progress" and batch.results_url is None
    with pytest.raises(anthropic.AnthropicError, match="results_url"):
        await client.messages.batches.results(batch.id)
    clock.now = 60
    batch = await client.messages.batches.retrieve(batch.id)
    assert batch.processing_status == "ended" and batch.ended_at is not None
    assert (batch.request_counts.succeeded, batch.request_counts.errored) == (2, 1)
    results = {line.custom_id: line.result async for line in await client.messages.batches.results(batch.id)}
    assert results["one"].message.content[0].text == "reader: 1"
    assert results["two"].message.content[0].text == "reader: 2"
    assert results["two"].message.usage.service_tier == "batch"
    assert results["bad"].error.error.type == "invalid_request_error"


async def test_results_do_not_come_in_the_order_asked_and_are_the_same_each_time(play: Play) -> None:
    _, client = await play(echo)
    asked = asking(a="1", b="2", c="3")
    batch = await client.beta.messages.batches.create(requests=asked)
    reads = []
    for _ in range(2):
        lines = [line async for line in await client.beta.messages.batches.results(batch.id)]
        reads.append([(line.custom_id, line.result.message.id) for line in lines])
    assert reads[0] == reads[1]
    names = [name for name, _ in reads[0]]
    assert sorted(names) == ["a", "b", "c"] and names != ["a", "b", "c"]


async def test_a_cancelled_batch_ends_with_every_request_canceled(play: Play) -> None:
    _, client = await play(echo, clock=HandClock(), batch_seconds=60)
    batch = await client.messages.batches.create(requests=asking(a="1", b="2"))
    batch = await client.messages.batches.cancel(batch.id)
    assert batch.processing_status == "canceling" and batch.cancel_initiated_at is not None
    batch = await client.messages.batches.retrieve(batch.id)
    assert (batch.processing_status, batch.request_counts.canceled) == ("ended", 2)
    kinds = [line.result.type async for line in await client.messages.batches.results(batch.id)]
    assert kinds == ["canceled", "canceled"]
    with pytest.raises(anthropic.BadRequestError, match="ended already"):
        await client.messages.batches.cancel(batch.id)


async def test_the_same_batch_twice_is_two_batches(play: Play) -> None:
    _, client = await play(echo)
    batches = [await client.messages.batches.create(requests=asking(a="1")) for _ in range(2)]
    assert batches[0].id != batches[1].id


@pytest.mark.parametrize(
    ("complaint", "requests"),
    [
        ("at least 1 item", []),
        ("must be unique. Found twice: a", asking(a="1") * 2),
        ("requests.0.custom_id", [{"custom_id": "a b", "params": HELLO}]),
        ("requests.0.params", [{"custom_id": "a"}]),
    ],
)
async def test_a_batch_that_can_not_be_taken_is_refused_as_a_whole(
    play: Play, complaint: str, requests: list[dict[str, Any]]
) -> None:
    _, client = await play(always(Reply("hi")))
    with pytest.raises(anthropic.BadRequestError, match=complaint):
        await client.messages.batches.create(requests=requests)


async def test_a_batch_that_does_not_exist_is_not_found(play: Play) -> None:
    _, client = await play(always(Reply("hi")))
    with pytest.raises(anthropic.NotFoundError, match="no batch msgbatch_x"):
        await client.messages.batches.retrieve("msgbatch_x")
