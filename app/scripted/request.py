"""One request as the scripted server received it, and the texts a script looks for in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from store.defused import MARK

Seat: TypeAlias = Literal["presence", "keeper", "reader"]
SEATS: tuple[Seat, ...] = get_args(Seat)
SEAT_HEADER = "x-twins-seat"

#: A JSON object from the wire. `Any` stands here because this is the edge: the server must accept whatever
#: the SDK sends, unknown block types included, and give it back unchanged.
JsonObject: TypeAlias = dict[str, Any]

#: How every text block begins that the engine adds to what the operator said.
ENGINE_MARK = f"{MARK} "


class UnreadableRequest(ValueError):
    """The body or the seat header can not be understood; the message says why in one sentence."""


def seat_named(name: str | None) -> Seat:
    """The seat a request's header names; a request without the header comes from presence."""
    if name is None:
        return "presence"
    if name not in SEATS:
        raise UnreadableRequest(f"{SEAT_HEADER}: {name!r} is no seat; use one of {', '.join(SEATS)}.")
    return name


def blocks_of(content: object) -> list[JsonObject]:
    """A message's or system prompt's content as blocks; a plain string is one text block, as in the API."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list):
        return [block for block in content if isinstance(block, dict)]
    return []


def text_of_result(block: JsonObject) -> str:
    """The text of one `tool_result` block."""
    return "\n".join(str(part.get("text", "")) for part in blocks_of(block.get("content")))


@dataclass(frozen=True)
class Request:
    """One request body, parsed and raw.

    `at` is the monotonic arrival time in seconds. `headers` has lower-case names and holds no credential.
    """

    path: str
    seat: Seat
    body: JsonObject
    raw: bytes
    at: float
    headers: Mapping[str, str]

    @property
    def identifier(self) -> str:
        """The request's id, the same for the same bytes."""
        return "req_" + hashlib.sha256(self.raw).hexdigest()[:24]

    @property
    def messages(self) -> list[JsonObject]:
        """The message list, without entries that are no objects."""
        found = self.body.get("messages")
        return [m for m in found if isinstance(m, dict)] if isinstance(found, list) else []

    @property
    def operator_position(self) -> int | None:
        """Index of the last user message that has text; one of tool results alone does not count."""
        for position in range(len(self.messages) - 1, -1, -1):
            message = self.messages[position]
            if message.get("role") == "user" and _own_words(message):
                return position
        return None

    @property
    def operator_text(self) -> str:
        """The last text block of the last user message that has one: what the operator said in their own words.

        Blocks that the engine adds (wake packet, hot lines, whispers) begin with its mark, and no beat may match them.
        """
        position = self.operator_position
        return "" if position is None else _own_words(self.messages[position])[-1]

    @property
    def round(self) -> int:
        """How many answers this operator text has had already: 0 for the first model call of a turn."""
        position = self.operator_position
        if position is None:
            return 0
        return sum(1 for m in self.messages[position + 1 :] if m.get("role") == "assistant")

    def texts(self) -> Iterator[str]:
        """Every text in the order it is read: system prompt, then messages with their tool results."""
        contents = [self.body.get("system"), *(m.get("content") for m in self.messages)]
        for content in contents:
            for block in blocks_of(content):
                if block.get("type") == "text":
                    yield str(block.get("text", ""))
                elif block.get("type") == "tool_result":
                    yield text_of_result(block)

    @property
    def last_tool_text(self) -> str:
        """The text of the newest tool result, or nothing when there is none."""
        for message in reversed(self.messages):
            for block in reversed(blocks_of(message.get("content"))):
                if block.get("type") == "tool_result":
                    return text_of_result(block)
        return ""


def parse_body(raw: bytes) -> JsonObject:
    """The JSON object in `raw`; raises `UnreadableRequest` when it is none."""
    try:
        body = json.loads(raw)
    except ValueError as error:
        raise UnreadableRequest(f"The request body is not valid JSON: {error}.") from error
    if not isinstance(body, dict):
        raise UnreadableRequest("The request body must be a JSON object.")
    return body


def _own_words(message: JsonObject) -> list[str]:
    texts = [str(block.get("text", "")) for block in blocks_of(message.get("content")) if block.get("type") == "text"]
    return [text for text in texts if not text.startswith(ENGINE_MARK)]
