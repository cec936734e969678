"""The Keepers that a transcript can be replayed through: a new one is one module here with a ``make``."""

from __future__ import annotations

import importlib
import pkgutil

from app.replay.keepers.interface import KeeperSetup, ReplayKeeper
from store.plain import PlainError

_SHARED = frozenset(("cues", "interface", "transcript"))


class KeeperError(PlainError):
    """There is no such Keeper, or it lacks what it needs; one plain sentence."""


def names() -> tuple[str, ...]:
    """The Keepers there are."""
    return tuple(sorted(found.name for found in pkgutil.iter_modules(__path__) if found.name not in _SHARED))


def make(name: str, setup: KeeperSetup) -> ReplayKeeper:
    """A new Keeper for one chain. Raises KeeperError."""
    if name not in names():
        raise KeeperError(f"There is no Keeper {name!r}; there are {', '.join(names())}.")
    made: ReplayKeeper = importlib.import_module(f"{__name__}.{name}").make(setup)
    return made
