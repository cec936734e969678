"""Two small dialogs: one asks for a text, one for a yes."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from store.text import clean
from widgets.dialogs.dialog import Dialog, keys_rows


class AskText(Dialog[str]):
    """Asks for one line of text: a reason, new words for a line. Enter gives it, escape leaves.

    ``required`` refuses an empty one; else an empty text is an answer.
    """

    def __init__(self, title: str, words: str = "", *, initial: str = "", required: bool = True) -> None:
        super().__init__()
        self._title = clean(title)
        self._words = clean(words)
        self._initial = clean(initial)
        self._required = required

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog-box") as box:
            box.border_title = Content(self._title)
            if self._words:
                yield Static(Content(self._words), classes="dialog-words", markup=False)
            # Not selected as a whole: who edits a line means to change a word of it.
            yield Input(self._initial, id="ask-text", classes="dialog-input", compact=True, select_on_focus=False)
            yield keys_rows([("enter", "take it"), ("esc", "leave it")])

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    @on(Input.Submitted)
    def _given(self, event: Input.Submitted) -> None:
        text = event.value.strip()
        if text or not self._required:
            self.dismiss(text)
        else:
            self.notify("Write something, or leave with esc.", severity="warning", markup=False)


class Confirm(Dialog[bool]):
    """Asks for a yes. Only ``y`` is one; ``n`` is no, escape leaves it open (None)."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "say(True)", "Yes"),
        Binding("n", "say(False)", "No"),
    ]

    def __init__(self, title: str, words: str, *, yes: str = "yes", no: str = "no") -> None:
        super().__init__(classes="-asks")
        self._title = clean(title)
        self._words = clean(words)
        self._yes, self._no = yes, no

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog-box") as box:
            box.border_title = Content(self._title)
            yield Static(Content(self._words), classes="dialog-words", markup=False)
            yield keys_rows([("y", self._yes), ("n", self._no), ("esc", "leave")])

    def action_say(self, answer: bool) -> None:
        self.dismiss(answer)
