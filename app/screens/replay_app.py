"""`twins replay --play` on screen: the sessions of one chain, as one Keeper or two kept them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from app.replay.importers.records import TranscriptError
from app.replay.playback import playback
from app.screens.replay import Played, ReplayScreen
from app.tui import TwinsApp
from store.room import Room


class ReplayApp(TwinsApp):
    """The replay screen, and nothing before or behind it."""

    def __init__(self, room: Room, sessions: Sequence[Callable[[], Sequence[Played]]], place: int) -> None:
        super().__init__(room)
        self._sessions = sessions
        self._place = place

    def begin(self) -> None:
        self.push_screen(ReplayScreen(self._sessions, place=self._place, standalone=True))


def sessions_of(rooms: Sequence[tuple[str, Room]]) -> tuple[Callable[[], Sequence[Played]], ...]:
    """The sessions of a room, each to be read when it is shown; with a second room, the session of the same number
    beside it. Raises TranscriptError when there is none."""
    _, main = rooms[0]
    made = tuple(partial(_played, rooms, row.number) for row in main.sessions())
    if not made:
        raise TranscriptError(f"{main.root} holds no session to replay.")
    return made


def _played(rooms: Sequence[tuple[str, Room]], number: int) -> tuple[Played, ...]:
    found = []
    for name, room in rooms:
        row = next((row for row in room.sessions() if row.number == number), None)
        if row is not None:
            found.append(Played(room, row.id, playback(room, row.id), name))
    if len(found) < len(rooms):
        # The screen has a pane for each Keeper: one that has not come so far shows what it has.
        missing = [rooms[place] for place in range(len(rooms)) if rooms[place][0] not in {one.title for one in found}]
        for name, room in missing:
            last = room.sessions()[-1]
            found.append(Played(room, last.id, playback(room, last.id), f"{name} (only to session {last.number})"))
    return tuple(found)


def play(place: Path, keepers: Sequence[str], chain: str, session: int) -> None:
    """Opens a room, or the rooms of a replay in its work folder, on screen. Raises TranscriptError, RoomError."""
    with ExitStack() as stack:
        rooms = [
            (name, stack.enter_context(Room.open(root, read_only=True))) for name, root in found(place, keepers, chain)
        ]
        sessions = sessions_of(rooms)
        at = min(max(0, session - 1), len(sessions) - 1)
        ReplayApp(rooms[0][1], sessions, at).run()


def found(place: Path, keepers: Sequence[str], chain: str) -> list[tuple[str, Path]]:
    """The rooms to play, with what to call them: one, or two of the same chain. Raises TranscriptError."""
    if (place / "room.toml").is_file():
        return [("as it was", place)]
    folders = sorted(folder for folder in (place / "rooms").glob("*") if folder.is_dir() and chain in folder.name)
    if not folders:
        raise TranscriptError(f"{place} is no room and holds no replay; run: twins replay DATA --out {place}")
    names = list(keepers) or sorted(folder.name for folder in folders[0].iterdir() if folder.is_dir())
    rooms = [(name, folders[0] / name) for name in names[:2] if (folders[0] / name / "room.toml").is_file()]
    if not rooms:
        raise TranscriptError(f"{folders[0].name} holds no replay by {', '.join(names) or 'any Keeper'}.")
    return rooms
