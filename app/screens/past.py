"""Another session's transcript to read: where a line of an earlier session was made, or what a closed one said."""

from __future__ import annotations

from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from app.screens.finding import ask_turn, show_ret
from app.screens.places import Place, show_place
from app.screens.whole import whole_of
from store.events import Event
from store.room import LogName, Room
from store.transcript import transcript
from widgets.chat import Chat
from widgets.chat.messages import RetWanted, TurnWanted


class PastSession(ModalScreen[None]):
    """A session's log as a chat that nobody writes in. ``place`` says where to begin to read."""

    DEFAULT_CSS = """
    PastSession {
        background: $background;
        #past-title { height: 1; padding: 0 1; background: $panel; text-style: bold; }
        #past-keys { height: 1; padding: 0 1; background: $panel; color: $text-muted; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Back"),
        Binding("question_mark,f1", "app.help_here", "Keys here", show=False),
    ]

    def __init__(self, room: Room, log: LogName, title: str, *, place: Place | None = None) -> None:
        super().__init__()
        self._title = title
        self._place = place
        self._room, self._log = room, log
        self._chat = Chat(transcript(room.events(log)), whole=whole_of(room, log))

    def compose(self) -> ComposeResult:
        yield Static(Content(self._title), id="past-title", markup=False)
        yield self._chat
        keys = "esc back · / search · t turn · x error · m RET · y copy · enter opens · ? keys"
        yield Static(keys, id="past-keys", markup=False)

    def on_mount(self) -> None:
        self._chat.view.focus()
        self._unsubscribe = self._room.subscribe(self._follow)
        if self._place is not None:
            self.call_after_refresh(show_place, self._chat.view, self._place)

    def on_unmount(self) -> None:
        self._unsubscribe()

    def _follow(self, event: Event) -> None:
        """Show what another process appends while it is read here."""
        if event.log == self._log:
            self._chat.apply(event)

    @on(TurnWanted)
    @work(exclusive=True)
    async def _turn_wanted(self) -> None:
        await ask_turn(self.app, self._chat.view)

    @on(RetWanted)
    def _ret_wanted(self) -> None:
        show_ret(self.app, self._chat.view, self._room.events(self._log))

    def action_leave(self) -> None:
        """Back to where the operator came from."""
        self.dismiss(None)
