"""Events of a session for the tests and benchmarks of the chat, numbered and dated in one call."""

from __future__ import annotations

from collections.abc import Iterator

from store.bodies import (
    Body,
    ConditionRecord,
    Json,
    MessageEnded,
    OperatorSaid,
    Partial,
    Seat,
    SessionOpened,
    ToolCalled,
    ToolEnded,
    Usage,
)
from store.events import NO_HASH, Event

OPENED = SessionOpened(
    "s1",
    1,
    ConditionRecord("B", "silent", True, False, False, False, False, ("letters",)),
    None,
    "Ada",
    "twin-1",
    "",
    True,
    ".",
    {},
)


class Numbered:
    """Puts bodies into events, each with the next number."""

    def __init__(self) -> None:
        self.n = 0

    def __call__(self, body: Body, turn: int = 1) -> Event:
        self.n += 1
        return Event(self.n, self.n, "2026-11-30T00:00:00.000Z", float(self.n), "system", turn, body, NO_HASH)


def said(text: str, request: int = 1, block: int = 0, seat: Seat = "presence") -> Partial:
    return Partial(seat, request, block, "text", text)


def ended(text: str, request: int = 1, seat: Seat = "presence") -> MessageEnded:
    content: Json = [{"type": "text", "text": text}]
    return MessageEnded(seat, request, f"m{request}", "twin-1", content, "end_turn", Usage(), None, 1.0, 2.0)


PARAGRAPH = (
    "The **region table** has a shifted column, so `find.py` reads the town where the code should be. I will mend "
    "the reader and not the file, because another program writes it. [red]This[/red] stays as typed.\n"
    "\n- one point that stands in a list\n- another with *weight*\n\n"
)
CODE = '```python\ndef find(region: str) -> list[str]:\n    return sorted(row["town"] for row in rows)\n```\n'


def long_session(messages: int, make: Numbered | None = None) -> Iterator[Event]:
    """A session of ``messages`` messages, 500 bytes each: the operator, P, a tool, P with code, and again."""
    make = make or Numbered()
    yield make(OPENED, 0)
    for i in range(messages):
        turn = i // 4 + 1
        match i % 4:
            case 0:
                yield make(OperatorSaid(f"Question {turn}: " + "why does the region print nothing? " * 13), turn)
            case 1:
                yield make(ended(f"Answer {turn}. " + PARAGRAPH * 2, request=i), turn)
            case 2:
                yield make(ToolCalled(f"t{i}", "bash", {"command": f"python output_test.py --region BR --n {i}"}), turn)
                outcome = "error" if i % 40 == 2 else "ok"
                yield make(ToolEnded(f"t{i}", "bash", outcome, f"{i} rows\n" * 50, 120.0, 400), turn)
            case _:
                yield make(ended(PARAGRAPH + CODE, request=i), turn)
