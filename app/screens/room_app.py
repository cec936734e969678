"""Plain ``twins``: the room's sessions, to begin a new one, take one up, or read a closed one."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets.option_list import Option

from app.plan import known_conditions
from app.session.endpoint import EndpointError, environment, resolve_endpoint
from app.tui import TwinsApp
from store.events import Event
from store.plain import PlainError
from store.room import LogName, Room, RoomError, SessionSummary
from store.standing import NEEDED
from store.text import clean
from widgets.figures import fitted, piece

if TYPE_CHECKING:
    from app.screens.live import Ended

NEW, NONE = "new", "none"
SEARCH_SECONDS = 0.25


def session_row(row: SessionSummary, width: int, said: int = 0) -> Content:
    """A session in one row of the list; ``said`` is how often what is searched was said in it."""
    state = ("□ closed", "$text-muted") if row.closed_at else ("○ open  ", "bold $text-success")
    turns = "1 turn" if row.turns == 1 else f"{row.turns} turns"
    left = [
        piece(100, (f"{row.number:>4}  ", "bold"), state, (f"  {row.opened_at[:16].replace('T', ' ')}", "$text-muted")),
        piece(90, f"condition {clean(row.condition)}"),
        piece(80, clean(row.task) or Content.styled("no task", "$text-muted")),
    ]
    right = [piece(60, (turns, "$text-muted"))]
    if said:
        right.insert(0, piece(70, (f"said {said}×", "$text-accent")))
    return fitted(left, right, width)


class SessionList(OptionList):
    """The sessions as options, with the keys that all lists here have."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "Down", show=False, id="sessions.down"),
        Binding("k", "cursor_up", "Up", show=False, id="sessions.up"),
        Binding("g", "first", "First", show=False, id="sessions.first"),
        Binding("G", "last", "Last", show=False, id="sessions.last"),
        Binding("ctrl+d", "page_down", "Page down", show=False, id="sessions.page_down"),
        Binding("ctrl+u", "page_up", "Page up", show=False, id="sessions.page_up"),
    ]


