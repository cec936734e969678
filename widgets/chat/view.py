"""The chat view: one widget for a transcript of any length, drawn line by line from a viewport."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from store.entries import Entry, SpeechEntry, source
from store.events import Event
from store.transcript import Touched, Transcript
from widgets.chat.layout import WholeOf, folds
from widgets.chat.messages import Copied, EntryOpened, FollowChanged, RetWanted, TurnChosen, TurnWanted
from widgets.chat.painter import Painter
from widgets.chat.taking import code_blocks, selected_text
from widgets.chat.viewport import Viewport

FLUSH_SECONDS = 1 / 25
"""Changes are gathered this long before they are drawn: 25 paints a second, however many words come."""

_STYLE = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")


class ChatView(ScrollView, can_focus=True):
    """A transcript on screen.

    It follows the newest words while its end is in sight and only then; a reader who scrolled up is never moved.
    Foreign text is drawn as plain segments and is never read as markup. ``whole`` reads a tool's whole input and
    output when its row is opened.
    """

    ALLOW_SELECT = True
    DEFAULT_CSS = _STYLE
    COMPONENT_CLASSES: ClassVar[set[str]] = set(Painter.LOOKS)

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", "Scroll up", show=False, id="chat.up"),
        Binding("down", "scroll_down", "Scroll down", show=False, id="chat.down"),
        Binding("pageup,ctrl+u", "page_up", "Page up", show=False, id="chat.page_up"),
        Binding("pagedown,ctrl+d", "page_down", "Page down", show=False, id="chat.page_down"),
        Binding("home,g", "scroll_home", "To the beginning", show=False, id="chat.home"),
        Binding("end,G", "scroll_end", "To the end", show=False, id="chat.end"),
        Binding("k", "cursor(-1)", "Message above", show=False, id="chat.above"),
        Binding("j", "cursor(1)", "Message below", show=False, id="chat.below"),
        Binding("left_square_bracket", "turn(-1)", "Turn above", show=False, id="chat.turn_above"),
        Binding("right_square_bracket", "turn(1)", "Turn below", show=False, id="chat.turn_below"),
        Binding("enter", "open", "Open or close", show=False, id="chat.open"),
        Binding("y", "copy", "Copy message", show=False, id="chat.copy"),
        Binding("c", "copy_code", "Copy code", show=False, id="chat.copy_code"),
        Binding("x", "last_error", "Last tool error", show=False, id="chat.last_error"),
        Binding("t", "ask_turn", "Go to a turn", show=False, id="chat.turn"),
        Binding("m", "ask_ret", "RET's mark", show=False, id="chat.ret"),
        Binding("n", "match(1)", "Next match", show=False, id="chat.next"),
        Binding("N", "match(-1)", "Previous match", show=False, id="chat.previous"),
    ]

    def __init__(
        self,
        transcript: Transcript | None = None,
        *,
        whole: WholeOf | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._view = Viewport(transcript or Transcript(), whole)
        self._painter = Painter(self)
        self._cursor: tuple[int, int] | None = None
        self._placing = False
        self._due: Timer | None = None
        self._drawn_at = 0.0
        self._query = ""

    # ------------------------------------------------------------ the transcript

    @property
    def transcript(self) -> Transcript:
        return self._view.transcript

    def show_transcript(self, transcript: Transcript) -> None:
        """Show another transcript, from its end."""
        self._view = Viewport(transcript, self._view.whole)
        self._cursor, self._query = None, ""
        self._painter.forget()
        if self.size:
            self._on_new_size()

    def apply(self, event: Event) -> None:
        """Take one event in and draw what it changed, soon."""
        touched = self.transcript.apply(event)
        if touched is not None:
            self.touch(touched)

    def touch(self, touched: Touched) -> None:
        """The transcript changed by another's hand: draw it, soon."""
        self._view.touch(touched)
        if not self.is_running or self._due is not None:
            return
        wait = FLUSH_SECONDS - (monotonic() - self._drawn_at)
        if wait <= 0:
            self.flush()
        else:
            self._due = self.set_timer(wait, self.flush)

    def flush(self) -> None:
        """Draw what has changed, now."""
        if self._due is not None:
            self._due.stop()
            self._due = None
        self._drawn_at = monotonic()
        if self.size:
            self._view.settle()
            self._place()

    # ------------------------------------------------------------ size and place

    def on_resize(self, event: Resize) -> None:
        self._on_new_size()

    def _on_new_size(self) -> None:
        size = self.scrollable_content_region.size
        if size.width > 1 and size.height > 0:
            self._view.resize(size.width - 1, size.height)
            self._painter.forget()
            self.flush()

    def _place(self) -> None:
        """Bring Textual's numbers in line with the viewport's, and repaint the rows that differ."""
        view = self._view
        self._placing = True
        size = Size(view.width + 1, view.total)
        if size != self.virtual_size:
            # Not through the reactive: it would lay the whole screen out again for each new row.
            self.set_reactive(ChatView.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = size.height
            self.vertical_scrollbar.window_size = self.size.height
        self.scroll_y = self.scroll_target_y = view.top
        self._placing = False
        for first, stop in self._painter.stale(view.window):
            self.refresh(Region(0, first, self.size.width, stop - first))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = new_value
        old, new = round(old_value), round(new_value)
        if self._placing or old == new or self._view.height != self.scrollable_content_region.height:
            return
        following = self._view.following
        if new >= self.max_scroll_y and new > old:
            self._view.follow()
        elif abs(new - old) <= 2 * self.size.height:
            self._view.move(new - old)
        else:
            self._view.jump(new)
        self._place()
        self._tell_following(following)

    def scroll_to(self, x: float | None = None, y: float | None = None, **options: Any) -> None:
        # Without animation: heights become exact as rows come into sight, and a glide would aim at the old ones.
        super().scroll_to(x, y, **{**options, "animate": False})

    def _tell_following(self, before: bool) -> None:
        if self._view.following != before:
            self.post_message(FollowChanged(self._view.following))

    @property
    def following(self) -> bool:
        """Whether the view stays with the newest words."""
        return self._view.following

    def action_scroll_end(self) -> None:
        before = self._view.following
        self._view.follow()
        self._place()
        self._tell_following(before)

    def action_scroll_home(self) -> None:
        before = self._view.following
        self._view.jump(0)
        self._place()
        self._tell_following(before)

    # ------------------------------------------------------------ drawing

    def render_line(self, y: int) -> Strip:
        window = self._view.window
        if y >= len(window):
            return self._painter.blank(self.size.width)
        selection = self.text_selection
        cursor = self._cursor if self.has_focus else None
        return self._painter.strip(window[y], self._view.entries, self.size.width, selection, cursor, self._query)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._painter.forget()
        self.refresh()

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    # ------------------------------------------------------------ the cursor

    @property
    def cursor(self) -> int | None:
        """Index of the entry under the cursor; None as long as nobody moved it."""
        if self._cursor is None:
            return None
        return next((i for i, entry in enumerate(self._view.entries) if entry.key == self._cursor), None)

    @property
    def current(self) -> Entry | None:
        """The entry that keys act on: under the cursor, or else the last one in sight."""
        index = self._current_index()
        return None if index is None else self._view.entries[index]

    def _current_index(self) -> int | None:
        if self._due is not None:
            self.flush()
        cursor = self.cursor
        if cursor is not None:
            return cursor
        return self._view.window[-1].index if self._view.window else None

    def move_cursor(self, index: int) -> None:
        """Put the cursor on an entry and bring it into sight."""
        entries = self._view.entries
        if not 0 <= index < len(entries):
            return
        before = self.current
        self._cursor = entries[index].key
        if before is None or before.turn != entries[index].turn:
            self.post_message(TurnChosen(entries[index].turn))
        if self._view.in_sight(index):
            self.refresh()
        else:
            self.go_to(index)

    def go_to(self, index: int, at: int = 0) -> None:
        """Show a row of an entry, a third from the top, with the cursor on it."""
        before = self._view.following
        self._cursor = self._view.entries[index].key
        self._view.show(index, at, self.size.height // 3)
        self._place()
        self.refresh()
        self._tell_following(before)

    def go_to_turn(self, turn: int) -> bool:
        """Show where a turn begins; False when there is no such turn."""
        return self._go_where(self.transcript.of_turn(turn))

    def go_to_quote(self, quote: str, turn: int | None = None) -> bool:
        """Show the entry that holds a line's quote; False when none does."""
        return self._go_where(self.transcript.holding(quote, turn))

    def go_to_event(self, n: int) -> bool:
        """Show what event ``n`` of the session's log began or ended; False when the chat shows nothing of it."""
        return self._go_where(self.transcript.of_event(n))

    def action_last_error(self) -> None:
        self._go_where(self.transcript.last_error())

    def action_ask_turn(self) -> None:
        self.post_message(TurnWanted())

    def action_ask_ret(self) -> None:
        self.post_message(RetWanted())

    def _go_where(self, index: int | None) -> bool:
        if index is None:
            self.app.bell()
            return False
        self.go_to(index)
        return True

    def action_cursor(self, step: int) -> None:
        index = self._current_index()
        if index is not None:
            self.move_cursor(index + (step if self._cursor is not None else 0))

    def action_turn(self, step: int) -> None:
        index = self._current_index()
        if index is None:
            return
        entries = self._view.entries
        turn = entries[index].turn
        turns = sorted({entry.turn for entry in entries if (entry.turn - turn) * step > 0}, reverse=step < 0)
        if turns:
            self.go_to_turn(turns[0])
            self.post_message(TurnChosen(turns[0]))

    # ------------------------------------------------------------ opening

    def toggle(self, index: int) -> None:
        """Open or close an entry that folds."""
        entry = self._view.entries[index]
        if not folds(entry):
            return
        before = self._view.following
        # What is opened stays where it is; following again needs the end in sight.
        self._view.following = False
        opened = self._view.toggle(index)
        self._view.settle()
        self._view.following = self._view.at_end
        self._place()
        self._tell_following(before)
        self.post_message(EntryOpened(entry, opened))

    def action_open(self) -> None:
        index = self._current_index()
        if index is not None:
            self.toggle(index)

    def on_click(self, event: Click) -> None:
        place = event.get_content_offset(self)
        if place is None or not 0 <= place.y < len(self._view.window) or self.text_selection is not None:
            return
        seen = self._view.window[place.y]
        if seen.index >= len(self._view.entries):
            return
        self.move_cursor(seen.index)
        if seen.row.toggle:
            self.toggle(seen.index)
        self.refresh()

    # ------------------------------------------------------------ searching

    def search(self, query: str) -> int:
        """Light up what holds ``query`` (case folded) and go to the last match; the number of entries that hold it."""
        self._query = query
        self.refresh()
        found = self._matches()
        if found:
            self._go_to_match(found[-1])
        return len(found)

    def _matches(self) -> list[int]:
        wanted = self._query.casefold()
        if not wanted:
            return []
        return [i for i, entry in enumerate(self._view.entries) if wanted in source(entry).casefold()]

    def action_match(self, step: int) -> None:
        found = self._matches()
        if not found:
            self.app.bell()
            return
        here = self._current_index() or 0
        if step > 0:
            index = next((i for i in found if i > here), found[0])
        else:
            index = next((i for i in reversed(found) if i < here), found[-1])
        self._go_to_match(index)

    def _go_to_match(self, index: int) -> None:
        wanted = self._query.casefold()
        at = self._row_with(index, wanted)
        if at is None and folds(self._view.entries[index]) and not self._view.opened(index):
            self._view.toggle(index)
            at = self._row_with(index, wanted)
        self.go_to(index, at or 0)

    def _row_with(self, index: int, wanted: str) -> int | None:
        laid = self._view.laid(index)
        return next((at for at, row in enumerate(laid) if wanted in row.text.casefold()), None)

    # ------------------------------------------------------------ taking out

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selected_text(self._view, selection), "\n"

    def action_copy(self) -> None:
        entry = self.current
        if entry is not None:
            self._copy(source(entry), "message")

    def action_copy_code(self) -> None:
        entry = self.current
        blocks = code_blocks(entry.text) if isinstance(entry, SpeechEntry) else []
        if blocks:
            self._copy(blocks[-1], "code block")
        else:
            self.app.bell()

    def _copy(self, text: str, what: str) -> None:
        self.app.copy_to_clipboard(text)
        self.post_message(Copied(text, what))
