"""The Presence's turn: the SDK's streaming tool runner over the conversation that the log holds."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import httpx2
from anthropic import APIConnectionError, APIStatusError, omit

from app.session.answers import Answer, Listener, LoopingError, StalledError
from app.session.context import Context, crowded, marked
from app.session.offers import COMPACT_BETA, REFUSED, Offers, model_card
from app.session.record import SessionLog
from app.session.room_tools import named_lines, touch
from app.session.tools import ToolBelt
from store.bodies import ContextCompacted, Json, Notice, SeatReady, TurnEnded
from store.conversation import sendable

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.lib.tools import BetaAsyncStreamingToolRunner
    from anthropic.types.beta import BetaCacheControlEphemeralParam, BetaMessageParam, BetaTextBlockParam

NO_CACHE = "This endpoint tells nothing of a prompt cache; the share read from it is not known."
NO_WINDOW = (
    "This endpoint does not tell how large the model's context is; set context_window under [endpoint] in room.toml to "
    "see how full it is."
)
CANNOT_COMPACT = (
    "The context is nearly full and this endpoint cannot compact it; close this session soon, and the next one wakes "
    "with what was kept."
)
BROKEN = (APIStatusError, APIConnectionError, httpx2.HTTPError, StalledError, ValueError)
"""What a request can end with instead of a whole answer."""
PASSING = frozenset({"overloaded_error", "api_error", "rate_limit_error", "timeout_error"})
"""Errors inside a stream that may pass. They come with status 200, so the SDK does not retry them by itself."""


PAGE_TOKENS = 2_048
"""Limit of a letter or handoff: each is asked to be a page at most."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request gave no whole answer: a short name, one plain sentence, the HTTP status, whether it may pass."""

    error: str
    reason: str
    status: int
    may_pass: bool


