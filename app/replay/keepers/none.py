"""The baseline that hands over nothing."""

from __future__ import annotations

from app.replay.keepers.interface import KeeperSetup, ReplayKeeper
from app.replay.keepers.transcript import Transcript


def make(setup: KeeperSetup) -> ReplayKeeper:
    """A new one for one chain."""
    return Transcript("none", 0, from_end=False)
