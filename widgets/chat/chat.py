"""The chat as a whole: the view and, on demand, the row that searches it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from store.events import Event
from store.transcript import Transcript
from widgets.chat.layout import WholeOf
from widgets.chat.view import ChatView


class Chat(Vertical):
    """Feed it events by ``apply``; it shows what they come to. ``/`` searches, escape goes back to the text."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "Search", show=False, id="chat.search"),
    ]

    def __init__(
        self, transcript: Transcript | None = None, *, whole: WholeOf | None = None, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self.view = ChatView(transcript, whole=whole)

    def compose(self) -> ComposeResult:
        yield self.view
        with Horizontal(id="chat-search"):
            yield Static("/", id="chat-search-label")
            yield SearchInput(placeholder="search the session", id="chat-search-input")
            yield Static("", id="chat-search-count")

    @property
    def transcript(self) -> Transcript:
        """What is shown."""
        return self.view.transcript

    def apply(self, event: Event) -> None:
        """Take one event in."""
        self.view.apply(event)

    def show_transcript(self, transcript: Transcript) -> None:
        """Show another transcript, from its end."""
        self.view.show_transcript(transcript)

    def action_search(self) -> None:
        """Open the search row and put the keys there."""
        self.query_one("#chat-search").add_class("-open")
        self.query_one(SearchInput).focus()

    @on(Input.Changed, "#chat-search-input")
    def _search(self, event: Input.Changed) -> None:
        event.stop()
        count = self.view.search(event.value)
        noun = "message" if count == 1 else "messages"
        self.query_one("#chat-search-count", Static).update(f"{count} {noun}" if event.value else "")

    @on(Input.Submitted, "#chat-search-input")
    def _to_matches(self, event: Input.Submitted) -> None:
        event.stop()
        self.view.focus()

    def end_search(self) -> None:
        """Close the search row and forget what was searched."""
        self.query_one(SearchInput).value = ""
        self.query_one("#chat-search").remove_class("-open")
        self.view.focus()


class SearchInput(Input):
    """The words to search for; enter goes to the matches (n, N), escape ends the search."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "end_search", "End the search", show=False),
        Binding("down", "match(1)", "Next match", show=False),
        Binding("up", "match(-1)", "Previous match", show=False),
    ]

    def action_end_search(self) -> None:
        chat = next((node for node in self.ancestors if isinstance(node, Chat)), None)
        if chat is not None:
            chat.end_search()

    def action_match(self, step: int) -> None:
        chat = next((node for node in self.ancestors if isinstance(node, Chat)), None)
        if chat is not None:
            chat.view.action_match(step)
