"""A proposed text against the one that holds: the difference, to be taken or left."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from store.text import clean
from widgets.dialogs.dialog import Dialog, keys_rows
from widgets.dialogs.plain_text import PlainText, text_lines


class Proposal(Dialog[bool]):
    """Shows ``diff`` under ``words``. ``y`` takes it, ``n`` leaves it, escape decides nothing (None)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "say(True)", "Take it"),
        Binding("n", "say(False)", "Leave it"),
    ]

    def __init__(self, title: str, words: str, diff: str) -> None:
        super().__init__(classes="-asks")
        self._title, self._words = clean(title), clean(words)
        self._diff = diff

    def compose(self) -> ComposeResult:
        lines = text_lines(self._diff, diff=True)
        with Vertical(id="dialog-box") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content(f"{len(lines):,} lines")
            yield Static(Content(self._words), classes="dialog-words", markup=False)
            yield PlainText(lines, id="proposal-diff")
            yield keys_rows([("y", "take it"), ("n", "leave it"), ("esc", "decide later")])

    def on_mount(self) -> None:
        self.query_one(PlainText).focus()

    def action_say(self, answer: bool) -> None:
        """Take it or leave it."""
        self.dismiss(answer)
