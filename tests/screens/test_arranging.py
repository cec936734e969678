"""Panes are resized, hidden and zoomed by key; what was arranged, and the theme, is there again the next time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from screen_samples import StillApp, sample_app, still_room
from textual.pilot import Pilot
from textual.widget import Widget

from app.screens.live import LiveScreen
from store.clock import FrozenClock
from store.room import Room
from widgets.snug import SnugPane
from widgets.themes import LOOKS

Still = tuple[Room, FrozenClock, Path]


@pytest.fixture
def still(tmp_path: Path) -> AsyncIterator[Still]:
    room, clock = still_room(tmp_path)
    with room:
        yield room, clock, tmp_path / "work"  # type: ignore[misc]


class Seen:
    """The sample session on screen, and the sizes of its panes."""

    def __init__(self, app: StillApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def live(self) -> LiveScreen:
        assert self.app.live is not None
        return self.app.live

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    @property
    def side(self) -> Widget:
        return self.live.query_one("#live-side")

    def widths(self) -> tuple[int, int]:
        """Cells that chat and side have; 0 when a pane is not in sight."""
        return tuple(pane.outer_size.width if pane.region.area else 0 for pane in (self.live.panes.chat, self.side))  # type: ignore[return-value]

    def in_sight(self) -> set[str]:
        panes = {"chat": self.live.panes.chat, "tiers": self.live.panes.tiers, "snug": self.live.panes.snug}
        return {name for name, pane in panes.items() if pane.region.area}


@asynccontextmanager
async def seeing(still: Still, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Seen]:
    app = sample_app(*still)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield Seen(app, pilot)


async def again(still: Still, check: Callable[[Seen], None], size: tuple[int, int] = (120, 40)) -> None:
    """Look at what a program started anew in the same room shows."""
    room, clock, work = still
    async with seeing((room, clock, work), size) as seen:
        check(seen)


async def test_the_side_is_made_wider_and_narrower_and_is_so_the_next_time(still: Still) -> None:
    async with seeing(still) as seen:
        before = seen.widths()
        await seen.press("alt+left", "alt+left")
        wider = seen.widths()
        assert wider[1] > before[1] and wider[0] < before[0] and sum(wider) == sum(before) == 120
    await again(still, lambda seen: None if seen.widths() == wider else pytest.fail(str(seen.widths())))


async def test_no_pane_can_be_resized_away(still: Still) -> None:
    async with seeing(still) as seen:
        for _ in range(13):
            seen.live.action_widen(5)
            seen.live.action_raise_snug(10)
        await seen.pilot.pause()
        assert min(seen.widths()) >= 20 and seen.in_sight() == {"chat", "tiers", "snug"}
        for _ in range(13):
            seen.live.action_widen(-5)
            seen.live.action_raise_snug(-10)
        await seen.pilot.pause()
        assert min(seen.widths()) >= 20 and seen.in_sight() == {"chat", "tiers", "snug"}


async def test_the_snug_is_made_taller(still: Still) -> None:
    async with seeing(still) as seen:
        before = seen.live.query_one(SnugPane).outer_size.height
        await seen.press("alt+up", "alt+up")
        assert seen.live.query_one(SnugPane).outer_size.height > before + 3


async def test_a_hidden_pane_is_out_of_sight_the_next_time_too_and_back_when_it_is_gone_to(still: Still) -> None:
    async with seeing(still) as seen:
        await seen.press("alt+t")
        assert seen.in_sight() == {"chat", "snug"}
        await seen.press("alt+s")
        assert seen.in_sight() == {"chat"} and seen.widths()[0] == 120
    await again(still, lambda seen: None if seen.in_sight() == {"chat"} else pytest.fail(str(seen.in_sight())))
    async with seeing(still) as seen:
        await seen.press("f3")
        assert seen.in_sight() == {"chat", "tiers"} and seen.live.focused is not None
        await seen.press("alt+t")  # the keys do not stay in what nobody sees
        assert seen.live.focused is seen.live.panes.composer.area


@pytest.mark.parametrize(("key", "pane"), [("f2", "chat"), ("f3", "tiers"), ("f4", "snug")])
async def test_the_pane_with_the_keys_has_all_the_room_until_the_others_are_put_back(
    still: Still, key: str, pane: str
) -> None:
    async with seeing(still) as seen:
        before = seen.widths()
        await seen.press(key, "f6")
        assert seen.in_sight() == {pane} and max(seen.widths()) == 120
        await seen.press("f6")
        assert seen.widths() == before and seen.in_sight() == {"chat", "tiers", "snug"}


async def test_where_panes_are_tabs_each_has_all_the_room_whatever_was_arranged(still: Still) -> None:
    async with seeing(still) as seen:
        await seen.press("alt+left", "alt+t", "alt+up")
    async with seeing(still, (80, 24)) as seen:
        for key, pane in (("f4", "snug"), ("f3", "tiers"), ("f2", "chat")):
            await seen.press(key)
            assert seen.in_sight() == {pane} and max(seen.widths()) == 80


async def test_a_layout_that_is_none_is_said_and_the_usual_one_shown(still: Still) -> None:
    (still[0].root / "screen.json").write_text('{"side": "wide"}')
    async with seeing(still) as seen:
        await seen.pilot.pause()
        assert any("screen.json holds no layout" in note.message for note in seen.app._notifications)
        assert seen.in_sight() == {"chat", "tiers", "snug"}


async def test_the_key_for_the_looks_goes_through_four_themes_and_the_last_one_is_kept(still: Still) -> None:
    async with seeing(still) as seen:
        worn = []
        for _ in range(5):
            worn.append(seen.app.theme)
            await seen.press("f10")
        assert worn[:4] == list(LOOKS) and worn[4] == LOOKS[0]
        last = seen.app.theme
    await again(still, lambda seen: None if seen.app.theme == last else pytest.fail(seen.app.theme))
