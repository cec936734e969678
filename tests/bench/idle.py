"""What a session costs that nobody touches, its clocks running: processor time of a real program in a terminal."""

from __future__ import annotations

import os
import select
import sys
import tempfile
from pathlib import Path
from time import monotonic

import ptyprocess

from tests.bench.figures import Figure

ROOT = Path(__file__).parents[2]
SETTLE_S, WATCHED_S = 4.0, 12.0
TICKS = os.sysconf("SC_CLK_TCK")
TWINS = "from app.cli import main; main()"
NAIVE = """
from textual.app import App
from textual.widgets import Markdown, Static
from textual.containers import VerticalScroll
from time import monotonic
class Naive(App):
    def compose(self):
        yield Static("wall 0:00", id="clock")
        with VerticalScroll():
            for number in range(60):
                yield Markdown(f"**message {number}**\\n\\n- a\\n- b")
    def on_mount(self):
        clock = self.query_one("#clock", Static)
        self.set_interval(1 / 30, lambda: clock.update(f"wall {monotonic():.2f} ready for you"))
Naive().run()
"""
"""The naive way: a clock drawn anew thirty times a second, one Markdown widget a message."""


def measure() -> list[Figure]:
    """The demo in its first turn, the RET's clock running; beside it a clock drawn the naive way."""
    with tempfile.TemporaryDirectory() as folder:
        ours = _share(["-c", TWINS, "demo"], b"ready for you", Path(folder), turn=True)
        naive = _share(["-c", NAIVE], b"ready for you", Path(folder), turn=False)
    return [
        Figure("idle", "share of a core, clocks running", ours * 100, "%", 3.0, None, naive * 100, "redrawn naively:")
    ]


def _share(arguments: list[str], ready: bytes, folder: Path, *, turn: bool) -> float:
    env = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
    child = ptyprocess.PtyProcess.spawn([sys.executable, *arguments], dimensions=(40, 120), env=env, cwd=str(folder))
    try:
        seen = _until(child, ready, b"")
        if turn:
            child.write(b"\r")
            _until(child, b"asks to use", seen[-1:])
        _let(child, SETTLE_S)
        before, began = _spent(child.pid), monotonic()
        _let(child, WATCHED_S)
        return (_spent(child.pid) - before) / (monotonic() - began)
    finally:
        child.terminate(force=True)


def _until(child: ptyprocess.PtyProcess, words: bytes, seen: bytes) -> bytes:
    while words not in seen:
        if not select.select([child.fd], [], [], 30)[0]:
            raise RuntimeError(f"nothing like {words!r} within 30 s")
        seen += os.read(child.fd, 65536)
    return seen


def _let(child: ptyprocess.PtyProcess, seconds: float) -> None:
    """Read what is painted for so long, as a terminal would."""
    end = monotonic() + seconds
    while (left := end - monotonic()) > 0:
        if select.select([child.fd], [], [], left)[0]:
            os.read(child.fd, 65536)


def _spent(pid: int) -> float:
    """Processor seconds of a process so far, its own and the system's for it (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS
