"""Full-text search over every session of a room: an SQLite FTS5 index that follows the logs and can be thrown away."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TypeVar, cast

from pydantic import TypeAdapter

from store.bodies import By, TiersChanged
from store.clock import stamp
from store.events import EventFormatError, decode, line_hash
from store.folding import merged
from store.lines import Line, LineId, number_of
from store.log import Head, RawLine, first_line, last_line
from store.room import LogName, Room, RoomError
from store.search_file import Stale, connected, is_damage, remove
from store.search_words import SEARCHED, Term, humps, line_words, parted, snippet, terms, words_in
from store.text import clean

BATCH = 2_000
"""Events indexed in one transaction: others wait no longer than for these."""
RANKED_BELOW = 1_000
"""A word in more events than this tells little about relevance, and BM25 would look at each of them (some 10 µs a find,
so that a search of 20 ms could not be kept): finds are then ordered newest first."""

_LINE = TypeAdapter(Line)
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Hit:
    """One event found: where it stands, who said it when, the words around the find, and the line it is about."""

    log: LogName
    n: int
    turn: int
    by: By
    kind: str
    snippet: str
    at: str
    line_id: LineId | None = None


class Index:
    """The index of one room. It may be used from several threads; another process may use the same file."""

    def __init__(self, room: Room, path: Path | None) -> None:
        """Use ``Index.open``. ``path`` None keeps the index in memory."""
        self._room = room
        self._path = path
        self._guard = threading.RLock()
        self._db = connected(self._path)

    @classmethod
    def open(cls, room: Room) -> Index:
        """The index of ``room``, as far as it reaches: it catches up by itself before a search. A file that is damaged
        or of another version is thrown away and built again; where none can be written, it is kept in memory."""
        try:
            return cls(room, room.root / "index.sqlite")
        except (OSError, sqlite3.Error, Stale) as error:
            if not room.read_only:
                raise RoomError(f"the search index cannot be opened ({error}); can {room.root} be written?") from error
            return cls(room, None)

    def close(self) -> None:
        """Closes the file."""
        with self._guard:
            self._db.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------ following the logs

    def catch_up(self, progress: Callable[[int], None] | None = None) -> int:
        """Indexes what the logs hold beyond the high-water mark and gives the number of events passed. ``progress``
        hears that number as it grows. It may be stopped at any point and goes on from there."""
        return self._mended(lambda: self._catch_up(progress))

    def rebuild(self) -> None:
        """Throws the index away; the next search builds it again."""
        with self._guard:
            self._db.close()
            if self._path:
                remove(self._path)
            self._db = connected(self._path)

    def check(self) -> str:
        """What is wrong with the index file, empty when nothing is. Reads all of it."""
        with self._guard:
            try:
                said = str(self._db.execute("PRAGMA integrity_check").fetchone()[0])
                self._db.execute("INSERT INTO line_words (line_words) VALUES ('integrity-check')")
            except sqlite3.DatabaseError as error:
                return str(error)
            return "" if said == "ok" else said.splitlines()[0]

    def _catch_up(self, progress: Callable[[int], None] | None) -> int:
        passed = 0
        while step := self._batch():
            passed += step
            if progress:
                progress(passed)
            if step < BATCH:
                break
        return passed

    def _batch(self) -> int:
        sizes = self._room.log_sizes()
        if not self._behind(sizes):
            return 0
        passed = 0
        with self._writing():
            marks = self._marks()
            paths = {log: self._room.log_path(log) for log, size in sizes.items() if size > _size(marks.get(log))}
            for log, path in paths.items():
                if (mark := marks.get(log)) and not _stands(path, mark):
                    raise Stale(f"log {log} is not what it was")
            touched: set[LogName] = set()
            for log, raw, head in merged(paths, {log: mark[1] for log, mark in marks.items()}):
                mark = marks.get(log)
                log_id = mark[0] if mark else self._new_log(log)
                if head and head.kind in SEARCHED:
                    self._add(log_id, log, raw, head)
                marks[log] = (log_id, raw.end, line_hash(raw.content))
                touched.add(log)
                passed += 1
                if passed == BATCH:
                    break
            self._db.executemany(
                "UPDATE logs SET size = ?, sha256 = ? WHERE id = ?",
                [(size, sha256, log_id) for log, (log_id, size, sha256) in marks.items() if log in touched],
            )
        return passed

    def _behind(self, sizes: Mapping[LogName, int]) -> bool:
        marks = self._marks()
        if any(sizes.get(log, -1) < mark[1] for log, mark in marks.items()):
            raise Stale
        return any(size > _size(marks.get(log)) for log, size in sizes.items())

    def _marks(self) -> dict[LogName, tuple[int, int, str]]:
        rows = self._db.execute("SELECT name, id, size, sha256 FROM logs")
        return {LogName(name): (int(id_), int(size), str(sha256)) for name, id_, size, sha256 in rows}

    def _new_log(self, log: LogName) -> int:
        self._db.execute("INSERT OR IGNORE INTO logs (name, size, sha256) VALUES (?, 0, '')", (log,))
        return int(self._db.execute("SELECT id FROM logs WHERE name = ?", (log,)).fetchone()[0])

    def _add(self, log_id: int, log: LogName, raw: RawLine, head: Head) -> None:
        try:
            body = decode(raw.content, log).body
            if isinstance(body, TiersChanged):
                for change in body.changes:
                    self._set_line(change.after)
            said = words_in(body)
            if said:
                self._add_words(log_id, raw, head, said)
        except ValueError:
            return  # damage in a log is told by whoever folds it; it must not stop the search of all the rest

    def _add_words(self, log_id: int, raw: RawLine, head: Head, said: str) -> None:
        place = self._db.execute(
            "INSERT INTO places (log, offset, n, at) VALUES (?, ?, ?, ?)", (log_id, raw.offset, head.n, head.at)
        )
        self._db.execute(
            "INSERT INTO words (rowid, said, humps, facets) VALUES (?, ?, ?, ?)",
            (place.lastrowid, parted(said), humps(said), f"{_seat(head.by)} {_kinds(head.kind)} {_session(log_id)}"),
        )

    def _set_line(self, line: Line) -> None:
        number = number_of(line.id)
        said = line_words(line)
        self._db.execute(
            "INSERT OR REPLACE INTO lines (number, tier, line) VALUES (?, ?, ?)",
            (number, line.tier, _LINE.dump_json(line).decode()),
        )
        self._db.execute("DELETE FROM line_words WHERE rowid = ?", (number,))
        self._db.execute(
            "INSERT INTO line_words (rowid, said, humps) VALUES (?, ?, ?)", (number, parted(said), humps(said))
        )

    # ------------------------------------------------------------ searching

    def search(
        self,
        query: str,
        *,
        seat: By | None = None,
        kind: str | None = None,
        session: LogName | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 20,
    ) -> tuple[Hit, ...]:
        """Events that hold all that ``query`` looks for (see ``terms``), best first.

        ``kind`` is an event kind or its first part (``tool.ended``, ``tool``), ``session`` a log's name, ``since``
        inclusive and ``until`` exclusive. An empty query gives the newest that fit the rest.
        """
        looked_for = terms(query)
        if query.strip() and not looked_for:
            return ()
        return self._caught_up(lambda: self._search(looked_for, seat, kind, session, since, until, limit))

    def _search(
        self,
        looked_for: tuple[Term, ...],
        seat: By | None,
        kind: str | None,
        session: LogName | None,
        since: datetime | None,
        until: datetime | None,
        limit: int,
    ) -> tuple[Hit, ...]:
        marks = self._marks()
        facets = [_seat(seat)] if seat else []
        if kind:
            facets.append(f"kind{_letters(kind)}")
        if session is not None:
            if session not in marks:
                return ()
            facets.append(_session(marks[session][0]))
        said = f"{{said humps}} : ({' AND '.join(term.match() for term in looked_for)})" if looked_for else ""
        whole = " AND ".join(filter(None, [said, *(f'facets : "{facet}"' for facet in facets)]))
        first, last = self._between(since, until)
        if said and all(self._is_rare(term) for term in looked_for):
            # Ranked by the words alone: for the facets BM25 would count half the room. The plus keeps SQLite from
            # asking FTS5 row by row.
            sql = (
                "SELECT rowid FROM words WHERE words MATCH ? AND +rowid IN "
                "(SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?) "
                "ORDER BY bm25(words, 1.0, 0.5, 0.0), rowid DESC LIMIT ?"
            )
            rows = self._db.execute(sql, (said, whole, first, last, limit))
        elif whole:
            sql = "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?"
            rows = self._db.execute(sql, (whole, first, last, limit))
        else:
            sql = "SELECT id FROM places WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT ?"
            rows = self._db.execute(sql, (first, last, limit))
        names = {log_id: log for log, (log_id, _, _) in marks.items()}
        return tuple(self._hit(int(row[0]), names, looked_for) for row in rows.fetchall())

    def _between(self, since: datetime | None, until: datetime | None) -> tuple[int, int]:
        if since is None and until is None:
            return 0, 2**62
        from_, to = stamp(since) if since else "", stamp(until) if until else "~"
        # Not a condition on each find: a common word's finds would all be looked at for an old week.
        row = self._db.execute("SELECT min(id), max(id) FROM places WHERE at >= ? AND at < ?", (from_, to)).fetchone()
        return (int(row[0]), int(row[1])) if row[0] is not None else (1, 0)

    def _is_rare(self, term: Term) -> bool:
        sql = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
        count = self._db.execute(sql, (f"{{said humps}} : {term.match()}", RANKED_BELOW)).fetchone()[0]
        return int(count) < RANKED_BELOW

    def _hit(self, place: int, names: Mapping[int, LogName], looked_for: tuple[Term, ...]) -> Hit:
        row = self._db.execute("SELECT log, offset, n FROM places WHERE id = ?", (place,)).fetchone()
        if row is None or row[0] not in names:
            raise Stale
        log, offset, n = names[row[0]], int(row[1]), int(row[2])
        raw = first_line(self._room.log_path(log), offset)
        try:
            event = decode(raw.content if raw else b"", log)
        except EventFormatError as error:
            raise Stale from error
        if event.n != n:
            raise Stale
        changed = event.body.changes if isinstance(event.body, TiersChanged) else ()
        return Hit(
            log=log,
            n=event.n,
            turn=event.turn,
            by=event.by,
            kind=event.kind,
            snippet=clean(snippet(words_in(event.body), looked_for)),
            at=event.at,
            line_id=changed[0].after.id if len(changed) == 1 else None,
        )

    # ------------------------------------------------------------ cold lines

    def cold_line(self, line_id: LineId) -> Line | None:
        """A line that is in cold, as it was when it went there; None when it is not there."""
        sql = "SELECT line FROM lines WHERE number = ? AND tier = 'cold'"
        found = self._caught_up(lambda: self._lines(sql, number_of(line_id)))
        return found[0] if found else None

    def cold_lines(self, query: str = "", limit: int = 50) -> tuple[Line, ...]:
        """Cold lines that hold all that ``query`` looks for, best first; the newest when it is empty."""
        looked_for = terms(query)
        if query.strip() and not looked_for:
            return ()
        if not looked_for:
            sql = "SELECT line FROM lines WHERE tier = 'cold' ORDER BY number DESC LIMIT ?"
            return self._caught_up(lambda: self._lines(sql, limit))
        sql = (
            "SELECT lines.line FROM line_words JOIN lines ON lines.number = line_words.rowid "
            "WHERE line_words MATCH ? AND lines.tier = 'cold' ORDER BY bm25(line_words), lines.number DESC LIMIT ?"
        )
        match = " AND ".join(term.match() for term in looked_for)
        return self._caught_up(lambda: self._lines(sql, match, limit))

    def _lines(self, sql: str, *values: str | int) -> tuple[Line, ...]:
        return tuple(_LINE.validate_json(cast(str, row[0])) for row in self._db.execute(sql, values).fetchall())

    # ------------------------------------------------------------ whatever the file does

    def _caught_up(self, ask: Callable[[], _Answer]) -> _Answer:
        def asked() -> _Answer:
            self._catch_up(None)
            return ask()

        return self._mended(asked)

    def _mended(self, ask: Callable[[], _Answer]) -> _Answer:
        """What ``ask`` gives; when the index turns out damaged or foreign, from one built anew. Raises RoomError when
        the file cannot be used for another reason (disk full, held too long)."""
        with self._guard:
            try:
                try:
                    return ask()
                except (Stale, sqlite3.DatabaseError) as error:
                    if isinstance(error, sqlite3.OperationalError) and not is_damage(error):
                        raise
                    self.rebuild()
                    return ask()
            except (Stale, sqlite3.Error, OSError) as error:
                raise RoomError(f"the search index cannot be used ({error}); the logs are whole") from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")


def _stands(path: Path, mark: tuple[int, int, str]) -> bool:
    last = last_line(path, mark[1])
    return last is not None and line_hash(last.content) == mark[2]


def _size(mark: tuple[int, int, str] | None) -> int:
    return mark[1] if mark else 0


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def _seat(by: str) -> str:
    return f"by{_letters(by)}"


def _kinds(kind: str) -> str:
    return f"kind{_letters(kind.partition('.')[0])} kind{_letters(kind)}"


def _session(log_id: int) -> str:
    return f"log{log_id}"
