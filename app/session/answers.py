"""Reads a seat's streamed answer into the log: first token, partial text, the whole message or where it was cut."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from app.session.pricing import usd
from app.session.record import SessionLog
from app.session.wire import Attempt, FailedAttempt, WireTap
from store.bodies import (
    FirstToken,
    Json,
    MessageCut,
    MessageEnded,
    Partial,
    RequestFailed,
    RequestRetried,
    RequestSent,
    Seat,
    Usage,
)
from store.events import plain

if TYPE_CHECKING:
    from anthropic.lib.streaming import BetaAsyncMessageStream

FLUSH_S = 0.08
"""Partial text is journalled this often while it streams: more than ten paints a second, and well within the 250 ms
that may be lost in a crash (DESIGN §3)."""


LOOP_WINDOW = 4_000
"""Characters of an answer that must repeat one short piece, to the letter, before it counts as a loop. Small models
fall into such loops and stop at the token limit only."""
LOOP_PIECE = 400


class LoopingError(Exception):
    """The answer repeats itself without end."""


class OverlongError(Exception):
    """The answer is far longer than the limit of tokens that was asked for."""


class StalledError(Exception):
    """The stream has sent nothing, not even a ping, for the idle limit."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer: its content blocks as JSON, why it stopped, its tokens."""

    content: list[Json]
    stop_reason: str
    usage: Usage

    @property
    def text(self) -> str:
        """The answer's words, without thinking and tool calls."""
        return "\n\n".join(
            str(block["text"]) for block in self.content if isinstance(block, dict) and block.get("type") == "text"
        )

    @property
    def calls(self) -> list[dict[str, Json]]:
        """The answer's tool calls as they came."""
        return [block for block in self.content if isinstance(block, dict) and block.get("type") == "tool_use"]


