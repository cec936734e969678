"""The close on screen: letters come to the operator before they are filed, then what the Keeper proposes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from screen_plays import Play, beat, playing, speaks
from textual.widgets import TextArea

from app.scripted.script import Beat, Reply
from app.session.opening import resume_session
from app.tui import PlanApp
from store.bodies import BriefAnswered, LetterDrafted, LetterFiled, SessionClosed
from store.room import DESK
from widgets.dialogs.letter import LetterReview
from widgets.dialogs.proposal import Proposal

LETTER = "Dear successor,\n\nall is well. We meet on Monday 29 November 2026.\n\nP"
LETTERS = (
    beat("Write your letter", Reply(text=LETTER)),
    beat("Write your handoff", Reply(text="- nothing is open")),
)
BRIEF = "Listen, and keep what cannot be found again. " * 20


@asynccontextmanager
async def at_the_close(
    folder: Path, *, keeper: tuple[Beat, ...] = (), size: tuple[int, int] = (120, 40)
) -> AsyncIterator[Play]:
    """A session of one turn whose close with letters has begun."""
    async with playing(folder, speaks(beat("hello", Reply(text="Hello.")), *LETTERS, keeper=keeper), size=size) as play:
        await play.write("hello")
        await play.until_ready(1)
        await play.press("ctrl+q")
        await play.until_seen("Close this session?")
        await play.press("c")
        yield play


async def review(play: Play, which: str) -> LetterReview:
    """Wait for the draft, and until it takes keys."""
    found = lambda: isinstance(play.app.screen, LetterReview) and play.app.screen.which == which  # noqa: E731
    await play.until(found, f"the {which}")
    dialog = play.app.screen
    assert isinstance(dialog, LetterReview)
    await play.until(lambda: dialog._armed)
    await play.pilot.pause()
    return dialog


def filed(play: Play) -> list[tuple[str, str, bool]]:
    return [(body.which, body.text, body.edited_by_operator) for body in play.bodies(LetterFiled)]


async def test_a_letter_is_read_before_it_is_filed_and_enter_and_escape_file_it_as_it_came(tmp_path: Path) -> None:
    async with at_the_close(tmp_path) as play:
        await review(play, "letter")
        assert "all is well" in play.seen() and filed(play) == []
        assert "that day is a Sunday" in play.seen(), "a wrong date is told where the letter is read"
        await play.press("enter")
        await review(play, "handoff")
        await play.press("escape")
        await play.until_seen("The session is closed")
        assert filed(play) == [("letter", LETTER, False), ("handoff", "- nothing is open", False)]


async def test_a_letter_can_be_mended_and_answered_and_what_stands_there_is_filed(tmp_path: Path) -> None:
    async with at_the_close(tmp_path) as play:
        dialog = await review(play, "letter")
        await play.press("e")
        dialog.query_one("#letter-text", TextArea).select_all()
        await play.press(*"As Ada", "enter", *"mended it", "escape", "a", *"Thanks", "ctrl+s")
        await review(play, "handoff")
        await play.press("enter")
        await play.until_seen("The session is closed")
        _, text, edited = filed(play)[0]
        assert edited and text.startswith("As Ada\nmended it\n") and "Ada answers:\n\n> Thanks" in text


async def test_keys_that_were_meant_for_something_else_file_nothing(tmp_path: Path) -> None:
    async with at_the_close(tmp_path) as play:
        await play.until(lambda: isinstance(play.app.screen, LetterReview))
        if not play.app.screen._armed:  # type: ignore[attr-defined]
            await play.press("enter")
            assert isinstance(play.app.screen, LetterReview) and filed(play) == []
        dialog = await review(play, "letter")
        await play.press("x", "y", "space")
        assert play.app.screen is dialog and dialog.words.text == LETTER


async def test_a_letter_waits_behind_another_dialog(tmp_path: Path) -> None:
    async with at_the_close(tmp_path) as play:
        await play.press("f1")
        await play.until(lambda: play.bodies(LetterDrafted))
        await play.pilot.pause(0.1)
        while isinstance(play.app.screen, LetterReview):
            await review(play, play.app.screen.which)
            break
        else:
            assert "Keys and actions" in play.seen()
            await play.press("escape")
            await review(play, "letter")


async def test_leaving_with_a_letter_unfiled_keeps_it_for_the_next_close_and_p_is_not_asked_again(
    tmp_path: Path,
) -> None:
    async with at_the_close(tmp_path) as play:
        await review(play, "letter")
        await play.press("ctrl+q")
        await play.until_seen("The session is being closed")
        await play.press("l")
        await play.until(lambda: not play.app.is_running)
        assert filed(play) == [] and play.bodies(SessionClosed) == []
        opened = resume_session(play.room, play.session.log)
        app = PlanApp(play.room, opened, play.session.endpoint)
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            assert app.live is not None
            again = Play(app, pilot, app.live.session, play.room, play.server)
            await again.press("ctrl+q")
            await again.until_seen("Close this session?")
            await again.press("c")
            await review(again, "letter")
            await again.press("enter")
            await review(again, "handoff")
            await again.press("enter")
            await again.until_seen("The session is closed")
            assert [which for which, _, _ in filed(again)] == ["letter", "handoff"]
            asked = [one for one in play.server.requests_of("presence") if b"Write your letter" in one.raw]
            assert len([one for one in asked if b"Write your handoff" not in one.raw]) == 1


async def test_after_the_first_close_the_keepers_brief_is_proposed_and_can_be_taken(tmp_path: Path) -> None:
    async with at_the_close(tmp_path, keeper=(beat("revision of your own brief", Reply(text=BRIEF)),)) as play:
        for which in ("letter", "handoff"):
            await review(play, which)
            await play.press("enter")
        await play.until(lambda: isinstance(play.app.screen, Proposal), "the proposal")
        await play.press("end")
        await play.until_seen("+Listen, and keep")
        await play.press("y")
        await play.until_seen("The session is closed")
        (answered,) = [event.body for event in play.room.events(DESK) if isinstance(event.body, BriefAnswered)]
        assert answered.accepted
        assert (play.room.root / "briefs" / "keeper.md").read_text().strip() == BRIEF.strip()


async def test_a_proposal_left_by_escape_waits_and_nothing_is_decided(tmp_path: Path) -> None:
    async with at_the_close(
        tmp_path, keeper=(beat("revision of your own brief", Reply(text=BRIEF)),), size=(80, 24)
    ) as play:
        for which in ("letter", "handoff"):
            await review(play, which)
            await play.press("enter")
        await play.until(lambda: isinstance(play.app.screen, Proposal), "the proposal")
        await play.press("escape")
        await play.until_seen("The session is closed")
        assert not (play.room.root / "briefs" / "keeper.md").exists()
        assert any("twins brief" in words for words in play.told())
