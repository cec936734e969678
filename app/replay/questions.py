"""Plain questions to a model behind a Messages endpoint: asked one by one, or taken from a book of batch answers."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from app.replay.keepers.interface import KeeperSetup, KeeperStopped, Scene
from app.session.answers import Listener
from app.session.endpoint import Endpoint
from app.session.pricing import usd
from app.session.wire import connect
from store.bodies import Json, MessageEnded, Usage
from store.documents import write_whole

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

TIMEOUT_S = 600.0
BATCH_PRICE = Decimal("0.5")
"""Batches cost half. Source: https://platform.claude.com/docs/en/build-with-claude/batch-processing#pricing"""


@dataclass(frozen=True, slots=True)
class Question:
    """One question that needs no other answer to be asked: which ``step`` it is, its words, how long its answer may
    be in tokens."""

    step: str
    text: str
    max_tokens: int

    def params(self, model: str) -> dict[str, Json]:
        """The request's body."""
        return {
            "model": model,
            "max_tokens": self.max_tokens,
            "messages": [{"role": "user", "content": self.text}],
        }

    def key(self, model: str) -> str:
        """The question's name in a book and in a batch: the same question of the same model has the same one."""
        raw = json.dumps(self.params(model), sort_keys=True, ensure_ascii=True).encode()
        return f"{self.step}-{hashlib.sha256(raw).hexdigest()[:40]}"


@dataclass(frozen=True, slots=True)
class BookAnswer:
    """An answer that came in a batch."""

    text: str
    model: str
    message_id: str
    usage: Usage


class Book:
    """Answers of batches by their question's key, one JSON object a line in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._answers: dict[str, BookAnswer] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                kept = json.loads(line)
                self._answers[kept["key"]] = BookAnswer(
                    kept["text"], kept["model"], kept["message_id"], Usage(**kept["usage"])
                )

    def __contains__(self, key: str) -> bool:
        return key in self._answers

    def __len__(self) -> int:
        return len(self._answers)

    @property
    def tokens(self) -> int:
        """Tokens that all these answers took."""
        return sum(one.usage.prompt + one.usage.output for one in self._answers.values())

    def find(self, key: str) -> BookAnswer | None:
        """The answer to a question; None when it was not asked or failed."""
        return self._answers.get(key)

    def add(self, answers: dict[str, BookAnswer]) -> None:
        """Writes more answers down; they stand on the disk when this returns."""
        self._answers.update(answers)
        lines = [
            json.dumps(
                {
                    "key": key,
                    "text": one.text,
                    "model": one.model,
                    "message_id": one.message_id,
                    "usage": {
                        "input": one.usage.input,
                        "cache_read": one.usage.cache_read,
                        "cache_write": one.usage.cache_write,
                        "output": one.usage.output,
                    },
                },
                ensure_ascii=True,
            )
            for key, one in self._answers.items()
        ]
        write_whole(self.path, "".join(f"{line}\n" for line in lines).encode())


class Asker:
    """Answers questions for one chain: from the book when it holds them, else from the endpoint. Every answer is an
    event of the replay's log, with its tokens and its price."""

    def __init__(self, setup: KeeperSetup) -> None:
        self._setup = setup
        self._book = Book(Path(setup.book)) if setup.book else None
        self._scene: Scene | None = None
        self._listener: Listener | None = None
        self._client: AsyncAnthropic | None = None

    async def open(self, scene: Scene) -> None:
        """Answers go into this session's log from now on."""
        await self.close()
        setup = self._setup
        self._scene = scene
        self._listener = Listener(
            scene.record, "keeper", setup.model, idle_timeout_s=setup.idle_timeout_s, journal=False
        )
        self._client = connect(
            Endpoint(setup.base_url, setup.key, setup.model),
            "keeper",
            self._listener.tap,
            max_retries=setup.max_retries,
            timeout_s=TIMEOUT_S,
        )

    async def close(self) -> None:
        """Lets go of the connection."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def answer(self, question: Question) -> str:
        """The model's words. Raises KeeperStopped when the endpoint gives none, BudgetSpent when the purse is empty."""
        scene, listener, client = self._scene, self._listener, self._client
        assert scene is not None and listener is not None and client is not None
        kept = self._book.find(question.key(self._setup.model)) if self._book else None
        if kept is not None:
            self._log(scene, question, kept)
            return kept.text
        scene.may_spend()
        listener.begin(question.step)
        from anthropic import APIConnectionError, APIStatusError

        from app.session.answers import StalledError
        from app.session.presence import failure_of

        try:
            async with client.beta.messages.stream(
                model=self._setup.model,
                max_tokens=question.max_tokens,
                messages=[{"role": "user", "content": question.text}],
            ) as stream:
                return (await listener.read(stream)).text
        except (APIStatusError, APIConnectionError, StalledError) as error:
            reason = failure_of(error).reason
            if not listener.cut(reason):
                listener.fail(type(error).__name__, reason, getattr(error, "status_code", 0))
            raise KeeperStopped(f"The endpoint gave no answer ({reason}); run the same command again.") from error

    def _log(self, scene: Scene, question: Question, kept: BookAnswer) -> None:
        record = scene.record
        price = usd(kept.usage, kept.model, record.room.clock.now())
        content: list[Json] = [{"type": "text", "text": kept.text}]
        record.append(
            "keeper",
            MessageEnded(
                seat="keeper",
                request=record.next_request(),
                message_id=kept.message_id,
                model=kept.model,
                content=content,
                stop_reason="end_turn",
                usage=kept.usage,
                usd=None if price is None else str(price * BATCH_PRICE),
                ttft_ms=None,
                total_ms=0.0,
                purpose=question.step,
            ),
        )
