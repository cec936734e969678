"""Writes a session's bundle under a name that is still free."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from app.export import export_bundle
from store.room import LogName, Room


def export_into(room: Room, log: LogName, folder: Path) -> Path:
    """Export a session into ``folder`` (made when it is not there) as ``<session>.zip``, or ``-2`` and so on when that
    is taken: nothing is overwritten. Raises what the export raises."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    names = (f"{log}.zip" if number == 1 else f"{log}-{number}.zip" for number in count(1))
    free = next(folder / name for name in names if not (folder / name).exists())
    return export_bundle(room, log, free).file
