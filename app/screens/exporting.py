"""Writes a session's bundle under a name that is still free."""

from __future__ import annotations

from pathlib import Path

from app.export import export_bundle
from app.screens.free_name import free_file
from store.room import LogName, Room


def export_into(room: Room, log: LogName, folder: Path) -> Path:
    """Export a session into ``folder`` (made when it is not there) as ``<session>.zip``. Raises what the export
    raises."""
    return export_bundle(room, log, free_file(folder, log, "zip")).file
