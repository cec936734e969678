"""Fixtures for the tests of replay: a room to import into, and a way to do it in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.replay.taking import Library, Report
from store.room import Room

Take = Callable[..., list[Report]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A new room, open nowhere."""
    return Room.create(tmp_path / "room", "Derick")


@pytest.fixture
def take(root: Path) -> Take:
    """Imports files into the room in one go."""

    def taken(*files: Path) -> list[Report]:
        with Library(root) as library:
            return [library.take(file) for file in files]

    return taken
