"""Opening a room to work in it: what a crash left undone in its journals and letters is made good first."""

from __future__ import annotations

from pathlib import Path

from store.bodies import Notice
from store.clock import Clock
from store.journals import rebuild_journals
from store.letters import rebuild_letters
from store.log import Disk
from store.room import Room


def open_to_work(root: Path, clock: Clock | None = None, disk: Disk | None = None) -> Room:
    """The room in ``root``, open for writing. When the process that wrote here last never closed it, journals and
    letters are brought up to the log. What was found and done is in ``found``, for the operator to see.

    Raises what ``Room.open`` raises.
    """
    room = Room.open(root, clock=clock, disk=disk)
    if room.crashed:
        try:
            room.found += [Notice("warning", done) for done in mend(room)]
        except BaseException:
            room.close()
            raise
    return room


def mend(room: Room) -> tuple[str, ...]:
    """Brings journals and letters up to the log; what was done, a sentence each. What cannot be written now is said
    too, and can be done later: the log holds it. Raises RoomError when the room is read-only."""
    try:
        return (*rebuild_journals(room), *rebuild_letters(room))
    except OSError as error:
        return (f"journals or letters lack words that the log holds ({error.strerror}); try: twins doctor --repair",)
