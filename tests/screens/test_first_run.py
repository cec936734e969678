"""The first screen: while there is no room it asks for what a room needs, tries the endpoint, and makes the room."""

from __future__ import annotations

from pathlib import Path

import pytest
from screen_plays import speaks
from terminals import twins
from textual.pilot import Pilot
from textual.widgets import Input, Static

from app.screens.first_run import FirstRun
from app.scripted.server import ScriptedServer
from store.settings import load_settings

KEY = "sk-ant-planted-0123456789"


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def said(app: FirstRun) -> str:
    return str(app.query_one("#first-said", Static).render())


async def until_said(app: FirstRun, pilot: Pilot[object], words: str) -> None:
    for _ in range(400):
        if words in said(app):
            return
        await pilot.pause(0.02)
    pytest.fail(f"{words!r} was not said, but {said(app)!r}")


def fill(app: FirstRun, **fields: str) -> None:
    for name, value in fields.items():
        app.query_one(f"#first-{name}", Input).value = value


async def test_the_endpoint_is_tried_in_one_line_and_the_room_is_made_as_filled_in(tmp_path: Path) -> None:
    async with ScriptedServer(speaks()) as server:
        app = FirstRun(tmp_path / "room")
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            url = server.base_url
            fill(app, name='Ada "the" [b]', url=url, model="scripted", variable="MY_KEY")
            await pilot.press("ctrl+t")
            await until_said(app, pilot, "answered in")
            assert not (tmp_path / "room").exists()
            await pilot.press("enter")
        assert app.return_value == tmp_path / "room"
    settings = load_settings(tmp_path / "room" / "room.toml")
    assert (settings.operator, settings.endpoint.base_url) == ('Ada "the" [b]', url)
    assert (settings.endpoint.model, settings.endpoint.api_key_env) == ("scripted", "MY_KEY")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"url": "http://127.0.0.1:9"}, "cannot be reached"),
        ({}, "There is no API key"),
        ({"url": "ftp://x"}, "endpoint.base_url"),
        ({"name": ""}, "operator"),
        ({"variable": KEY}, "never the key itself"),
        ({"url": f"http://{KEY}@127.0.0.1/"}, "no key or password"),
    ],
)
async def test_what_is_wrong_is_one_line_that_never_repeats_a_key(
    tmp_path: Path, fields: dict[str, str], words: str
) -> None:
    app = FirstRun(tmp_path / "room")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        fill(app, **fields)
        await pilot.pause()
        await pilot.press("ctrl+t")
        await until_said(app, pilot, words)
        assert KEY not in said(app)
        await pilot.press("escape")
    assert app.return_value is None and not (tmp_path / "room").exists()


async def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    app = FirstRun(tmp_path / "mine")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        await until_said(app, pilot, "not empty")
        await pilot.press("escape")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


def test_twins_without_any_room_begins_with_the_first_screen_and_goes_on_into_the_room(tmp_path: Path) -> None:
    with twins("--room", str(tmp_path / "room"), folder=tmp_path) as terminal:
        terminal.until("There is no room yet")
        terminal.send("\r")
        terminal.until("new session")
        terminal.send("\x11")
        assert terminal.until_ended() == 0 and terminal.is_as_it_was()
    assert (tmp_path / "room" / "room.toml").is_file()
