"""The Messages API's endpoints: what is answered to each request of a scripted server."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import TypeAlias

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from app.scripted.batches import Batches
from app.scripted.capabilities import Capabilities, Feature
from app.scripted.compaction import check_beta, compaction_of
from app.scripted.faults import Fault, FaultQueue
from app.scripted.prompt_cache import PromptCache, total_tokens
from app.scripted.refusals import Refusal, invalid, not_found, refusal_of
from app.scripted.request import SEAT_HEADER, JsonObject, Request, UnreadableRequest, parse_body, seat_named
from app.scripted.script import Reply, Script
from app.scripted.validation import check_request
from app.scripted.wire import Answer, answer, cut_short, sse, stream_events

#: Headers that carry a credential and are never kept.
_CREDENTIALS = frozenset({"x-api-key", "authorization", "proxy-authorization", "cookie"})
#: The context window and the longest answer that the scripted models claim, in tokens.
MAX_INPUT_TOKENS = 200_000
MAX_OUTPUT_TOKENS = 64_000

#: Closes the TCP connection of an exchange without finishing its answer.
HangUp: TypeAlias = Callable[[HttpRequest], None]


class Endpoints:
    """The state that the endpoints of one server share, and the endpoints themselves.

    All of it runs in the server's event loop; other threads only read `received` and fill `faults`.
    """

    def __init__(
        self,
        script: Script,
        cache: PromptCache,
        *,
        hang_up: HangUp,
        capabilities: Capabilities,
        clock: Callable[[], float],
        batch_seconds: float,
        ignore_pace: bool,
    ) -> None:
        self.received: list[Request] = []
        self.faults = FaultQueue()
        self._script = script
        self._cache = cache
        self._hang_up = hang_up
        self._capabilities = capabilities
        self._batches = Batches(clock=clock, seconds=batch_seconds, play=self._played)
        self._ignore_pace = ignore_pace
        self._asked: Counter[str] = Counter()  # how often a very same request has come

    def app(self) -> Starlette:
        """The ASGI application, with a route for each feature that is there."""
        batch = "/v1/messages/batches"
        optional: list[tuple[Feature, Route]] = [
            ("count_tokens", Route("/v1/messages/count_tokens", self.count_tokens, methods=["POST"])),
            ("models", Route("/v1/models", self.models, methods=["GET"])),
            ("models", Route("/v1/models/{model_id:path}", self.model, methods=["GET"])),
            ("batches", Route(batch, self.take_batch, methods=["POST"])),
            ("batches", Route(batch + "/{batch_id}", self.batch, methods=["GET"])),
            ("batches", Route(batch + "/{batch_id}/cancel", self.cancel_batch, methods=["POST"])),
            ("batches", Route(batch + "/{batch_id}/results", self.batch_results, methods=["GET"])),
        ]
        return Starlette(
            routes=[
                Route("/health", self.health, methods=["GET"]),
                Route("/v1/messages", self.messages, methods=["POST"]),
                *(route for feature, route in optional if self._capabilities.has(feature)),
            ],
            exception_handlers={Refusal: _refused, HTTPException: _no_such_route},
        )

    async def health(self, http: HttpRequest) -> Response:
        return JSONResponse({"status": "ok", "scripted": True})

    async def models(self, http: HttpRequest) -> Response:
        listed = [self._model_info("scripted")]
        return JSONResponse({"data": listed, "has_more": False, "first_id": "scripted", "last_id": "scripted"})

    async def model(self, http: HttpRequest) -> Response:
        return JSONResponse(self._model_info(str(http.path_params["model_id"])))

    def _model_info(self, model_id: str) -> JsonObject:
        """Any model exists here: a script plays it."""
        return {
            "type": "model",
            "id": model_id,
            "display_name": f"{model_id} (scripted)",
            "created_at": "1970-01-01T00:00:00Z",
            "lifecycle": "active",
            "max_input_tokens": MAX_INPUT_TOKENS,
            "max_tokens": MAX_OUTPUT_TOKENS,
            "capabilities": self._capabilities.told(),
        }

    async def count_tokens(self, http: HttpRequest) -> Response:
        request = await self.receive(http)
        check_request(request.body, counting=True)
        return JSONResponse({"input_tokens": total_tokens(request.body)})

    async def messages(self, http: HttpRequest) -> Response:
        request = await self.receive(http)
        fault = self.faults.next_for(request.seat)
        streamed = request.body.get("stream") is True
        if fault is not None:
            await self._misbehave_first(fault, http, streamed=streamed)
        reply = self.reply(request)
        if reply.delay_s and not self._ignore_pace:
            await asyncio.sleep(reply.delay_s)
        made = self.answer(request, reply)
        headers = {"request-id": request.identifier}
        if not streamed:
            body = made.message()
            if fault is not None and fault.kind == "malformed_tool_input":
                body["content"] = [_with_broken_input(block, made, fault) for block in made.content]
            return JSONResponse(body, headers=headers)
        pace = None if self._ignore_pace else reply.pace
        stream = self._stream(made, http, pace=pace, fault=fault)
        return StreamingResponse(stream, media_type="text/event-stream", headers=headers)

    async def take_batch(self, http: HttpRequest) -> Response:
        batch = self._batches.take(await self.receive(http))
        return JSONResponse(batch.described(_base_url(http)))

    async def batch(self, http: HttpRequest) -> Response:
        return JSONResponse(self._batches.find(str(http.path_params["batch_id"])).described(_base_url(http)))

    async def cancel_batch(self, http: HttpRequest) -> Response:
        return JSONResponse(self._batches.cancel(str(http.path_params["batch_id"])).described(_base_url(http)))

    async def batch_results(self, http: HttpRequest) -> Response:
        batch = self._batches.find(str(http.path_params["batch_id"]))
        if batch.ended is None:
            raise not_found(f"Batch {batch.identifier} has no results yet: it has not ended.")
        return Response(b"".join(batch.result_lines()), media_type="application/x-jsonl")

    async def receive(self, http: HttpRequest) -> Request:
        """The request, kept in `received`; raises `Refusal` when it can not be read."""
        raw = await http.body()
        try:
            seat = seat_named(http.headers.get(SEAT_HEADER))
            body = parse_body(raw)
        except UnreadableRequest as error:
            raise invalid(str(error)) from error
        headers = {name: value for name, value in http.headers.items() if name not in _CREDENTIALS}
        request = Request(http.url.path, seat, body, raw, time.monotonic(), headers)
        self.received.append(request)
        return request

    def reply(self, request: Request) -> Reply:
        """What the script says to this request; raises `Refusal` when the request is not valid.

        A script that fails is an error that no client retries.
        """
        self._capabilities.check(request.body)
        check_request(request.body)
        if request.body.get("compaction") and self._capabilities.has("compaction"):
            check_beta(request.headers)
            return compaction_of(request)
        try:
            return self._capabilities.within(self._script.reply(request))
        except Exception as error:
            message = f"The {request.seat}'s script failed: {type(error).__name__}: {error}"
            raise Refusal(500, "api_error", message, {"x-should-retry": "false"}) from error

    def answer(self, request: Request, reply: Reply) -> Answer:
        """The reply made ready for the wire, its input accounted for in the prompt cache."""
        digest = hashlib.sha256(request.seat.encode() + b"\x00" + request.raw).hexdigest()
        self._asked[digest] += 1
        message_id = "msg_" + hashlib.sha256(f"{digest}/{self._asked[digest]}".encode()).hexdigest()[:24]
        spent = self._cache.account(request.body)
        model = str(request.body["model"])
        return answer(reply, message_id=message_id, model=model, spent=spent, cache=self._capabilities.has("cache"))

    def _played(self, request: Request) -> JsonObject:
        return self.answer(request, self.reply(request)).message()

    async def _misbehave_first(self, fault: Fault, http: HttpRequest, *, streamed: bool) -> None:
        """What a fault does before any answer. Faults inside a stream strike here when nothing is streamed."""
        refusal = refusal_of(fault)
        if refusal is not None:
            raise refusal
        if fault.kind == "slow_start" or (fault.kind == "stall" and not streamed):
            await _silence(fault.seconds)
        elif fault.kind == "error_mid_stream" and not streamed:
            raise Refusal(529, "overloaded_error", fault.message or "Overloaded")
        elif fault.kind == "hang_up" or (fault.kind == "disconnect" and not streamed):
            await self._drop(http)

    async def _drop(self, http: HttpRequest) -> None:
        self._hang_up(http)
        while (await http.receive())["type"] != "http.disconnect":
            pass
        raise HTTPException(499)  # goes nowhere: the connection is closed

    async def _stream(
        self, made: Answer, http: HttpRequest, *, pace: float | None, fault: Fault | None
    ) -> AsyncIterator[bytes]:
        """The answer's server-sent events, at `pace` deltas per second, with the fault at its place."""
        broken = None
        if fault is not None and fault.kind == "malformed_tool_input":
            broken = fault.message or cut_short(made)
        loop = asyncio.get_running_loop()
        began = loop.time()
        deltas = 0
        struck = fault is None
        for event in stream_events(made, broken_input=broken):
            is_delta = event["type"] == "content_block_delta"
            over = event["type"] == "message_delta"  # a fault after more deltas than there are strikes at the end
            if fault is not None and not struck and (over or (is_delta and deltas >= fault.after_deltas)):
                struck = True
                if fault.kind == "error_mid_stream":
                    error = Refusal(529, "overloaded_error", fault.message or "Overloaded")
                    yield sse(error.body(_request_id_of(made)))
                    return
                if fault.kind == "disconnect":
                    self._hang_up(http)
                    await _silence(None)  # cancelled when the closed connection is noticed
                if fault.kind == "stall":
                    await _silence(fault.seconds)
            if is_delta:
                deltas += 1
                if pace is not None:
                    await asyncio.sleep(began + deltas / pace - loop.time())
            yield sse(event)
            await asyncio.sleep(0)  # a client in the same event loop reads while the answer is still written


async def _silence(seconds: float | None) -> None:
    """Nothing for `seconds`, or until cancelled."""
    if seconds is None:
        await asyncio.Event().wait()
    else:
        await asyncio.sleep(seconds)


def _with_broken_input(block: JsonObject, made: Answer, fault: Fault) -> JsonObject:
    if block.get("type") != "tool_use":
        return block
    return {**block, "input": fault.message or cut_short(made)}


def _base_url(http: HttpRequest) -> str:
    return str(http.base_url).rstrip("/")


def _request_id_of(made: Answer) -> str:
    return "req_" + made.message_id.removeprefix("msg_")


async def _refused(http: HttpRequest, error: Exception) -> Response:
    if not isinstance(error, Refusal):
        raise error
    request_id = "req_" + hashlib.sha256(str(error).encode()).hexdigest()[:24]
    headers = {"request-id": request_id, **error.headers}
    return JSONResponse(error.body(request_id), status_code=error.status, headers=headers)


async def _no_such_route(http: HttpRequest, error: Exception) -> Response:
    return await _refused(http, not_found(f"The scripted server has no {http.method} {http.url.path}."))
