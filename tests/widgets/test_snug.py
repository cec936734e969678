"""The snug pane: every entry signed, dated and whole, the newest in sight."""

from __future__ import annotations

from panel_samples import HOSTILE, HOSTILE_SHOWN, OneWidget, controls_in, rows_on_screen, text_on_screen

from widgets.snug import SnugEntry, SnugPane


def entry(number: int, text: str | None = None, *, new: bool = False) -> SnugEntry:
    by = "keeper" if number % 2 else "presence"
    return SnugEntry(by, f"2026-11-30T00:{number:02}:00.000Z", text or f"entry {number}", new)


async def test_entries_are_signed_and_dated_and_new_ones_are_marked_in_words() -> None:
    pane = SnugPane()
    async with OneWidget(pane).run_test(size=(60, 20)) as pilot:
        pane.show_entries([entry(4), entry(5, new=True)])
        await pilot.pause()
        text = text_on_screen(pilot.app)
        assert "Presence  2026-11-30 00:04" in text
        assert "Keeper  2026-11-30 00:05" in text and text.count("+ new") == 1


async def test_an_empty_snug_says_so() -> None:
    async with OneWidget(SnugPane()).run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        assert "The snug is empty." in text_on_screen(pilot.app)


async def test_the_newest_entry_is_in_sight_and_a_reader_further_up_is_not_moved() -> None:
    pane = SnugPane()
    async with OneWidget(pane).run_test(size=(60, 12)) as pilot:
        pane.show_entries([entry(n) for n in range(20)])
        await pilot.pause()
        assert "entry 19" in text_on_screen(pilot.app)
        pane.show_entries([entry(n) for n in range(21)])
        await pilot.pause()
        assert "entry 20" in text_on_screen(pilot.app)
        pane.scroll_to(y=9, animate=False)
        await pilot.pause()
        before = [row[:58] for row in rows_on_screen(pilot.app)[:8]]
        pane.show_entries([entry(n) for n in range(22)])
        await pilot.pause()
        assert [row[:58] for row in rows_on_screen(pilot.app)[:8]] == before, "all but the scroll bar"


async def test_what_a_twin_wrote_is_shown_as_typed_and_without_controls() -> None:
    pane = SnugPane()
    async with OneWidget(pane).run_test(size=(120, 20)) as pilot:
        pane.show_entries([SnugEntry("reader", HOSTILE, HOSTILE)])
        await pilot.pause()
        text = text_on_screen(pilot.app)
        assert HOSTILE_SHOWN in text and not controls_in(text)
