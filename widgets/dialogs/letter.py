"""A letter before it is filed: the operator reads it, may mend it and answer it; what stands there is filed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static, TextArea

from store.entries import WrongDay
from store.text import clean
from widgets.dialogs.approval import ARM_SECONDS
from widgets.dialogs.dialog import Dialog, keys_rows
from widgets.figures import size


@dataclass(frozen=True, slots=True)
class LetterWords:
    """A letter as it is to be filed, and the operator's answer to it (empty when there is none)."""

    text: str
    answer: str = ""


class LetterReview(Dialog[LetterWords]):
    """Shows a draft to be read. ``e`` mends it, ``a`` answers it, enter and escape file what stands there: a letter is
    never lost by leaving. ``wrong`` are the dates in it that are not so."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "file", "File it"),
        Binding("e", "edit", "Edit"),
        Binding("a", "answer", "Answer"),
        Binding("ctrl+s", "file", "File it", priority=True),
    ]

    def __init__(
        self,
        which: str,
        draft: str,
        wrong: tuple[WrongDay, ...] = (),
        *,
        answer_to: str = "Presence",
        arm_seconds: float = ARM_SECONDS,
    ) -> None:
        super().__init__(classes="-letter")
        self.which = clean(which)
        self._draft, self._shown = draft, clean(draft)
        self._wrong = wrong
        self._answer_to = clean(answer_to)
        self._armed = arm_seconds <= 0
        self._arm_seconds = arm_seconds

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog-box") as box:
            box.border_title = Content(f"The {self.which}, before it is filed")
            box.border_subtitle = Content(size(len(self._draft.encode("utf-8", "replace"))))
            for wrong in self._wrong:
                yield Static(Content(f"! {wrong.sentence}"), classes="dialog-words dialog-warning", markup=False)
            yield TextArea(
                self._shown, read_only=True, show_line_numbers=False, compact=True, id="letter-text",
                highlight_cursor_line=False,
            )  # fmt: skip
            label = f"your answer, to stand below the {self.which} in your name"
            yield Static(Content(label), id="letter-label", classes="dialog-words", markup=False)
            yield TextArea("", show_line_numbers=False, compact=True, id="letter-answer", highlight_cursor_line=False)
            yield Static(id="letter-keys", classes="dialog-keys", markup=False)

    def on_mount(self) -> None:
        self._read()
        if not self._armed:
            self.set_timer(self._arm_seconds, self._arm)

    def _arm(self) -> None:
        self._armed = True

    # ------------------------------------------------------------ reading, mending, answering

    @property
    def words(self) -> LetterWords:
        """What stands there. A letter that nobody changed is P's to the last byte."""
        text = self.query_one("#letter-text", TextArea).text
        return LetterWords(
            self._draft if text == self._shown else text, self.query_one("#letter-answer", TextArea).text
        )

    def _read(self) -> None:
        text, answer = self.query_one("#letter-text", TextArea), self.query_one("#letter-answer", TextArea)
        text.read_only = answer.read_only = True
        for widget in (answer, self.query_one("#letter-label")):
            widget.display = bool(answer.text.strip())
        text.focus()
        again = "edit" if text.text == self._shown else "edit further"
        self._say_keys([("enter", "file it"), ("e", again), ("a", f"answer {self._answer_to}"), ("esc", "file it")])

    def _write(self, area: TextArea) -> None:
        area.display = True
        area.read_only = False
        area.focus()
        self._say_keys([("ctrl+s", "file it"), ("esc", "back to reading, your words stay")])

    def _say_keys(self, keys: list[tuple[str, str]]) -> None:
        self.query_one("#letter-keys", Static).update(keys_rows(keys).content)

    def action_edit(self) -> None:
        """Mend the letter."""
        self._write(self.query_one("#letter-text", TextArea))

    def action_answer(self) -> None:
        """Answer the letter."""
        self.query_one("#letter-label").display = True
        self._write(self.query_one("#letter-answer", TextArea))

    def action_file(self) -> None:
        """File what stands there."""
        if self._armed:
            self.dismiss(self.words)

    def action_leave(self) -> None:
        """From writing back to reading; from reading the letter is filed."""
        areas = self.query(TextArea)
        if any(not area.read_only for area in areas):
            self._read()
        else:
            self.action_file()
