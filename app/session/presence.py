"""The Presence's turn: the SDK's streaming tool runner over the conversation that the log holds."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import httpx2
from anthropic import APIConnectionError, APIStatusError

from app.session.answers import Answer, Listener, LoopingError, StalledError
from app.session.record import SessionLog
from app.session.tools import ToolBelt
from store.bodies import Json, TurnEnded
from store.conversation import sendable

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types.beta import BetaCacheControlEphemeralParam, BetaMessageParam, BetaTextBlockParam

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
    ) -> None:
        self._record = record
        self._client = client
        self._listener = listener
        self._belt = belt
        self._model = model
        self._max_tokens = max_tokens
        self._cache = cache_control
        self._system = system
        self._max_retries = max_retries

    async def turn(self) -> TurnEnded:
        """Work until P hands back; the end is in the log when this returns.

        A stream that dies before its first word is asked for again; after that the words are kept and the operator
        is offered to go on. Cancelling stops P: what had come is kept, the turn ends as stopped.
        """
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
            except (APIStatusError, APIConnectionError, httpx2.HTTPError, StalledError, ValueError) as error:
                failure = failure_of(error)
                came = self._listener.words_came
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
        last: Answer | None = None
        while last is None or _goes_on_from_the_log(last):
            last = await self._runner()
        return _end_of(last)

    async def _runner(self) -> Answer:
        self._listener.begin("turn")
        runner = self._client.beta.messages.tool_runner(
            model=self._model,
            max_tokens=self._max_tokens,
            messages=cast("list[BetaMessageParam]", self._record.conversation.messages()),
            system=[self._system_block()],
            tools=self._belt.tools,
            stream=True,
            # Without this the SDK keeps the history at the server and sends only what is new, which no other
            # endpoint knows; the log is the truth here.
            thread=False,
            cache_control=self._cache,
        )
        last: Answer | None = None
        try:
            async for stream in runner:
                last = await self._listener.read(stream)
                if last.stop_reason == "tool_use":
                    self._belt.expect(last.calls)
                    response = await runner.generate_tool_call_response()
                    self._belt.settle(cast("Json", response["content"]) if response else None)
                    if _goes_on_from_the_log(last):
                        break
        finally:
            await runner.close()
        assert last is not None, "the runner asks at least once"
        return last

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
                # The same tools as in every turn, or the prompt cache would be lost; their calls are not run here.
                tools=[tool.to_dict() for tool in self._belt.tools],
                cache_control=self._cache,
            ) as stream:
                return await self._listener.read(stream)
        except BaseException as error:
            if not self._listener.cut(f"{purpose} interrupted: {type(error).__name__}"):
                self._listener.fail(type(error).__name__, str(error), getattr(error, "status_code", 0))
            raise

    def _system_block(self) -> BetaTextBlockParam:
        return {"type": "text", "text": self._system, "cache_control": self._cache}


def _goes_on_from_the_log(answer: Answer) -> bool:
    """Whether the tool results must leave with the next runner, whose messages come from the log: this one would send
    the answer back as it came, with blocks that the API refuses."""
    return answer.stop_reason == "tool_use" and bool(answer.calls) and sendable(answer.content) != answer.content


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
