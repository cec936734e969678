"""A second `twins` on one room: it reads along, and writes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from screen_plays import Play

from app.keeping import screen_room
from app.screens.past import PastSession
from app.screens.room_app import RoomApp
from store.bodies import ConditionRecord, OperatorSaid, SessionOpened
from store.room import LogName, Room


def begun(room: Room) -> LogName:
    condition = ConditionRecord("B", "silent", True, False, False, False, False, ())
    log = room.new_session_id()
    number = len(room.sessions()) + 1
    room.append(log, "system", SessionOpened(log, number, condition, None, "Ada", "m", "", True, "", {}))
    return log


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


async def test_a_second_twins_follows_what_the_first_one_writes(tmp_path: Path) -> None:
    root = Room.create(tmp_path / "room", "Ada")
    with Room.open(root) as writer:
        log = begun(writer)
        writer.append(log, "operator", OperatorSaid("The first word."), 1)
        with screen_room(root) as room:
            assert room.read_only
            app = RoomApp(room)
            async with app.run_test(size=(120, 40), notifications=True) as pilot:
                play = Play(app, pilot, None, room, None)  # type: ignore[arg-type]
                await play.until_seen("in use by")
                begun(writer)
                await play.until(lambda: play.seen().count("○ open") >= 2)
                await play.press("n")
                await play.until_seen("no session can be begun")
                await play.press("down", "down", "enter")
                await play.until(lambda: isinstance(app.screen, PastSession))
                await play.until_seen("The first word.")
                writer.append(log, "operator", OperatorSaid("A word that came later."), 2)
                await play.until_seen("A word that came later.")
        assert writer.seq == 6
