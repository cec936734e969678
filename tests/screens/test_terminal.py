"""The real program in a real pseudo-terminal: it starts, a line is sent, words stream in, it quits in order."""

from __future__ import annotations

from pathlib import Path

from terminals import twins


def test_the_demo_starts_takes_a_line_streams_and_quits_with_the_terminal_as_it_was(tmp_path: Path) -> None:
    with twins("demo", folder=tmp_path) as terminal:
        terminal.until("Good evening, I am glad you are here.")
        terminal.until("ready for you")
        terminal.send("\r")
        terminal.until("● Presence")
        terminal.until("Presence asks to use bash")
        terminal.send("\x11")  # ctrl+q
        terminal.until("Close this session?")
        terminal.send("l")
        assert terminal.until_ended() == 0
        assert terminal.is_as_it_was()
    assert "Traceback" not in terminal.raw.decode("utf-8", "replace")


def test_a_room_without_a_key_says_what_to_set_and_does_not_crash(tmp_path: Path) -> None:
    with twins("init", str(tmp_path / "room"), folder=tmp_path) as terminal:
        assert terminal.until_ended() == 0
    with twins("--room", str(tmp_path / "room"), folder=tmp_path) as terminal:
        terminal.until("There is no API key: set ANTHROPIC_API_KEY")
        terminal.until("new session")
        terminal.send("\r")
        terminal.until("A new session")
        terminal.send("\r")
        terminal.until("twins demo")
        terminal.send("\x03\x03")  # ctrl+c twice: the second way out
        assert terminal.until_ended() == 0
