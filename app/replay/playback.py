"""One session as it stood at each of its turns: what was said by then, the tiers, the snug, what had just changed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from store.bodies import (
    Change,
    JournalWritten,
    KeeperPassed,
    OperatorSaid,
    SessionClosed,
    SessionOpened,
    TiersChanged,
    TurnEnded,
)
from store.events import Event, fold
from store.lines import Tiers
from store.room import LogName, Room


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the snug: who signed it, when, its words, and whether this session wrote it."""

    by: str
    at: str
    text: str
    new: bool


@dataclass(frozen=True, slots=True)
class Moment:
    """The session at the end of one step. ``turn`` is 0 for the opening and None for the close; ``end`` is how many
    of the session's events had come; ``changes`` are those of this step."""

    turn: int | None
    at: str
    end: int
    tiers: Tiers
    changes: tuple[Change, ...]
    snug: int

    @property
    def name(self) -> str:
        """The step in words."""
        return "the opening" if self.turn == 0 else "the close" if self.turn is None else f"turn {self.turn}"


class Playback:
    """The moments of one session, in the order of its log: what K did late stands where it came, not where it belongs.

    Tiers are shared between moments as long as nothing changes, so a long session costs little more than its log.
    """

    def __init__(self, events: Iterable[Event], before: Tiers, snug: Iterable[Entry] = ()) -> None:
        self.events = tuple(events)
        self.snug = list(snug)
        self.number = 0
        closes_at = _close_of(self.events)
        moments: list[Moment] = []
        tiers = before
        turn: int | None = 0
        at, changes = self.events[0].at if self.events else "", list[Change]()

        def step(end: int) -> None:
            moments.append(Moment(turn, at, end, tiers, tuple(changes), len(self.snug)))
            changes.clear()

        for place, event in enumerate(self.events):
            body = event.body
            if isinstance(body, OperatorSaid) and event.turn != turn:
                step(place)
                turn, at = event.turn, event.at
            elif place == closes_at:
                step(place)
                turn, at = None, event.at
            if isinstance(body, SessionOpened):
                self.number = body.number
            elif isinstance(body, TiersChanged):
                changes.extend(body.changes)
            elif isinstance(body, JournalWritten) and body.journal == "snug":
                self.snug.append(Entry(event.by, event.at, body.text, True))
            tiers = fold(tiers, (event,))
        step(len(self.events))
        self.moments = tuple(moments)
        self._turns = [moment.turn or 0 for moment in moments if moment.turn is not None]

    def step_of(self, turn: int) -> int:
        """The step at which a turn ends; the nearest one before it when there is no such turn."""
        return max(0, bisect_right(self._turns, turn) - 1)


def _close_of(events: Sequence[Event]) -> int | None:
    """Where a closed session's close begins: behind its last turn and the Keeper's pass over it; None while it is
    open."""
    if not any(isinstance(event.body, SessionClosed) for event in events):
        return None
    for place in range(len(events) - 1, -1, -1):
        body = events[place].body
        passed = isinstance(body, KeeperPassed) and body.purpose != "closing"
        if passed or isinstance(body, OperatorSaid | TurnEnded):
            return place + 1
    return None


def playback(room: Room, log: LogName) -> Playback:
    """One session of a room, with the tiers and the snug that it found."""
    tiers = Tiers()
    snug: list[Entry] = []
    own = list(room.events(log))
    first = own[0].seq if own else 0
    for event in room.all_events():
        if event.seq >= first:
            break
        tiers = fold(tiers, (event,))
        if isinstance(event.body, JournalWritten) and event.body.journal == "snug":
            snug.append(Entry(event.by, event.at, event.body.text, False))
    return Playback(own, tiers, snug)
