"""P's message list as a pure fold of a session's events: what goes into the next request, and after a resume."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from store.bodies import (
    ContextCompacted,
    Json,
    MessageCut,
    MessageEnded,
    OperatorSaid,
    Partial,
    RequestFailed,
    RequestSent,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    WakePacket,
)
from store.defused import MARK, defused
from store.events import Event

INTERRUPTED_TOOL = "The session was interrupted before this tool gave a result. It may have run in part."
"""What P is told of a tool call that a stop or a crash left without a result."""

Role = Literal["user", "assistant"]


@dataclass(slots=True)
class _Message:
    role: Role
    content: list[Json] = field(default_factory=list)
    sealed: bool = False


class Conversation:
    """P's messages, kept in step with the log event by event.

    Consecutive messages of one role are joined, because some endpoints refuse them; blocks are never changed once
    they stand, so the prompt cache holds from turn to turn. A tool call without a result gets one that says so.
    """

    def __init__(self) -> None:
        self._messages: list[_Message] = []
        self._open_calls: list[str] = []
        self._results: dict[str, Json] = {}
        self._packet = ""

    def apply(self, event: Event) -> None:
        """Take one event in; events that say nothing to P change nothing."""
        body = event.body
        match body:
            case WakePacket():
                self._packet = body.text
            case OperatorSaid():
                self._settle_calls()
                blocks: list[Json] = []
                if self._packet:
                    blocks.append(_text(self._packet))
                    self._packet = ""
                # A text that is pasted in may begin like a whisper; the mark is the program's alone.
                blocks.append(_text(defused(body.text)))
                if body.tail:
                    blocks.append(_text(body.tail))
                self._add("user", blocks)
            case MessageEnded(seat="presence", purpose="turn"):
                self._settle_calls()
                blocks = sendable(body.content)
                self._open_calls = [
                    str(block["id"]) for block in blocks if isinstance(block, dict) and block.get("type") == "tool_use"
                ]
                self._add("assistant", blocks)
            case MessageCut(seat="presence", purpose="turn"):
                self._settle_calls()
                if body.text.strip():
                    self._add("assistant", [_text(body.text.rstrip())])
                    self._add("user", [_text(f"{MARK} your answer above was cut off: {defused(body.reason)}>")])
            case ToolEnded():
                if body.tool_use_id in self._open_calls:
                    result: dict[str, Json] = {
                        "type": "tool_result",
                        "tool_use_id": body.tool_use_id,
                        "content": body.content,
                    }
                    if body.outcome != "ok":
                        result["is_error"] = True
                    self._results[body.tool_use_id] = result
                    if len(self._results) == len(self._open_calls):
                        self._settle_calls()
            case TurnEnded():
                self._settle_calls()
            case ContextCompacted() if isinstance(body.content, list):
                # The summary stands first, in place of all that it sums up, as the SDK's runner sends it.
                self._settle_calls()
                self._messages = [_Message("assistant", list(body.content), sealed=True)]
            case _:
                pass

    def messages(self) -> list[dict[str, Json]]:
        """The list as the Messages API takes it; a copy down to the blocks, which are shared: change none."""
        return [{"role": message.role, "content": list(message.content)} for message in self._messages]

    def _add(self, role: Role, blocks: list[Json]) -> None:
        if not blocks:
            return
        if self._messages and self._messages[-1].role == role and not self._messages[-1].sealed:
            self._messages[-1].content.extend(blocks)
        else:
            self._messages.append(_Message(role, list(blocks)))

    def _settle_calls(self) -> None:
        """Give the results of the last answer's tool calls, in the order of the calls."""
        if not self._open_calls:
            return
        results: list[Json] = [
            self._results.get(
                call,
                {"type": "tool_result", "tool_use_id": call, "content": INTERRUPTED_TOOL, "is_error": True},
            )
            for call in self._open_calls
        ]
        self._open_calls = []
        self._results = {}
        self._add("user", results)


def sendable(content: Json) -> list[Json]:
    """The blocks of an answer that the API takes back: it refuses text without words, thoughts without an answer and
    tool input that is no object, all of which models and gateways do give."""
    blocks = [
        _with_an_object(block)
        for block in (content if isinstance(content, list) else [])
        if not (isinstance(block, dict) and block.get("type") == "text" and not str(block.get("text", "")).strip())
    ]
    thoughts = ("thinking", "redacted_thinking")
    answered = any(not (isinstance(block, dict) and block.get("type") in thoughts) for block in blocks)
    return blocks if answered else []


def _with_an_object(block: Json) -> Json:
    if isinstance(block, dict) and block.get("type") == "tool_use" and not isinstance(block.get("input"), dict):
        return {**block, "input": {}}
    return block


def _text(text: str) -> Json:
    # The API refuses empty text blocks; an operator who sends only white space still sends something.
    return {"type": "text", "text": text if text.strip() else "(nothing)"}


def conversation(events: Iterable[Event]) -> Conversation:
    """The conversation that ``events`` of one session come to."""
    found = Conversation()
    for event in events:
        found.apply(event)
    return found


@dataclass(frozen=True, slots=True)
class LooseEnds:
    """What a crash left open in a session: a request without an answer (what it was for and the words that had come),
    tool calls without results, a turn that did not end."""

    request: int | None
    purpose: str
    partial: str
    calls: tuple[tuple[str, str], ...]
    turn: int | None


def loose_ends(events: Iterable[Event]) -> LooseEnds:
    """What stands open at the end of ``events`` of one session; the partial text is P's only."""
    request: int | None = None
    purpose = "turn"
    partial: list[str] = []
    calls: dict[str, str] = {}
    turn: int | None = None
    for event in events:
        body = event.body
        match body:
            case OperatorSaid():
                turn = event.turn
            case TurnEnded():
                turn = None
            case RequestSent(seat="presence"):
                request, purpose, partial = body.request, body.purpose, []
            case Partial(seat="presence"):
                if body.what == "text" and body.request == request:
                    partial.append(body.text)
            case MessageEnded(seat="presence") | MessageCut(seat="presence") | RequestFailed(seat="presence"):
                request, partial = None, []
            case ToolCalled():
                calls[body.tool_use_id] = body.name
            case ToolEnded():
                calls.pop(body.tool_use_id, None)
            case _:
                pass
    return LooseEnds(request, purpose, "".join(partial), tuple(calls.items()), turn)
