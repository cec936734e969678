"""The real program in a real pseudo-terminal: it starts, a line is sent, words stream in, it quits in order."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import ptyprocess
import pyte

ROWS, COLUMNS = 40, 120
PATIENCE_S = 30.0


class Terminal:
    """A program in a pseudo-terminal and the screen that it draws."""

    def __init__(self, program: ptyprocess.PtyProcess) -> None:
        self.program = program
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""

    def read(self, seconds: float) -> bool:
        """Take in what comes within so long; False when the program has ended."""
        if not select.select([self.program.fd], [], [], seconds)[0]:
            return True
        try:
            read = os.read(self.program.fd, 65536)
        except OSError:
            return False
        self.raw += read
        # pyte knows neither of these two questions to the terminal, and would draw them.
        self._stream.feed(read.replace(b"\x1b[?2026$p", b"").replace(b"\x1b[>1u", b"").replace(b"\x1b[<u", b""))
        return bool(read)

    @property
    def text(self) -> str:
        return "\n".join(self.screen.display)

    def until(self, words: str) -> None:
        deadline = monotonic() + PATIENCE_S
        while words not in self.text:
            assert monotonic() < deadline and self.read(0.2), f"{words!r} did not come:\n{self.text}"

    def send(self, keys: str) -> None:
        self.program.write(keys.encode())

    def until_ended(self) -> int:
        deadline = monotonic() + PATIENCE_S
        while self.read(0.2):
            assert monotonic() < deadline, f"the program did not end:\n{self.text}"
        self.program.wait()
        assert self.program.exitstatus is not None
        return self.program.exitstatus


@contextmanager
def twins(*arguments: str, folder: Path, **environment: str) -> Iterator[Terminal]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("ANTHROPIC_")}
    own |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", **environment}
    own["PYTHONPATH"] = str(Path(__file__).parents[2])
    program = ptyprocess.PtyProcess.spawn(
        [sys.executable, "-c", "from app.cli import main; main()", *arguments],
        dimensions=(ROWS, COLUMNS),
        env=own,
        cwd=str(folder),
    )
    try:
        yield Terminal(program)
    finally:
        program.terminate(force=True)


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
        # Alternate screen left, cursor shown, mouse and paste reports off: what was switched on is switched off.
        on = {mode for mode in (b"1049", b"1000", b"1003", b"1006", b"2004") if b"\x1b[?" + mode + b"h" in terminal.raw}
        assert {b"1049", b"2004"} <= on
        for mode in on:
            assert terminal.raw.rfind(b"\x1b[?" + mode + b"l") > terminal.raw.rfind(b"\x1b[?" + mode + b"h"), mode
        assert terminal.raw.rfind(b"\x1b[?25h") > terminal.raw.rfind(b"\x1b[?25l")
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
