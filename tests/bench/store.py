"""The store at a thousand events and at a million, beside TinyDB's stock JSON storage and SQLite."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from tinydb import TinyDB

from store.bodies import Body, OperatorSaid, Partial
from store.room import LogName, Room
from store.search import Index
from tests.bench.figures import Figure, median, share
from tests.bench.store_history import words, write_history

ROOT = Path(__file__).parents[2]
MILLION, THOUSAND = 1_000_000, 1_000
TINY = 20_000
"""Events in TinyDB's large case: each insert writes its whole file, so that with a million it would take minutes."""
APPENDS = 1_000
SEARCHES = 400
APPENDS_A_SECOND = 20
"""Two answers that stream at once append eight partial texts a second; the rest is tools, turns and tiers."""

ROWS = "CREATE TABLE events (seq INTEGER PRIMARY KEY, log TEXT, at TEXT, kind TEXT, turn INTEGER, body TEXT)"


def measure() -> list[Figure]:
    """Some two minutes on a quiet machine, half of it the index of a million events."""
    with tempfile.TemporaryDirectory(prefix="two-twins-bench-") as folder:
        place = Path(folder)
        many = write_history(place / "many", 1_000, MILLION)
        long = write_history(place / "long", 1, MILLION)
        short = write_history(place / "short", 1, THOUSAND)
        rows, few_rows = _rows(place / "rows.sqlite", many), _rows(place / "few.sqlite", short)
        tiny, tiny_small = _tiny(place / "tiny.json", long, TINY), _tiny(place / "small.json", short, THOUSAND)
        return [
            *_folding(many, short, rows, tiny),
            *_appending(long, short, rows, few_rows, tiny, tiny_small),
            *_searching(many, rows, tiny),
        ]