class RoomScreen(Screen[None]):
    """The list of sessions, newest first, under a word on the room and on the model that will answer. A search leaves
    those that hold every word in their row, or the words in what was said in them."""

    DEFAULT_CSS = """
    RoomScreen {
        #room-head { height: auto; padding: 1 2; background: $panel; }
        #room-search { display: none; height: 1; border: none; padding: 0 3; background: $boost; }
        #room-search.-open { display: block; }
        OptionList, OptionList:focus { height: 1fr; border: none; padding: 1 1; background: $surface; }
        OptionList:focus { background-tint: $surface 0%; }
        OptionList > .option-list--option-highlighted, OptionList:focus > .option-list--option-highlighted {
            background: $primary-muted; color: $foreground;
        }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "new", "New session", id="room.new"),
        Binding("slash", "search", "Search", id="room.search"),
        Binding("o", "read", "Read only", id="room.read"),
        Binding("escape", "end_search", "End the search", show=False, id="room.end_search"),
        Binding("w", "replay", "Replay", id="room.replay"),
        Binding("f1", "help", "Help", id="room.help"),
    ]

    def __init__(self, room: Room) -> None:
        super().__init__()
        self.room = room
        self._words = ""
        self._said: Mapping[LogName, int] = {}

    def compose(self) -> ComposeResult:
        yield Static(id="room-head", markup=False)
        yield Input(placeholder="words of a session, or said in it", id="room-search", compact=True)
        yield SessionList(id="room-sessions", markup=False)
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        self.show_sessions()
        self.query_one(SessionList).focus()
        if self.room.read_only:
            self.room.subscribe(self._follow)
        # What a session's screen needs takes longer to load than this one: have it ready when it is asked for.
        self.call_after_refresh(self._load_ahead)

    @work(thread=True)
    def _load_ahead(self) -> None:
        importlib.import_module("app.screens.live")

    def _follow(self, event: Event) -> None:
        """Show the sessions and lines that another process brings into a room that is only read here."""
        if event.kind in (*NEEDED, "turn.ended") and self.is_current:
            self.show_sessions()

    def on_screen_resume(self) -> None:
        self.show_sessions()

    def on_resize(self) -> None:
        self.show_sessions()

    def show_sessions(self) -> None:
        """Bring head and list up to what the room holds now."""
        self.query_one("#room-head", Static).update(self._head())
        listed = self.query_one(OptionList)
        before = listed.highlighted_option.id if listed.highlighted_option is not None else None
        width = max(20, self.size.width - 6)
        rows = [row for row in reversed(self.room.sessions()) if self._is_wanted(row)]
        options = [] if self._words else [Option(Content.assemble(("   +  new session", "bold")), id=NEW)]
        options += [Option(session_row(row, width, self._said.get(row.id, 0)), id=row.id) for row in rows]
        if not options:
            options = [Option(Content.styled("   no session holds these words; esc shows all", "$text-muted"), id=NONE)]
        listed.clear_options()
        listed.add_options(options)
        # The cursor keeps to its session, whatever comes above it.
        listed.highlighted = next((place for place, option in enumerate(options) if option.id == before), 0)

    def _is_wanted(self, row: SessionSummary) -> bool:
        hay = session_row(row, 500).plain.casefold()
        return row.id in self._said or all(word in hay for word in self._words.casefold().split())

    def action_search(self) -> None:
        """Put the keys into the row that searches."""
        field = self.query_one("#room-search", Input)
        field.add_class("-open")
        field.focus()

    def action_end_search(self) -> None:
        """All sessions again."""
        field = self.query_one("#room-search", Input)
        field.remove_class("-open")
        field.value = ""
        self.query_one(SessionList).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "end_search":
            return self.query_one("#room-search", Input).has_class("-open")
        return True

    @on(Input.Changed, "#room-search")
    def _search_typed(self, event: Input.Changed) -> None:
        event.stop()
        self._words, self._said = event.value.strip(), {}
        self.show_sessions()
        self._look_into_sessions(self._words)

    @on(Input.Submitted, "#room-search")
    def _search_taken(self, event: Input.Submitted) -> None:
        event.stop()
        self.query_one(SessionList).focus()

    @work(exclusive=True, group="search")
    async def _look_into_sessions(self, words: str) -> None:
        """Add the sessions in which the words were said; the index may have to catch up first."""
        if len(words) < 2:
            return
        await asyncio.sleep(SEARCH_SECONDS)  # until the typing rests: the next key cancels this worker
        from app.screens.said import said_in

        try:
            found = await asyncio.to_thread(said_in, self.room, words)
        except (OSError, PlainError) as error:
            self._say(error)
            return
        if words == self._words:
            self._said = found
            self.show_sessions()

    def _head(self) -> Content:
        room = self.room
        tiers = room.tiers
        rows: list[Content | str | tuple[str, str]] = [
            ("Two Twins  ", "bold"),
            (f"{room.settings.operator}'s room, {room.root}\n", ""),
            (f"{len(tiers.hot())} hot and {len(tiers.warm())} warm lines\n", "$text-muted"),
        ]
        if room.read_only:
            rows.append(("read-only: another process writes here, and what it writes is followed", "$text-warning"))
            return Content.assemble(*rows)
        try:
            endpoint = resolve_endpoint(room.settings, environment())
        except EndpointError as error:
            rows.append((f"! {clean(str(error))}", "$text-warning"))
        else:
            rows.append((f"model {endpoint.model} at {endpoint.place}", "$text-muted"))
        return Content.assemble(*rows)

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option_id == NEW:
            self.action_new()
            return
        row = next((row for row in self.room.sessions() if row.id == event.option_id), None)
        if row is None:
            return
        if row.closed_at or self.room.read_only:
            self._read(row)
        else:
            self._resume(row.id)

    def action_read(self) -> None:
        """Read the session under the cursor, open or closed, without taking it up."""
        listed = self.query_one(SessionList)
        chosen = listed.highlighted_option
        row = next((row for row in self.room.sessions() if chosen is not None and row.id == chosen.id), None)
        if row is not None:
            self._read(row)

    def _read(self, row: SessionSummary) -> None:
        from app.screens.past import PastSession

        open_as = "written to elsewhere" if self.room.read_only else "to read only"
        state = f"closed {row.closed_at[:10]}" if row.closed_at else f"open, {open_as}"
        self.app.push_screen(PastSession(self.room, row.id, f"session {row.number}, {state}"))

    @work(exclusive=True)
    async def action_new(self) -> None:
        """Begin a new session."""
        if self.room.read_only:
            self._say(RoomError("This room is open read-only, so no session can be begun in it here."))
            return
        from app.screens.new_session import NewSession
        from app.session.opening import open_session

        plan = await self.app.push_screen_wait(NewSession(self.room, known_conditions(self.room.root)))
        if plan is None:
            return
        try:
            opened = open_session(
                self.room, plan.endpoint, condition=plan.condition, task=plan.task, workspace=plan.workspace
            )
        except PlainError as error:
            self._say(error)
        else:
            self._app.show_session(opened, plan.endpoint, next_words="back to the room")

    def action_replay(self) -> None:
        """Play the session under the cursor turn by turn, with the tiers as they stood."""
        listed = self.query_one(OptionList)
        names = [str(row.id) for row in self.room.sessions()]
        chosen = listed.get_option_at_index(listed.highlighted).id if listed.highlighted is not None else NEW
        if chosen is None or chosen not in names:
            return
        from app.screens.replay import ReplayScreen
        from app.screens.replay_app import sessions_of

        sessions = sessions_of([("as it was", self.room)])
        self.app.push_screen(ReplayScreen(sessions, place=names.index(chosen)))

    def _resume(self, log: LogName) -> None:
        from app.session.opening import resume_session

        try:
            endpoint = resolve_endpoint(self.room.settings, environment())
            opened = resume_session(self.room, log)
        except PlainError as error:
            self._say(error)
        else:
            self._app.show_session(opened, endpoint, next_words="back to the room")

    def action_help(self) -> None:
        """What can be done here."""
        from widgets.dialogs import Help, HelpSection

        keys = [
            ("enter", "Begin a new session, take up an open one, read a closed one"),
            ("n", "Begin a new session"),
            ("o", "Read a session without taking it up, open ones too"),
            ("/", "Search: words of a row, or said in a session; esc shows all again"),
            ("j k g G", "Down, up, first, last"),
            ("F10", "Another look: night, paper, high contrast"),
            ("F12", "Write the screen as a picture"),
            ("w", "Play a session turn by turn, with the lines as they stood"),
            ("ctrl+p", "Palette"),
            ("ctrl+q", "End the program"),
        ]
        self.app.push_screen(Help([HelpSection("In the room", keys)]))

    def _say(self, error: Exception) -> None:
        self.app.notify(str(error), severity="error", markup=False, timeout=10)

    @property
    def _app(self) -> RoomApp:
        app = self.app
        assert isinstance(app, RoomApp)
        return app


class RoomApp(TwinsApp):
    """The list of sessions, and over it the one that runs."""

    def begin(self) -> None:
        self.push_screen(RoomScreen(self.room))

    def session_ended(self, log: LogName, how: Ended) -> None:
        if how == "left":
            self.notify("The session is left open; choose it to go on with it.", markup=False)