class Presence:
    """P's side of the engine. One turn at a time; every word and tool call goes to the log first."""

    def __init__(
        self,
        record: SessionLog,
        client: AsyncAnthropic,
        listener: Listener,
        belt: ToolBelt,
        *,
        model: str,
        system: str,
        max_tokens: int,
        cache_control: BetaCacheControlEphemeralParam,
        max_retries: int,
        thinking: bool,
        context: Context,
    ) -> None:
        """``thinking``: ask for it where the endpoint says that the model can; ``context``: its window is 0 to ask the
        endpoint."""
        self._record = record
        self._client = client
        self._listener = listener
        self._belt = belt
        self._model = model
        self._max_tokens = max_tokens
        self._cache = cache_control
        self._system = system
        self._max_retries = max_retries
        self._thinking = thinking
        self.context = context
        self._offers = Offers(thinking=False, compaction=False)
        self._compacts = True

    async def prepare(self, sandbox: str) -> None:
        """Ask the endpoint what its model can, once, and tell the log how P is set up. Never fails for an endpoint."""
        card = await model_card(self._client, self._model)
        self._offers = Offers(thinking=self._thinking and card.thinking, compaction=card.compaction)
        self.context.window = self.context.window or card.context_window
        if not self.context.window:
            self._record.notice_once(NO_WINDOW)
        self._record.append(
            "system",
            SeatReady(
                sandbox=sandbox,
                context_window=self.context.window,
                thinking=self._offers.has("thinking"),
                compaction=self._offers.has("compaction"),
                tools=tuple(tool.name for tool in self._belt.tools),
            ),
        )

    async def turn(self) -> TurnEnded:
        """Work until P hands back; the end is in the log when this returns.

        A stream that dies before its first word is asked for again; after that the words are kept and the operator
        is offered to go on. Cancelling stops P: what had come is kept, the turn ends as stopped.
        """
        self._compacts = True
        try:
            ended = await self._worked()
        except asyncio.CancelledError:
            self._listener.cut("stopped by the operator")
            self._record.append("operator", TurnEnded("stopped", "Stopped by the operator."))
            raise
        self._record.append("presence" if ended.end == "done" else "system", ended)
        return ended

    async def _worked(self) -> TurnEnded:
        attempt = 0
        while True:
            try:
                return await self._run()
            except LoopingError as error:
                self._listener.cut(str(error))
                return TurnEnded("done", "The answer repeated itself without end, so it was stopped.")
            except BROKEN as error:
                failure = failure_of(error)
                came = self._listener.words_came
                if not came and self._asks_for_less(error):
                    self._listener.fail(failure.error, failure.reason, failure.status)
                    continue
                if failure.may_pass and not came and attempt < self._max_retries:
                    wait_s = min(0.5 * 2**attempt, 8.0)
                    attempt += 1
                    self._listener.retry(attempt, failure.reason, wait_s)
                    await asyncio.sleep(wait_s)
                    continue
                if came:
                    self._listener.cut(failure.reason)
                else:
                    self._listener.fail(failure.error, failure.reason, failure.status)
                return TurnEnded("failed", f"{failure.reason[:1].upper()}{failure.reason[1:]}.")

    async def _run(self) -> TurnEnded:
        messages = self._record.conversation.messages()
        if messages and messages[-1]["role"] == "assistant":
            return TurnEnded("done")  # P has said what it had to say; a crash came before its turn was over
        while True:
            last, goes_on = await self._runner()
            if not goes_on:
                return _end_of(last)

    async def _runner(self) -> tuple[Answer, bool]:
        """One run of the SDK's loop, and whether the turn goes on with another, from the log."""
        self._listener.begin("turn")
        runner = self._made_runner()
        last: Answer | None = None
        compacting = False
        try:
            async for stream in runner:
                answer = await self._listener.read(stream)
                if compacting:
                    compacting = False
                    self._compacted(answer)
                    self._listener.begin("turn")
                    continue
                last = answer
                self._heard(answer)
                if answer.stop_reason == "tool_use":
                    self._belt.expect(answer.calls)
                    response = await runner.generate_tool_call_response()
                    self._belt.settle(cast("Json", response["content"]) if response else None)
                    if _goes_on_from_the_log(answer):
                        return answer, True
                compacting = self._compacts_next(runner, answer)
        except (*BROKEN, LoopingError) as error:
            if not compacting or last is None:
                raise
            self._not_compacted(error)
            return last, last.stop_reason == "tool_use" and bool(last.calls)
        finally:
            await runner.close()
        assert last is not None, "the runner asks at least once"
        return last, False

    def _made_runner(self) -> BetaAsyncStreamingToolRunner[None]:
        offers = self._offers
        messages = self._record.conversation.messages()
        if offers.has("cache_control"):
            messages = marked(messages, self._cache)
        return self._client.beta.messages.tool_runner(
            model=self._model,
            max_tokens=self._max_tokens,
            messages=cast("list[BetaMessageParam]", messages),
            system=[self._system_block()],
            tools=self._belt.tools if offers.has("tools") else [],
            stream=True,
            # Without this the SDK keeps the history at the server and sends only what is new, which no other
            # endpoint knows; the log is the truth here.
            thread=False,
            cache_control=self._cache if offers.has("cache_control") else omit,
            thinking={"type": "adaptive"} if offers.has("thinking") else omit,
            betas=[COMPACT_BETA] if offers.has("compaction") else omit,
        )

    def _heard(self, answer: Answer) -> None:
        """What follows from an answer of P beside its words: lines that it names are used, the context fills."""
        touch(self._record, named_lines(answer.text), "named by the Presence")
        self.context.take(answer.usage)
        if not self._listener.cache_told and self._offers.has("cache_control"):
            self._record.notice_once(NO_CACHE)

    def _asks_for_less(self, error: Exception) -> bool:
        """Whether an endpoint has refused something that P can do without, and is now asked without it."""
        refused = self._offers.take_back(error) if isinstance(error, APIStatusError) else None
        if refused is not None:
            self._record.notice_once(REFUSED[refused])
        return refused is not None

    # ------------------------------------------------------------ compaction

    def _compacts_next(self, runner: BetaAsyncStreamingToolRunner[None], answer: Answer) -> bool:
        """Whether the runner's next request is a compaction; asks for it when the context is full enough."""
        # Not behind a paused answer, nor behind calls that nobody answers: the endpoint refuses those.
        whole = ("tool_use",) if answer.calls else ("end_turn", "stop_sequence")
        if answer.stop_reason not in whole or not self.context.full or not self._compacts:
            return False
        if not self._offers.has("compaction"):
            self._record.notice_once(CANNOT_COMPACT)
            return False
        runner.compact_before_next_turn()
        self._listener.begin("compaction")
        return True

    def _compacted(self, answer: Answer) -> None:
        blocks = [block for block in answer.content if isinstance(block, dict) and block.get("type") == "compaction"]
        text = "\n".join(str(block["content"]) for block in blocks if block.get("content"))
        if not text:
            self._compacts = False
            self._record.append("system", Notice("warning", "The endpoint gave no summary; the context stays whole."))
            return
        self._record.append(
            "system", ContextCompacted(text, answer.content, self.context.tokens, self.context.window)
        )
        self.context.tokens = answer.usage.output

    def _not_compacted(self, error: Exception) -> None:
        self._compacts = False
        failure = failure_of(error)
        self._listener.fail(failure.error, failure.reason, failure.status)
        if not self._asks_for_less(error):
            self._record.append("system", Notice("warning", f"The context could not be compacted: {failure.reason}."))

    # ------------------------------------------------------------ letters

    async def write(self, request: str, purpose: str) -> Answer:
        """One answer in words to a request of the program (letter, handoff), behind the conversation, no tool run.

        Raises what the SDK raises; what had come by then is kept as cut.
        """
        self._listener.begin(purpose)
        messages: list[dict[str, Any]] = [*self._record.conversation.messages()]
        block = {"type": "text", "text": request}
        if messages and messages[-1]["role"] == "user":
            messages[-1]["content"].append(block)
        else:
            messages.append({"role": "user", "content": [block]})
        try:
            async with self._client.beta.messages.stream(
                model=self._model,
                max_tokens=min(self._max_tokens, PAGE_TOKENS),
                messages=cast("list[BetaMessageParam]", messages),
                system=[self._system_block()],
                # The same tools and thinking as in every turn, or the prompt cache would be lost; calls are not run.
                tools=[tool.to_dict() for tool in self._belt.tools] if self._offers.has("tools") else omit,
                cache_control=self._cache if self._offers.has("cache_control") else omit,
                thinking={"type": "adaptive"} if self._offers.has("thinking") else omit,
                betas=[COMPACT_BETA] if self._offers.has("compaction") else omit,
            ) as stream:
                return await self._listener.read(stream)
        except BaseException as error:
            if not self._listener.cut(f"{purpose} interrupted: {type(error).__name__}"):
                self._listener.fail(type(error).__name__, str(error), getattr(error, "status_code", 0))
            raise

    def _system_block(self) -> BetaTextBlockParam:
        if not self._offers.has("cache_control"):
            return {"type": "text", "text": self._system}
        return {"type": "text", "text": self._system, "cache_control": self._cache}


