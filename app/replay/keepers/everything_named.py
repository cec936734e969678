"""Control: the whole transcript with the speaker before every sentence."""

from __future__ import annotations

from app.replay.keepers.interface import KeeperSetup, ReplayKeeper
from app.replay.keepers.transcript import Transcript


def make(setup: KeeperSetup) -> ReplayKeeper:
    """A new one for one chain."""
    return Transcript("everything_named", None, from_end=False, named=True)
