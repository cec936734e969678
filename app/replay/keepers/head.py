"""The baseline that hands over the first bytes of the transcript."""

from __future__ import annotations

from app.replay.keepers.interface import KeeperSetup, ReplayKeeper
from app.replay.keepers.transcript import BYTES, Transcript


def make(setup: KeeperSetup) -> ReplayKeeper:
    """A new one for one chain."""
    return Transcript("head", BYTES, from_end=False)