def _goes_on_from_the_log(answer: Answer) -> bool:
    """Whether the tool results must leave with the next runner, whose messages come from the log: this one would send
    the answer back as it came, with blocks that the API refuses, or without the mark that the cache needs."""
    if answer.stop_reason != "tool_use" or not answer.calls:
        return False
    return sendable(answer.content) != answer.content or crowded(answer.content, len(answer.calls))


def _end_of(answer: Answer) -> TurnEnded:
    match answer.stop_reason:
        case "max_tokens":
            return TurnEnded("done", "The answer reached its limit of tokens; send a message to let it go on.")
        case "refusal":
            return TurnEnded("done", "The model declined to go on with this.")
        case "model_context_window_exceeded":
            return TurnEnded("done", "The context window is full; close this session and open the next one.")
        case _:
            return TurnEnded("done")


def failure_of(error: Exception) -> Failure:
    """What an exception of the SDK, of the transport or of our own watchdog means to the operator."""
    if isinstance(error, StalledError):
        return Failure("stalled", f"the stream stalled: {error}", 0, True)
    if isinstance(error, APIStatusError):
        kind = _error_type(error)
        if error.status_code == 200:
            return Failure(kind, f"the stream ended with an error ({kind})", 200, kind in PASSING)
        reasons = {
            401: "the endpoint refused the API key",
            403: "the endpoint refused this key or model",
            404: "the endpoint does not know this model or path",
            413: "the request is too large for the endpoint",
            429: "the endpoint limits the rate and did not let up",
            529: "the endpoint is overloaded and did not let up",
        }
        said = reasons.get(error.status_code, f"the endpoint answered {error.status_code}")
        return Failure(kind, f"{said} ({_message(error)})", error.status_code, False)
    if isinstance(error, APIConnectionError):
        return Failure("connection", "the endpoint could not be reached or dropped the connection", 0, False)
    if isinstance(error, httpx2.HTTPError):
        return Failure("connection", "the connection was lost while the answer came", 0, True)
    return Failure("malformed", f"the answer could not be read ({str(error)[:200]})", 200, True)


def _error_type(error: APIStatusError) -> str:
    body = error.body
    inner = body.get("error") if isinstance(body, dict) else None
    kind = inner.get("type") if isinstance(inner, dict) else None
    return str(kind) if kind else f"http_{error.status_code}"


def _message(error: APIStatusError) -> str:
    body = error.body
    inner = body.get("error") if isinstance(body, dict) else None
    message = inner.get("message") if isinstance(inner, dict) else None
    return str(message or "no reason given")[:300]
