"""No panel breaks in a window that is far too small, or when it grows again."""

from __future__ import annotations

import pytest
from panel_samples import READING, line, text_on_screen, tiers_of
from textual.app import App, ComposeResult

from widgets.composer import Composer
from widgets.dialogs import ApprovalDialog
from widgets.header import SessionHeader
from widgets.meters import MeterBar
from widgets.snug import SnugEntry, SnugPane
from widgets.tiers import TierPanel


class AllPanels(App[None]):
    def compose(self) -> ComposeResult:
        yield SessionHeader()
        yield TierPanel()
        yield SnugPane()
        yield Composer()
        yield MeterBar()

    def on_mount(self) -> None:
        self.query_one(SessionHeader).reading = READING
        self.query_one(MeterBar).reading = READING
        self.query_one(TierPanel).show(tiers_of([line(1, "hot"), line(2, text="word " * 100)]))
        self.query_one(SnugPane).show_entries([SnugEntry("keeper", "2026-11-30T00:00:00.000Z", "a quiet turn")])


@pytest.mark.parametrize("size", [(30, 10), (12, 6), (4, 3), (1, 1)])
@pytest.mark.parametrize("asks", [False, True])
async def test_a_window_of_any_size_is_drawn_and_is_whole_again_when_it_grows(
    size: tuple[int, int], asks: bool
) -> None:
    app = AllPanels()
    async with app.run_test(size=size) as pilot:
        if asks:
            await app.push_screen(ApprovalDialog("bash", "ls\n" * 50, prefix="ls", arm_seconds=0))
        await pilot.pause()
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        expected = ("allow once",) if asks else ("RET  3:12", "2,048 bytes", "snug", "to Presence", "$0.1234")
        assert all(words in text_on_screen(app) for words in expected)
