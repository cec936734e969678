"""The SQLite file of the search index: its tables, how it is opened, and when it is of no use."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

INDEX_VERSION = 2
BUSY_MS = 10_000
"""How long to wait for another process's transaction before giving up (claude-mem's issue 2821: never drop)."""

_SCHEMA = """
CREATE TABLE meta (version INTEGER NOT NULL);
CREATE TABLE logs (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, sha256 TEXT NOT NULL);
CREATE TABLE places (
    id INTEGER PRIMARY KEY, log INTEGER NOT NULL, offset INTEGER NOT NULL, n INTEGER NOT NULL, at TEXT NOT NULL
);
CREATE INDEX places_at ON places (at, id);
CREATE VIRTUAL TABLE words USING fts5 (
    said, humps, facets, content='', prefix='2 3', tokenize="unicode61 remove_diacritics 2"
);
CREATE TABLE lines (number INTEGER PRIMARY KEY, tier TEXT NOT NULL, line TEXT NOT NULL);
CREATE VIRTUAL TABLE line_words USING fts5 (said, humps, tokenize="unicode61 remove_diacritics 2");
"""


class Stale(Exception):
    """The index does not belong to the logs as they are, or is of another version."""


def connected(path: Path | None) -> sqlite3.Connection:
    """The index file, made (0600) when there is none and made anew when it is of no use; None keeps it in memory.

    Raises sqlite3.OperationalError or OSError when it can be neither read nor made.
    """
    if path is None:
        return _prepared(":memory:")
    _touch(path)
    try:
        return _prepared(str(path))
    except (Stale, sqlite3.DatabaseError) as error:
        if isinstance(error, sqlite3.OperationalError) and not is_damage(error):
            raise
        remove(path)
        _touch(path)
        return _prepared(str(path))


def index_faults(path: Path) -> str:
    """Why the index file cannot be used, empty when it can. Reads all of it and changes nothing."""
    # Reading a file in WAL mode makes files beside it; where there are none nobody writes, and it stands as it is.
    how = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "immutable=1"
    try:
        db = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, timeout=BUSY_MS / 1000)
        try:
            said = str(db.execute("PRAGMA integrity_check").fetchone()[0])
            version = db.execute("SELECT version FROM meta").fetchone()
        finally:
            db.close()
    except sqlite3.Error as error:
        return str(error)
    if said != "ok":
        return said.splitlines()[0]
    return "" if version == (INDEX_VERSION,) else f"it has version {version}, this program writes {INDEX_VERSION}"


def remove(path: Path) -> None:
    """Throws the index away; the logs hold all that was in it."""
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)


def is_damage(error: sqlite3.OperationalError) -> bool:
    """Whether the file itself is at fault, not a lock or the disk."""
    return any(word in str(error) for word in ("malformed", "no such table", "no such column", "disk I/O"))


def _touch(path: Path) -> None:
    # Made here, because SQLite would make it readable for all that the umask allows.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))


def _prepared(name: str) -> sqlite3.Connection:
    db = sqlite3.connect(name, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")  # a view: a power cut may cost its last transactions
        db.execute("BEGIN IMMEDIATE")
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            for statement in _SCHEMA.split(";"):
                db.execute(statement)
            db.execute("INSERT INTO meta VALUES (?)", (INDEX_VERSION,))
        version = db.execute("SELECT version FROM meta").fetchone()
        db.execute("COMMIT")
        if version != (INDEX_VERSION,):
            raise Stale(f"the index has version {version}, this program writes {INDEX_VERSION}")
    except BaseException:
        db.close()
        raise
    return db
