"""How far a room's views are folded: the tiers and, per log, its position and summary, kept in `tiers.json`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NewType, TypeVar

from pydantic import TypeAdapter, ValidationError

from store.bodies import Citation, Json, LetterFiled, SessionClosed, SessionOpened
from store.documents import CrashSafeStorage, Document
from store.events import FOLDED, NO_HASH, Event, decode, fold
from store.lines import Line, Tiers
from store.log import Head, RawLine

LogName = NewType("LogName", str)
"""A log's folder under `sessions/`: a session's id, or ``DESK``."""
SessionId = NewType("SessionId", LogName)
DESK = LogName("desk")
"""The standing log of what the operator does outside a session."""

VIEW_FORMAT = 1
NEEDED = FOLDED | {SessionClosed.KIND, LetterFiled.KIND}
"""Kinds whose bodies the views need. All others are folded by their envelope alone."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session in one row: ``turns`` is its last turn's number, ``closed_at`` empty while it is open."""

    id: SessionId
    number: int
    condition: str
    task: str
    opened_at: str
    closed_at: str
    turns: int


@dataclass(slots=True)
class LogStanding:
    """How far one log is folded: ``size`` bytes up to event ``n`` (``seq`` in the room), whose line hashes to
    ``sha256``; ``mtime_ns`` when that was; and what its events came to. ``letters`` are byte offsets."""

    name: str
    size: int = 0
    n: int = 0
    seq: int = 0
    sha256: str = NO_HASH
    mtime_ns: int = 0
    number: int = 0
    condition: str = ""
    task: str = ""
    opened_at: str = ""
    closed_at: str = ""
    turns: int = 0
    letters: list[int] = field(default_factory=list)

    def summary(self) -> SessionSummary | None:
        """The session's row; None for a log that is no session."""
        if not self.number:
            return None
        return SessionSummary(
            SessionId(LogName(self.name)),
            self.number,
            self.condition,
            self.task,
            self.opened_at,
            self.closed_at,
            self.turns,
        )


@dataclass(frozen=True, slots=True)
class _Position:
    format: int
    seq: int
    tiers_seq: int
    session: int
    next_number: int
    last_log: str
    check: str


@dataclass(slots=True)
class Standing:
    """All views of a room as folded so far."""

    tiers: Tiers = field(default_factory=Tiers)
    logs: dict[LogName, LogStanding] = field(default_factory=dict)
    seq: int = 0
    last_log: LogName | None = None

    def take(self, log: LogName, raw: RawLine, head: Head, sha256: str) -> None:
        """Folds one line of a log in: of the room's lines in order of ``seq``, the next.

        Raises ValueError when a body that the views need cannot be read; the line then counts by its envelope.
        """
        stand = self._move(log, raw.end, head.n, head.seq, sha256, head.turn)
        if head.kind in NEEDED:
            self._take_body(stand, decode(raw.content, log), raw.offset)

    def take_event(self, log: LogName, event: Event, offset: int, end: int, sha256: str) -> None:
        """Folds in an event that was just written between two bytes of its log."""
        stand = self._move(log, end, event.n, event.seq, sha256, event.turn)
        self._take_body(stand, event, offset)

    def skip(self, log: LogName, raw: RawLine, n: int, sha256: str) -> None:
        """Goes past a line that is no event: the chain runs on from its bytes."""
        stand = self.logs.setdefault(log, LogStanding(log))
        stand.size, stand.n, stand.sha256 = raw.end, n, sha256

    def _move(self, log: LogName, end: int, n: int, seq: int, sha256: str, turn: int) -> LogStanding:
        stand = self.logs.get(log)
        if stand is None:
            stand = self.logs[log] = LogStanding(log)
        stand.size, stand.n, stand.seq, stand.sha256 = end, n, seq, sha256
        if turn > stand.turns:
            stand.turns = turn
        if seq > self.seq:
            self.seq, self.last_log = seq, log
        return stand

    def _take_body(self, stand: LogStanding, event: Event, offset: int) -> None:
        self.tiers = fold(self.tiers, (event,))
        body = event.body
        if isinstance(body, SessionOpened):
            stand.number, stand.condition, stand.opened_at = body.number, body.condition.name, event.at
            stand.task = body.task.name if body.task else ""
            stand.closed_at = ""
        elif isinstance(body, SessionClosed):
            stand.closed_at = event.at
        elif isinstance(body, LetterFiled):
            stand.letters.append(offset)

    def cited(self) -> tuple[Citation | None, str]:
        """The room's last event as a new log cites it, and the hash of its line."""
        if self.last_log is None:
            return None, NO_HASH
        stand = self.logs[self.last_log]
        return Citation(stand.name, stand.n, stand.seq), stand.sha256


_Part = TypeVar("_Part", Line, LogStanding, _Position)


@cache
def _adapter(kind: type[_Part]) -> TypeAdapter[_Part]:
    # Made when first needed: building the three takes longer than reading the file.
    return TypeAdapter(kind)


_Table = dict[str, Json]


def _check(lines: _Table, logs: _Table) -> str:
    text = json.dumps([lines, logs], ensure_ascii=True, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _numbered(records: list[Json]) -> _Table:
    return {str(number): record for number, record in enumerate(records, 1)}


def save_standing(path: Path, standing: Standing) -> None:
    """Writes `tiers.json`: a TinyDB file with the tables ``room``, ``lines`` and ``logs``. Raises OSError."""
    lines = _numbered([_adapter(Line).dump_python(line, mode="json") for line in standing.tiers])
    logs = _numbered([_adapter(LogStanding).dump_python(log, mode="json") for log in standing.logs.values()])
    tiers = standing.tiers
    position = _Position(
        format=VIEW_FORMAT,
        seq=standing.seq,
        tiers_seq=tiers.seq,
        session=tiers.session,
        next_number=tiers.next_number,
        last_log=standing.last_log or "",
        check=_check(lines, logs),
    )
    room = _numbered([_adapter(_Position).dump_python(position, mode="json")])
    tables: Document = {"room": room, "lines": lines, "logs": logs}
    _storage(path, lambda _: None).write(tables)


def load_standing(path: Path, on_damage: Callable[[str], None], read_only: bool = False) -> Standing | None:
    """What `tiers.json` holds; None when it is missing, damaged, of another version or changed by hand, all of which
    but the first are said to ``on_damage``."""
    tables = _storage(path, on_damage, read_only).read()
    if tables is None:
        return None
    try:
        lines, logs = tables["lines"], tables["logs"]
        position = _adapter(_Position).validate_python(tables["room"]["1"])
        if position.format != VIEW_FORMAT:
            raise ValueError(f"it has format {position.format}, this program writes {VIEW_FORMAT}")
        if position.check != _check(lines, logs):
            raise ValueError("it was changed by something else")
        live = [_adapter(Line).validate_python(record) for record in lines.values()]
        stands = [_adapter(LogStanding).validate_python(record) for record in logs.values()]
    except (KeyError, ValueError, ValidationError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error).splitlines()[0]
        on_damage(f"{path.name} cannot be used: {reason}")
        return None
    tiers = Tiers({line.id: line for line in live}, position.next_number, position.session, position.tiers_seq)
    return Standing(
        tiers,
        {LogName(stand.name): stand for stand in stands},
        position.seq,
        LogName(position.last_log) if position.last_log else None,
    )


def _storage(path: Path, on_damage: Callable[[str], None], read_only: bool = False) -> CrashSafeStorage:
    return CrashSafeStorage(path, on_damage, read_only)
