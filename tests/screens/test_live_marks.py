"""Marks and switches of the live screen: break, RET, Keeper, export, help, palette, panes, keys of one's own."""

import zipfile
from pathlib import Path

import pytest
from screen_plays import beat, keeps_a_decision, playing, speaks

from app.export import verify
from app.screens.actions import chat_actions, every_action, line_actions
from app.screens.ways import seconds_in
from app.scripted.script import Reply
from store.bodies import BreakMarked, BundleExported, KeeperState, RetMarked
from widgets.dialogs import AskText
from widgets.dialogs.help import Help


async def test_ctrl_b_marks_a_break(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks()) as play:
        await play.press("ctrl+b")
        await play.until_seen("break · operator")
        assert [mark.which for mark in play.bodies(BreakMarked)] == ["operator"]


async def test_f8_voids_the_ret_with_a_reason_and_restores_it(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks()) as play:
        await play.press("f8")
        await play.until_seen("The RET")
        await play.press("v")
        await play.until(lambda: isinstance(play.app.screen, AskText))
        await play.write("a visitor came")
        await play.until(lambda: play.bodies(RetMarked) == [RetMarked("void", "a visitor came")])
        await play.until_seen("RET void")
        await play.press("f8")
        await play.until_seen("restore what the clock itself measured")
        await play.press("r")
        await play.until(lambda: isinstance(play.app.screen, AskText))
        await play.write("it counts after all")
        await play.until(lambda: [mark.action for mark in play.bodies(RetMarked)] == ["void", "restore"])


async def test_f8_sets_the_ret_to_a_time_and_asks_again_for_what_is_none(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks()) as play:
        await play.press("f8")
        await play.until_seen("The RET")
        await play.press("t")
        await play.until_seen("Set the RET to")
        await play.write("soon")
        await play.until_seen("is no time")
        await play.write("3:12")
        await play.until_seen("Why?")
        await play.write("by the watch")
        await play.until(lambda: play.bodies(RetMarked) == [RetMarked("set", "by the watch", 192.0)])
        await play.until_seen("3:12 set by hand")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("3:12", 192.0), ("192", 192.0), ("0:00.5", 0.5), (" 12 ", 12.0)],
)
def test_a_time_is_read_as_minutes_and_seconds_or_seconds(text: str, seconds: float) -> None:
    assert seconds_in(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "3:", ":", "-3", "3:61", "nan", "inf", "1e999", "-1:30", "3:-5"])
def test_what_is_no_time_is_not_read_as_one(text: str) -> None:
    assert seconds_in(text) is None


async def test_f9_stops_the_keeper_and_starts_it_again(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks()) as play:
        await play.until(lambda: play.live._folding.connected)
        await play.press("f9")
        await play.until_seen("‖ paused")
        await play.press("f9")
        await play.until_seen("○ idle")
        assert "paused" in [state.standing for state in play.bodies(KeeperState)]


async def test_f9_says_so_where_there_is_no_keeper(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(), condition="A") as play:
        await play.until(lambda: play.live._folding.connected)
        assert "has no Keeper" in play.seen()
        await play.press("f9")
        await play.until(lambda: any("No Keeper" in words for words in play.told()))


async def test_ctrl_e_writes_a_bundle_that_verifies_and_never_over_another(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("hello", Reply(text="Hello.")), keeper=keeps_a_decision())) as play:
        await play.write("hello")
        await play.until_ready(1)
        for count in (1, 2):
            await play.press("ctrl+e")
            await play.until(lambda count=count: len(play.bodies(BundleExported)) == count)
        await play.until_seen("bundle written")
        files = sorted((play.room.root / "bundles").iterdir())
        assert [file.name for file in files] == [f"{play.session.log}-2.zip", f"{play.session.log}.zip"]
        for file in files:
            assert zipfile.is_zipfile(file) and verify(file).findings == ()


async def test_an_export_that_fails_is_said_and_the_session_goes_on(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("hello", Reply(text="Hello.")))) as play:
        (play.room.root / "bundles").write_text("in the way")
        await play.press("ctrl+e")
        await play.until(lambda: any("was not written" in words for words in play.told()))
        await play.write("hello")
        await play.until_seen("● Presence")


async def test_the_help_holds_every_action_with_its_key(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(), size=(120, 100)) as play:
        await play.press("f1")
        await play.until(lambda: isinstance(play.app.screen, Help))
        seen = play.seen()
        for action in (*every_action(), *line_actions(), *chat_actions()):
            assert (action.what or action.title) in seen, action


async def test_the_palette_finds_every_action_and_does_it(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(keeper=keeps_a_decision())) as play:
        await play.write("always show me the diff")
        await play.until_ready(1)
        from app.screens.palette import LiveActions

        provider = LiveActions(play.live)
        titles = {str(hit.text) async for hit in provider.discover()}
        wanted = {action.title for action in every_action() if action.id not in ("palette", "leave")}
        assert wanted <= titles
        assert {f"{action.title} L1" for action in line_actions()} <= titles, titles
        await play.press("ctrl+p")
        await play.pilot.pause(0.1)
        await play.press(*"natural")
        await play.until_seen("Mark a natural break")
        await play.press("enter")
        await play.until(lambda: play.bodies(BreakMarked))


async def test_a_narrow_screen_has_tabs_and_each_key_shows_its_pane(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(keeper=keeps_a_decision()), size=(80, 24)) as play:
        assert "[chat F2]" in play.seen()
        await play.write("always show me the diff")
        await play.until_ready(1)
        await play.until_seen("tiers +2")
        await play.press("f3")
        await play.until_seen("[tiers F3]")
        await play.until_seen("◇ expires")
        await play.press("f4")
        await play.until_seen("The snug is empty")
        await play.press("f2")
        await play.until_seen("● Presence")
        await play.press("f5")
        assert play.live.panes.composer.area.has_focus


async def test_a_tab_can_be_clicked(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(), size=(80, 24)) as play:
        await play.pilot.click("#live-tabs", offset=(13, 0))
        await play.until_seen("[tiers F3]")


async def test_from_a_narrow_screen_to_a_wide_one_and_back_nothing_is_lost(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("hello", Reply(text="Good evening.")))) as play:
        await play.write("hello")
        await play.until_seen("Good evening.")
        for size in ((80, 24), (200, 60), (20, 8), (120, 40)):
            await play.pilot.resize_terminal(*size)
            await play.pilot.pause()
        await play.until_seen("Good evening.")
        assert "hot" in play.seen() and "snug" in play.seen()


async def test_ctrl_f_searches_the_session(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("hello", Reply(text="A needle in it.")))) as play:
        await play.write("hello")
        await play.until_seen("A needle in it.")
        await play.press("ctrl+f")
        await play.until_seen("search the session")
        await play.press(*"needle")
        await play.until_seen("1 message")


async def test_room_toml_moves_a_key(tmp_path: Path) -> None:
    keys = '[keys] => [keys]\nmark_break = "alt+b"'
    async with playing(tmp_path, speaks(), toml=keys) as play:
        await play.press("ctrl+b")
        await play.press("alt+b")
        await play.until(lambda: len(play.bodies(BreakMarked)) == 1)
        await play.press("f1")
        await play.until_seen("Mark a natural break")
        assert any("alt+b" in row and "natural break" in row for row in play.seen().splitlines())


async def test_a_theme_that_does_not_exist_is_said_and_the_usual_one_stays(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(), toml='theme = "" => theme = "nonesuch"') as play:
        assert any("nonesuch" in words for words in play.told())
        assert play.app.theme != "nonesuch"
