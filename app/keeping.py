"""Opening the room that a command means, for reading or for work, and saying what was found in it."""

from __future__ import annotations

import sys
from pathlib import Path

from app.plan import room_path
from store.bodies import Notice
from store.mending import open_to_work
from store.room import Room, RoomHeld
from store.text import clean


def reading_room(given: Path | None) -> Room:
    """The room, open read-only; nothing in it is changed, and another process may be writing to it."""
    return Room.open(room_path(given), read_only=True)


def working_room(given: Path | None, *, on_screen: bool) -> Room:
    """The room, open for writing, with what a crash left undone made good. What was found is said on standard error,
    or left to the screen."""
    room = open_to_work(room_path(given))
    if not on_screen:
        tell_what_was_found(room)
    return room


def tell_what_was_found(room: Room) -> None:
    """Says on standard error what was found when the room was opened, and what was made good."""
    for notice in room.found:
        print(f"twins: {clean(notice.text)}", file=sys.stderr)


def screen_room(given: Path | None) -> Room:
    """The room for the screen: open for writing, or read-only while another process writes to it."""
    try:
        return working_room(given, on_screen=True)
    except RoomHeld as held:
        room = reading_room(given)
        room.found.append(Notice("warning", f"{held}. It is open read-only here and follows what is written there."))
        return room
