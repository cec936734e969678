"""Message Batches: questions of thousands of transcripts at once, at half price, picked up again after a restart."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from app.replay import keepers
from app.replay.chains import Chain
from app.replay.keepers.interface import KeeperSetup, KeeperStopped
from app.replay.purse import BudgetSpent
from app.replay.questions import Book, BookAnswer, Question
from app.session.endpoint import Endpoint
from app.session.wire import WireTap, connect
from store.bodies import Usage
from store.documents import write_whole
from store.room import Room

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types.messages.batch_create_params import Request

MOST_REQUESTS = 10_000
MOST_BYTES = 100_000_000
"""Of one batch; the API takes 100,000 requests or 256 MB.
Source: https://platform.claude.com/docs/en/build-with-claude/batch-processing#batch-limitations"""
POLL_S = 10.0
MOST_ROUNDS = 4
"""Rounds of questions of which the later ones wait for the answers of the earlier."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How far the batches are: answers in the book, requests still under way."""

    answered: int
    waiting: int


async def ask_in_batches(
    source: Path,
    found: Sequence[tuple[str, Chain, int | None]],
    setup: KeeperSetup,
    *,
    max_tokens: int | None = None,
    poll_s: float = POLL_S,
    tell: Callable[[Standing], None] = lambda standing: None,
) -> Book:
    """The book of answers to all that the Keepers of ``found`` (name, chain, sessions) can ask out of order.

    Batches that an earlier run left under way are waited for before anything new is sent. What fails in a batch is
    left to be asked in order. Raises KeeperStopped when the endpoint knows no batches, BudgetSpent.
    """
    book = Book(Path(setup.book))
    desk = _BatchDesk(book, setup, poll_s, tell)
    client = connect(
        Endpoint(setup.base_url, setup.key, setup.model),
        "keeper",
        WireTap(lambda attempt: None, lambda failed: None),
        max_retries=setup.max_retries,
        timeout_s=600.0,
    )
    async with client:
        await desk.collect(client)
        for _ in range(MOST_ROUNDS):
            if max_tokens is not None and book.tokens >= max_tokens:
                raise BudgetSpent(f"The budget of {max_tokens:,} tokens is spent; raise --max-tokens to go on.")
            asked = list(_open_questions(source, found, setup, book, desk.tried))
            if not asked:
                break
            for part in _parts(asked, setup.model):
                await desk.send(client, part)
            await desk.collect(client)
    return book


def _open_questions(
    source: Path, found: Sequence[tuple[str, Chain, int | None]], setup: KeeperSetup, book: Book, tried: set[str]
) -> Iterator[Question]:
    seen: set[str] = set()
    with Room.open(source, read_only=True) as room:
        for name, chain, upto in found:
            for question in keepers.questions(name, room, chain, upto, setup, book):
                key = question.key(setup.model)
                if key not in book and key not in tried and key not in seen:
                    seen.add(key)
                    yield question


def _parts(asked: Sequence[Question], model: str) -> Iterator[list[Question]]:
    part: list[Question] = []
    size = 0
    for question in asked:
        more = len(json.dumps(question.params(model)))
        if part and (len(part) >= MOST_REQUESTS or size + more > MOST_BYTES):
            yield part
            part, size = [], 0
        part.append(question)
        size += more
    if part:
        yield part


class _BatchDesk:
    """Sends batches and brings their answers into the book; which are under way stands in a file beside it."""

    def __init__(self, book: Book, setup: KeeperSetup, poll_s: float, tell: Callable[[Standing], None]) -> None:
        self._book = book
        self._model = setup.model
        self._poll_s = poll_s
        self._tell = tell
        self._file = book.path.with_name("under-way.json")
        self._under_way: list[str] = json.loads(self._file.read_text()) if self._file.exists() else []
        self.tried: set[str] = set()

    async def send(self, client: AsyncAnthropic, part: Sequence[Question]) -> None:
        from anthropic import APIStatusError

        requests = [{"custom_id": one.key(self._model), "params": one.params(self._model)} for one in part]
        try:
            batch = await client.messages.batches.create(requests=cast("list[Request]", requests))
        except APIStatusError as error:
            raise KeeperStopped(
                f"The endpoint takes no batches (status {error.status_code}); leave --batch out."
            ) from error
        self.tried.update(one.key(self._model) for one in part)
        self._under_way.append(batch.id)
        self._keep()

    async def collect(self, client: AsyncAnthropic) -> None:
        """Waits until every batch under way has ended, and takes in its answers."""
        from anthropic import NotFoundError

        while self._under_way:
            waiting = 0
            for name in tuple(self._under_way):
                try:
                    batch = await client.messages.batches.retrieve(name)
                except NotFoundError:
                    self._done(name)  # of another endpoint, or gone after its 29 days: its questions are asked anew
                    continue
                if batch.processing_status == "ended":
                    self._book.add({key: answer async for key, answer in _answers(client, name)})
                    self._done(name)
                else:
                    waiting += batch.request_counts.processing
            self._tell(Standing(len(self._book), waiting))
            if self._under_way:
                await asyncio.sleep(self._poll_s)

    def _done(self, name: str) -> None:
        self._under_way.remove(name)
        self._keep()

    def _keep(self) -> None:
        write_whole(self._file, json.dumps(self._under_way).encode())


async def _answers(client: AsyncAnthropic, name: str) -> AsyncIterator[tuple[str, BookAnswer]]:
    async for line in await client.messages.batches.results(name):
        result: Any = line.result
        if result.type != "succeeded":
            continue
        message = result.message
        usage = message.usage
        text = "\n\n".join(block.text for block in message.content if block.type == "text")
        counted = Usage(
            usage.input_tokens or 0,
            usage.cache_read_input_tokens or 0,
            usage.cache_creation_input_tokens or 0,
            usage.output_tokens or 0,
        )
        yield line.custom_id, BookAnswer(text, message.model, message.id, counted)
