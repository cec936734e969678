"""Pictures of the live screen at its three sizes, of its panes and dialogs: kept true by comparing."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from screen_samples import sample_app, still_room, stream
from textual.pilot import Pilot

from store.clock import FrozenClock
from store.room import Room
from widgets.dialogs import ApprovalDialog

SIZES = {"80x24": (80, 24), "120x40": (120, 40), "200x60": (200, 60)}
SnapCompare = Callable[..., bool]


@pytest.fixture
def still(tmp_path: Path) -> Iterator[tuple[Room, FrozenClock, Path]]:
    room, clock = still_room(tmp_path)
    with room:
        yield room, clock, tmp_path / "work"


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_the_live_screen(
    still: tuple[Room, FrozenClock, Path], snap_compare: SnapCompare, size: tuple[int, int]
) -> None:
    assert snap_compare(sample_app(*still), terminal_size=size)


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


@pytest.mark.parametrize("keys", [["ctrl+q"], ["f8"], ["f1"]], ids=["close", "ret", "help"])
def test_the_dialogs(still: tuple[Room, FrozenClock, Path], snap_compare: SnapCompare, keys: list[str]) -> None:
    assert snap_compare(sample_app(*still), terminal_size=(120, 40), press=keys)
