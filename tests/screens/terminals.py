"""A program in a real pseudo-terminal, and the screen that it draws there."""

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


MAIN = "from app.cli import main; main()"
TRACKED = (b"1049", b"1000", b"1003", b"1006", b"1004", b"2004")
"""Modes that a full-screen program switches on: alternate screen, mouse, focus, pastes."""


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
        return self.exit_code()

    def exit_code(self) -> int:
        """What the ended program came back with."""
        self.program.wait()
        assert self.program.exitstatus is not None
        return self.program.exitstatus

    def is_as_it_was(self) -> bool:
        """Whether every mode that was switched on is switched off again, and the cursor shown."""
        on = {mode for mode in TRACKED if b"\x1b[?" + mode + b"h" in self.raw}
        assert {b"1049", b"2004"} <= on
        raw = self.raw
        return raw.rfind(b"\x1b[?25h") > raw.rfind(b"\x1b[?25l") and all(
            raw.rfind(b"\x1b[?" + mode + b"l") > raw.rfind(b"\x1b[?" + mode + b"h") for mode in on
        )


@contextmanager
def twins(*arguments: str, folder: Path, program: str = MAIN, **environment: str) -> Iterator[Terminal]:
    """``twins`` with arguments in a terminal of its own; ``program`` is the Python that stands for it."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("ANTHROPIC_")}
    own |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", **environment}
    own["PYTHONPATH"] = str(Path(__file__).parents[2])
    child = ptyprocess.PtyProcess.spawn(
        [sys.executable, "-c", program, *arguments],
        dimensions=(ROWS, COLUMNS),
        env=own,
        cwd=str(folder),
    )
    try:
        yield Terminal(child)
    finally:
        child.terminate(force=True)
