"""The snug pane: signed and dated entries, oldest first, read to the end like a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from store.text import clean
from widgets.figures import fitted, piece
from widgets.rows import RowList

_NAMES = {"presence": "Presence", "keeper": "Keeper", "operator": "operator", "reader": "reader", "system": "program"}


@dataclass(frozen=True, slots=True)
class SnugEntry:
    """An entry as the pane shows it: who signed, when (ISO 8601, UTC), the words. ``new`` since this session."""

    by: str
    at: str
    text: str
    new: bool = False

    @property
    def moment(self) -> str:
        """Date and minute of ``at``, as it stands: 2026-11-30 00:05."""
        return clean(self.at)[:16].replace("T", " ")


class SnugPane(RowList[SnugEntry]):
    """Shows the entries handed to it; the newest is in sight until the reader goes up."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "snug--presence",
        "snug--keeper",
        "snug--operator",
        "snug--dim",
        "snug--rule",
    }

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "copy", "Copy", show=False, id="snug.copy", tooltip="Copy the entry"),
    ]
    BORDER_TITLE = "snug"
    FOLLOWS_END = True
    EMPTY = "The snug is empty. What a twin writes here is its own, signed and dated; nothing is ever taken out."

    def on_mount(self) -> None:
        self.show_entries(self.items)

    def show_entries(self, entries: Iterable[SnugEntry]) -> None:
        """Show ``entries``, oldest first. A reader who was at the end stays there, another one is not moved."""
        self.show(tuple(entries), empty=Content.styled(self.EMPTY, "snug--dim"))

    def key(self, item: SnugEntry) -> object:
        return (item.at, item.by, item.text)

    def words(self, item: SnugEntry) -> str:
        return clean(item.text)

    def rows(self, item: SnugEntry, width: int, current: bool) -> Sequence[Content]:
        seat = item.by if item.by in ("presence", "keeper") else "operator"
        name = _NAMES.get(item.by, clean(item.by))
        left = [piece(100, (name, f"snug--{seat}")), piece(50, (item.moment, "snug--dim"))]
        right = [piece(60, ("+ new", "snug--keeper"))] if item.new else []
        body = Content(clean(item.text).strip()).wrap(width)
        return (fitted(left, right, width), *body, Content(""))
