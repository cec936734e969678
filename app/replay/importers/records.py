"""What an importer gives: sessions, and events with the records of the source that they stand on; all else counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from store.bodies import Body, By, Usage
from store.plain import PlainError


class TranscriptError(PlainError):
    """A file cannot be read as a transcript; one plain sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class Source:
    """One session of a transcript: which ``format``, its name there, the ``chain`` of sessions it belongs to and its
    place in it (``number``, from 1), what it is called, and the names of the two who speak."""

    format: str
    session: str
    chain: str
    number: int = 1
    title: str = ""
    operator: str = "operator"
    presence: str = "presence"


@dataclass(frozen=True, slots=True)
class Taken:
    """One event to be: ``at`` is the transcript's own time; ``records`` are the ids of the records that it is the
    first to stand on."""

    source: Source
    at: datetime
    by: By
    turn: int
    body: Body
    records: tuple[str, ...] = ()


@dataclass(slots=True)
class Tally:
    """What was taken, by kind, and what was left out, by reason."""

    taken: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    usage: Usage = field(default_factory=Usage)

    def took(self, what: str, times: int = 1) -> None:
        """Counts something taken."""
        self.taken[what] += times

    def left(self, why: str, times: int = 1) -> None:
        """Counts a record, or a part of one, that was left out."""
        self.left_out[why] += times


KNOWN_ALREADY = "taken before"
"""Reason for records that an earlier import, or another file, has given."""


class Importer(Protocol):
    """Reads one file of one format, streaming. ``known`` holds ids of records taken before; these are passed over."""

    def __call__(self, path: Path, tally: Tally, known: Container[str]) -> Iterator[Taken]: ...


def when(text: object, before: datetime) -> datetime:
    """The time that a record carries (ISO 8601; without a zone it is UTC); ``before`` when it carries none."""
    if not isinstance(text, str):
        return before
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return before
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def file_time(path: Path) -> datetime:
    """When a file was last changed: the time of what carries none of its own."""
    return datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
