"""Takes transcripts into a room: each of their sessions a log of its own, every record once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from app.replay.clock import TranscriptClock
from app.replay.disk import PatientDisk
from app.replay.importers.claude_code import hash_of
from app.replay.importers.detect import IMPORTERS, format_of
from app.replay.importers.records import Source, Taken, Tally
from store.bodies import Body, Json, RecordsTaken, TranscriptBegan, TranscriptsImported, Usage
from store.events import plain
from store.log import raw_lines
from store.mending import open_to_work
from store.room import DESK, LogName

PREFIX = "imported-"
"""How the logs of imported sessions are called. They hold no ``session.opened``: they are no sessions of this room,
so they move neither its numbers nor its decay; its search finds them."""
MARK_EVERY = 200
"""Records between two marks that say which records were taken."""
OPEN_LOGS = 64
"""Sessions that one file may have open side by side before the oldest is marked and let go."""


@dataclass(frozen=True, slots=True)
class Report:
    """What one file came to."""

    file: str
    format: str
    taken: dict[str, int]
    left_out: dict[str, int]
    usage: Usage
    sessions: tuple[str, ...]
    events: int

    def as_json(self) -> Json:
        """The report by its fields; ``usage`` in tokens."""
        return {**asdict(self), "sessions": [*self.sessions]}


@dataclass(slots=True)
class _Log:
    """One session's log while it grows: records not yet marked, events that an interrupted import left unmarked."""

    name: LogName
    offset: int
    unmarked: list[str] = field(default_factory=list)
    left_over: list[Body] = field(default_factory=list)


class Library:
    """The imported sessions of one room. Close it when all files are taken."""

    def __init__(self, root: Path) -> None:
        """Opens the room for writing, with what a crash left undone made good: ``room.found`` says what. Raises
        RoomError."""
        self._clock = TranscriptClock(datetime.now(UTC))
        self.room = open_to_work(root, self._clock, PatientDisk())
        self._known = {record for log in self.room.logs() if log.startswith(PREFIX) for record in self._marked(log)}
        self._open: dict[str, _Log] = {}
        self._written = 0

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Marks what is open, brings everything to the disk and closes the room."""
        try:
            self._let_go(0)
            os.sync()
        finally:
            self.room.close()

    def take(self, path: Path, progress: Callable[..., object] = lambda completed: None) -> Report:
        """One file. Records that were taken before are passed over; what is damaged or foreign is counted.
        ``progress(completed=…)`` is told the number of events so far.

        Raises TranscriptError when the file is no transcript, RoomError or LogWriteError when it cannot be written.
        """
        kind = format_of(path)
        tally = Tally()
        logs: dict[str, None] = {}
        before = self._written
        for taken in IMPORTERS[kind](path, tally, self._known):
            logs[self._write(taken)] = None
            progress(completed=self._written - before)
        self._let_go(0)
        if self._written > before:
            os.sync()
        self._clock.stand_at(datetime.now(UTC))
        report = Report(
            path.name, kind, dict(tally.taken), dict(tally.left_out), tally.usage, tuple(logs), self._written - before
        )
        if report.events:
            self.room.append(
                DESK, "operator", TranscriptsImported(report.file, report.format, report.taken, report.left_out)
            )
        return report

    # ------------------------------------------------------------ writing

    def _write(self, taken: Taken) -> LogName:
        log = self._log(taken)
        self._known.update(taken.records)
        log.unmarked.extend(taken.records)
        if log.left_over and plain(log.left_over[0]) == plain(taken.body):
            log.left_over.pop(0)
            return log.name
        log.left_over.clear()
        self._clock.stand_at(taken.at)
        self.room.append(log.name, taken.by, taken.body, taken.turn + log.offset)
        self._written += 1
        if len(log.unmarked) >= MARK_EVERY:
            self._mark(log)
        return log.name

    def _log(self, taken: Taken) -> _Log:
        source = taken.source
        log = self._open.get(source.session)
        if log is not None:
            return log
        self._let_go(OPEN_LOGS - 1)
        name = log_name(source)
        self._clock.stand_at(taken.at)
        if name not in self.room.logs():
            self.room.append(name, "system", _began(source), 0)
            log = _Log(name, 0)
        else:
            turns, left_over = self._tail(name)
            # Another file of the same session counts its turns from 1 again: they follow those that stand.
            offset = turns if taken.by == "operator" and taken.turn <= turns and not left_over else 0
            log = _Log(name, offset, left_over=left_over)
        self._open[source.session] = log
        return log

    def _tail(self, name: LogName) -> tuple[int, list[Body]]:
        """The last turn of a log, and its events behind the last mark."""
        turns = 0
        behind: list[Body] = []
        for event in self.room.events(name):
            turns = max(turns, event.turn)
            if isinstance(event.body, RecordsTaken):
                behind = []
            elif not isinstance(event.body, TranscriptBegan) and event.kind != "log.opened":
                behind.append(event.body)
        return turns, behind

    def _let_go(self, keep: int) -> None:
        while len(self._open) > keep:
            session = next(iter(self._open))
            self._mark(self._open.pop(session))

    def _mark(self, log: _Log) -> None:
        if log.unmarked:
            self.room.append(log.name, "system", RecordsTaken(tuple(log.unmarked)))
            log.unmarked.clear()

    def _marked(self, log: LogName) -> Iterator[str]:
        """The ids of the records that a log stands on, reading only its marks."""
        for raw in raw_lines(self.room.log_path(log)):
            if b'"kind":"transcript.records"' in raw.content[:200]:
                body = self.room.event_at(log, raw.offset).body
                if isinstance(body, RecordsTaken):
                    yield from body.ids


def log_name(source: Source) -> LogName:
    """The name of an imported session's log: readable, and its own even when the readable part is cut."""
    readable = re.sub(r"[^0-9A-Za-z._-]+", "-", source.session)[:40].strip("-")
    return LogName(f"{PREFIX}{source.format.replace('.', '-')}-{readable}-{hash_of(source.session)[:6]}")


def _began(source: Source) -> TranscriptBegan:
    return TranscriptBegan(
        source.format, source.session, source.chain, source.number, source.title, source.operator, source.presence
    )
