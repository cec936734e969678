"""The operator's changes of the tiers that still stand, to take any of them back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from store.bodies import TiersChanged
from store.events import Event
from store.lines import one_line
from store.text import clean
from widgets.dialogs.dialog import Dialog, keys_rows
from widgets.figures import fitted, piece
from widgets.rows import RowList


class ChangeList(RowList[Event]):
    """Changes, newest first."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor", "rows--lit", "changes--dim", "changes--mark"}
    DEFAULT_CSS = """
    ChangeList {
        height: 1fr;
        margin: 1 1 0 1;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
        background: $surface;
        & > .rows--cursor { background: $primary-muted; }
        & > .changes--dim { color: $text-muted; }
        & > .changes--mark { color: $text-accent; text-style: bold; }
    }
    """

    def key(self, item: Event) -> object:
        return item.seq

    def rows(self, item: Event, width: int, current: bool) -> Sequence[Content]:
        body = item.body
        if not isinstance(body, TiersChanged):
            return ()
        gutter = ("▌" if current else " ", "changes--mark")
        ids = " ".join(change.after.id for change in body.changes)
        head = [
            piece(100, (f"{body.op.replace('_', ' ')} {ids}", "changes--mark")),
            piece(60, (f"session {body.session} turn {item.turn}", "changes--dim")),
            piece(40, (item.at[:16].replace("T", " "), "changes--dim")),
        ]
        words = one_line(clean("; ".join(change.after.text for change in body.changes)))
        rows = Content(words).wrap(max(1, width - 4))
        rows = list(rows) if current else list(rows[:1])
        if body.reason:
            rows += Content.styled(f"why: {one_line(clean(body.reason))}", "changes--dim").wrap(max(1, width - 4))
        indented = (Content.assemble(gutter, "  ", row) for row in rows)
        return [Content.assemble(gutter, fitted(head, [], width - 1)), *indented]


class Changes(Dialog[Event]):
    """Shows what the operator changed and did not take back; comes back with the change to be taken back."""

    DEFAULT_CSS = "Changes #dialog-box { height: 80%; }"

    def __init__(self, changes: Sequence[Event]) -> None:
        super().__init__()
        self._changes = tuple(reversed(changes))

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog-box") as box:
            box.border_title = "Your changes of the lines"
            box.border_subtitle = f"{len(self._changes)}"
            yield ChangeList(id="changes-list")
            yield keys_rows([("enter", "take it back"), ("esc", "leave")])

    def on_mount(self) -> None:
        found = self.query_one(ChangeList)
        found.show(self._changes, empty=Content("There is no change by your own hand that could be taken back."))
        found.focus()

    @on(ChangeList.Chosen)
    def _chosen(self) -> None:
        self.dismiss(self.query_one(ChangeList).current)
