"""What a Keeper of a replay must do, and what it is given to do it with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from app.replay.chains import Turn
from app.replay.importers.records import Source
from app.session.keeper_tools import KeeperDesk
from app.session.record import SessionLog
from store.plain import PlainError


class KeeperStopped(PlainError):
    """A Keeper cannot go on with this chain; what was done stands. One plain sentence."""


@dataclass(frozen=True, slots=True)
class KeeperSetup:
    """What the user gave for Keepers with a model: where it is, how long its answers may be, whether what needs no
    answer in order goes out in batches, and the file in which their answers are kept."""

    base_url: str = ""
    key: str = ""
    model: str = ""
    max_tokens: int = 4_000
    max_retries: int = 4
    idle_timeout_s: float = 90.0
    batch: bool = False
    book: str = ""

    def __repr__(self) -> str:
        return f"KeeperSetup(base_url={self.base_url!r}, model={self.model!r})"


@dataclass(frozen=True, slots=True)
class Passed:
    """What one pass came to: operations accepted and refused, and a word when nothing was kept."""

    accepted: int = 0
    refused: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """One session that is being replayed: its log with tiers and evidence, the live Keeper's own desk in front of the
    gate, and whose session it is. ``may_spend`` raises BudgetSpent when no more requests may be sent."""

    record: SessionLog
    desk: KeeperDesk
    source: Source
    may_spend: Callable[[], None]


class ReplayKeeper(ABC):
    """One Keeper while it hears one chain of sessions.

    ``name`` is what the command line and the tables call it; ``model`` names what is behind it, empty for none.
    A Keeper without ``keeps_tiers`` is a baseline: it is given no session, only turns, and ``loaded`` is its all.
    """

    name: str = ""
    model: str = ""
    keeps_tiers: bool = True

    async def open(self, scene: Scene) -> None:  # noqa: B027 - most have nothing to do here
        """A session has opened: decay is done, nothing is said yet."""

    @abstractmethod
    def overhear(self, turn: Turn) -> None:
        """Take a turn in without acting: it was worked on before a restart, or is about to be by ``hear``."""

    async def hear(self, scene: Scene, turn: Turn) -> Passed | None:
        """The turn is over (``overhear`` was given it): keep what it holds. None when the Keeper has logged its pass
        itself."""
        return Passed()

    async def closing(self, scene: Scene) -> Passed | None:
        """The session closes: hot will expire."""
        return Passed()

    async def end(self) -> None:  # noqa: B027 - most hold nothing open
        """The chain is over; let go of connections."""

    def loaded(self) -> str:
        """What a baseline hands to a successor. Keepers of tiers hand over the tiers."""
        return ""
