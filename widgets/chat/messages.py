"""What the chat posts: small messages with plain values."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from store.entries import Entry


@dataclass
class TurnChosen(Message):
    """The cursor came to an entry of another turn."""

    turn: int


@dataclass
class EntryOpened(Message):
    """An entry that folds was opened or closed."""

    entry: Entry
    opened: bool


@dataclass
class Copied(Message):
    """``text`` was handed to the terminal's clipboard; no terminal confirms that it took it. ``what`` names it."""

    text: str
    what: str


@dataclass
class TurnWanted(Message):
    """The operator wants to go to a turn by its number."""


@dataclass
class RetWanted(Message):
    """The operator wants to see where the RET's clock stopped, or was marked."""


@dataclass
class FollowChanged(Message):
    """The view began or ceased to follow the newest words."""

    following: bool
