"""What all dialogs share: a box in the middle of the dimmed screen, escape to leave, keys spelled out below."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

AnswerT = TypeVar("AnswerT")


def keys_rows(*rows: Sequence[tuple[str, str]]) -> Static:
    """Rows that say which key does what."""
    lines = []
    for row in rows:
        entries = (Content.assemble((key, "bold $text-accent"), f" {what}") for key, what in row)
        lines.append(Content("   ").join(entries))
    return Static(Content("\n").join(lines), classes="dialog-keys", markup=False)


class Dialog(ModalScreen[AnswerT | None]):
    """Base of the dialogs. Escape leaves without an answer."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave", show=False)]

    def action_leave(self) -> None:
        """Leave without an answer."""
        self.dismiss(None)
