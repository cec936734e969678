"""What a turn is made of: requests, streams, messages, tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from store.body import Body, Json, Seat, registered

# ---------------------------------------------------------------- requests, streams, messages


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one response as the API reports them. ``input`` is what was neither read from nor written to the
    prompt cache, so the whole prompt is ``input + cache_read + cache_write``."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.output + other.output,
        )

    @property
    def prompt(self) -> int:
        """All tokens of the prompt, cached or not."""
        return self.input + self.cache_read + self.cache_write


@registered
@dataclass(frozen=True, slots=True)
class RequestSent(Body):
    """A request is about to leave. ``request`` counts the session's requests from 1; ``sha256`` is of the body's
    bytes, ``bytes`` its length."""

    KIND: ClassVar[str] = "request.sent"
    DURABLE: ClassVar[bool] = False
    seat: Seat
    request: int
    model: str
    sha256: str
    bytes: int
    purpose: str = "turn"


@registered
@dataclass(frozen=True, slots=True)
class RequestRetried(Body):
    """An attempt (counted from 1) failed and another follows. ``status`` 0 means that no answer came; ``wait_s`` in
    seconds."""

    KIND: ClassVar[str] = "request.retried"
    DURABLE: ClassVar[bool] = False
    seat: Seat
    request: int
    attempt: int
    status: int
    reason: str
    wait_s: float


@registered
@dataclass(frozen=True, slots=True)
class RequestFailed(Body):
    """A request ended without a message. ``error`` is the API's error type or the exception's name."""

    KIND: ClassVar[str] = "request.failed"
    seat: Seat
    request: int
    error: str
    reason: str
    status: int = 0


@registered
@dataclass(frozen=True, slots=True)
class FirstToken(Body):
    """The first token of an answer came ``ms`` milliseconds after its request left."""

    KIND: ClassVar[str] = "stream.first_token"
    DURABLE: ClassVar[bool] = False
    seat: Seat
    request: int
    ms: float


@registered
@dataclass(frozen=True, slots=True)
class Partial(Body):
    """Words of an answer since the last such event (at least every 250 ms while it streams)."""

    KIND: ClassVar[str] = "stream.partial"
    DURABLE: ClassVar[bool] = False
    seat: Seat
    request: int
    block: int
    what: Literal["text", "thinking", "tool_input"]
    text: str


@registered
@dataclass(frozen=True, slots=True)
class MessageEnded(Body):
    """A whole answer. ``content`` is the list of content blocks as they go into the next request; ``usd`` is a
    decimal in text, None when the model has no known price; times in milliseconds since the request left."""

    KIND: ClassVar[str] = "message.ended"
    seat: Seat
    request: int
    message_id: str
    model: str
    content: Json
    stop_reason: str
    usage: Usage
    usd: str | None
    ttft_ms: float | None
    total_ms: float
    purpose: str = "turn"


@registered
@dataclass(frozen=True, slots=True)
class MessageCut(Body):
    """An answer that did not come to its end; ``text`` is what had come. Kept, shown as interrupted."""

    KIND: ClassVar[str] = "message.cut"
    seat: Seat
    request: int
    text: str
    reason: str
    usage: Usage = Usage()
    usd: str | None = None
    purpose: str = "turn"


@registered
@dataclass(frozen=True, slots=True)
class ContextCompacted(Body):
    """P's conversation so far was replaced by a summary, ``text``, which is nobody's word in the conversation; the full
    text stays in this log. ``content`` is the list of content blocks that stands in its place, signed, as it came (None
    in a log taken from elsewhere); ``tokens`` and ``window`` say how full the context was."""

    KIND: ClassVar[str] = "context.compacted"
    text: str
    content: Json = None
    tokens: int = 0
    window: int = 0


# ---------------------------------------------------------------- tools


@registered
@dataclass(frozen=True, slots=True)
class ToolCalled(Body):
    """P asked for a tool. Logged before anything runs; ``tool_use_id`` is the API's."""

    KIND: ClassVar[str] = "tool.called"
    tool_use_id: str
    name: str
    input: Json


@registered
@dataclass(frozen=True, slots=True)
class ToolAsked(Body):
    """The operator is asked. ``shown`` is exactly what they see: the command, the diff, the arguments."""

    KIND: ClassVar[str] = "tool.asked"
    tool_use_id: str
    name: str
    shown: str


AllowScope = Literal["once", "tool", "prefix", "policy"]


@registered
@dataclass(frozen=True, slots=True)
class ToolAnswered(Body):
    """The decision on a tool call and how far it reaches. ``word`` is the operator's word to P with a denial."""

    KIND: ClassVar[str] = "tool.answered"
    tool_use_id: str
    name: str
    decision: Literal["allow", "deny"]
    scope: AllowScope
    prefix: str = ""
    word: str = ""


ToolOutcome = Literal["ok", "error", "denied", "stopped", "unknown_tool"]


@dataclass(frozen=True, slots=True)
class WholeOutput:
    """Where the whole of a cut output is kept: ``file`` under the session's folder, its ``bytes`` and SHA-256 as far
    as it was kept, and how many bytes more there were (``lost``), past the most that is kept of one output."""

    file: str
    bytes: int
    sha256: str
    lost: int = 0


@registered
@dataclass(frozen=True, slots=True)
class ToolEnded(Body):
    """What a tool gave back. ``content`` is what P is sent (text or content blocks); ``bytes`` its size; ``source`` is
    "memory" for what came out of the room's own memory, which is no evidence for a line; ``whole`` where the whole
    output is when it was cut for P."""

    KIND: ClassVar[str] = "tool.ended"
    tool_use_id: str
    name: str
    outcome: ToolOutcome
    content: Json
    ms: float
    bytes: int
    source: Literal["world", "memory"] = "world"
    whole: WholeOutput | None = None
