"""The Keepers that a transcript can be replayed through: a new one is one module here with a ``make``.

A module may also say ``NEEDS_MODEL`` and give ``questions`` for batches.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING

from app.replay.keepers.interface import KeeperSetup, ReplayKeeper
from store.plain import PlainError

if TYPE_CHECKING:
    from app.replay.chains import Chain
    from app.replay.questions import Book, Question
    from store.room import Room

_SHARED = frozenset(("cues", "interface", "transcript"))


class KeeperError(PlainError):
    """There is no such Keeper, or it lacks what it needs; one plain sentence."""


def names() -> tuple[str, ...]:
    """The Keepers there are."""
    return tuple(sorted(found.name for found in pkgutil.iter_modules(__path__) if found.name not in _SHARED))


def needs_model(name: str) -> bool:
    """Whether a Keeper's module says that it wants an endpoint (``NEEDS_MODEL``). Raises KeeperError."""
    return bool(getattr(_module(name), "NEEDS_MODEL", False))


def make(name: str, setup: KeeperSetup) -> ReplayKeeper:
    """A new Keeper for one chain. Raises KeeperError."""
    made: ReplayKeeper = _module(name).make(setup)
    return made


def questions(
    name: str, room: Room, chain: Chain, upto: int | None, setup: KeeperSetup, book: Book
) -> Iterator[Question]:
    """What a Keeper can ask of a chain without an order, as far as the answers in ``book`` lead; nothing for Keepers
    that ask only in order. Raises KeeperError."""
    ask = getattr(_module(name), "questions", None)
    if ask is not None:
        yield from ask(room, chain, upto, setup, book)


def _module(name: str) -> ModuleType:
    if name not in names():
        raise KeeperError(f"There is no Keeper {name!r}; there are {', '.join(names())}.")
    return importlib.import_module(f"{__name__}.{name}")
