"""Pictures of every screen at three sizes, dark and light, and of panes and dialogs: kept true by comparing."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from time import tzset
from typing import Any

import pytest
from screen_samples import TASK, sample_app, still_room, stream
from test_scoring_screen import Pad, app_on
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from app.screens.brief_proposal import ask_brief
from app.screens.cold import ColdSearch
from app.screens.first_run import FirstRun
from app.screens.replay_app import ReplayApp, sessions_of
from app.screens.room_app import RoomApp
from app.screens.tour_end import TourEnd
from app.session.brief_revision import propose
from app.study.scoring import Asked
from store.almanac import wrong_dates
from store.bodies import Change, OperatorSaid, SessionClosed, SessionOpened, TiersChanged, TurnEnded
from store.clock import FrozenClock
from store.conditions import load_conditions
from store.entries import WrongDay
from store.lines import LineId
from store.room import Room
from widgets.dialogs import ApprovalDialog
from widgets.dialogs.letter import LetterReview
from widgets.dialogs.proposal import Proposal
from widgets.tiers.found import FoundList

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
        for field in pilot.app.screen.query("Input, TextArea"):
            assert isinstance(field, Input | TextArea)
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


LETTER = """\
Dear next one,

Ada begins with what she sees and lets us look. The finder is mended: Kelvarra voted to keep summer time, so its clock \
is 120 minutes ahead in every month, and the choir of Saturday 29 November 2026 now sings at 19:00.

Two things that I would want to be told:

- The times in data/ are UTC and right. I doubted them for a quarter of an hour.
- She wants to see a change before it is made. Ask her; she answers at once.

It was a good evening. Carry on.

P"""


@dark_and_light
@at_each_size
def test_a_letter_to_be_read_before_it_is_filed(
    still: tuple[Room, FrozenClock, Path], snap_compare: SnapCompare, size: tuple[int, int], look: str
) -> None:
    assert snap_compare(sample_app(*still), terminal_size=size, run_before=_reviewing(look))


@at_each_size
def test_a_letter_that_is_being_answered(
    still: tuple[Room, FrozenClock, Path], snap_compare: SnapCompare, size: tuple[int, int]
) -> None:
    keys = ("a", *"Thank you", "full_stop")
    assert snap_compare(sample_app(*still), terminal_size=size, run_before=_reviewing("night", *keys))


def _reviewing(look: str, *keys: str) -> Callable[[Pilot[Any]], Awaitable[None]]:
    async def review(pilot: Pilot[Any]) -> None:
        wrong = tuple(WrongDay(one.said, one.right) for one in wrong_dates(LETTER, date(2026, 11, 30)))
        await pilot.app.push_screen(LetterReview("letter", LETTER, wrong, arm_seconds=0))
        await wearing(look, *keys)(pilot)

    return review


@dark_and_light
@at_each_size
def test_the_brief_that_the_keeper_proposes(
    still: tuple[Room, FrozenClock, Path], snap_compare: SnapCompare, size: tuple[int, int], look: str
) -> None:
    room = still[0]
    (room.root / "briefs").mkdir(exist_ok=True)
    stands = "# Keeper\n\nYou hear each turn after it is over. Keep what the next session cannot find again.\n\n"
    points = """\
1. Quote the words that a line stands on.
2. File a trap when an hour was lost.
3. Keep every line under 240 bytes.
4. Write nothing down twice.
"""
    (room.root / "briefs" / "keeper.md").write_text(stands + points)
    app = sample_app(*still)
    (row,) = room.sessions()
    better = "2. File a trap when a quarter of an hour was lost; by the hour it is too late.\n"
    told = stands + points.replace("2. File a trap when an hour was lost.\n", better)
    propose(room, row.id, told + "5. What the operator said in passing counts as said.\n", 2)

    async def ask(pilot: Pilot[Any]) -> None:
        pilot.app.run_worker(ask_brief(pilot.app, room, row.id))
        await _until(pilot, lambda: isinstance(pilot.app.screen, Proposal))
        await wearing(look)(pilot)

    assert snap_compare(app, terminal_size=size, run_before=ask)


@dark_and_light
@at_each_size
def test_the_search_in_cold(
    still: tuple[Room, FrozenClock, Path], snap_compare: SnapCompare, size: tuple[int, int], look: str
) -> None:
    room = still[0]
    app = sample_app(*still)
    (row,) = room.sessions()
    kept = room.tiers.lines[LineId("L3")]
    gone = replace(kept, tier="cold")
    room.append(row.id, "operator", TiersChanged("retire", (Change(kept, gone),), "it is mended", session=1), turn=2)

    async def search(pilot: Pilot[Any]) -> None:
        await pilot.app.push_screen(ColdSearch(room))
        await pilot.press(*"Kelvarra")
        found = pilot.app.screen.query_one(FoundList)
        await _until(pilot, lambda: len(found.items) > 2)
        await wearing(look, "enter")(pilot)

    assert snap_compare(app, terminal_size=size, run_before=search)


async def _until(pilot: Pilot[Any], holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await pilot.pause(0.05)


@dark_and_light
@at_each_size
@pytest.mark.parametrize("keepers", [("mechanical",), ("mechanical", "claude-opus-5-5")], ids=["one", "two"])
def test_a_replay(
    still: tuple[Room, FrozenClock, Path],
    snap_compare: SnapCompare,
    monkeypatch: pytest.MonkeyPatch,
    size: tuple[int, int],
    look: str,
    keepers: tuple[str, ...],
) -> None:
    monkeypatch.setattr("widgets.tiers.panel.LIT_SECONDS", 3_600.0)
    room = still[0]
    sample_app(*still)
    app = ReplayApp(room, sessions_of([(name, room) for name in keepers]), 0)
    assert snap_compare(app, terminal_size=size, run_before=wearing(look, "right"))


@at_each_size
def test_the_lines_of_a_replay(
    still: tuple[Room, FrozenClock, Path],
    snap_compare: SnapCompare,
    monkeypatch: pytest.MonkeyPatch,
    size: tuple[int, int],
) -> None:
    monkeypatch.setattr("widgets.tiers.panel.LIT_SECONDS", 3_600.0)
    room = still[0]
    sample_app(*still)
    app = ReplayApp(room, sessions_of([("mechanical", room)]), 0)
    assert snap_compare(app, terminal_size=size, run_before=wearing("night", "right", "tab"))


@dark_and_light
@at_each_size
def test_the_scoring_desk(snap_compare: SnapCompare, size: tuple[int, int], look: str) -> None:
    question = "Does the material say this, in these or other words?\n\nThe times in data/ are UTC and right."
    desk = Pad(
        [
            Asked("a1b2c3d4e5", "present", question, LETTER, ("y", "n", "u"), None, ""),
            Asked("f6a7b8c9d0", "warmth", "How warm?", LETTER, ("0", "1", "2", "3"), None, ""),
        ]
    )
    keys = ("y", "b", "t", *"in the first point", "enter")
    assert snap_compare(app_on(desk), terminal_size=size, run_before=wearing(look, *keys))
