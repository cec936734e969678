"""What a quote may stand on: the words of one session, told apart from what came out of memory (DESIGN §7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from store.bodies import (
    Json,
    KeeperWords,
    MessageCut,
    MessageEnded,
    OperatorSaid,
    TiersChanged,
    ToolAnswered,
    ToolCalled,
    ToolEnded,
    WakePacket,
)
from store.events import Event
from store.lines import one_line
from store.text import clean

Voice = Literal["operator", "presence", "tool"]
_PASSAGE = 2_000
"""Characters on each side of a quote that count as its passage."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a quote stands: who said it, in which turn, and the passage around it (white space folded)."""

    by: Voice
    turn: int
    passage: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class _Said:
    by: Voice | Literal["memory"]
    turn: int
    text: str


def folded(text: str) -> str:
    """A text as quotes are compared: as it is shown, with white space folded, case kept."""
    return one_line(clean(text))


class Evidence:
    """The words of one session in the order of its log.

    Evidence are the operator's messages and words with an answer to a tool call, P's text and what it called tools
    with, and what tools gave back from the world. Memory is what the wake packet, the tail of a message, a tool on
    the room's own memory, K's words and tier text put before P: never evidence, and what P or a tool says only after
    it stood in memory is taken as recalled. The operator's own words are evidence whatever memory holds.
    """

    def __init__(self) -> None:
        self._said: list[_Said] = []

    def add(self, event: Event) -> None:
        """Takes in the next event of the session. Events that nobody said are passed over."""
        body = event.body
        match body:
            case OperatorSaid():
                # The tail stands before the words: P reads both before it answers, and the words are no echo of it.
                self._hear("memory", event.turn, body.tail)
                self._hear("operator", event.turn, body.text)
            case ToolAnswered():
                self._hear("operator", event.turn, body.word)
            case MessageEnded(seat="presence"):
                for text in _texts(body.content):
                    self._hear("presence", event.turn, text)
            case MessageCut(seat="presence"):
                self._hear("presence", event.turn, body.text)
            case ToolCalled() if event.by != "keeper":
                for text in _strings(body.input):
                    self._hear("presence", event.turn, text)
            case ToolEnded() if event.by == "keeper" or body.source == "memory":
                for text in _texts(body.content):
                    self._hear("memory", event.turn, text)
            case ToolEnded(outcome="ok" | "error" | "stopped"):
                for text in _texts(body.content):
                    self._hear("tool", event.turn, text)
            case WakePacket() | KeeperWords():
                self._hear("memory", event.turn, body.text)
            case TiersChanged():
                for change in body.changes:
                    self._hear("memory", event.turn, change.after.text)
                    self._hear("memory", event.turn, change.after.reason)
            case _:
                pass

    def _hear(self, by: Voice | Literal["memory"], turn: int, text: str) -> None:
        if heard := folded(text):
            self._said.append(_Said(by, turn, heard))

    def find(self, quote: str, turn: int | None = None, *, recalled: bool = False) -> Source | None:
        """The first place where ``quote`` stands as evidence, in ``turn`` if one is given.

        With ``recalled`` what P or a tool repeats out of memory counts too: it proves the use of a line, though no
        new one.
        """
        wanted = folded(quote)
        if not wanted:
            return None
        in_memory = False
        for said in self._said:
            if wanted not in said.text:
                continue
            if said.by == "memory":
                in_memory = True
            elif (turn is None or said.turn == turn) and (said.by == "operator" or recalled or not in_memory):
                return Source(said.by, said.turn, _passage(said.text, wanted))
        return None

    def operator_said(self, quote: str, turn: int | None = None) -> Source | None:
        """The first operator message that holds ``quote``, in ``turn`` if one is given."""
        wanted = folded(quote)
        if not wanted:
            return None
        for said in self._said:
            if said.by == "operator" and (turn is None or said.turn == turn) and wanted in said.text:
                return Source("operator", said.turn, _passage(said.text, wanted))
        return None

    def is_whole(self, quote: str) -> bool:
        """Whether the operator said just this, as a whole message."""
        wanted = folded(quote)
        return any(said.by == "operator" and said.text == wanted for said in self._said)

    def in_memory(self, quote: str) -> bool:
        """Whether ``quote`` stands in memory text of this session."""
        wanted = folded(quote)
        return bool(wanted) and any(said.by == "memory" and wanted in said.text for said in self._said)


def _passage(text: str, quote: str) -> str:
    at = text.index(quote)
    start, end = max(0, at - _PASSAGE), at + len(quote) + _PASSAGE
    return text[start:end]


def _texts(content: Json) -> Iterator[str]:
    """The texts of a message or a tool result: a text, or content blocks (thinking is nobody's word)."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, str):
                yield block
            elif isinstance(block, dict) and isinstance(text := block.get("text"), str):
                yield text


def _strings(value: Json) -> Iterator[str]:
    """Every text in the input of a tool call."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
