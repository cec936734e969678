"""The tour on screen: two sessions to their ends, the second shown what the first handed over."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from screen_plays import Play, files_the_letters

from app.demo import staged_tour
from app.screens.tour_end import TourEnd
from app.tui import TourApp
from store.bodies import LetterFiled, OperatorSaid, WakePacket
from store.room import Room
from widgets.dialogs import ApprovalDialog


@asynccontextmanager
async def touring(folder: Path, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Play]:
    with staged_tour(folder / "tour", at_speed=True) as staged, Room.open(staged.room) as room:
        app = TourApp(room, staged.plans)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            assert app.live is not None
            yield Play(app, pilot, app.live.session, room, None)  # type: ignore[arg-type]


async def turn(play: Play, number: int) -> None:
    """Send the line that stands ready, and allow whatever is asked."""
    await play.press("enter")
    while True:
        await play.until(lambda: isinstance(play.app.screen, ApprovalDialog) or not play.session.busy)
        if not isinstance(play.app.screen, ApprovalDialog):
            break
        dialog = play.app.screen
        await play.until(lambda dialog=dialog: dialog._armed)
        await play.press("t")
        await play.until(lambda dialog=dialog: play.app.screen is not dialog)
    await play.until_ready(number)


async def close(play: Play) -> None:
    await play.press("ctrl+q")
    await play.until_seen("Close this session?")
    await play.press("c")
    await files_the_letters(play)
    await play.until_seen("The session is closed")


async def test_the_tour_plays_two_sessions_to_the_end(tmp_path: Path) -> None:
    async with touring(tmp_path) as play:
        first = play.session
        for number in range(1, 6):
            await turn(play, number)
        await play.until_seen("ctrl+q closes this session")
        await play.until_seen("first right action")
        await close(play)
        letters = play.bodies(LetterFiled)
        await play.press("enter")
        await play.until(lambda: play.app.live is not None and play.app.live.session is not first)
        play.session = play.live.session
        await play.pilot.pause()
        (packet,) = play.bodies(WakePacket)
        assert all(letter.text.strip() in packet.text for letter in letters)
        await play.press("f2", "home", "k", "k", "j", "enter")
        await play.until(
            lambda: any(
                entry.what == "wake" for entry in play.live.panes.chat.transcript.entries[:3] if hasattr(entry, "what")
            )
        )
        await play.press("f5")
        for number in range(1, 6):
            await turn(play, number)
        assert len(play.bodies(OperatorSaid)) == 5
        await close(play)
        await play.press("enter")
        await play.until(lambda: isinstance(play.app.screen, TourEnd))
        seen = play.seen()
        assert "session 1" in seen and "session 2" in seen and "RET" in seen and seen.count("$0.") == 4
        await play.press("enter")
        await play.until(lambda: not play.app.is_running)


async def test_what_is_not_of_the_tour_gets_the_plain_answer_that_the_twin_is_scripted(tmp_path: Path) -> None:
    async with touring(tmp_path) as play:
        await play.write("what is the weather")
        await play.until_seen("This twin is scripted")
        await play.until_ready(1)
        await play.until_seen("› Good evening, I am glad you are here.")


async def test_leaving_the_tour_ends_the_program(tmp_path: Path) -> None:
    async with touring(tmp_path) as play:
        await play.press("ctrl+c", "ctrl+c")
        await play.until(lambda: not play.app.is_running)
