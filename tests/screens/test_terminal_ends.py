"""However the program ends, the terminal is as it was and the session can be taken up."""

from __future__ import annotations

import os
import signal
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest
from terminals import MAIN, PATIENCE_S, Terminal, twins

from store.bodies import OperatorSaid
from store.mending import open_to_work

FAILS = f"""
from app.screens.live import LiveScreen
def broken(self):
    secret = "sk-ant-planted"
    raise ValueError("planted \\x1b[31m[red]fault")
LiveScreen.action_mark_break = broken
{MAIN}
"""


@contextmanager
def talking(folder: Path, program: str = MAIN) -> Iterator[Terminal]:
    """The demo in a room that stays, its first answer on its way."""
    with twins("demo", "--keep", str(folder / "kept"), folder=folder, program=program) as terminal:
        terminal.until("ready for you")
        terminal.send("\r")
        terminal.until("● Presence")
        yield terminal


def is_resumable(folder: Path) -> bool:
    """Whether the room opens for work, with what was said in it and the session open."""
    (root,) = (path.parent for path in (folder / "kept").rglob("room.toml"))
    with open_to_work(root) as room:
        (row,) = room.sessions()
        said = [event for event in room.events(row.id) if isinstance(event.body, OperatorSaid)]
        return not row.closed_at and len(said) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda one: one.name)
def test_a_signal_leaves_the_terminal_as_it_was_and_the_session_resumable(
    tmp_path: Path, number: signal.Signals
) -> None:
    with talking(tmp_path) as terminal:
        before = termios.tcgetattr(terminal.program.fd)
        os.kill(terminal.program.pid, number)
        assert terminal.until_ended() == 128 + number
        assert terminal.is_as_it_was()
        after = termios.tcgetattr(terminal.program.fd)
        assert after[3] & termios.ECHO and after[3] & termios.ICANON and not before[3] & termios.ECHO
    assert "Traceback" not in terminal.text
    assert is_resumable(tmp_path)


def test_a_fault_of_the_screen_is_one_plain_sentence_and_the_terminal_is_as_it_was(tmp_path: Path) -> None:
    with talking(tmp_path, FAILS) as terminal:
        terminal.send("\x02")  # ctrl+b
        assert terminal.until_ended() == 2
        assert terminal.is_as_it_was()
        assert "The screen failed (ValueError: planted [red]fault)" in terminal.text
        assert "twins resume" in terminal.text
        assert b"sk-ant-planted" not in terminal.raw and "Traceback" not in terminal.text
    assert is_resumable(tmp_path)


HANGS = f"""
import asyncio
from app.session.session import Session
async def hung(self):
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            {{listens}}
Session.leave = hung
{MAIN}
"""


@pytest.mark.parametrize("listens", ["raise", "pass"], ids=["stops when told", "never stops"])
@pytest.mark.parametrize("first", ["", "\x03\x03"], ids=["a signal alone", "while the operator waits to leave"])
def test_a_session_that_hangs_when_it_is_left_holds_up_no_end(tmp_path: Path, listens: str, first: str) -> None:
    with talking(tmp_path, HANGS.replace("{listens}", listens)) as terminal:
        terminal.send(first)
        os.kill(terminal.program.pid, signal.SIGTERM)
        assert terminal.until_ended() == 128 + signal.SIGTERM
        assert terminal.is_as_it_was()
    assert "Traceback" not in terminal.text
    assert is_resumable(tmp_path)


def test_ctrl_c_twice_leaves_also_when_leaving_hangs(tmp_path: Path) -> None:
    with talking(tmp_path, HANGS.replace("{listens}", "raise")) as terminal:
        terminal.send("\x03")
        terminal.until("once more")
        terminal.send("\x03")
        assert terminal.until_ended() == 0
        assert terminal.is_as_it_was()
    assert is_resumable(tmp_path)


def ends(pid: int) -> bool:
    deadline = monotonic() + PATIENCE_S
    while monotonic() < deadline:
        if os.waitpid(pid, os.WNOHANG) != (0, 0):
            return True
        sleep(0.05)
    return False


@pytest.mark.parametrize("ignored", [False, True], ids=["told", "not told"])
def test_a_lost_terminal_ends_the_program_in_order(tmp_path: Path, ignored: bool) -> None:
    # Under nohup, or behind some multiplexers, no signal tells: only the next write does.
    quiet = (
        f"import signal, app.leaving; app.leaving.SIGNALS = ()\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n{MAIN}"
    )
    with talking(tmp_path, quiet if ignored else MAIN) as terminal:
        os.close(terminal.program.fd)
        assert ends(terminal.program.pid)
        terminal.program.closed = terminal.program.terminated = True
    assert is_resumable(tmp_path)
