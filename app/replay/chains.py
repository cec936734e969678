"""Chains of sessions in a room: which follow each other, in the order of their dates, and what was said in each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from app.replay.importers.records import Source, Taken
from app.replay.importers.room_log import last_path, talk_of
from app.replay.taking import PREFIX
from store.bodies import (
    ContextCompacted,
    Json,
    MessageCut,
    MessageEnded,
    OperatorSaid,
    Rewound,
    ToolAnswered,
    ToolCalled,
    ToolEnded,
    TranscriptBegan,
)
from store.entries import content_text, input_text
from store.log import first_line, raw_lines, read_events
from store.room import LogName, Room

OWN = "room"
"""The chain of a room's own sessions."""


@dataclass(frozen=True, slots=True)
class Link:
    """One session of a chain: its log and when it began."""

    log: LogName
    began: str
    number: int


@dataclass(frozen=True, slots=True)
class Chain:
    """Sessions that follow each other."""

    name: str
    links: tuple[Link, ...]


def chains(room: Room) -> tuple[Chain, ...]:
    """The chains of a room, by name: imported sessions by the chain they came with, and the room's own sessions."""
    found: dict[str, list[Link]] = {}
    for log in room.logs():
        if not log.startswith(PREFIX):
            continue
        began = _began(room, log)
        if began is not None:
            at, body = began
            found.setdefault(body.chain, []).append(Link(log, at, body.number))
    own = [Link(row.id, row.opened_at, row.number) for row in room.sessions()]
    if own:
        found[OWN] = own
    return tuple(
        Chain(name, tuple(sorted(links, key=lambda link: (link.began, link.number, link.log))))
        for name, links in sorted(found.items())
    )


def _began(room: Room, log: LogName) -> tuple[str, TranscriptBegan] | None:
    path = room.log_path(log)
    first = first_line(path)
    second = first_line(path, first.end) if first else None
    event = room.event_at(log, second.offset) if second else None
    if event is None or not isinstance(event.body, TranscriptBegan):
        return None
    return event.at, event.body


@dataclass(frozen=True, slots=True)
class Spoken:
    """One thing that was said in a turn: by whom, under which name, the words. ``tool`` names the tool of a result."""

    by: str
    name: str
    text: str
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a session as it was recorded: its events, and what was said in it."""

    source: Source
    number: int
    events: tuple[Taken, ...]

    @property
    def at(self) -> datetime:
        """When the turn began."""
        return self.events[0].at

    def spoken(self) -> Iterator[Spoken]:
        """What was said and what tools gave back, in order. Text out of memory is left out."""
        inputs: dict[str, str] = {}
        for taken in self.events:
            match taken.body:
                case OperatorSaid(text=text):
                    yield Spoken("operator", self.source.operator, text)
                case ToolAnswered(word=word) if word:
                    yield Spoken("operator", self.source.operator, word)
                case MessageEnded(content=content):
                    if text := _texts(content):
                        yield Spoken("presence", self.source.presence, text)
                case MessageCut(text=text) if text.strip():
                    yield Spoken("presence", self.source.presence, text)
                case ToolCalled(tool_use_id=call, input=given):
                    inputs[call] = input_text(given)
                case ToolEnded(tool_use_id=call, name=name, content=content, source="world"):
                    yield Spoken("tool", inputs.pop(call, ""), content_text(content), name)
                case _:
                    pass


def turns_of(room: Room, link: Link, chain: str) -> Iterator[Turn]:
    """The turns of one session. Turns that the operator went back from are left out: they are no part of what goes
    on. What came before a context was compacted stays, the summary in its place is nobody's word."""
    path = room.log_path(link.log)
    went_back, last = _rewinds(path)
    kept = last_path(went_back, last) if went_back else None
    number, events = 0, list[Taken]()
    for taken in talk_of(read_events(path, link.log, on_damage=lambda _: None), chain):
        if isinstance(taken.body, Rewound | ContextCompacted) or (kept is not None and taken.turn not in kept):
            continue
        if taken.turn != number and events:
            yield Turn(events[0].source, number, tuple(events))
            events = []
        number = taken.turn
        events.append(taken)
    if events:
        yield Turn(events[0].source, number, tuple(events))


def _rewinds(path: Path) -> tuple[dict[int, int], int]:
    """Which turns went back, to which turn, and the log's last turn, reading only what tells it."""
    went_back: dict[int, int] = {}
    last = 0
    for raw in raw_lines(path):
        if b'"kind":"transcript.rewound"' in raw.content[:300]:
            for event in read_events(path, path.parent.name, raw.offset):
                if isinstance(event.body, Rewound):
                    went_back[event.turn] = event.body.to_turn
                break
        if b'"kind":"operator.said"' in raw.content[:300]:
            last += 1
    if went_back:
        last = max(event.turn for event in read_events(path, path.parent.name, on_damage=lambda _: None))
    return went_back, last


def _texts(content: Json) -> str:
    blocks = content if isinstance(content, list) else []
    return "\n\n".join(
        str(block["text"]) for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)
    ).strip()
