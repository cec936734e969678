"""The room's list of sessions: begin one, take up an open one, read a closed one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from screen_plays import Play, beat, speaks

from app.screens.new_session import NewSession
from app.screens.past import PastSession
from app.screens.room_app import RoomApp, RoomScreen
from app.scripted.script import Reply
from app.scripted.server import ScriptedServer
from store.bodies import SessionResumed
from store.room import Room


@asynccontextmanager
async def in_room(folder: Path, *, base_url: str = "") -> AsyncIterator[Play]:
    root = folder / "room"
    if not root.exists():
        Room.create(root, "Ada", base_url=base_url)
    with Room.open(root) as room:
        app = RoomApp(room)
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            yield Play(app, pilot, None, room, None)  # type: ignore[arg-type]
            if app.live is not None and app.is_running:
                await app.live.leave()


@pytest.fixture
def no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.mark.usefixtures("no_key")
async def test_without_key_and_base_url_the_list_says_what_to_set_and_nothing_is_written(tmp_path: Path) -> None:
    async with in_room(tmp_path) as play:
        await play.until_seen("set ANTHROPIC_API_KEY")
        await play.press("n")
        await play.until(lambda: isinstance(play.app.screen, NewSession))
        await play.press("enter")
        await play.until(lambda: play.seen().count("There is no API key") == 2)
        assert play.room.sessions() == () and play.room.seq == 0


@pytest.mark.usefixtures("no_key")
async def test_a_session_is_begun_left_taken_up_closed_and_read(tmp_path: Path) -> None:
    script = speaks(beat("hello", Reply(text="Good evening, Ada.")))
    async with ScriptedServer(script) as server, in_room(tmp_path, base_url=server.base_url) as play:
        await play.press("enter")
        await play.until(lambda: isinstance(play.app.screen, NewSession))
        await play.press("enter")
        await play.until(lambda: play.app.live is not None and play.live.is_running)
        play.session = play.live.session
        await play.pilot.pause()
        assert play.session.workspace == tmp_path / "work" and "scripted" not in play.seen()
        await play.write("hello")
        await play.until_ready(1)
        await play.press("ctrl+c", "ctrl+c")
        await play.until(lambda: isinstance(play.app.screen, RoomScreen))
        await play.until_seen("○ open")
        await play.press("end", "enter")
        await play.until(lambda: play.app.live is not None and play.live.is_running)
        play.session = play.live.session
        await play.until_seen("Good evening, Ada.")
        assert len(play.bodies(SessionResumed)) == 1
        await play.press("ctrl+q")
        await play.until_seen("Close this session?")
        await play.press("n")
        await play.until_seen("back to the room")
        await play.press("enter")
        await play.until(lambda: isinstance(play.app.screen, RoomScreen))
        await play.until_seen("□ closed")
        await play.press("end", "enter")
        await play.until(lambda: isinstance(play.app.screen, PastSession))
        await play.until_seen("Good evening, Ada.")
        await play.press("escape", "ctrl+q")
        await play.until(lambda: not play.app.is_running)


@pytest.mark.usefixtures("no_key")
@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("condition", "Z", "no condition 'Z'"),
        ("task", "nowhere.toml", "nowhere.toml"),
        ("workspace", "nowhere", "is no folder"),
    ],
)
async def test_what_cannot_be_used_is_said_in_the_dialog(tmp_path: Path, field: str, value: str, said: str) -> None:
    async with ScriptedServer(speaks()) as server, in_room(tmp_path, base_url=server.base_url) as play:
        await play.press("n")
        await play.until(lambda: isinstance(play.app.screen, NewSession))
        play.app.screen.query_one(f"#new-{field}").value = value
        await play.press("enter")
        await play.until_seen(said)
        assert play.room.sessions() == ()


@pytest.mark.usefixtures("no_key")
async def test_an_endpoint_that_is_not_there_is_said_in_the_dialog(tmp_path: Path) -> None:
    async with in_room(tmp_path, base_url="http://127.0.0.1:9") as play:
        await play.press("n")
        await play.until(lambda: isinstance(play.app.screen, NewSession))
        await play.press("enter")
        await play.until_seen("cannot be reached")
        assert play.room.sessions() == ()
