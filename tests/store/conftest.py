"""Rooms, clocks and lines for the tests of the store."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from store.clock import FrozenClock
from store.room import Room


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(datetime(2026, 11, 30, 0, 5, 12, tzinfo=UTC))


@pytest.fixture
def room_path(tmp_path: Path) -> Path:
    """A new room on the disk, open nowhere."""
    return Room.create(tmp_path / "room", "Derick")


@pytest.fixture
def room(room_path: Path, clock: FrozenClock) -> Iterator[Room]:
    with Room.open(room_path, clock=clock) as opened:
        yield opened
