"""The help: every key and action of the screen, in sections, with what each is for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from widgets.dialogs.dialog import Dialog, keys_rows
from widgets.dialogs.plain_text import Look, PlainText, written


@dataclass(frozen=True, slots=True)
class HelpSection:
    """A part of the help: its title, a word on it, and (key, what it does) pairs."""

    title: str
    keys: Sequence[tuple[str, str]]
    words: str = ""


def _parts(sections: Sequence[HelpSection]) -> Iterator[tuple[str, Look]]:
    width = max((len(key) for section in sections for key, _ in section.keys), default=0)
    for number, section in enumerate(sections):
        if number:
            yield "", "text"
        yield section.title, "head"
        if section.words:
            yield section.words, "dim"
        for key, what in section.keys:
            yield f"  {key:<{width}}  {what}", "text"


class Help(Dialog[None]):
    """Shows the sections handed to it. Escape, q or F1 leave."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,f1", "leave", "Leave", show=False)]

    def __init__(self, sections: Sequence[HelpSection], *, title: str = "Keys and actions") -> None:
        super().__init__()
        self._sections = tuple(sections)
        self._title = title

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog-box") as box:
            box.border_title = Content(self._title)
            yield PlainText(written(_parts(self._sections)), id="help-text")
            yield keys_rows([("↑ ↓ space", "read on"), ("esc", "leave")])

    def on_mount(self) -> None:
        self.query_one(PlainText).focus()
