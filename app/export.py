"""Bundles of the room's sessions, with the measures and the briefs that belong in them."""

from __future__ import annotations

import os
from pathlib import Path

from app.measure.metrics import metrics
from app.session.briefs import brief_sources
from store.bodies import BundleExported
from store.bundle import Exported, Verdict, verify_bundle, write_bundle
from store.room import LogName, Room
from store.secrets import known_secrets


def export_bundle(room: Room, session: str, file: Path, *, redact: bool = False) -> Exported:
    """Export a session into the new zip ``file``. When the room is open for writing, the session's log says so.

    ``redact`` takes secrets out: those that detect-secrets finds, and the values of this process's own credentials.
    """
    known = None
    if redact:
        known = known_secrets(os.environ)
        variable = room.settings.endpoint.api_key_env
        if key := os.environ.get(variable):
            known[key] = variable
    exported = write_bundle(room.root, LogName(session), file, metrics, brief_sources(room.root), known)
    if not room.read_only:
        room.append(LogName(session), "operator", BundleExported(str(file), exported.sha256))
    return exported


def verify(path: Path) -> Verdict:
    """Check a bundle whole: hashes, chain, views, metrics."""
    return verify_bundle(path, metrics)
