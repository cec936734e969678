"""Talking on the live screen: sending, stopping, queueing, going on, and the meters that follow."""

from pathlib import Path

from screen_plays import beat, playing, slowly, speaks

from app.scripted.faults import Fault
from app.scripted.script import Reply
from store.bodies import MessageCut, OperatorQueued, OperatorSaid, TurnEnded

LONG = " ".join(f"word{number}" for number in range(400))


async def test_enter_sends_what_is_written_and_the_answer_comes_into_the_chat_and_the_meters(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("hello", Reply(text="Good evening, Ada.")))) as play:
        await play.write("hello")
        await play.until_seen("Good evening, Ada.")
        await play.until_ready(1)
        await play.until_seen("ready for you")
        reading = play.live._folding.reading()
        assert reading.turn == 1 and reading.presence.usage.output > 0 and reading.ttft_ms is not None
        assert [said.text for said in play.bodies(OperatorSaid)] == ["hello"]


async def test_the_screen_says_that_it_wakes_until_the_seats_are_ready(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks()) as play:
        await play.until(lambda: play.live._folding.connected)
        await play.until_seen("ready for you")
        assert "scripted" in play.seen()


async def test_escape_stops_presence_and_keeps_what_has_come(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("tell", slowly(LONG)))) as play:
        await play.write("tell me")
        await play.until_seen("word1 ")
        await play.press("escape")
        await play.until(lambda: play.bodies(TurnEnded))
        (cut,) = play.bodies(MessageCut)
        assert cut.text.startswith("word0 word1") and LONG.startswith(cut.text)
        assert play.bodies(TurnEnded)[0].end == "stopped"
        await play.until_seen("ctrl+g lets Presence go on")
        assert "word0 word1" in play.seen()


async def test_what_is_sent_while_presence_works_waits_and_can_be_taken_back(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("tell", slowly(LONG)))) as play:
        await play.write("tell me")
        await play.until_seen("word1 ")
        await play.write("one more thing")
        await play.until_seen("1 message queued")
        await play.press("ctrl+t")
        assert play.live.panes.composer.text == "one more thing"
        assert [queued.text for queued in play.bodies(OperatorQueued)] == ["one more thing"]
        await play.press("escape")
        await play.until(lambda: not play.session.busy)
        assert len(play.bodies(OperatorSaid)) == 1


async def test_a_queued_message_is_sent_when_presence_hands_back(tmp_path: Path) -> None:
    script = speaks(beat("first", slowly("a b c d e f g h", 10)), beat("second", Reply(text="Second answer.")))
    async with playing(tmp_path, script) as play:
        await play.write("first")
        await play.until(lambda: play.session.busy)
        await play.write("second")
        await play.until_seen("Second answer.")
        await play.until_ready(2)
        assert [said.text for said in play.bodies(OperatorSaid)] == ["first", "second"]


async def test_ctrl_g_lets_presence_go_on_after_a_cut(tmp_path: Path) -> None:
    script = speaks(beat("tell", Reply(text="The whole answer."), Reply(text="And so to its very end.")))
    async with playing(tmp_path, script) as play:
        await play.until(lambda: play.live._folding.connected)
        play.server.misbehave("presence", Fault("disconnect", after_deltas=2))
        await play.write("tell me")
        await play.until_seen("ctrl+g lets Presence go on")
        await play.press("ctrl+g")
        await play.until_seen("to its very end.")
        await play.until(lambda: [ended.end for ended in play.bodies(TurnEnded)] == ["failed", "done"])
        assert "ctrl+g" not in play.seen()


async def test_lines_that_stand_ready_are_sent_by_enter_and_anything_else_goes_to_presence_too(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(), lines=("first line", "second line")) as play:
        await play.until_seen("first line")
        await play.press("enter")
        await play.until_ready(1)
        await play.until_seen("› second line")
        await play.write("of my own")
        await play.until_ready(2)
        assert [said.text for said in play.bodies(OperatorSaid)] == ["first line", "of my own"]
        await play.press("enter")
        await play.until_ready(3)
        await play.until_seen("ctrl+q closes this session")


async def test_nothing_typed_is_lost_while_the_seats_are_not_ready_yet(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("early", Reply(text="You were early.")))) as play:
        await play.write("early bird")
        await play.until_seen("You were early.")