class Listener:
    """Follows the requests of one seat: it is the wire's tap and reads each stream.

    One request at a time: ``begin`` names what it is for, ``read`` drains its stream, ``fail`` says that no answer
    came. Words that had come when a stream dies or is stopped are kept in a ``message.cut`` event. ``cache_told`` is
    False after an answer without cache fields.
    """

    def __init__(self, record: SessionLog, seat: Seat, model: str, *, idle_timeout_s: float, journal: bool) -> None:
        self._record = record
        self._seat: Seat = seat
        self._model = model
        self._idle_timeout_s = idle_timeout_s
        self._journal = journal
        self._purpose = "turn"
        self._request = 0
        self._left = 0.0
        self._words: list[str] = []
        self._first: float | None = None
        self._usage = Usage()
        self._since_check = 0
        self._open = False
        self.cache_told = True

    @property
    def tap(self) -> WireTap:
        """What the client of this seat tells of its attempts."""
        return WireTap(self._leaving, self._failed)

    @property
    def words_came(self) -> bool:
        """Whether the request under way has given any token yet."""
        return self._first is not None

    def begin(self, purpose: str) -> None:
        """What the next requests are for: a turn, a letter, a handoff, a pass."""
        self._purpose = purpose

    def _leaving(self, attempt: Attempt) -> None:
        if attempt.number > 0:
            return
        self._request = self._record.next_request()
        self._words, self._first, self._usage, self._since_check = [], None, Usage(), 0
        self._open = True
        self._left = self._record.append(
            self._seat,
            RequestSent(self._seat, self._request, self._model, attempt.sha256, attempt.bytes, self._purpose),
        ).mono

    def _failed(self, failed: FailedAttempt) -> None:
        self._record.append(
            "system",
            RequestRetried(
                self._seat, self._request, failed.number, failed.status, failed.reason, round(failed.wait_s, 3)
            ),
        )

    async def read(self, stream: BetaAsyncMessageStream[Any], most_characters: int | None = None) -> Answer:
        """Drain one stream into the log and give the whole answer.

        Raises StalledError when nothing comes for the idle limit, OverlongError past ``most_characters``, and whatever
        the SDK raises when the stream dies; what had come is journalled by then, and ``cut`` closes it.
        """
        came = 0
        loop = asyncio.get_running_loop()
        pending: dict[tuple[int, Literal["text", "thinking", "tool_input"]], list[str]] = {}
        timer: asyncio.TimerHandle | None = None

        def flush() -> None:
            nonlocal timer
            timer = None
            for (block, what), pieces in pending.items():
                self._record.append(self._seat, Partial(self._seat, self._request, block, what, "".join(pieces)))
            pending.clear()

        try:
            async with asyncio.timeout(self._idle_timeout_s) as idle:
                async for event in stream:
                    idle.reschedule(loop.time() + self._idle_timeout_s)
                    if event.type == "message_start":
                        self._usage = _usage_of(event.message.usage)
                    elif event.type == "content_block_delta":
                        what, piece = _words_of(event.delta)
                        if what is None:
                            continue
                        came += len(piece)
                        if most_characters is not None and came > most_characters:
                            raise OverlongError(f"the answer was stopped after {most_characters:,} characters")
                        if self._first is None:
                            self._first = self._record.room.clock.mono()
                            self._record.append(
                                self._seat,
                                FirstToken(self._seat, self._request, _ms(self._first - self._left)),
                            )
                        if what == "text":
                            self._words.append(piece)
                            self._watch_for_loop(piece)
                        if self._journal and what != "tool_input":
                            pending.setdefault((event.index, what), []).append(piece)
                            if timer is None:
                                timer = loop.call_later(FLUSH_S, flush)
        except TimeoutError:
            raise StalledError(f"nothing came for {self._idle_timeout_s:g} s") from None
        finally:
            if timer is not None:
                timer.cancel()
            flush()
        return self._ended(await stream.get_final_message())

    def _watch_for_loop(self, piece: str) -> None:
        self._since_check += len(piece)
        if self._since_check < LOOP_WINDOW:
            return
        self._since_check = 0
        if loops("".join(self._words)[-LOOP_WINDOW:]):
            raise LoopingError("the answer repeated itself without end and was stopped")

    def _ended(self, message: Any) -> Answer:
        content = [plain(block.to_dict(mode="json")) for block in message.content]
        usage = _usage_of(message.usage)
        self.cache_told = message.usage.cache_read_input_tokens is not None
        now = self._record.room.clock
        answer = Answer(content, str(message.stop_reason or "unknown"), usage)
        price = usd(usage, self._model, now.now())
        self._open = False
        self._record.append(
            self._seat,
            MessageEnded(
                seat=self._seat,
                request=self._request,
                message_id=str(message.id),
                model=str(message.model),
                content=content,
                stop_reason=answer.stop_reason,
                usage=usage,
                usd=None if price is None else str(price),
                ttft_ms=None if self._first is None else _ms(self._first - self._left),
                total_ms=_ms(now.mono() - self._left),
                purpose=self._purpose,
            ),
        )
        return answer

    def cut(self, reason: str) -> bool:
        """Close the request under way that will give no more. True when words of it are kept."""
        if not self._open:
            return False
        self._open = False
        if self._words or self._usage.prompt:
            price = usd(self._usage, self._model, self._record.room.clock.now())
            self._record.append(
                self._seat,
                MessageCut(
                    self._seat,
                    self._request,
                    "".join(self._words),
                    reason,
                    self._usage,
                    None if price is None else str(price),
                    self._purpose,
                ),
            )
            return bool("".join(self._words).strip())
        self._record.append("system", RequestFailed(self._seat, self._request, "cut", reason))
        return False

    def retry(self, attempt: int, reason: str, wait_s: float) -> None:
        """Say that a stream which died before its first word is asked for again."""
        self._open = False
        self._failed(FailedAttempt(attempt, 200, reason, wait_s))

    def fail(self, error: str, reason: str, status: int) -> None:
        """Close a request that never gave a stream."""
        if self._open:
            self._open = False
            self._record.append("system", RequestFailed(self._seat, self._request, error, reason, status))


def loops(text: str) -> bool:
    """Whether ``text`` is one piece of at most LOOP_PIECE characters over and over, and long enough to tell."""
    if len(text) < LOOP_WINDOW:
        return False
    probe = text[-64:]
    earlier = text.rfind(probe, 0, len(text) - 1)
    period = len(text) - len(probe) - earlier
    # White space alone may stand in long runs without being a loop of words.
    return earlier >= 0 and period <= LOOP_PIECE and text[period:] == text[:-period] and bool(text.strip())


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)


def _words_of(delta: Any) -> tuple[Literal["text", "thinking", "tool_input"] | None, str]:
    match delta.type:
        case "text_delta":
            return "text", delta.text
        case "thinking_delta":
            return "thinking", delta.thinking
        case "input_json_delta":
            return "tool_input", delta.partial_json
        case _:
            return None, ""


def _usage_of(usage: Any) -> Usage:
    # Cache fields are missing at endpoints without a prompt cache; cumulative fields are assigned, never added.
    return Usage(
        input=usage.input_tokens or 0,
        cache_read=usage.cache_read_input_tokens or 0,
        cache_write=usage.cache_creation_input_tokens or 0,
        output=usage.output_tokens or 0,
    )
