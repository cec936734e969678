"""A session as it stood at each turn, and the screen that steps and plays through it."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Take
from hypothesis import given, settings
from hypothesis import strategies as st
from test_replay import MONTHS, TALK, played
from textual.widgets import Static

from app.replay.importers.records import TranscriptError
from app.replay.playback import playback
from app.screens.replay import PACES, ReplayScreen
from app.screens.replay_app import ReplayApp, found, sessions_of
from app.screens.room_app import RoomApp
from store.events import fold
from store.journals import write_journal
from store.lines import Tiers
from store.room import Room
from widgets.chat import Chat
from widgets.scrubber import Scrubber
from widgets.scrubber.scrubber import heights
from widgets.tiers import TierPanel

SIZES = [(80, 24), (120, 40), (200, 60)]


@pytest.fixture
def replayed(root: Path, take: Take, tmp_path: Path) -> Path:
    """A room in which the mechanical Keeper heard four sessions."""
    path = tmp_path / "talk.txt"
    path.write_text(TALK.format(*MONTHS), encoding="utf-8")
    take(path)
    played(root, tmp_path / "work" / "rooms" / "talk-1" / "mechanical")
    return tmp_path / "work" / "rooms" / "talk-1" / "mechanical"


@pytest.fixture
def two(root: Path, replayed: Path) -> tuple[Path, Path]:
    """The same, and another Keeper that came only through the first session."""
    other = replayed.with_name("other")
    played(root, other, "mechanical", upto=1)
    return replayed, other


# ---------------------------------------------------------------- the moments


def test_every_moment_is_the_fold_of_all_events_up_to_it(replayed: Path) -> None:
    with Room.open(replayed, read_only=True) as room:
        for row in room.sessions():
            shown = playback(room, row.id)
            before = fold(Tiers(), (event for event in room.all_events() if event.seq < shown.events[0].seq))
            for moment in shown.moments:
                assert moment.tiers == fold(before, shown.events[: moment.end])
            changed = [change for moment in shown.moments for change in moment.changes]
            assert len(changed) == sum(len(getattr(event.body, "changes", ())) for event in shown.events)
            assert shown.moments[-1].tiers == fold(before, shown.events)


def test_the_moments_are_the_opening_each_turn_and_the_close(replayed: Path) -> None:
    with Room.open(replayed, read_only=True) as room:
        shown = playback(room, room.sessions()[0].id)
    assert [moment.name for moment in shown.moments] == ["the opening", "turn 1", "turn 2", "the close"]
    assert [moment.tiers.size("hot") > 0 for moment in shown.moments] == [False, True, True, False]
    assert [shown.step_of(turn) for turn in (0, 1, 2, 9)] == [0, 1, 2, 2]


def test_the_snug_stands_as_it_was_then(replayed: Path) -> None:
    with Room.open(replayed) as room:
        write_journal(room, room.sessions()[1].id, "keeper", "snug", "A quiet hour.", 1)
        first, second = (playback(room, room.sessions()[place].id) for place in (0, 1))
    assert [entry.text for entry in first.snug] == []
    assert [moment.snug for moment in second.moments][-1] == 1 and second.snug[0].new


# ---------------------------------------------------------------- the bar


@given(st.lists(st.integers(0, 500), max_size=300), st.integers(-1, 250))
@settings(max_examples=150, deadline=None)
def test_the_bar_has_a_character_a_cell_and_hides_no_change(weights: list[int], width: int) -> None:
    bar = heights(tuple(weights), width)
    assert len(bar) == max(0, width)
    if width > 0:
        assert ("─" * width == bar) == (not any(weights))


# ---------------------------------------------------------------- the screen


def app_of(room: Room, place: int = 0) -> ReplayApp:
    return ReplayApp(room, sessions_of([("mechanical", room)]), place)


def screen_of(app: ReplayApp) -> ReplayScreen:
    assert isinstance(app.screen, ReplayScreen)
    return app.screen


@pytest.mark.parametrize("size", SIZES)
async def test_a_session_is_stepped_through_forth_and_back_with_what_changed(
    replayed: Path, size: tuple[int, int]
) -> None:
    with Room.open(replayed, read_only=True) as room:
        app = app_of(room)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            screen = screen_of(app)
            assert (screen.step, len(screen.moment.tiers)) == (0, 0)
            await pilot.press("right", "right")
            assert screen.moment.turn == 2
            lit = {change.after.id for change in screen.moment.changes}
            assert lit and lit <= screen.query_one(TierPanel)._lit
            said = [entry.text for entry in screen.query_one(Chat).transcript.entries if hasattr(entry, "text")]
            assert any("bakery" in text for text in said)
            await pilot.press("left")
            assert screen.moment.turn == 1
            said = [entry.text for entry in screen.query_one(Chat).transcript.entries if hasattr(entry, "text")]
            assert not any("bakery" in text for text in said)
            await pilot.press("end")
            assert screen.moment.name == "the close"
            await pilot.press("home", "right", "left", "left")
            assert screen.step == 0
            await pilot.press("full_stop")
            assert screen.moment.turn == 1 and screen.moment.changes
            await pilot.press("comma")
            assert screen.step == 1  # nothing changed before it


async def test_the_lines_of_a_replay_are_read_and_no_key_offers_to_change_them(replayed: Path) -> None:
    with Room.open(replayed, read_only=True) as room:
        app = app_of(room)
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.press("right", "tab")
            assert screen_of(app).query_one("LineList").has_focus
            offered = {
                shown.binding.action for shown in app.screen.active_bindings.values() if shown.node is not app.screen
            }
            assert not {action for action in offered if action.startswith(("line(", "choose", "ask("))}
            assert "filter" in offered


async def test_it_plays_to_the_end_at_any_pace_and_stops_there(replayed: Path) -> None:
    with Room.open(replayed, read_only=True) as room:
        app = app_of(room)
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            screen = screen_of(app)
            await pilot.press(*["plus"] * len(PACES), "space")
            for _ in range(200):
                await pilot.pause(0.02)
                if screen._timer is None:
                    break
            assert (screen.step, screen._timer) == (3, None)
            await pilot.press(*["minus"] * len(PACES), "space", "space")
            assert (screen.step, screen._timer) == (0, None)  # from the end it begins anew; a second press stops it


async def test_the_handle_is_taken_with_the_mouse(replayed: Path) -> None:
    with Room.open(replayed, read_only=True) as room:
        app = app_of(room)
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            await pilot.click(Scrubber, offset=(117, 0))
            await pilot.pause()
            assert screen_of(app).moment.name == "the close"


async def test_the_next_sessions_follow_and_the_last_has_none_after_it(replayed: Path) -> None:
    with Room.open(replayed, read_only=True) as room:
        app = app_of(room, 2)
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            await pilot.press(">", ">")
            title = screen_of(app).query_one("#replay-title", Static)
            assert "session 4 of 4" in str(title.content)
            await pilot.press("<")
            assert "session 3 of 4" in str(title.content)


@pytest.mark.parametrize("size", SIZES)
async def test_two_keepers_stand_beside_each_other_at_the_same_turn(
    two: tuple[Path, Path], size: tuple[int, int]
) -> None:
    rooms = found(two[0].parents[2], (), "talk")
    assert [name for name, _ in rooms] == ["mechanical", "other"]
    with Room.open(rooms[0][1], read_only=True) as one, Room.open(rooms[1][1], read_only=True) as two:
        app = ReplayApp(one, sessions_of([("mechanical", one), ("other", two)]), 0)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await pilot.press("right")
            screen = screen_of(app)
            left, right = screen.query(TierPanel)
            assert left._tiers.lines == right._tiers.lines and len(left._tiers)
            narrow = size[0] < 100
            assert sum(pane.display for pane in (screen.query_one(Chat), *screen.query(".keeper"))) == (
                1 if narrow else 3
            )
            await pilot.press("tab", "tab")
            assert screen.query("#keeper-1 LineList").first().has_focus
            await pilot.press(">")
            assert "only to session 1" in str(screen.query_one("#replay-title", Static).content)


async def test_from_the_rooms_list_a_session_is_played_and_left_again(replayed: Path) -> None:
    with Room.open(replayed, read_only=True) as room:
        app = RoomApp(room)
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            await pilot.press("down", "w")
            await pilot.pause()
            assert isinstance(app.screen, ReplayScreen) and app.screen._played[0].playback.number == 4
            await pilot.press("escape")
            await pilot.pause()
            assert not isinstance(app.screen, ReplayScreen)


def test_what_is_no_replay_is_said_in_one_sentence(tmp_path: Path, root: Path) -> None:
    with pytest.raises(TranscriptError, match="is no room and holds no replay; run: twins replay"):
        found(tmp_path / "nothing", (), "")
    with Room.open(root, read_only=True) as room, pytest.raises(TranscriptError, match="no session to replay"):
        sessions_of([("as it was", room)])