def _case(name: str, path: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.bench.store_case", name, str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _lines(room: Path) -> list[dict[str, Any]]:
    logs = sorted(room.glob("sessions/*/events.jsonl"))
    return [{**json.loads(line), "log": log.parent.name} for log in logs for line in log.read_bytes().splitlines()]


def _rows(path: Path, room: Path) -> Path:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute(ROWS)
    db.execute("BEGIN")
    for log in sorted(room.glob("sessions/*/events.jsonl")):
        for line in log.read_bytes().splitlines():
            event = json.loads(line)
            row = (event["seq"], log.parent.name, event["at"], event["kind"], event["turn"], json.dumps(event["data"]))
            db.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", row)
    db.execute("COMMIT")
    db.close()
    return path


def _tiny(path: Path, room: Path, many: int) -> Path:
    log = next(room.glob("sessions/*/events.jsonl"))
    with TinyDB(path) as db, log.open("rb") as lines:
        db.insert_multiple(json.loads(line) for line, _ in zip(lines, range(many), strict=False))
    return path


# ---------------------------------------------------------------- opening and folding


def _folding(many: Path, short: Path, rows: Path, tiny: Path) -> list[Figure]:
    folded, small = _case("folded", many), _case("folded", short)
    assert (folded["events"], folded["sessions"]) == (MILLION, 1_000)
    opened, small_opened = _opened(many), _opened(short)
    in_rows, in_tiny = _case("sqlite", rows), _case("tiny", tiny)
    per_event = folded["cpu"] / MILLION
    part = "store: 1,000 sessions, 1,000,000 events"
    return [
        Figure(part, "what others ask of this machine: load average", os.getloadavg()[0], "processes"),
        Figure(part, "fold all, no view left", folded["seconds"], "s", 10, None, in_rows["seconds"], "SQLite rows:"),
        Figure(part, "fold all, processor time", folded["cpu"], "s"),
        Figure(part, "fold, an event, processor time", per_event * 1e6, "µs", None, None,
               in_tiny["cpu"] / in_tiny["events"] * 1e6, f"TinyDB at {TINY:,}, read only:"),
        Figure(part, "open", opened["seconds"], "s", 0.5, None, in_rows["listing"], "SQLite, sessions by query:"),
        Figure(part, "open, beside TinyDB", opened["seconds"], "s", None, None,
               in_tiny["seconds"], f"TinyDB at {TINY:,}:"),
        Figure(part, "memory that the open room takes", opened["rss"], "MB", 32, None,
               small_opened["rss"], "at 1,000 events:"),
        Figure(part, "memory after folding all", folded["rss"], "MB", 64, None, small["rss"], "at 1,000 events:"),
    ]  # fmt: skip


def _opened(room: Path) -> dict[str, Any]:
    return sorted((_case("opened", room) for _ in range(3)), key=lambda found: float(found["seconds"]))[1]


# ---------------------------------------------------------------- appending


def _timed(act: Callable[[], object]) -> float:
    began = perf_counter()
    act()
    return (perf_counter() - began) * 1e6


def _appending(
    long: Path, short: Path, rows: Path, few_rows: Path, tiny: Path, tiny_small: Path
) -> list[Figure]:  # fmt: skip
    part = "store: append one event"
    figures = []
    _case("folded", long)  # so that the next opening finds its view
    with Room.open(long) as large, Room.open(short) as small:
        kinds: list[tuple[str, Body]] = [
            ("partial text", Partial("presence", 1, 0, "text", "and so it goes on ")),
            ("operator message, fsynced", OperatorSaid("What does the door say? " * 8)),
        ]
        for what, body in kinds:
            at_large, at_small = _side_by_side(_appender(large, body), _appender(small, body))
            figures.append(
                Figure(part, f"{what}, log of 1 M", at_large, "µs", None, None, at_small, "log of 1 k:")
            )  # fmt: skip
            figures.append(Figure(part, f"{what}, 1 M to 1 k", at_large / at_small, "×", 1.2))
    ours = figures[2].value
    row_large, row_small = _side_by_side(_row_writer(rows), _row_writer(few_rows))
    figures.append(
        Figure(part, "operator message, fsynced, log of 1 M", ours, "µs", None, None, row_large, "SQLite row, 1 M:")
    )
    figures.append(Figure(part, "SQLite row, 1 M to 1 k", row_large / row_small, "×"))
    tiny_large, tiny_little = _tiny_insert(tiny), _tiny_insert(tiny_small)
    figures.append(
        Figure(part, "operator message, fsynced, log of 1 M", ours, "µs", None, None, tiny_large,
               f"TinyDB, no fsync, {TINY:,}:")
    )  # fmt: skip
    figures.append(Figure(part, f"TinyDB, {TINY:,} to 1 k", tiny_large / tiny_little, "×"))
    return figures


def _side_by_side(one: Callable[[], object], other: Callable[[], object]) -> tuple[float, float]:
    """The median µs of both, taken turn by turn and each first in half of them, so that what else the machine does, and
    what one fsync does for the next, falls on both alike."""
    first, second = [], []
    for number in range(APPENDS):
        if number % 2:
            first.append(_timed(one))
            second.append(_timed(other))
        else:
            second.append(_timed(other))
            first.append(_timed(one))
    return median(first), median(second)


def _appender(room: Room, body: Body) -> Callable[[], object]:
    log = LogName(room.sessions()[-1].id)
    return lambda: room.append(log, "operator", body, 1)


def _row_writer(path: Path) -> Callable[[], object]:
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA synchronous = FULL")
    text = json.dumps({"text": "What does the door say? " * 8})

    def write() -> None:
        row = ("20261130T000000Z-a1", "2026-11-30T00:00:00.000Z", "operator.said", 1, text)
        db.execute("INSERT INTO events (log, at, kind, turn, body) VALUES (?, ?, ?, ?, ?)", row)

    return write


def _tiny_insert(path: Path) -> float:
    with TinyDB(path) as db:
        event = {"kind": "operator.said", "data": {"text": "x" * 200}}
        return median([_timed(lambda: db.insert(event)) for _ in range(5)])


# ---------------------------------------------------------------- searching


def _searching(many: Path, rows: Path, tiny: Path) -> list[Figure]:
    part = "store: search 1,000,000 events"
    with Room.open(many) as room, Index.open(room) as index:
        began = perf_counter()
        index.catch_up()
        built = perf_counter() - began
        logs = room.logs()
        quiet = [_search(index, logs, number) for number in range(SEARCHES)]
        stop = threading.Event()
        session = _Session(room, stop)
        session.start()
        busy = [_search(index, logs, SEARCHES + number) for number in range(SEARCHES)]
        stop.set()
        session.join()
    db = sqlite3.connect(rows)
    scan = _timed(lambda: db.execute("SELECT seq FROM events WHERE body LIKE ?", (f"%mark{MILLION - 17}%",)).fetchall())
    with TinyDB(tiny) as tiny_db:
        in_tiny = _timed(lambda: tiny_db.search(lambda event: "mark17" in str(event["data"])))
    p95 = share(busy, 0.95)
    return [
        Figure(part, "p95 while a session appends", p95, "ms", 20, None, share(quiet, 0.95), "nobody appends:"),
        Figure(part, "median while a session appends", median(busy), "ms", None, None, scan / 1e3, "SQLite LIKE:"),
        Figure(part, "slowest", max(busy), "ms", None, None, in_tiny / 1e3, f"TinyDB at {TINY:,}:"),
        Figure(part, "append while it is searched, p95", share(session.took, 0.95), "ms"),
        Figure(part, "index built from nothing", built, "s"),
    ]


def _search(index: Index, logs: tuple[LogName, ...], number: int) -> float:
    dice = random.Random(number)
    rare, common = f"mark{dice.randrange(MILLION)}", f"word{dice.randrange(40)}"
    middling = words(dice, 1)
    query = (rare, common, middling, f'"{common} {middling}"', f"{rare[:7]}*", f"{middling} {common}")[number % 6]
    session = None if number % 4 else dice.choice(logs)
    return _timed(lambda: index.search(query, session=session)) / 1e3


class _Session(threading.Thread):
    """A session that appends all the while, as one that streams does."""

    def __init__(self, room: Room, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.took: list[float] = []
        self._room, self._stop_it = room, stop

    def run(self) -> None:
        log, dice, many = LogName(self._room.sessions()[-1].id), random.Random(3), 0
        while not self._stop_it.wait(1 / APPENDS_A_SECOND):
            many += 1
            said, partial = OperatorSaid(words(dice, 30)), Partial("presence", 1, 0, "text", "and on ")
            body: Body = partial if many % 5 else said
            self.took.append(_timed(lambda body=body: self._room.append(log, "operator", body, 1)) / 1e3)
