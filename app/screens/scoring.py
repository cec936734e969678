"""The scoring desk on screen: one item at a time, material beside question, nothing that tells its condition."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Input, Static

from app.study.scoring import Asked, Desk
from store.study_bodies import Answer
from widgets.themes import LOOKS, THEMES

_MEANS = {
    "y": "yes", "n": "no", "u": "cannot tell",
    "0": "bare facts", "1": "one of the three", "2": "two of them", "3": "all three",
}  # fmt: skip


class ScoringApp(App[None], inherit_bindings=False):
    """One person's desk. ``fired`` gives the stop rules that have fired, asked for whenever a run is all scored."""

    TITLE = "Two Twins: scoring"
    CSS = """
    Footer { background: $panel; }
    #place { height: 1; padding: 0 1; background: $panel; text-style: bold; }
    #both { height: 1fr; }
    #material-side { width: 3fr; }
    #question-side { width: 2fr; min-width: 28; border-left: solid $panel; padding: 0 1; }
    #material { padding: 0 1; max-width: 100; }
    #question { text-style: bold; margin-bottom: 1; }
    #note { display: none; margin-top: 1; background: $boost; }
    #note.open { display: block; }
    .narrow #both { layout: vertical; }
    .narrow #question-side { width: 100%; height: auto; max-height: 50%; border-left: none; border-top: solid $panel; }
    .narrow #material-side { width: 100%; height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"give('{key}')", show=False) for key in "ynu0123"),
        Binding("s,right", "skip", "Skip"),
        Binding("b,left", "one_back", "Back"),
        Binding("t", "note", "Note"),
        Binding("q,ctrl+c,ctrl+q", "quit", "Leave"),
        Binding("escape", "leave_note", show=False),
    ]

    def __init__(self, desk: Desk, fired: Callable[[], tuple[str, ...]]) -> None:
        super().__init__()
        self.desk = desk
        self._fired = fired
        self._told: set[str] = set()

    def compose(self) -> ComposeResult:
        yield Static(id="place", markup=False)
        with Horizontal(id="both"):
            with VerticalScroll(id="material-side"):
                yield Static(id="material", markup=False)
            with Vertical(id="question-side"), VerticalScroll():
                yield Static(id="question", markup=False)
                yield Static(id="answers", markup=False)
                yield Input(placeholder="A note; enter keeps it with the answer", id="note", compact=True)
        yield Footer(compact=True, show_command_palette=False)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        yield from super().get_system_commands(screen)
        yield SystemCommand("Skip", "Leave this item for later (s)", self.action_skip)
        yield SystemCommand("Back", "Go one item back (b)", self.action_one_back)
        yield SystemCommand("Note", "Write a note to this item (t)", self.action_note)

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = LOOKS[0]
        self.query_one("#material-side").focus()
        self._show()

    def on_resize(self) -> None:
        self.set_class(self.size.width < 100, "narrow")

    def _show(self) -> None:
        done, of = self.desk.progress
        asked = self.desk.asked()
        if asked is None:
            self.exit()
            return
        words = f"{done} of {of} answered · item {self.desk.place}"
        if self.desk.done:
            words += " · all answered: q leaves, b goes back to one"
        self.query_one("#place", Static).update(Content(words))
        self.query_one("#material", Static).update(Content(asked.material or "(nothing was handed over)"))
        self.query_one("#question", Static).update(Content(asked.question))
        self.query_one("#answers", Static).update(Content("\n").join(_rows(asked)))
        note = self.query_one("#note", Input)
        note.value = asked.note
        note.set_class(bool(asked.note), "open")
        self.query_one("#material-side", VerticalScroll).scroll_home(animate=False)

    def action_give(self, key: str) -> None:
        """Answers the item asked with a key; a key that it does not take does nothing."""
        asked = self.desk.asked()
        answer = next((one for one in asked.answers if one == key), None) if asked else None
        if answer is None:
            return
        run_scored = self.desk.answer(answer, self.query_one("#note", Input).value.strip())
        self._show()
        if run_scored:
            for words in self._fired():
                if words not in self._told:
                    self._told.add(words)
                    self.notify(words, title="Stop rule", severity="error", timeout=30, markup=False)

    def action_skip(self) -> None:
        """Leaves the item for later."""
        self.desk.skip()
        self._show()

    def action_one_back(self) -> None:
        """One item back."""
        self.desk.back()
        self._show()

    def action_note(self) -> None:
        """Opens the line for a note."""
        note = self.query_one("#note", Input)
        note.add_class("open")
        note.focus()

    def action_leave_note(self) -> None:
        """Back from the note to the keys."""
        self.query_one("#material-side").focus()

    def on_input_submitted(self) -> None:
        """The note stands; the next key answers with it."""
        self.action_leave_note()


def _rows(asked: Asked) -> list[Content]:
    return [_row(answer, given=answer == asked.given) for answer in asked.answers]


def _row(answer: Answer, *, given: bool) -> Content:
    key = Content.styled(answer, "bold $text-accent")
    means = Content.styled(_MEANS[answer], "bold" if given else "")
    return Content.assemble("● " if given else "  ", key, "  ", means)
