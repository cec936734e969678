"""Finding sessions and places in them, and taking words out: copies that are in a file too, the screen as a picture."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from pathlib import Path

import pytest
from screen_plays import Play, beat, playing, speaks
from screen_samples import sample_app, still_room
from test_room_screen import in_room
from textual.widgets import OptionList

from app.screens.past import PastSession
from app.screens.room_app import SEARCH_SECONDS
from app.scripted.script import Reply, ToolCall
from store.bodies import OperatorSaid, SessionClosed, SessionOpened, ToolAsked, WakePacket
from store.clock import FrozenClock
from store.conditions import load_conditions
from store.room import Room
from widgets.dialogs import ApprovalDialog


def three_sessions(root: Path) -> None:
    """Two closed sessions and an open one, a word said in each."""
    room = Room.open(Room.create(root, "Ada"), clock=FrozenClock(datetime(2026, 11, 30, 20, tzinfo=UTC)))
    with room:
        for number, said in enumerate(("about the Kelvarra clocks", "about the harbour", "about 檜 and [red]"), 1):
            log = room.new_session_id()
            opened = SessionOpened(log, number, load_conditions()["B"], None, "Ada", "m", "", False, str(root), {})
            room.append(log, "system", opened)
            room.append(log, "operator", OperatorSaid(said), turn=1)
            if number < 3:
                room.append(log, "system", SessionClosed("done"))


def rows(play: Play) -> int:
    listed = play.app.screen.query_one(OptionList)
    return sum(1 for option in listed.options if option.id not in ("new", "none"))


@pytest.fixture
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    three_sessions(tmp_path / "room")
    return tmp_path


async def test_a_search_leaves_the_sessions_that_hold_the_words_and_escape_shows_all_again(sessions: Path) -> None:
    async with in_room(sessions) as play:
        assert rows(play) == 3
        await play.press("slash", *"open")
        await play.until(lambda: rows(play) == 1)
        await play.press("escape")
        await play.until(lambda: rows(play) == 3)
        await play.press("slash", *"harbour")
        await play.until_seen("said 1×")
        assert rows(play) == 1
        await play.press("enter", "enter")
        await play.until(lambda: isinstance(play.app.screen, PastSession))
        await play.until_seen("about the harbour")


async def test_words_that_nobody_said_say_so_and_do_not_crash(sessions: Path) -> None:
    async with in_room(sessions) as play:
        await play.press("slash", *'"[/x AND *')
        await play.pilot.pause(SEARCH_SECONDS * 2)
        await play.until_seen("no session holds these words")
        await play.press("enter", "enter", "o")
        assert not isinstance(play.app.screen, PastSession)


async def test_an_open_session_is_read_without_being_taken_up(sessions: Path) -> None:
    async with in_room(sessions) as play:
        before = play.room.seq
        await play.press("G", "k", "k", "o")
        await play.until(lambda: isinstance(play.app.screen, PastSession))
        await play.until_seen("open, to read only")
        await play.until_seen("about 檜 and [red]")
        assert play.room.seq == before


async def test_a_turn_and_the_clocks_own_mark_are_gone_to_by_key(tmp_path: Path) -> None:
    tool = Reply(tools=(ToolCall("bash", {"command": "echo output_test"}),))
    script = speaks(beat("go", tool, Reply(text="Done.")), beat("again", Reply(text="Yes, again.")))
    toml = 'approve = "ask" => approve = "all"'
    async with playing(tmp_path, script, toml=toml, size=(120, 16)) as play:
        for number, words in enumerate(("go", "again", "again", "again"), 1):
            await play.write(words)
            await play.until_ready(number)
        view = play.live.panes.chat.view
        await play.press("f2", "m")
        await play.until(lambda: view.current is not None and getattr(view.current, "name", "") == "bash")
        await play.press("t")
        await play.until_seen("Its number, up to 4.")
        await play.press("3", "enter")
        await play.until(lambda: view.current is not None and view.current.turn == 3)
        await play.press("t", "9", "enter")
        await play.until(lambda: any("no turn '9'" in note for note in play.told()))


async def test_what_is_copied_is_in_a_file_too_and_its_name_shown(tmp_path: Path) -> None:
    room, clock = still_room(tmp_path)
    with room:
        app = sample_app(room, clock, tmp_path / "work")
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            for keys, words in (
                (["f2", "c"], 'OFFSETS = {"KV": 60, "BR": 0}'),
                (["f2", "y"], "The fault is in one place"),
                (["f3", "end", "y"], "finder/clock.py has Kelvarra 60 minutes ahead"),
                (["f4", "y"], "A good evening to be woken into."),
                (["alt+w"], "Kelvarra's clocks"),
            ):
                await pilot.press(*keys)
                await pilot.pause()
                written = room.root / "copied.txt"
                assert words in written.read_text() and written.read_text() == app.clipboard
                assert written.stat().st_mode & 0o777 == 0o600
            assert str(written) in [*app._notifications][-1].message
            assert app.live is not None
            packets = [e.body.text for e in room.events(app.live.session.log) if isinstance(e.body, WakePacket)]
            assert app.clipboard == packets[-1]


async def test_a_copy_from_a_room_that_is_only_read_leaves_the_room_as_it_is(sessions: Path) -> None:
    with Room.open(sessions / "room"):
        before = sorted(path.name for path in (sessions / "room").iterdir())
        from app.screens.room_app import RoomApp

        with Room.open(sessions / "room", read_only=True) as reading:
            app = RoomApp(reading)
            async with app.run_test(size=(120, 40)) as pilot:
                await pilot.press("end", "enter")
                await pilot.pause()
                await pilot.press("y", "f10")
                await pilot.pause()
                said = [note.message for note in app._notifications if "clipboard" in note.message]
                assert said and str(sessions / "room") not in said[0]
        assert sorted(path.name for path in (sessions / "room").iterdir()) == before


async def test_the_screen_is_written_as_a_picture_under_a_free_name(tmp_path: Path) -> None:
    room, clock = still_room(tmp_path)
    with room:
        app = sample_app(room, clock, tmp_path / "work")
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            await pilot.press("f12", "f12")
            await pilot.pause()
    pictures = sorted((tmp_path / "room" / "bundles").glob("*.svg"))
    assert len(pictures) == 2
    text = "".join(ET.fromstring(pictures[0].read_text()).itertext()).replace("\xa0", " ")
    assert "Kelvarra" in text


async def test_a_question_rings_and_names_the_window_and_an_answer_makes_it_quiet(tmp_path: Path) -> None:
    tool = Reply(tools=(ToolCall("bash", {"command": "echo hi"}),))
    async with playing(tmp_path, speaks(beat("go", tool, Reply(text="Done.")))) as play:
        rung: list[str] = []
        play.app.bell = lambda: rung.append("bell")  # type: ignore[method-assign]
        titles: list[str] = []
        play.app._driver.name_window = titles.append  # type: ignore[union-attr]
        await play.write("go")
        await play.until(lambda: play.bodies(ToolAsked))
        await play.until(lambda: rung)
        assert titles[-1] == "● a tool waits for your word · Two Twins"
        dialog = play.app.screen
        assert isinstance(dialog, ApprovalDialog)
        await play.until(lambda: dialog._armed)
        await play.press("y")
        await play.until_ready(1)
        assert titles[-1] == "Two Twins" and len(rung) == 1


@pytest.mark.parametrize(("key", "shown"), [("f2", "Last tool error"), ("f3", "Promote"), ("f4", "Page down")])
async def test_a_question_mark_shows_what_has_the_keys(tmp_path: Path, key: str, shown: str) -> None:
    room, clock = still_room(tmp_path)
    with room:
        app = sample_app(room, clock, tmp_path / "work")
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            await pilot.press("question_mark")
            assert app.live is not None and app.live.panes.composer.area.text == "?"
            await pilot.press(key, "question_mark")
            await pilot.pause()
            seen = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
            assert ("Keys here" in seen and "keep a hot line" in seen.lower()) or shown in seen
