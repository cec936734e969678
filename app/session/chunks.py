"""What K hears: one turn of the log as a chunk of text, tool results shortened, memory marked as memory."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from store.bodies import (
    BreakMarked,
    Json,
    MessageCut,
    MessageEnded,
    OperatorSaid,
    TiersChanged,
    ToolCalled,
    ToolEnded,
    TurnEnded,
)
from store.defused import heard
from store.events import Event
from store.lines import one_line

FAILED_SHARE = 3
INPUT_BYTES = 800
"""Longest tool input in a chunk; the whole stands in the log."""


@dataclass(slots=True)
class TurnHeard:
    """One turn as K will hear it, collected event by event."""

    turn: int
    parts: list[str] = field(default_factory=list)
    over: bool = False


class Ear:
    """Collects a session's turns for K. K's own text is never its input, nor what the program adds for P."""

    def __init__(self, tool_result_bytes: int) -> None:
        self._limit = tool_result_bytes
        self._turns: dict[int, TurnHeard] = {}
        self._inputs: dict[str, str] = {}
        self.operator_changes: list[str] = []

    def apply(self, event: Event) -> None:
        """Take one event in."""
        body = event.body
        turn = self._turns.setdefault(event.turn, TurnHeard(event.turn)) if event.turn else TurnHeard(0)
        match body:
            case OperatorSaid():
                turn.parts.append(f"[operator] {heard(body.text)}")
            case MessageEnded(seat="presence", purpose="turn"):
                words = _words(body.content)
                if words:
                    turn.parts.append(f"[presence] {heard(words)}")
            case MessageCut(seat="presence", purpose="turn"):
                if body.text.strip():
                    turn.parts.append(f"[presence, cut off: {heard(body.reason)}] {heard(body.text.rstrip())}")
            case ToolCalled():
                self._inputs[body.tool_use_id] = shortened(_input_text(body.input), INPUT_BYTES)
            case ToolEnded():
                given = self._inputs.pop(body.tool_use_id, "")
                memory = ", from memory: no evidence" if body.source == "memory" else ""
                # Traps are made of what failed, so K hears more of that.
                limit = self._limit * (FAILED_SHARE if body.outcome == "error" else 1)
                result = shortened(_result_text(body.content), limit)
                tool = f"[tool {one_line(body.name)}{memory}] {heard(given)}"
                turn.parts.append(f"{tool} → {body.outcome}\n{heard(result)}")
            case BreakMarked():
                turn.parts.append(f"[break: {body.which}]")
            case TurnEnded():
                turn.over = True
                if body.end != "done":
                    turn.parts.append(f"[turn {body.end}: {heard(body.detail)}]")
            case TiersChanged() if event.by == "operator":
                ids = ", ".join(change.after.id for change in body.changes)
                self.operator_changes.append(f"{body.op} {ids}")
            case _:
                pass

    def chunk(self, turns: Iterable[int]) -> str:
        """The text of some turns, joined."""
        return "\n\n".join(
            "\n".join([f"Turn {turn}", *self._turns[turn].parts]) for turn in turns if turn in self._turns
        )

    def forget_before(self, turn: int) -> None:
        """Let go of turns that no pass will need again; the log keeps them."""
        for old in [number for number in self._turns if number < turn]:
            del self._turns[old]


def shortened(text: str, limit: int) -> str:
    """``text`` within ``limit`` bytes: head and tail, with the number of bytes left out between them.

    The mark is short because it stands in every chunk; K's brief says that search_cold finds the whole.
    """
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    left_out = len(raw) - head - tail
    return (
        raw[:head].decode("utf-8", "ignore")
        + f" […{left_out:,} bytes left out…] "
        + raw[-tail:].decode("utf-8", "ignore")
    )


def _words(content: Json) -> str:
    blocks = content if isinstance(content, list) else []
    return "\n\n".join(
        str(block.get("text", "")) for block in blocks if isinstance(block, dict) and block.get("type") == "text"
    ).strip()


def _input_text(tool_input: Json) -> str:
    if isinstance(tool_input, dict) and len(tool_input) == 1:
        only = next(iter(tool_input.values()))
        if isinstance(only, str):
            return only
    return json.dumps(tool_input, ensure_ascii=False)


def _result_text(content: Json) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(
        str(block.get("text", "")) if block.get("type") == "text" else f"[{block.get('type', 'block')}]"
        for block in blocks
        if isinstance(block, dict)
    )
