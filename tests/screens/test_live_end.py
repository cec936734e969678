"""How a session ends on screen: closed with letters or without, left, by the second way, in the middle of a stream."""

from pathlib import Path

from screen_plays import beat, files_the_letters, playing, slowly, speaks

from app.scripted.faults import Fault
from app.scripted.script import Reply
from store.bodies import LetterFiled, MessageCut, Notice, OperatorSaid, SessionClosed
from store.room import Room

LONG = " ".join(f"word{number}" for number in range(400))
LETTERS = (beat(r"[Ll]etter", Reply(text="Dear successor, all is well.")),)


async def test_ctrl_q_closes_with_letters_and_tells_what_the_session_came_to(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("hello", Reply(text="Hello.")), *LETTERS)) as play:
        await play.write("hello")
        await play.until_ready(1)
        await play.press("ctrl+q")
        await play.until_seen("Close this session?")
        await play.press("c")
        await files_the_letters(play)
        await play.until_seen("The session is closed")
        assert [letter.which for letter in play.bodies(LetterFiled)] == ["letter", "handoff"]
        assert "1 turn" in play.seen()
        await play.press("enter")
        await play.until(lambda: not play.app.is_running)
        assert "is closed" in play.app.parting[0]


async def test_a_closed_session_can_be_looked_at_and_written_out_before_it_is_left(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("hello", Reply(text="Hello.")))) as play:
        await play.write("hello")
        await play.until_ready(1)
        await play.press("ctrl+q")
        await play.until_seen("Close this session?")
        await play.press("n")
        await play.until_seen("The session is closed")
        await play.press("escape")
        await play.until_seen("this session is closed")
        await play.press(*"nothing", "enter")
        await play.press("ctrl+e")
        await play.until_seen("bundle written")
        await play.press("ctrl+q")
        await play.until(lambda: not play.app.is_running)
        assert play.bodies(LetterFiled) == [] and len(play.bodies(SessionClosed)) == 1


async def test_escape_stays(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("hello", Reply(text="Hello.")))) as play:
        await play.press("ctrl+q")
        await play.until_seen("Close this session?")
        await play.press("escape")
        await play.write("hello")
        await play.until_seen("Hello.")
        assert play.bodies(SessionClosed) == []


async def test_leaving_in_the_middle_of_a_stream_keeps_the_words_and_the_session_open(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("tell", slowly(LONG)))) as play:
        await play.write("tell me")
        await play.until_seen("word1 ")
        await play.press("ctrl+q")
        await play.until_seen("Close this session?")
        await play.press("l")
        await play.until(lambda: not play.app.is_running)
        (cut,) = play.bodies(MessageCut)
        assert cut.text.startswith("word0 word1")
        assert not play.room.sessions()[0].closed_at
        assert "twins resume" in play.app.parting[0]


async def test_a_stream_that_stalls_for_ever_does_not_hold_the_program(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("tell", Reply(text=LONG)))) as play:
        await play.until(lambda: play.live._folding.connected)
        play.server.misbehave("presence", Fault("stall", after_deltas=3))
        await play.write("tell me")
        await play.until_seen("● Presence")
        await play.press("ctrl+c")
        await play.until(lambda: any("ctrl+c once more" in words for words in play.told()))
        assert play.app.is_running
        await play.press("ctrl+c")
        await play.until(lambda: not play.app.is_running)
        assert not play.room.sessions()[0].closed_at


async def test_ctrl_c_copies_what_is_selected_instead(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks()) as play:
        await play.press(*"copy")
        play.live.panes.composer.area.select_all()
        await play.press("ctrl+c", "ctrl+c")
        assert play.app.clipboard == "copy" and play.app.is_running


async def test_a_close_can_be_left_while_letters_are_written_and_the_session_is_resumable(tmp_path: Path) -> None:
    slow = beat(r"[Ll]etter", slowly(LONG))
    async with playing(tmp_path, speaks(beat("hello", Reply(text="Hello.")), slow)) as play:
        await play.write("hello")
        await play.until_ready(1)
        await play.press("ctrl+q")
        await play.until_seen("Close this session?")
        await play.press("c")
        await play.until_seen("Presence writes its letter")
        await play.press("ctrl+q")
        await play.until_seen("The session is being closed")
        await play.press("l")
        await play.until(lambda: not play.app.is_running)
        root = play.room.root
    with Room.open(root) as again:
        assert not again.sessions()[0].closed_at


async def test_seats_that_cannot_be_made_ready_are_said_in_the_chat_and_the_session_can_be_left(tmp_path: Path) -> None:
    from unittest.mock import patch

    with patch("app.session.seats.build_seats", side_effect=RuntimeError("no such transport")):
        async with playing(tmp_path, speaks()) as play:
            await play.until_seen("no such transport")
            assert play.bodies(Notice)[-1].level == "error"
            await play.press("ctrl+q")
            await play.until_seen("Close this session?")
            await play.press("l")
            await play.until(lambda: not play.app.is_running)


async def test_while_a_session_closes_nothing_more_can_be_sent(tmp_path: Path) -> None:
    script = speaks(beat("tell", slowly(LONG)), beat(r"[Ll]etter", slowly(LONG)))
    async with playing(tmp_path, script) as play:
        await play.write("tell me")
        await play.until_seen("word1 ")
        await play.press("ctrl+q")
        await play.until_seen("Close this session?")
        await play.press("c")
        await play.until_seen("Presence writes its letter")
        await play.write("one more thing")
        assert play.live.panes.composer.mode == "closing"
        assert [said.text for said in play.bodies(OperatorSaid)] == ["tell me"]
