"""How long until something stands there: the first paint of ``twins`` and the help, as whole processes."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic

import ptyprocess

from store.room import Room
from tests.bench.figures import Figure, median

ROOT = Path(__file__).parents[2]
RUNS = 9
"""Runs of each; the median and the best are told, for a machine that does other things as well."""
TWINS = (sys.executable, "-c", "from app.cli import main; main()")


def measure() -> list[Figure]:
    """Each run is a process of its own; the first, which writes the bytecode, is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        room = Room.create(Path(folder) / "room", "Ada")
        plain = [first_paint(["--room", str(room)], b"new session") for _ in range(RUNS + 1)][1:]
        tour = [first_paint(["demo"], b"wake packet") for _ in range(RUNS + 1)][1:]
        left = [leaves() for _ in range(5)]
    helped = [helps() for _ in range(RUNS + 1)][1:]
    return [
        Figure("start", "twins: process start to first paint", median(plain), "s", 0.6, None, min(plain), "best:"),
        Figure("start", "twins demo: to the wake packet on screen", median(tour), "s", None, None, min(tour), "best:"),
        Figure(
            "leave", "ctrl+q in a stream: to the end of the process", median(left), "s", 1.0, None, min(left), "best:"
        ),
        Figure("start", "twins --help", median(helped), "s", 0.3, None, min(helped), "best:"),
    ]


def first_paint(arguments: Sequence[str], words: bytes) -> float:
    """Seconds from the start of a process in a pseudo-terminal until it has written ``words``."""
    began = monotonic()
    program = _program(arguments)
    seen = b""
    try:
        while words not in seen:
            seen += _read(program, words)
        return monotonic() - began
    finally:
        program.terminate(force=True)


def _program(arguments: Sequence[str]) -> ptyprocess.PtyProcess:
    return ptyprocess.PtyProcess.spawn(
        [*TWINS, *arguments], dimensions=(40, 120), env={**os.environ, "TERM": "xterm-256color"}, cwd=str(ROOT)
    )


def _read(program: ptyprocess.PtyProcess, words: bytes) -> bytes:
    if not select.select([program.fd], [], [], 20)[0]:
        raise RuntimeError(f"nothing like {words!r} within 20 s")
    read: bytes = os.read(program.fd, 65536)
    return read


def leaves() -> float:
    """Seconds from the choice to leave, while an answer streams, until the process is gone."""
    program = _program(["demo"])
    seen = b""

    def until(words: bytes) -> None:
        nonlocal seen
        while words not in seen:
            seen += _read(program, words)

    try:
        until(b"ready for you")
        seen = b""
        program.write(b"\r")
        until(b"answers")
        program.write(b"\x11")
        until(b"Close this session?")
        began = monotonic()
        program.write(b"l")
        while program.isalive():
            if select.select([program.fd], [], [], 0.01)[0]:
                with suppress(OSError, EOFError):
                    os.read(program.fd, 65536)
        return monotonic() - began
    finally:
        program.terminate(force=True)


def helps() -> float:
    """Seconds that the help takes, whole."""
    began = monotonic()
    subprocess.run([*TWINS, "--help"], check=True, capture_output=True, cwd=ROOT)
    return monotonic() - began
