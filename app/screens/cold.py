"""Search in cold: lines that left hot and warm, and everything that was ever said; from a find to its turn."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, Static

from app.screens.places import Place, place_of_line
from store.line_history import line_history
from store.lines import Line
from store.plain import PlainError
from store.room import DESK, LogName, Room
from store.search import Hit, Index
from store.text import clean
from widgets.dialogs import LineHistory
from widgets.dialogs.dialog import Dialog, keys_rows
from widgets.tiers.found import ColdRow, FoundList, HitRow, found_rows

MOST_LINES, MOST_HITS = 50, 100
TYPING_SECONDS = 0.15
"""A search waits so long for the next letter."""


class ColdSearch(Dialog[Place | Line]):
    """Comes back with the place to go to, or with a line that is to be restored."""

    DEFAULT_CSS = """
    ColdSearch {
        #dialog-box { height: 90%; max-width: 140; }
        #cold-words { margin: 0 1 1 1; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "words", "Words"),
        Binding("enter", "go", "Go to its turn"),
        Binding("r", "restore", "Restore"),
        Binding("h", "history", "History"),
    ]

    def __init__(self, room: Room) -> None:
        super().__init__()
        self._room = room
        self._index: Index | None = None
        self._due: Timer | None = None
        self._sessions: dict[LogName, str] = {row.id: f"session {row.number}" for row in room.sessions()}
        self._sessions[DESK] = "at the desk"

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog-box") as box:
            box.border_title = "Search in cold"
            words = "words, a line's id, part of a name; empty for the newest lines in cold"
            yield Input(placeholder=words, id="cold-words", classes="dialog-input", compact=True)
            yield FoundList(id="cold-found")
            yield Static("", id="cold-count", classes="dialog-words", markup=False)
            # Short enough for one row of a terminal of 80 columns: the list below has few rows there.
            keys = [("enter", "its turn"), ("r", "restore"), ("h", "history"), ("/", "words"), ("esc", "leave")]
            yield keys_rows(keys)

    def on_mount(self) -> None:
        self.query_one("#cold-words", Input).focus()
        self._search("")

    def on_unmount(self) -> None:
        if self._index is not None:
            self._index.close()

    # ------------------------------------------------------------ searching

    @on(Input.Changed, "#cold-words")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if self._due is not None:
            self._due.stop()
        self._due = self.set_timer(TYPING_SECONDS, lambda: self._search(event.value))

    @on(Input.Submitted, "#cold-words")
    def _to_finds(self, event: Input.Submitted) -> None:
        event.stop()
        self.query_one(FoundList).focus()

    @work(exclusive=True, group="search")
    async def _search(self, words: str) -> None:
        try:
            lines, hits = await asyncio.to_thread(self._found, words)
        except PlainError as error:
            self._say(str(error))
            return
        nothing = "Nothing found." if words.strip() else "Nothing is in cold yet. Words search all that was said."
        self.query_one(FoundList).show(found_rows(lines, hits, self._sessions), empty=Content(nothing))
        more = len(lines) == MOST_LINES or len(hits) == MOST_HITS
        self._say("There is more; another word narrows it down." if more else "")

    def _say(self, words: str) -> None:
        said = self.query_one("#cold-count", Static)
        said.update(Content(clean(words)))
        said.display = bool(words)  # an empty row is one find less

    def _found(self, words: str) -> tuple[tuple[Line, ...], tuple[Hit, ...]]:
        if self._index is None:
            self._index = Index.open(self._room)
        lines = self._index.cold_lines(words, limit=MOST_LINES)
        return lines, self._index.search(words, limit=MOST_HITS) if words.strip() else ()

    # ------------------------------------------------------------ what is done with a find

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        # While words are typed, letters are letters.
        return action == "leave" or not self.query_one("#cold-words", Input).has_focus

    @property
    def _line(self) -> Line | None:
        row = self.query_one(FoundList).current
        return row.line if isinstance(row, ColdRow) else None

    def action_words(self) -> None:
        """Back to the words."""
        self.query_one("#cold-words", Input).focus()

    @on(FoundList.Chosen)
    def action_go(self) -> None:
        """Go to the turn of the find: of a line, to its quote."""
        row = self.query_one(FoundList).current
        if isinstance(row, ColdRow):
            self._go(place_of_line(self._room, row.line))
        elif isinstance(row, HitRow):
            self._go(Place(row.hit.log, row.hit.turn, n=row.hit.n) if row.hit.log != DESK else None)

    def _go(self, place: Place | None) -> None:
        if place is None:
            self.notify("That was done outside of any session, so there is no turn to go to.", markup=False)
        else:
            self.dismiss(place)

    def action_restore(self) -> None:
        """Bring the line back from cold."""
        if self._line is not None:
            self.dismiss(self._line)
        else:
            self.notify("Only a line can be restored; this is a place in a log.", markup=False)

    @work(group="history", exclusive=True)
    async def action_history(self) -> None:
        """All that happened to the line."""
        line = self._line
        if line is None:
            return
        steps = await asyncio.to_thread(lambda: line_history(self._room.all_events(), line.id))
        jump = await self.app.push_screen_wait(LineHistory(line, steps))
        if jump is not None:
            self._go(place_of_line(self._room, line))
