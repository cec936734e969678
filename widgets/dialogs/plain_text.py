"""Text shown as it is, long or not, through the line API: a tool's input, a diff, a history, the help."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size

from store.text import clean
from widgets.dialogs.exactly import exactly
from widgets.rows import RowList

Look = Literal["text", "added", "removed", "place", "dim", "head"]

_CONTROL = re.compile(r"‹U\+[0-9A-F]{4,6}›")


def visible(text: str) -> str:
    """``text`` with everything that a terminal would act on, or hide, spelled out: ``‹U+001B›``.

    Where the operator decides on what will run, dropping a control would show something else than what runs.
    """
    if clean(text) == text:
        return text
    hidden = {char for char in set(text) if clean(char) != char}
    return text.translate({ord(char): f"‹U+{ord(char):04X}›" for char in hidden})


def look_of_diff(line: str) -> Look:
    """How a line of a unified diff is to look."""
    if line.startswith(("+++", "---")):
        return "head"
    if line.startswith("@@"):
        return "place"
    return "added" if line.startswith("+") else "removed" if line.startswith("-") else "text"


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line, its number from 0, and how it looks."""

    number: int
    text: str
    look: Look = "text"


def text_lines(text: str, *, diff: bool = False) -> tuple[TextLine, ...]:
    """The lines of ``text`` with all that is not drawn spelled out, coloured as a diff where it is one."""
    lines = exactly(text.removesuffix("\n")).split("\n")
    return tuple(TextLine(n, line, look_of_diff(line) if diff else "text") for n, line in enumerate(lines))


def written(parts: Iterable[tuple[str, Look]]) -> tuple[TextLine, ...]:
    """Lines out of (text, look) pairs; a pair with line ends makes several."""
    flat = ((line, look) for text, look in parts for line in visible(text).split("\n"))
    return tuple(TextLine(number, line, look) for number, (line, look) in enumerate(flat))


class PlainText(RowList[TextLine]):
    """Lines to read and scroll; there is no cursor."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "plain--added",
        "plain--removed",
        "plain--place",
        "plain--dim",
        "plain--head",
        "plain--control",
    }

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", "Up", show=False),
        Binding("down,j", "scroll_down", "Down", show=False),
        Binding("pageup,ctrl+u", "page_up", "Page up", show=False),
        Binding("pagedown,ctrl+d,space", "page_down", "Page down", show=False),
        Binding("home,g", "scroll_home", "Top", show=False),
        Binding("end,G", "scroll_end", "End", show=False),
    ]

    def __init__(self, lines: Sequence[TextLine], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._given = tuple(lines)

    def on_mount(self) -> None:
        self.show(self._given)

    def key(self, item: TextLine) -> object:
        return item.number

    def selectable(self, item: TextLine) -> bool:
        return False

    def rows(self, item: TextLine, width: int, current: bool) -> Sequence[Content]:
        content = Content(item.text) if item.look == "text" else Content.styled(item.text, f"plain--{item.look}")
        for found in _CONTROL.finditer(item.text):
            content = content.stylize("plain--control", found.start(), found.end())
        return content.wrap(width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        room = max(1, width - self.styles.scrollbar_size_vertical)
        # Each line takes a row at least, so no more of them than the screen has rows can matter.
        return sum(len(self._lay_out(item, room, False)) for item in self._given[: self.app.size.height])

    def action_choose(self) -> None:
        """Enter means nothing here."""
