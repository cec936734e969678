"""A reply as the API sends it: content blocks, the message object, and the events of its stream."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from app.scripted.prompt_cache import Usage, count_tokens
from app.scripted.request import JsonObject
from app.scripted.script import Reply

#: Characters of one delta. About one token, so that a pace in tokens per second is one delta per token.
DELTA_CHARS = 4
_SIGNATURE_PREFIX = "scripted."


def signature_of(thinking: str) -> str:
    """The signature this server puts on a thinking text, so that it knows its own again."""
    digest = hashlib.sha256(thinking.encode("utf-8", "surrogatepass")).digest()
    return _SIGNATURE_PREFIX + base64.urlsafe_b64encode(digest).decode()


def forged_signature(block: JsonObject) -> bool:
    """Whether a thinking block bears this server's signature for another text: it has been changed."""
    signature = str(block.get("signature", ""))
    return signature.startswith(_SIGNATURE_PREFIX) and signature != signature_of(str(block.get("thinking", "")))


@dataclass(frozen=True)
class Answer:
    """A reply with everything the wire needs: its id, the model asked for, its blocks and its usage."""

    message_id: str
    model: str
    content: tuple[JsonObject, ...]
    stop_reason: str
    usage: JsonObject

    def message(self) -> JsonObject:
        """The message object of an answer that is not streamed."""
        return self._envelope(list(self.content), self.stop_reason, self.usage)

    def opening(self) -> JsonObject:
        """The message object of `message_start`: empty, with the input's usage and one output token."""
        return self._envelope([], None, {**self.usage, "output_tokens": min(1, self.usage["output_tokens"])})

    def _envelope(self, content: list[JsonObject], stop_reason: str | None, usage: JsonObject) -> JsonObject:
        return {
            "id": self.message_id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": usage,
        }


def answer(reply: Reply, *, message_id: str, model: str, spent: Usage, cache: bool = True) -> Answer:
    """The answer that sends `reply`. Without `cache` the usage has no cache fields, as lesser endpoints do it."""
    content = tuple(content_blocks(reply, message_id))
    usage: JsonObject = {"input_tokens": spent.fresh if cache else spent.total}
    if cache:
        usage["cache_creation_input_tokens"] = spent.written
        usage["cache_read_input_tokens"] = spent.read
        usage["cache_creation"] = {
            "ephemeral_5m_input_tokens": spent.written_5m,
            "ephemeral_1h_input_tokens": spent.written_1h,
        }
    usage["output_tokens"] = sum(count_tokens(block) for block in content)
    usage.update(reply.usage or {})
    calls_tools = any(block.get("type") == "tool_use" for block in content)
    stop_reason = reply.stop_reason or ("tool_use" if calls_tools else "end_turn")
    return Answer(message_id, model, content, stop_reason, usage)


def content_blocks(reply: Reply, message_id: str) -> Iterator[JsonObject]:
    """The reply's blocks: thinking, text and tool calls, or its raw blocks as they are."""
    if reply.blocks is not None:
        yield from reply.blocks
        return
    if reply.thinking:
        yield {"type": "thinking", "thinking": reply.thinking, "signature": signature_of(reply.thinking)}
    if reply.text:
        yield {"type": "text", "text": reply.text}
    for index, call in enumerate(reply.tools):
        identifier = f"toolu_{hashlib.sha256(f'{message_id}/{index}'.encode()).hexdigest()[:24]}"
        yield {"type": "tool_use", "id": identifier, "name": call.name, "input": call.input}


def stream_events(made: Answer, *, broken_input: str | None = None) -> Iterator[JsonObject]:
    """The events of the streamed answer, in the API's order, pings included.

    `broken_input` replaces the JSON text of every tool input; None sends it whole.
    """
    yield {"type": "message_start", "message": made.opening()}
    for index, block in enumerate(made.content):
        start, deltas = _opened(block, broken_input)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        if index == 0:
            yield {"type": "ping"}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    cumulative = {key: value for key, value in made.usage.items() if key != "cache_creation"}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": made.stop_reason, "stop_sequence": None},
        "usage": cumulative,
    }
    yield {"type": "message_stop"}


def _opened(block: JsonObject, broken_input: str | None) -> tuple[JsonObject, list[JsonObject]]:
    """A block as `content_block_start` shows it, and the deltas that complete it."""
    kind = block.get("type")
    if kind == "text":
        return {**block, "text": ""}, [{"type": "text_delta", "text": part} for part in _parts(block["text"])]
    if kind == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": part} for part in _parts(block["thinking"])]
        deltas.append({"type": "signature_delta", "signature": block.get("signature", "")})
        return {**block, "thinking": "", "signature": ""}, deltas
    if kind == "tool_use":
        whole = json.dumps(block["input"], ensure_ascii=False) if broken_input is None else broken_input
        pieces = ["", *_parts(whole, 3 * DELTA_CHARS)]  # the API's first input delta is empty
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return block, []


def cut_short(made: Answer) -> str:
    """The first tool input of the answer as JSON without its end, so that it does not parse."""
    inputs = [block["input"] for block in made.content if block.get("type") == "tool_use"]
    whole = json.dumps(inputs[0] if inputs else {}, ensure_ascii=False)
    return whole[: max(1, len(whole) * 2 // 3)]


def _parts(text: str, size: int = DELTA_CHARS) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def sse(event: JsonObject) -> bytes:
    """One server-sent event. Non-ASCII is sent escaped, so that lone surrogates can cross the wire too."""
    return f"event: {event['type']}\ndata: {json.dumps(event, separators=(',', ':'))}\n\n".encode()
