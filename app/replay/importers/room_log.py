"""Sessions that this product recorded: a log of a room, or one taken from a transcript before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

from app.replay.importers.records import Source, Taken
from store.bodies import (
    BreakMarked,
    ContextCompacted,
    MessageCut,
    MessageEnded,
    OperatorSaid,
    Rewound,
    SessionOpened,
    ToolAnswered,
    ToolCalled,
    ToolEnded,
    TranscriptBegan,
    TurnEnded,
)
from store.clock import from_stamp
from store.events import Event

FORMAT = "two-twins"
_TALK = (BreakMarked, ContextCompacted, OperatorSaid, Rewound, ToolAnswered, ToolCalled, ToolEnded, TurnEnded)


def talk_of(events: Iterable[Event], chain: str) -> Iterator[Taken]:
    """What was said and done in one session, in its order: nothing of K, the tiers or memory.

    What the program had added behind an operator message is left out: it was memory.
    """
    source = Source(FORMAT, "?", chain)
    for event in events:
        body = event.body
        if isinstance(body, SessionOpened):
            source = Source(FORMAT, body.session, chain, body.number, operator=body.operator)
            continue
        if isinstance(body, TranscriptBegan):
            source = Source(body.format, body.source, body.chain, body.number, body.title, body.operator, body.presence)
            continue
        if isinstance(body, OperatorSaid):
            body = replace(body, tail="")
        spoken = isinstance(body, MessageEnded | MessageCut) and body.seat == "presence" and body.purpose == "turn"
        if not spoken and not isinstance(body, _TALK):
            continue
        if isinstance(body, ToolCalled | ToolEnded) and event.by == "keeper":
            continue
        at = from_stamp(event.at).astimezone(UTC) if event.at else datetime.fromtimestamp(0, UTC)
        yield Taken(source, at, event.by, max(event.turn, 1), body)


def last_path(turns_to: dict[int, int], last: int) -> set[int]:
    """The turns that lead to ``last`` when some of them went back (``turns_to``: turn → the turn that it follows)."""
    path: set[int] = set()
    turn = last
    while turn > 0 and turn not in path:
        path.add(turn)
        turn = turns_to.get(turn, turn - 1)
    return path
