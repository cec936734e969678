"""The bytes that reach a real pseudo-terminal: foreign text can neither steer it nor hide, and words are all there."""

from __future__ import annotations

import os
import re
import select
import sys
from pathlib import Path

import ptyprocess
import pyte
import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """
import sys
sys.path[:0] = [{root!r}, {here!r}]
from textual.app import App
from chat_plays import Numbered, OPENED, ended, said
from store.bodies import Notice, OperatorSaid, Partial, ToolAsked, ToolCalled, ToolEnded, WakePacket
from store.text import clean
from widgets.chat import Chat

HOSTILE = {hostile!r}

class Shown(App):
    def compose(self):
        self.chat = Chat()
        yield self.chat

    def on_mount(self):
        make = Numbered()
        bodies = [
            OPENED, WakePacket("B", HOSTILE, (), ""), OperatorSaid(HOSTILE), Notice("error", HOSTILE),
            *[said(c, request=1) for c in HOSTILE], ended(HOSTILE, request=1),
            ToolCalled("t", HOSTILE, {{"command": HOSTILE}}), ToolAsked("t", HOSTILE, HOSTILE),
            ToolEnded("t", HOSTILE, "error", HOSTILE, 1.0, 9),
            *[said(c, request=2) for c in "```\\n" + HOSTILE], said("\\nthe last words", request=2),
        ]
        for body in bodies:
            self.chat.apply(make(body))
        self.chat.view.focus()

Shown().run()
"""

HOSTILE = (
    "\x1b]0;evil-title\x07\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b[31m\x9b5mwords\x1bP+q544e\x1b\\ "
    "\u202ereversed\u202c \x1b_Gapc\x1b\\ [red]marked[/] \x1b]8;;http://evil.test\x1b\\link\x1b]8;;\x1b\\ "
    "\x07\x08\x85 end-of-words"
)


def run_in_terminal(program: str, until: str, rows: int = 40, columns: int = 100) -> tuple[str, pyte.Screen]:
    """Everything the program wrote until ``until`` stood on its screen, and that screen; the program is then ended."""
    env = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONDONTWRITEBYTECODE": "1"}
    child = ptyprocess.PtyProcess.spawn([sys.executable, "-c", program], dimensions=(rows, columns), env=env)
    screen = pyte.Screen(columns, rows)
    # Not drawn by pyte: private modes and keyboard protocols of kitty, which it would show as text.
    stream = pyte.ByteStream(screen)
    written = b""
    try:
        for _ in range(600):
            ready, _, _ = select.select([child.fd], [], [], 0.1)
            if ready:
                try:
                    chunk = child.read(65536)
                except EOFError:
                    break
                written += chunk
                stream.feed(re.sub(rb"\x1b\[[<>=]\d*[a-z]", b"", chunk))
            elif until in "\n".join(screen.display):
                return written.decode(), screen
    finally:
        child.terminate(force=True)
    pytest.fail(f"{until!r} never stood on the screen:\n" + "\n".join(screen.display))


def program(hostile: str) -> str:
    return PROGRAM.format(root=str(ROOT), here=str(Path(__file__).parent), hostile=hostile)


def steering(written: str) -> set[str]:
    """The kinds of sequences in a terminal's input, colours and places left out."""
    strings = re.findall(r"\x1b[\]P_^X][^\x07\x1b]*", written)
    others = re.findall(r"\x1b(?:\[[0-9;:?<>=!]*[ -/]*[@-~]|[^\[\]P_^X])", written)
    return {*strings, *(seq for seq in others if not re.fullmatch(r"\x1b\[[0-9;:]*[mHJK]", seq))}


def test_foreign_text_sends_no_sequence_that_plain_text_does_not() -> None:
    hostile, screen = run_in_terminal(program(HOSTILE), "the last words")
    plain, plain_screen = run_in_terminal(program("words and end-of-words"), "the last words")
    assert steering(hostile) - steering(plain) == set()
    assert not re.search("[\x80-\x9f\u202a-\u202e]", hostile)
    for secret in ("evil-title", "ZXZpbA", "evil.test", "+q544e", "Gapc"):
        assert secret not in hostile
    assert screen.title == plain_screen.title


def test_every_word_of_foreign_text_stands_on_the_screen() -> None:
    _, screen = run_in_terminal(program(HOSTILE), "the last words")
    text = "\n".join(screen.display)
    for words in ("words", "reversed", "[red]marked[/]", "link", "end-of-words"):
        assert words in text
