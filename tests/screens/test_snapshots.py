"""Pictures of every screen at three sizes, dark and light, and of panes and dialogs: kept true by comparing."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import tzset
from typing import Any

import pytest
from screen_samples import TASK, sample_app, still_room, stream
from textual.pilot import Pilot
from textual.widgets import Input

from app.screens.first_run import FirstRun
from app.screens.room_app import RoomApp
from app.screens.tour_end import TourEnd
from store.bodies import OperatorSaid, SessionClosed, SessionOpened, TurnEnded
from store.clock import FrozenClock
from store.conditions import load_conditions
from store.room import Room
from widgets.dialogs import ApprovalDialog

SIZES = {"80x24": (80, 24), "120x40": (120, 40), "200x60": (200, 60)}
SnapCompare = Callable[..., bool]


@pytest.fixture
def still(tmp_path: Path) -> Iterator[tuple[Room, FrozenClock, Path]]:
    room, clock = still_room(tmp_path)
    with room:
        yield room, clock, tmp_path / "work"


at_each_size = pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
dark_and_light = pytest.mark.parametrize("look", ["night", "paper"])


def wearing(look: str, *keys: str) -> Callable[[Pilot[Any]], Awaitable[None]]:
    """Put a look on, then press keys; no cursor blinks in a picture."""

    async def prepare(pilot: Pilot[Any]) -> None:
        pilot.app.theme = look
        await pilot.press(*keys)
        await pilot.pause()
        for field in pilot.app.screen.query(Input):
            field.cursor_blink = False
        await pilot.pause()

    return prepare


@dark_and_light
@at_each_size
def test_the_live_screen(
    still: tuple[Room, FrozenClock, Path], snap_compare: SnapCompare, size: tuple[int, int], look: str
) -> None:
    assert snap_compare(sample_app(*still), terminal_size=size, run_before=wearing(look))


@pytest.mark.parametrize("look", ["high-contrast", "high-contrast-light"])
def test_the_live_screen_in_high_contrast(
    still: tuple[Room, FrozenClock, Path], snap_compare: SnapCompare, look: str
) -> None:
    assert snap_compare(sample_app(*still), terminal_size=(120, 40), run_before=wearing(look, "f3"))


def test_a_picture_is_the_same_at_any_hour_and_in_any_zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def picture(folder: Path) -> str:
        room, clock = still_room(folder)
        with room:
            app = sample_app(room, clock, folder / "work")
            async with app.run_test(size=(120, 40)) as pilot:
                await pilot.pause()
                return "\n".join(strip.text for strip in app.screen._compositor.render_strips())

    pictures = []
    for zone in ("UTC", "Pacific/Kiritimati"):
        monkeypatch.setenv("TZ", zone)
        tzset()
        (tmp_path / zone[:3]).mkdir()
        pictures.append(asyncio.run(picture(tmp_path / zone[:3])))
    monkeypatch.undo()
    tzset()
    assert pictures[0] == pictures[1]


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    """A room named without its path, with a closed session, one for a task, and an open one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080")
    Room.create(Path("room"), "Ada")
    clock = FrozenClock(datetime(2026, 11, 28, 19, 5, tzinfo=UTC))
    with Room.open(Path("room"), clock=clock) as room:
        for number, (task, said) in enumerate(
            ((TASK, "Good evening."), (None, "And the harbour?"), (TASK, "Go on.")), 1
        ):
            log = room.new_session_id()
            condition = load_conditions()["B"]
            opened = SessionOpened(log, number, condition, task, "Ada", "claude-opus-5-5", "", False, "work", {})
            room.append(log, "system", opened)
            room.append(log, "operator", OperatorSaid(said), turn=1)
            room.append(log, "system", TurnEnded("done"), turn=1)
            if number < 3:
                room.append(log, "system", SessionClosed("closed by the operator"))
            clock.advance(86_400)
        yield room


@dark_and_light
@at_each_size
def test_the_rooms_sessions(listed: Room, snap_compare: SnapCompare, size: tuple[int, int], look: str) -> None:
    assert snap_compare(RoomApp(listed), terminal_size=size, run_before=wearing(look, "down"))


@at_each_size
def test_a_past_session(listed: Room, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(RoomApp(listed), terminal_size=size, run_before=wearing("paper", "end", "enter"))


@at_each_size
def test_the_dialog_of_a_new_session(listed: Room, snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    keys = ("n", "tab", *"work", "shift+tab")
    assert snap_compare(RoomApp(listed), terminal_size=size, run_before=wearing("night", *keys))


@dark_and_light
@at_each_size
def test_the_first_screen(snap_compare: SnapCompare, size: tuple[int, int], look: str) -> None:
    async def named(pilot: Pilot[Any]) -> None:
        pilot.app.query_one("#first-name", Input).value = "Ada"
        pilot.app.query_one("#first-variable", Input).value = "NOT_SET_HERE"
        await wearing(look)(pilot)

    assert snap_compare(FirstRun(Path("~/two-twins")), terminal_size=size, run_before=named)


@dark_and_light
@at_each_size
def test_the_end_of_the_tour(listed: Room, snap_compare: SnapCompare, size: tuple[int, int], look: str) -> None:
    async def ended(pilot: Pilot[Any]) -> None:
        await pilot.app.push_screen(TourEnd(listed, [row.id for row in listed.sessions()][:2]))
        await wearing(look)(pilot)

    assert snap_compare(RoomApp(listed), terminal_size=size, run_before=ended)


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_the_lines(still: tuple[Room, FrozenClock, Path], snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    assert snap_compare(sample_app(*still), terminal_size=size, press=["f3", "end"])


def test_the_snug_where_panes_are_tabs(still: tuple[Room, FrozenClock, Path], snap_compare: SnapCompare) -> None:
    assert snap_compare(sample_app(*still), terminal_size=(80, 24), press=["f4"])


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
def test_a_question_about_an_edit(
    still: tuple[Room, FrozenClock, Path], snap_compare: SnapCompare, size: tuple[int, int]
) -> None:
    async def ask(pilot: Pilot[Any]) -> None:
        shown = '--- finder/clock.py\n+++ finder/clock.py\n@@ -1 +1 @@\n-OFFSETS = {"KV": 60}\n+OFFSETS = {"KV": 120}'
        pilot.app.push_screen(ApprovalDialog("edit", shown, where="in the workspace", diff=True))
        await pilot.pause()

    assert snap_compare(sample_app(*still, asking=True), terminal_size=size, run_before=ask)


def test_an_answer_with_an_open_fence_as_it_streams(
    still: tuple[Room, FrozenClock, Path], snap_compare: SnapCompare
) -> None:
    async def speak(pilot: Pilot[Any]) -> None:
        live = pilot.app.live  # type: ignore[attr-defined]
        stream(live.session.record, "This is what I would write:\n\n```python\nOFFSETS = {")
        live.panes.chat.view.flush()
        live._tell()
        await pilot.pause()

    assert snap_compare(sample_app(*still), terminal_size=(120, 40), run_before=speak)


@pytest.mark.parametrize(("size", "look"), [((80, 24), "paper"), ((120, 40), "night")], ids=["80x24", "120x40"])
@pytest.mark.parametrize(
    "keys", [["ctrl+q"], ["f8"], ["f1"], ["f3", "end", "enter"]], ids=["close", "ret", "help", "history"]
)
def test_the_dialogs(
    still: tuple[Room, FrozenClock, Path], snap_compare: SnapCompare, keys: list[str], size: tuple[int, int], look: str
) -> None:
    assert snap_compare(sample_app(*still), terminal_size=size, run_before=wearing(look, *keys))
