"""The operator's hand on the lines: each key of the tier panel, through the gate, and back again."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from screen_plays import QUOTE, Play, keeps_a_decision, playing, speaks

from app.screens.past import PastSession
from store.bodies import TiersChanged
from store.lines import LineId
from widgets.dialogs import AskText, LineHistory
from widgets.tiers.lines import LineList


@asynccontextmanager
async def with_lines(folder: Path, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Play]:
    """A session in which K keeps a decision (L1, warm) and a hot line (L2); the decision is under the cursor."""
    async with playing(folder, speaks(keeper=keeps_a_decision()), size=size) as play:
        await play.write(QUOTE)
        await play.until_ready(1)
        await play.press("f3")
        await play.until(lambda: play.app.focused is play.live.query_one(LineList), "the list of lines")
        await play.press("end")
        yield play


def operations(play: Play) -> list[str]:
    return [
        event.body.op
        for event in play.room.events(play.session.log)
        if isinstance(event.body, TiersChanged) and event.by == "operator"
    ]


async def test_p_promotes_a_hot_line_and_p_again_takes_that_back(tmp_path: Path) -> None:
    async with with_lines(tmp_path) as play:
        await play.press("home", "p")
        await play.until(lambda: play.room.tiers.lines[LineId("L2")].promoted)
        await play.until_seen("◆ kept")
        await play.press("p")
        await play.until(lambda: not play.room.tiers.lines[LineId("L2")].promoted)
        assert operations(play) == ["promote", "promote"]


async def test_r_asks_for_a_reason_and_retires_and_f7_brings_the_line_back(tmp_path: Path) -> None:
    async with with_lines(tmp_path) as play:
        await play.press("r")
        await play.until(lambda: isinstance(play.app.screen, AskText))
        await play.write("it is done")
        await play.until(lambda: play.line(1) is None)
        (retired,) = [body for body in play.bodies(TiersChanged) if body.op == "retire"]
        assert "it is done" in retired.reason
        await play.press("f7")
        await play.until(lambda: play.line(1) is not None)
        assert operations(play) == ["retire", "undo"]


async def test_escape_in_the_question_for_a_reason_retires_nothing(tmp_path: Path) -> None:
    async with with_lines(tmp_path) as play:
        await play.press("r")
        await play.until(lambda: isinstance(play.app.screen, AskText))
        await play.press("escape")
        await play.until(lambda: play.live.is_current)
        assert play.line(1) is not None and operations(play) == []


async def test_e_edits_the_words_and_u_takes_that_back(tmp_path: Path) -> None:
    async with with_lines(tmp_path) as play:
        await play.press("e")
        await play.until(lambda: isinstance(play.app.screen, AskText))
        await play.write(", always")
        await play.until(lambda: play.line(1) is not None and play.line(1).text == f"{QUOTE}, always")
        await play.press("u")
        await play.until(lambda: play.line(1) is not None and play.line(1).text == QUOTE)
        assert operations(play) == ["edit_line", "undo"]


async def test_u_on_a_line_that_the_operator_never_changed_says_so(tmp_path: Path) -> None:
    async with with_lines(tmp_path) as play:
        await play.press("u")
        await play.until(lambda: any("no change of L1" in words for words in play.told()))
        assert operations(play) == []


async def test_t_touches_the_line(tmp_path: Path) -> None:
    async with with_lines(tmp_path) as play:
        await play.press("t")
        await play.until(lambda: operations(play) == ["touch_line"])


async def test_enter_shows_the_history_and_enter_again_goes_to_the_quote(tmp_path: Path) -> None:
    async with with_lines(tmp_path) as play:
        await play.press("enter")
        await play.until(lambda: isinstance(play.app.screen, LineHistory))
        await play.until_seen("why: they said so")
        assert f"quote, session 1 turn 1: “{QUOTE}”" in play.seen()
        await play.press("enter")
        view = play.live.panes.chat.view
        await play.until(lambda: view.has_focus and view.current is not None and QUOTE in view.current.text)


async def test_a_line_of_an_earlier_session_leads_to_that_sessions_transcript(tmp_path: Path) -> None:
    async with with_lines(tmp_path) as play:
        await play.press("ctrl+q")
        await play.until_seen("Close this session?")
        await play.press("n")
        await play.until_seen("The session is closed")
        room, first = play.room, play.session.log
        opened = _next_session(play)
        play.app.show_session(opened, play.session.endpoint)
        await play.until(lambda: play.live.session.log != first and play.live.is_current)
        await play.pilot.pause()
        await play.press("f3")
        await play.until(lambda: play.app.focused is play.live.query_one(LineList))
        await play.press("end", "enter")
        await play.until(lambda: isinstance(play.app.screen, LineHistory))
        await play.press("enter")
        await play.until(lambda: isinstance(play.app.screen, PastSession))
        await play.until_seen(QUOTE)
        assert "session 1" in play.seen() and room.tiers.session == 2
        await play.press("escape")
        await play.until(lambda: play.live.is_current)


def _next_session(play: Play):  # type: ignore[no-untyped-def]
    from app.session.opening import open_session

    session = play.session
    return open_session(
        play.room, session.endpoint, condition=session.condition, task=None, workspace=session.workspace
    )


async def test_what_the_gate_refuses_is_said_and_changes_nothing(tmp_path: Path) -> None:
    async with with_lines(tmp_path) as play:
        before = play.line(1)
        await play.press("e")
        await play.until(lambda: isinstance(play.app.screen, AskText))
        play.app.screen.query_one("#ask-text").value = "x" * 601
        await play.press("enter")
        await play.until(lambda: any("600" in words for words in play.told()))
        assert play.line(1) == before
