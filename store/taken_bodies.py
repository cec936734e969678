"""What was taken from another program's transcript."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from store.body import Body, registered


@registered
@dataclass(frozen=True, slots=True)
class TranscriptBegan(Body):
    """A log holds a session of another program. ``source`` names it there; ``chain`` and ``number`` (from 1) place it
    among sessions that follow each other; ``operator`` and ``presence`` are the two voices' names as they stand
    there."""

    KIND: ClassVar[str] = "transcript.began"
    format: str
    source: str
    chain: str
    number: int
    title: str
    operator: str
    presence: str


@registered
@dataclass(frozen=True, slots=True)
class RecordsTaken(Body):
    """The records of the source that the events since the last such mark stand on: taken again they add nothing."""

    KIND: ClassVar[str] = "transcript.records"
    DURABLE: ClassVar[bool] = False
    ids: tuple[str, ...]


@registered
@dataclass(frozen=True, slots=True)
class Rewound(Body):
    """The operator went back: this turn follows ``to_turn`` (0: the beginning), and the turns between are no part of
    what goes on."""

    KIND: ClassVar[str] = "transcript.rewound"
    to_turn: int


@registered
@dataclass(frozen=True, slots=True)
class TranscriptsImported(Body):
    """What one import took from a file and what it left out, counted by kind and by reason."""

    KIND: ClassVar[str] = "transcript.imported"
    file: str
    format: str
    taken: Mapping[str, int]
    left_out: Mapping[str, int]
