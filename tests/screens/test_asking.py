"""Asking on screen: commands by a slash, files by an at sign, the room's earlier words, the operator's own editor."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from screen_plays import Play, beat, playing, speaks
from terminals import twins
from textual.command import CommandPalette

from app.screens.editing import NoEditor, editor_command
from app.screens.files import MOST_ENTRIES, MOST_OFFERED, WorkspaceFiles
from app.scripted.script import Reply
from app.session.opening import open_session
from store.bodies import OperatorSaid
from store.room import Room
from store.said import operator_words
from tests.widgets.panel_samples import HOSTILE
from widgets.composer.offers import Offers


def offered(play: Play) -> Offers:
    return play.live.query_one(Offers)


async def test_a_slash_in_an_empty_composer_lists_the_commands_and_elsewhere_it_is_a_slash(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks()) as play:
        await play.press("slash")
        await play.until(lambda: isinstance(play.app.screen, CommandPalette))
        await play.until_seen("Export")
        await play.press("escape")
        await play.until(lambda: play.live.is_current)
        await play.press("a", "slash", "b")
        assert play.live.panes.composer.text == "a/b"


async def test_an_at_sign_offers_files_and_tab_takes_one(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks()) as play:
        work = play.session.workspace
        (work / "src").mkdir()
        for name in ("src/clock.py", "src/other.py", "README.md"):
            (work / name).write_text("x")
        await play.press(*"see @clo")
        await play.until(lambda: offered(play).chosen == "src/clock.py", "the file")
        await play.until_seen("› src/clock.py")
        await play.press("tab", *"now")
        assert play.live.panes.composer.text == "see @src/clock.py now"
        assert not offered(play).display


async def test_up_and_down_choose_among_the_files_enter_takes_and_escape_leaves_them(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks()) as play:
        for name in ("a1", "a2", "a3"):
            (play.session.workspace / name).write_text("x")
        await play.press(*"@a")
        await play.until(lambda: offered(play).chosen == "a1")
        await play.press("down", "down", "up", "enter")
        assert play.live.panes.composer.text == "@a2 "
        await play.press(*"@a")
        await play.until(lambda: offered(play).chosen is not None)
        await play.press("escape")
        assert not offered(play).display and play.live.panes.composer.text == "@a2 @a"
        assert not play.bodies(OperatorSaid), "enter was about the names"


async def test_an_address_with_an_at_sign_in_it_offers_nothing(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks()) as play:
        (play.session.workspace / "host").write_text("x")
        await play.press(*"ada@ho")
        await play.pilot.pause(0.1)
        assert not offered(play).display


def test_files_are_listed_without_links_hidden_trees_and_names_that_a_terminal_would_obey(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "b.py").write_text("x")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "b.py").write_text("x")
    (tmp_path / "b\x1b[31m.py").write_text("x")
    (tmp_path / "out").symlink_to("/")
    names = WorkspaceFiles(tmp_path).matching("")
    assert set(names) == {"in/", "in/b.py", "out"}


def test_a_folder_of_any_size_is_looked_at_within_a_bound(tmp_path: Path) -> None:
    for number in range(MOST_OFFERED + 5):
        (tmp_path / f"f{number}").write_text("")
    assert len(WorkspaceFiles(tmp_path).matching("f")) == MOST_OFFERED
    assert MOST_ENTRIES <= 50_000


def test_a_workspace_that_is_gone_offers_nothing(tmp_path: Path) -> None:
    assert WorkspaceFiles(tmp_path / "gone").matching("a") == ()


async def test_up_walks_into_the_words_of_earlier_sessions(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("first", Reply(text="Well.")))) as play:
        await play.write("first words")
        await play.until_ready(1)
        await play.press("ctrl+q")
        await play.until_seen("Close this session?")
        await play.press("n")
        await play.until_seen("The session is closed")
        session = play.session
        opened = open_session(
            play.room, session.endpoint, condition=session.condition, task=None, workspace=session.workspace
        )
        play.app.show_session(opened, session.endpoint)
        await play.until(lambda: play.live.session.log != session.log and play.live.is_current)
        await play.until(lambda: hasattr(play.live, "panes"))
        area = play.live.panes.composer.area
        await play.until(lambda: area._history, "the room's words")
        play.live.panes.composer.focus_area()
        await play.press("up")
        assert area.text == "first words"
        await play.press("down")
        assert area.text == ""


def test_the_rooms_words_are_the_newest_ones_in_their_order_and_damage_is_passed_over(tmp_path: Path) -> None:
    from app.session.endpoint import Endpoint
    from store.conditions import load_conditions

    with Room.open(Room.create(tmp_path / "room", "Ada")) as room:
        endpoint = Endpoint("http://127.0.0.1:1", "none", "m", scripted=True)
        logs = []
        for number in range(3):
            record = open_session(
                room, endpoint, condition=load_conditions()["B"], task=None, workspace=tmp_path
            ).record
            record.append("operator", OperatorSaid(f"one {number} {HOSTILE}"))
            record.append("operator", OperatorSaid(f"two {number}"))
            logs.append(record.log)
        with room.log_path(logs[0]).open("ab") as log:
            log.write(b'{"kind":"operator.said"\n')
        words = operator_words(room, besides=logs[2], limit=3)
        assert words == ("two 0", f"one 1 {HOSTILE}", "two 1")


async def test_without_an_editor_ctrl_x_says_what_to_set_and_with_a_selection_it_cuts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    async with playing(tmp_path, speaks()) as play:
        await play.press(*"words", "ctrl+x")
        await play.until(lambda: any("set EDITOR" in words for words in play.told()))
        assert play.live.panes.composer.text == "words"
        play.live.panes.composer.area.select_all()
        await play.press("ctrl+x")
        assert play.live.panes.composer.text == ""


def test_visual_goes_before_editor_and_what_cannot_be_read_is_said() -> None:
    assert editor_command({"VISUAL": "vi -u NONE", "EDITOR": "nano"}) == ["vi", "-u", "NONE"]
    with pytest.raises(NoEditor, match="VISUAL"):
        editor_command({"VISUAL": "vi '"})


def test_the_editor_gets_the_words_and_a_real_terminal_and_gives_them_back(tmp_path: Path) -> None:
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import sys, pathlib\n"
        "file = pathlib.Path(sys.argv[1])\n"
        "assert sys.stdin.isatty() and sys.stdout.isatty()\n"
        "print('THE EDITOR HAS', file.read_text(), flush=True)\n"
        "input()\n"
        "file.write_text(file.read_text() + ' and mine\\n')\n"
    )
    with twins("demo", folder=tmp_path, EDITOR=f"{sys.executable} {editor}") as terminal:
        terminal.until("ready for you")
        terminal.send("mywords")
        terminal.until("mywords")
        terminal.send("\x18")  # ctrl+x
        terminal.until("THE EDITOR HAS mywords")
        terminal.send("\n")
        terminal.until("mywords and mine")
        terminal.send("\x11")
        terminal.until("Close this session?")
        terminal.send("l")
        assert terminal.until_ended() == 0
        assert terminal.is_as_it_was()
