"""A tool call's whole input and output, read from the log, or from the file that holds it, when its row is opened."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

from store.entries import ToolEntry, whole_tool
from store.room import LogName, Room
from store.text import clean
from widgets.chat.layout import WHOLE_SHOWN, WholeOf


def whole_of(room: Room, log: LogName) -> WholeOf:
    """Reads from one session's log, and from what was kept beside it of outputs that were cut for P."""

    def read(entry: ToolEntry) -> tuple[str, str] | None:
        last = max(entry.n, entry.ended_n)
        found = whole_tool(entry, takewhile(lambda event: event.n <= last, room.events(log)))
        if found is None or not entry.kept:
            return found
        kept = _beginning(room.sessions_dir / log / entry.kept)
        return (found[0], kept) if kept else found

    return read


def _beginning(path: Path) -> str:
    """As much of a file as an open row shows, clean; empty when it cannot be read."""
    try:
        with path.open("rb") as file:
            return clean(file.read(4 * WHOLE_SHOWN).decode("utf-8", "replace"))
    except OSError:
        return ""
