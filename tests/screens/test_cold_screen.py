"""Cold on screen: search from the tier panel, to the turn of a find, restore, history, and any change taken back."""

from __future__ import annotations

from pathlib import Path

from screen_plays import QUOTE, Play, beat, playing, speaks
from test_live_lines import operations, with_lines

from app.screens.changes import Changes
from app.screens.cold import ColdSearch
from app.scripted.script import Reply, ToolCall
from store.bodies import DateFlagged
from widgets.dialogs import AskText, LineHistory
from widgets.tiers.found import FoundList, HitRow


async def retired(play: Play) -> None:
    """Send the decision to cold, then open the search in cold."""
    await play.press("r")
    await play.until(lambda: isinstance(play.app.screen, AskText))
    await play.write("it is done")
    await play.until(lambda: play.line(1) is None)
    await search(play)


async def search(play: Play, words: str = "") -> FoundList:
    await play.press("slash")
    await play.until(lambda: isinstance(play.app.screen, ColdSearch))
    if words:
        await play.press(*words)
    found = play.app.screen.query_one(FoundList)
    await play.until(lambda: found.items or "Nothing" in play.seen(), "the finds")
    return found


async def test_a_line_in_cold_is_found_and_restored(tmp_path: Path) -> None:
    async with with_lines(tmp_path) as play:
        await retired(play)
        await play.until_seen("in cold: 1 line")
        await play.press("enter", "r")
        await play.until(lambda: play.line(1) is not None)
        assert operations(play) == ["retire", "restore"]
        assert play.live.is_current


async def test_a_cold_line_shows_its_history_and_leads_to_its_quote(tmp_path: Path) -> None:
    async with with_lines(tmp_path) as play:
        await retired(play)
        await play.until_seen("in cold: 1 line")
        await play.press("enter", "h")
        await play.until(lambda: isinstance(play.app.screen, LineHistory))
        await play.until_seen("it is done")
        await play.press("enter")
        view = play.live.panes.chat.view
        await play.until(lambda: view.has_focus and view.current is not None and QUOTE in view.current.text)


async def test_words_find_what_was_said_and_enter_goes_there(tmp_path: Path) -> None:
    async with with_lines(tmp_path) as play:
        found = await search(play, "always diff")
        await play.until(lambda: any(isinstance(row, HitRow) and row.hit.by == "operator" for row in found.items))
        await play.press("enter")
        await play.until(lambda: found.has_focus)
        while not (isinstance(found.current, HitRow) and found.current.hit.kind == "operator.said"):
            await play.press("down")
        await play.press("enter")
        view = play.live.panes.chat.view
        await play.until(lambda: view.has_focus and view.current is not None and view.current.text == QUOTE)


async def test_letters_typed_as_words_do_not_act_and_escape_leaves(tmp_path: Path) -> None:
    async with with_lines(tmp_path) as play:
        await retired(play)
        await play.press("r", "h", "slash")
        await play.pilot.pause()
        assert isinstance(play.app.screen, ColdSearch) and play.line(1) is None
        await play.press("escape")
        await play.until(lambda: play.live.is_current)


async def test_nothing_in_cold_says_what_words_would_do(tmp_path: Path) -> None:
    async with with_lines(tmp_path) as play:
        found = await search(play)
        assert found.items == () and "Nothing is in cold yet" in play.seen()


async def test_hostile_words_in_cold_are_words(tmp_path: Path) -> None:
    hostile = "[red]always[/] \x1b]0;owned\x07show me \u202ethe diff"
    line = {"kind": "finding", "text": hostile, "reason": "seen", "quote": "always show me", "turn": 1, "priority": 1}
    keeper = (beat("always", Reply(tools=(ToolCall("add_line", line),))),)
    async with playing(tmp_path, speaks(keeper=keeper)) as play:
        await play.write("always show me, [red]please[/]")
        await play.until_ready(1)
        await play.press("f3")
        found = await search(play, "please")
        await play.until(lambda: any(isinstance(row, HitRow) for row in found.items))
        seen = play.seen()
        assert "[red]please[/]" in seen and not {"\x1b", "\u202e"} & set(seen)


async def test_any_change_can_be_taken_back_not_only_the_last(tmp_path: Path) -> None:
    async with with_lines(tmp_path) as play:
        before = play.line(1)
        await play.press("e")
        await play.until(lambda: isinstance(play.app.screen, AskText))
        await play.write(", ever")
        await play.until(lambda: play.line(1) != before)
        await play.press("home", "p")
        await play.until(lambda: operations(play) == ["edit_line", "promote"])
        await play.press("U")
        await play.until(lambda: isinstance(play.app.screen, Changes))
        await play.until_seen("promote L2")
        await play.press("down", "enter")
        await play.until(lambda: operations(play) == ["edit_line", "promote", "undo"])
        assert play.line(1) is not None and before is not None and play.line(1).text == before.text
        await play.press("U")
        await play.until_seen("promote L2")
        assert "edit line L1" not in play.seen(), "what was taken back is not offered again"


async def test_a_line_with_a_wrong_date_is_marked_in_the_panel(tmp_path: Path) -> None:
    said = "Monday 29 November 2026"
    line = {"kind": "finding", "text": f"Doors open on {said}", "reason": "seen", "quote": QUOTE, "turn": 1}
    async with playing(
        tmp_path, speaks(keeper=(beat(QUOTE, Reply(tools=(ToolCall("add_line", line),))),)), size=(200, 60)
    ) as play:
        await play.write(QUOTE)
        await play.until_ready(1)
        await play.until(lambda: play.bodies(DateFlagged))
        await play.until_seen(f"! “{said}”: that day is a Sunday")
