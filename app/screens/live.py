"""The live screen: a session's chat, tiers, snug and meters; what the operator does goes to the session's methods."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, Literal

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.command import Provider
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Footer

from app.leaving import left_in_time
from app.measure.live import LiveMeter
from app.screens.actions import help_sections, screen_bindings
from app.screens.asking import Asking
from app.screens.attention import Attention
from app.screens.brief_proposal import ask_brief
from app.screens.composing import ComposingScreen
from app.screens.finding import ask_turn, show_ret
from app.screens.folding import Folding
from app.screens.line_desk import LineDesk
from app.screens.line_keys import LineKeysScreen
from app.screens.palette import LiveActions
from app.screens.panes import Panes
from app.screens.reviewing import Reviewing
from app.screens.tabs import PaneTabs
from app.screens.ways import ask_ret, ask_the_end, closed_words
from app.screens.whole import whole_of
from app.session.endpoint import Endpoint
from app.session.opening import Opened
from app.session.session import Session
from store.bodies import Notice, SessionClosed, TiersChanged, TurnEnded, WakePacket
from store.events import Event
from store.text import clean
from store.transcript import transcript
from widgets.chat import Chat
from widgets.chat.messages import RetWanted, TurnWanted
from widgets.composer import Composer
from widgets.composer.composer import Submitted
from widgets.dialogs import Help
from widgets.dialogs.dialog import AnswerT
from widgets.header import SessionHeader
from widgets.meters import MeterBar
from widgets.snug import SnugPane
from widgets.tiers import TierPanel

Ended = Literal["closed", "left"]
TELL_SECONDS = 0.1
"""Header and meters are told at most this often, however many events come."""


class LiveScreen(LineKeysScreen[Ended], ComposingScreen[Ended]):
    """One session. It comes up before the SDK is loaded, and is dismissed when the session is closed or left.

    ``lines`` stand ready in the composer, one after the other (the tour's). ``bundles`` is where exports go.
    ``go_on_words`` says what comes behind a closed session.
    """

    CSS_PATH = Path(__file__).with_suffix(".tcss")
    AUTO_FOCUS = "ComposerArea"
    # Screen declares it without ClassVar, so that mypy takes no ClassVar here (textual 8.2).
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (150, "-wide")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = screen_bindings()
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {LiveActions}

    def __init__(
        self,
        opened: Opened,
        endpoint: Endpoint,
        *,
        bundles: Path,
        lines: Sequence[str] = (),
        go_on_words: str = "leave the program",
    ) -> None:
        super().__init__()
        self.session = Session(opened, endpoint, review_letters=True)
        self.room = self.session.room
        self._bundles = bundles
        self._lines = deque(lines)
        self._toured = bool(lines)
        self._queued: list[str] = []
        self._go_on_words = go_on_words
        self._before = list(self.room.events(self.session.log))
        self._meter = LiveMeter(context_window=self.room.settings.endpoint.context_window)
        self._close_task: asyncio.Task[None] | None = None
        self._over = False
        self._ended = False
        self._told: Timer | None = None
        self._loop_thread = 0

    # ------------------------------------------------------------ layout

    def compose(self) -> ComposeResult:
        session = self.session
        empty = (
            "" if session.condition.keeper else f"Condition {session.condition.name} has no Keeper: no line is kept."
        )
        self.panes = Panes(
            SessionHeader(),
            Chat(transcript(self._before), whole=whole_of(self.room, session.log), id="live-chat"),
            TierPanel(empty=empty, id="live-tiers"),
            SnugPane(id="live-snug"),
            MeterBar(),
            Composer(id="live-composer"),
        )
        yield self.panes.header
        yield PaneTabs(id="live-tabs")
        with Horizontal(id="live-body"):
            yield self.panes.chat
            with Vertical(id="live-side"):
                yield self.panes.tiers
                yield self.panes.snug
        yield self.panes.meters
        yield self.panes.composer
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        self._loop_thread = threading.get_ident()
        self._folding = Folding(self.room, self.panes, self._meter, self.session.record.number, self._before)
        self._asking = Asking(self.session, self._put_up, lambda: self.app.screen is self)
        self._reviewing = Reviewing(self.session, self._put_up, lambda: self.app.screen is self)
        self.desk = LineDesk(self.app, self.session)
        self._attention = Attention(self.app, bell=self.room.settings.screen.bell)
        self._before = []
        self._unsubscribe = self.session.record.subscribe(self._heard)
        self.set_interval(1.0, self._folding.tell)
        self._stand_ready()
        self.call_after_refresh(self._connect)

    async def on_unmount(self) -> None:
        self._unsubscribe()
        if not self._ended:
            # The program goes down around the screen: nothing may run on and write into a closed room.
            await left_in_time(self.session.leave)

    def _put_up(self, dialog: Screen[AnswerT], answered: Callable[[AnswerT | None], None]) -> None:
        self.app.push_screen(dialog, answered)

    def on_screen_resume(self) -> None:
        self._asking.next()
        self._reviewing.next()

    # ------------------------------------------------------------ engine to screen

    def _heard(self, event: Event) -> None:
        """An event stands in the log. An export appends from its own thread."""
        if threading.get_ident() == self._loop_thread:
            self._apply(event)
        else:
            self.app.call_later(self._apply, event)

    def _apply(self, event: Event) -> None:
        if not self.is_running:
            return
        self._folding.apply(event)
        self._asking.apply(event)
        self._attention.apply(event)
        self._reviewing.apply(event)
        tabs = self.query_one(PaneTabs)
        if isinstance(event.body, TiersChanged) and tabs.shown != "tiers":
            tabs.news += len(event.body.changes)
        elif isinstance(event.body, TurnEnded):
            self._stand_ready()
        elif isinstance(event.body, SessionClosed):
            self._over = True
        if self._told is None:
            self._told = self.set_timer(TELL_SECONDS, self._tell)

    def _tell(self) -> None:
        self._told = None
        self._folding.tell()

    @work(group="connect", exit_on_error=False)
    async def _connect(self) -> None:
        try:
            await self.session.connect()
        except Exception as error:  # noqa: BLE001 — whatever it is, the operator must see it and can leave
            self.session.record.append("system", Notice("error", f"The seats could not be made ready: {error}"))
            return
        self._folding.connected = True
        self._folding.tell()

    # ------------------------------------------------------------ talking

    @on(Submitted)
    def _submitted(self, event: Submitted) -> None:
        if self._lines and event.text == self._lines[0]:
            self._lines.popleft()
        key = self.session.say(event.text)
        if key is not None:
            self._queued.append(key)
        self._stand_ready()

    def _stand_ready(self) -> None:
        composer = self.panes.composer
        composer.ready = self._lines[0] if self._lines else ""
        if self._toured and not self._lines and not composer.note:
            composer.note = "that was the tour's last line here: ctrl+q closes this session"

    def action_stop(self) -> None:
        """Stop Presence. Nothing else happens when it is not at work."""
        self.session.stop()

    def action_go_on(self) -> None:
        """Let Presence go on after a cut."""
        if not self.session.go_on():
            self._say("Presence is at work, or there is nothing yet to go on with.")

    def action_take_back(self) -> None:
        """Take the newest queued message back, to be changed or dropped."""
        text = None
        while self._queued and text is None:
            text = self.session.take_back(self._queued.pop())
        if text is None:
            self._say("No message waits in line.")
        else:
            self.panes.composer.put(text)
            self.panes.composer.focus_area()

    # ------------------------------------------------------------ panes

    def action_compose(self) -> None:
        """Give the composer the keys."""
        self.panes.composer.focus_area()

    def action_search(self) -> None:
        """Search this session."""
        self.action_pane("chat")
        self.call_after_refresh(self.panes.chat.action_search)

    def action_help(self) -> None:
        """Show every key and action."""
        self.app.push_screen(Help(help_sections(self._app.own_keys)))

    @on(TurnWanted)
    @work(group="finding", exclusive=True)
    async def _turn_wanted(self) -> None:
        await ask_turn(self.app, self.panes.chat.view)

    @on(RetWanted)
    def _ret_wanted(self) -> None:
        show_ret(self.app, self.panes.chat.view, self.room.events(self.session.log))

    def action_copy_wake(self) -> None:
        """Copy the wake packet that P was given."""
        packets = [e.body.text for e in self.room.events(self.session.log) if isinstance(e.body, WakePacket)]
        if packets:
            self.app.copy_to_clipboard(clean(packets[-1]))
        else:
            self._say("This session has no wake packet.")

    # ------------------------------------------------------------ lines, marks, export

    def action_mark_break(self) -> None:
        """Mark a natural break."""
        if not self._over:
            self.session.mark_break()

    @work(group="marks", exclusive=True)
    async def action_mark_ret(self) -> None:
        """Set, void or restore the RET by hand."""
        mark = await ask_ret(self.app, self._folding.reading().ret)
        if mark is not None:
            self.session.mark_ret(mark)

    def action_toggle_keeper(self) -> None:
        """Stop the Keeper, or start it again."""
        standing = self.session.toggle_keeper()
        words = {"paused": "The Keeper is stopped; F9 starts it again.", "absent": "No Keeper is at this session now."}
        self._say(words.get(standing, "The Keeper listens again."))

    @work(group="export", exclusive=True)
    async def action_export(self) -> None:
        """Write this session as a bundle."""
        from app.screens.exporting import export_into

        try:
            written = await asyncio.to_thread(export_into, self.room, self.session.log, self._bundles)
        except Exception as error:  # noqa: BLE001 — an export that fails must not end the session
            self.app.notify(f"The bundle was not written: {error}", severity="error", markup=False)
        else:
            self.app.notify(f"The bundle is written: {written}", title="Exported", markup=False, timeout=8)

    def _say(self, words: str) -> None:
        self.app.notify(words, markup=False)

    # ------------------------------------------------------------ the end

    @work(group="end", exclusive=True)
    async def ask_to_end(self) -> None:
        """Ask how the session is to end, and do it. A closed one is only left."""
        if self._over:
            self._end("closed")
            return
        chosen = await ask_the_end(self.app, closing=self._close_task is not None, turns=self.session.record.turn)
        if chosen == "leave":
            await self.leave()
        elif chosen in ("letters", "close") and self._close_task is None:
            self._close(letters=chosen == "letters")

    def _close(self, *, letters: bool) -> None:
        self._folding.closing = True
        self.panes.composer.mode = "closing"
        self.panes.composer.note = "stopping Presence"
        self._close_task = asyncio.create_task(self._closed_down(letters), name="closing")

    async def _closed_down(self, letters: bool) -> None:
        try:
            await self.session.close(letters=letters)
        except Exception as error:  # noqa: BLE001 — the operator must be told, and can still leave
            self._close_task = None
            self._folding.closing = False
            self.panes.composer.mode = "send"
            self.session.record.append("system", Notice("error", f"The session could not be closed: {error}"))
            return
        self._tell_closed()

    @work(group="end", exclusive=True)
    async def _tell_closed(self) -> None:
        self._folding.tell()
        await ask_brief(self.app, self.room, self.session.log)
        words = closed_words(self.room, self.session.log)
        if await ask_the_end(self.app, closed=words, go_on=self._go_on_words) == "go_on":
            self._end("closed")

    async def leave(self) -> None:
        """Leave at once; the session stays resumable."""
        if self._over:
            self._end("closed")
            return
        self._folding.closing = True
        self.panes.composer.mode = "closing"
        self.panes.composer.note = "leaving"
        if self._close_task is not None:
            self._close_task.cancel()
            with suppress(asyncio.CancelledError):
                await self._close_task
        await self.session.leave()
        self._end("left")

    def _end(self, how: Ended) -> None:
        """Take down whatever stands above this screen, then the screen."""
        self._ended = True
        while self.app.screen is not self:
            self.app.pop_screen()
        self.dismiss(how)
