"""The text area of the composer: enter sends, history at the edges, pastes folded and deleted as one, names offered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import TextArea

from widgets.composer.pastes import Pastes

OFFER_KEYS = frozenset({"up", "down", "tab", "enter", "escape"})
_NAME_BEGUN = re.compile(r"(?:^|\s)@([^\s@]*)$")


class ComposerArea(TextArea):
    """A text area that hands its text on by enter. It holds tokens; ``whole`` is what they stand for."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "Send", id="composer.send"),
        Binding("shift+enter,ctrl+j,alt+enter", "newline", "New line", show=False, id="composer.newline"),
        Binding(
            "ctrl+x",
            "cut",
            "Editor",
            show=False,
            id="composer.editor",
            tooltip="Write in your $EDITOR; with something selected: cut",
        ),
    ]

    class Send(Message):
        """Enter was pressed."""

    class CommandsWanted(Message):
        """A slash began an empty message."""

    class EditorWanted(Message):
        """The operator wants to write in their own editor."""

    class OfferKey(Message):
        """A key that acts on the offered names."""

        def __init__(self, key: str) -> None:
            self.key = key
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, soft_wrap=True, show_line_numbers=False, compact=True, highlight_cursor_line=False)
        self.pastes = Pastes()
        self._history: list[str] = []
        self._place = 0
        self._draft = ""
        self.offering = False
        """Names are offered: up, down, tab, enter and escape are about them."""

    @property
    def whole(self) -> str:
        """The text with its pastes unfolded."""
        return self.pastes.unfolded(self.text)

    def put(self, text: str) -> None:
        """Replace what stands here by ``text`` (folded when it is long), the cursor at its end."""
        self.load_text(self.pastes.taken(text) if text else "")
        self.move_cursor(self.document.end)

    # ------------------------------------------------------------ keys

    async def _on_key(self, event: events.Key) -> None:
        if self.offering and event.key in OFFER_KEYS:
            event.stop()
            event.prevent_default()
            self.post_message(self.OfferKey(event.key))
        elif event.character == "/" and not self.text and not self.read_only:
            event.stop()
            event.prevent_default()
            self.post_message(self.CommandsWanted())
        elif event.key == "enter":
            # The base class would insert a line and stop the key. Let it go on to the bindings, where enter sends
            # and where room.toml may have put another action.
            event.prevent_default()

    def action_send(self) -> None:
        if not self.read_only:
            self.post_message(self.Send())

    def action_cut(self) -> None:
        """Cut what is selected; with nothing selected, ask for the operator's editor."""
        if not self.selection.is_empty:
            super().action_cut()
        elif not self.read_only:
            self.post_message(self.EditorWanted())

    @property
    def name_begun(self) -> str | None:
        """What stands between an ``@`` that begins a word and the cursor; None when there is no such word."""
        row, column = self.cursor_location
        found = _NAME_BEGUN.search(self.document[row][:column]) if self.selection.is_empty else None
        return found[1] if found is not None else None

    def take_name(self, name: str) -> None:
        """Put ``name`` in the place of the one that was begun; a folder is left open to go on with."""
        begun = self.name_begun
        if begun is not None and not self.read_only:
            row, column = self.cursor_location
            ended = name if name.endswith("/") else f"{name} "
            self._replace_via_keyboard(ended, (row, column - len(begun)), (row, column))

    def action_newline(self) -> None:
        if not self.read_only:
            self._replace_via_keyboard("\n", *self.selection)

    def action_delete_left(self) -> None:
        row, column = self.cursor_location
        token = self.pastes.token_before(self.document[row], column) if self.selection.is_empty else None
        if token is None or self.read_only:
            super().action_delete_left()
        else:
            self.delete((row, column - len(token)), (row, column), maintain_selection_offset=False)

    def action_delete_right(self) -> None:
        row, column = self.cursor_location
        token = self.pastes.token_after(self.document[row], column) if self.selection.is_empty else None
        if token is None or self.read_only:
            super().action_delete_right()
        else:
            self.delete((row, column), (row, column + len(token)), maintain_selection_offset=False)

    # ------------------------------------------------------------ pastes

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.take_paste(event.text)

    def action_paste(self) -> None:
        self.take_paste(self.app.clipboard)

    def take_paste(self, text: str) -> None:
        """Put a pasted ``text`` at the cursor, folded when it must be."""
        if text and not self.read_only:
            self._replace_via_keyboard(self.pastes.taken(text), *self.selection)

    # ------------------------------------------------------------ history

    def set_history(self, entries: Sequence[str]) -> None:
        """What was sent before, oldest first."""
        self._history = list(entries)
        self._place = len(self._history)

    def prepend_history(self, entries: Sequence[str]) -> None:
        """What was sent before that, in earlier sessions, oldest first."""
        self._history = [*entries, *self._history]
        self._place += len(entries)

    def remember(self, text: str) -> None:
        """``text`` was sent: the newest of the history, once."""
        if not self._history or self._history[-1] != text:
            self._history.append(text)
        self._place = len(self._history)
        self._draft = ""

    def action_cursor_up(self, select: bool = False) -> None:
        if select or not self.cursor_at_first_line:
            super().action_cursor_up(select)
        else:
            self._walk(-1)

    def action_cursor_down(self, select: bool = False) -> None:
        if select or not self.cursor_at_last_line:
            super().action_cursor_down(select)
        else:
            self._walk(1)

    def _walk(self, step: int) -> None:
        """Show the entry before or after; beyond the newest stands what was being written."""
        place = self._place + step
        if self.read_only or not 0 <= place <= len(self._history):
            return
        if self._place == len(self._history):
            self._draft = self.text
        self._place = place
        if place == len(self._history):
            self.load_text(self._draft)
            self.move_cursor(self.document.end)
        else:
            self.put(self._history[place])

    def show_ready(self, line: Content) -> None:
        """What stands here in grey while nothing is written."""
        self.placeholder = line
