"""Control: the last bytes of the transcript with the speaker before every sentence."""

from __future__ import annotations

from app.replay.keepers.interface import KeeperSetup, ReplayKeeper
from app.replay.keepers.transcript import BYTES, Transcript


def make(setup: KeeperSetup) -> ReplayKeeper:
    """A new one for one chain."""
    return Transcript("tail_named", BYTES, from_end=True, named=True)
