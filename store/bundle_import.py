"""Taking a bundle's session into a room: whole or not at all, and only where its memory fits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from store.bodies import BundleImported, TiersTaken
from store.bundle import BundleError
from store.events import line_hash
from store.lines import Tiers
from store.mending import mend
from store.room import DESK, Room
from store.session_record import SessionRecord
from store.standing import LogName


@dataclass(frozen=True, slots=True)
class Imported:
    """A session taken in: its log here, its events, and what was written beside the log, a sentence each."""

    session: LogName
    events: int
    written: tuple[str, ...]


def take_in(room: Room, record: SessionRecord, file: Path) -> Imported:
    """Takes the session of a bundle that was verified into ``room``. Hot and warm are then what they were where it is
    from, and every measure of it is the same.

    A room that holds no session and no line begins with the tiers that the session began with; any other must have
    just these (it holds the sessions before this one). So no memory is ever mixed with another, and nothing is
    overwritten. What changed the tiers from other logs meanwhile comes into the session's own log, in its place.
    Journals and letters are written as from any log, and whole outputs put beside it as they were. P's memory folder
    is not in a bundle.

    Raises BundleError when the session is here already or does not fit, RoomError, LogWriteError. When it raises, the
    session is not in the room; begun again, it is taken in as if for the first time.
    """
    if record.log in room.logs():
        raise BundleError(f"session {record.log} is in {room.root} already; nothing was changed")
    begins_here = not room.sessions() and not len(room.tiers)
    if not begins_here and not _same(room.tiers, record.before):
        raise BundleError(
            f"session {record.log} began with other lines than {room.root} holds, and memories are not mixed; "
            "import the sessions before it first, or import it into a new room (twins init)"
        )
    last = line_hash(record.content.rstrip(b"\n").rsplit(b"\n", 1)[-1])
    events = tuple(record.in_order())
    room.append(DESK, "operator", BundleImported(record.log, file.name, len(events), last))
    if not _same(room.tiers, record.before):
        before = record.before
        room.append(DESK, "operator", TiersTaken(tuple(before), before.next_number, before.session))
    room.adopt(record.log, events, record.outputs)
    return Imported(record.log, len(events), mend(room))


def _same(one: Tiers, other: Tiers) -> bool:
    return (list(one), one.next_number, one.session) == (list(other), other.next_number, other.session)
