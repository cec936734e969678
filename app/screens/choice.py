"""A dialog that offers a few ways to go on, a key each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.widgets import Static

from store.text import clean
from widgets.dialogs.dialog import Dialog, keys_rows


@dataclass(frozen=True, slots=True)
class Way:
    """One way: its key, the word that comes back, and what it means."""

    key: str
    name: str
    what: str


class Choice(Dialog[str]):
    """Offers ``ways``; comes back with the chosen one's name, or None when left by escape (which ``stay`` words)."""

    def __init__(self, title: str, words: str, ways: Sequence[Way], *, stay: str) -> None:
        super().__init__(classes="-asks")
        self._title, self._words = clean(title), clean(words)
        self._ways, self._stay = tuple(ways), stay

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog-box") as box:
            box.border_title = Content(self._title)
            if self._words:
                yield Static(Content(self._words), classes="dialog-words", markup=False)
            yield keys_rows(*([(way.key, way.what)] for way in self._ways), [("esc", self._stay)])

    def on_key(self, event: Key) -> None:
        chosen = next((way for way in self._ways if way.key == event.key), None)
        if chosen is not None:
            event.stop()
            self.dismiss(chosen.name)
