"""Bundles of the room's sessions, with the measures and the briefs that belong in them."""

from __future__ import annotations

from pathlib import Path

from app.measure.metrics import metrics
from app.session.briefs import brief_sources
from store.bodies import BundleExported
from store.bundle import Exported, Verdict, verify_bundle, write_bundle
from store.room import LogName, Room


def export_bundle(room: Room, session: str, file: Path) -> Exported:
    """Export a session into the new zip ``file``. When the room is open for writing, the session's log says so."""
    exported = write_bundle(room.root, LogName(session), file, metrics, brief_sources(room.root))
    if not room.read_only:
        room.append(LogName(session), "operator", BundleExported(str(file), exported.sha256))
    return exported


def verify(path: Path) -> Verdict:
    """Check a bundle whole: hashes, chain, views, metrics."""
    return verify_bundle(path, metrics)
