"""One case of the store's benchmarks in a process of its own, so that time and memory are its alone; prints JSON."""

from __future__ import annotations

import json
import resource
import sqlite3
import sys
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from tinydb import TinyDB

from store.bodies import TiersChanged
from store.events import decode_body
from store.lines import Tiers, with_changes
from store.room import Room


def resident() -> float:
    """Resident memory of this process now, in megabytes (Linux; elsewhere its peak)."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def opened(path: Path) -> dict[str, Any]:
    """The room opened for writing, and how much memory it took with all its sessions listed."""
    before, began, cpu = resident(), perf_counter(), process_time()
    room = Room.open(path)
    seconds, cpu = perf_counter() - began, process_time() - cpu
    sessions = len(room.sessions())
    found = {"seconds": seconds, "cpu": cpu, "rss": resident() - before, "events": room.seq, "sessions": sessions}
    room.close()
    return found


def folded(path: Path) -> dict[str, Any]:
    """The same without `tiers.json`: everything is folded from the logs."""
    (path / "tiers.json").unlink(missing_ok=True)
    return opened(path)


def tiny(path: Path) -> dict[str, Any]:
    """TinyDB with its stock storage: opened, and every event read once."""
    began, cpu = perf_counter(), process_time()
    with TinyDB(path) as db:
        many = len(db.all())
    return {"seconds": perf_counter() - began, "cpu": process_time() - cpu, "events": many}


def sqlite(path: Path) -> dict[str, Any]:
    """SQLite with an event a row: the tiers folded in order of ``seq``, and the sessions listed by one query."""
    began = perf_counter()
    db = sqlite3.connect(path)
    tiers = Tiers()
    for seq, kind, body in db.execute("SELECT seq, kind, body FROM events ORDER BY seq"):
        if kind == TiersChanged.KIND:
            changed = decode_body(kind, json.loads(body))
            assert isinstance(changed, TiersChanged)
            tiers = with_changes(tiers, (one.after for one in changed.changes), seq=seq, session=changed.session)
    folding, began = perf_counter() - began, perf_counter()
    rows = db.execute("SELECT log, max(turn), min(at), max(at) FROM events GROUP BY log").fetchall()
    return {"seconds": folding, "listing": perf_counter() - began, "sessions": len(rows)}


CASES = {"opened": opened, "folded": folded, "tiny": tiny, "sqlite": sqlite}

if __name__ == "__main__":
    print(json.dumps(CASES[sys.argv[1]](Path(sys.argv[2]))))
