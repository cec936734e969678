"""A recorded session to step or play through: chat, tiers and snug as they stood, one Keeper or two side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Footer, Static

from app.replay.playback import Moment, Playback
from app.screens.whole import whole_of
from store.decay import packaged_rules, will_decay
from store.room import LogName, Room
from store.text import clean
from store.transcript import transcript
from widgets.chat import Chat
from widgets.scrubber import Scrubber
from widgets.snug import SnugEntry, SnugPane
from widgets.tiers import TierPanel

PACES = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 25.0)
"""Turns a second."""
BESIDE_FROM = 100
"""Columns from which the panes stand beside each other; below, one is shown at a time."""
TALL_FROM = 30
"""Rows from which the snug has a place of its own under the tiers."""


@dataclass(frozen=True, slots=True)
class Played:
    """One session as one Keeper kept it: the room and log it stands in, its moments, and what to call it."""

    room: Room
    log: LogName
    playback: Playback
    title: str


class ReplayScreen(Screen[None]):
    """Plays one session. With two of them their tiers stand beside each other, at the same turn."""

    DEFAULT_CSS = """
    ReplayScreen {
        #replay-title { height: 1; padding: 0 1; background: $panel; text-style: bold; }
        #replay-panes { height: 1fr; }
        Chat { width: 1fr; }
        .keeper { width: 1fr; }
        .keeper > Static { height: 1; padding: 0 1; background: $panel; color: $text-accent; }
        TierPanel { height: 1fr; }
        SnugPane { height: 8; }
        &.-one-pane Chat, &.-one-pane .keeper { display: none; }
        &.-one-pane .-shown { display: block; }
        &.-low SnugPane { display: none; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "play", "Play", id="replay.play", priority=True, tooltip="Play from here, or stop"),
        Binding("right,l", "step(1)", "Next", id="replay.next", priority=True, tooltip="One step on"),
        Binding("left,h", "step(-1)", "Earlier", id="replay.back", priority=True, tooltip="One step back"),
        Binding("shift+right", "step(10)", "Ten on", show=False, priority=True),
        Binding("shift+left", "step(-10)", "Ten back", show=False, priority=True),
        Binding("home", "edge(0)", "Opening", show=False, priority=True),
        Binding("end", "edge(-1)", "Close", show=False, priority=True),
        Binding("plus,equals_sign", "pace(1)", "Faster", id="replay.faster", priority=True),
        Binding("minus", "pace(-1)", "Slower", id="replay.slower", priority=True),
        Binding(
            "full_stop", "change(1)", "Change", id="replay.change", priority=True, tooltip="To the next change of lines"
        ),
        Binding("comma", "change(-1)", "Change before", show=False, priority=True),
        Binding("greater_than_sign", "session(1)", "Session", id="replay.session", priority=True),
        Binding("less_than_sign", "session(-1)", "Session before", show=False, priority=True),
        Binding("tab", "pane", "Pane", id="replay.pane", priority=True, tooltip="To the next pane"),
        Binding("escape,q", "leave", "Back", id="replay.leave"),
    ]

    def __init__(
        self, sessions: Sequence[Callable[[], Sequence[Played]]], *, place: int = 0, standalone: bool = False
    ) -> None:
        """``sessions`` give, when asked, one session as each Keeper kept it (one or two); the one at ``place`` comes
        first. ``standalone``: leaving it ends the program."""
        super().__init__()
        self._sessions = tuple(sessions)
        self._place = place
        self._standalone = standalone
        self._played = tuple(self._sessions[place]())
        self.step = 0
        self._shown = 0
        self._pace = PACES.index(1.0)
        self._timer: Timer | None = None
        self._pane = 0

    # ------------------------------------------------------------ what stands

    def compose(self) -> ComposeResult:
        first = self._played[0]
        yield Static(id="replay-title", markup=False)
        with Horizontal(id="replay-panes"):
            yield Chat(transcript(()), whole=whole_of(first.room, first.log))
            for number, played in enumerate(self._played):
                with Vertical(classes="keeper", id=f"keeper-{number}"):
                    yield Static(Content(clean(played.title)), markup=False)
                    yield TierPanel(empty="No line at this turn.", only_read=True)
                    yield SnugPane()
        yield Scrubber()
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        self._begin()

    def _begin(self) -> None:
        main = self._played[0]
        scrubber = self.query_one(Scrubber)
        scrubber.weights = tuple(len(moment.changes) for moment in main.playback.moments)
        several = f", session {self._place + 1} of {len(self._sessions)}" if len(self._sessions) > 1 else ""
        began = main.playback.moments[0].at[:10]
        self.query_one("#replay-title", Static).update(
            Content(f"replay{several}  {began}  {clean(' and '.join(one.title for one in self._played))}")
        )
        for number, played in enumerate(self._played):
            self.query_one(f"#keeper-{number} > Static", Static).update(Content(clean(played.title)))
        self._shown = 0
        self.query_one(Chat).show_transcript(transcript(()))
        self.go(0)
        self._focus_pane()

    def on_resize(self) -> None:
        self.set_class(self.size.width < BESIDE_FROM, "-one-pane")
        self.set_class(self.size.height < TALL_FROM, "-low")
        self._focus_pane()

    @property
    def moment(self) -> Moment:
        """Where the reader stands."""
        return self._played[0].playback.moments[self.step]

    # ------------------------------------------------------------ going

    def go(self, step: int) -> None:
        """Show the session as it stood at the end of ``step``."""
        main = self._played[0].playback
        self.step = min(max(0, step), len(main.moments) - 1)
        moment = self.moment
        chat = self.query_one(Chat)
        if moment.end < self._shown:
            chat.show_transcript(transcript(main.events[: moment.end]))
        else:
            for event in main.events[self._shown : moment.end]:
                chat.apply(event)
        self._shown = moment.end
        for number, played in enumerate(self._played):
            other = moment if number == 0 else self._beside(played.playback, moment)
            self._show_tiers(f"#keeper-{number}", played.playback, other)
        scrubber = self.query_one(Scrubber)
        scrubber.step = self.step
        scrubber.name_of_step = f"{moment.name}, {moment.at[:16].replace('T', ' ')}"
        scrubber.pace = f"{'▶ plays' if self._timer else '■ stands'}, {PACES[self._pace]:g} turns/s"

    def _beside(self, other: Playback, moment: Moment) -> Moment:
        if moment.turn is None:
            return other.moments[-1]
        return other.moments[other.step_of(moment.turn)]

    def _show_tiers(self, where: str, playback: Playback, moment: Moment) -> None:
        panel = self.query_one(f"{where} TierPanel", TierPanel)
        panel.turn_began()
        panel.show(moment.tiers, will_decay(moment.tiers, packaged_rules(), moment.tiers.session + 1))
        panel.changed(moment.changes)
        self.query_one(f"{where} SnugPane", SnugPane).show_entries(
            SnugEntry(entry.by, entry.at, entry.text, new=entry.new) for entry in playback.snug[: moment.snug]
        )

    @on(Scrubber.Moved)
    def _taken(self, event: Scrubber.Moved) -> None:
        event.stop()
        self.go(event.step)

    def action_step(self, by: int) -> None:
        self.go(self.step + by)

    def action_edge(self, step: int) -> None:
        self.go(len(self._played[0].playback.moments) - 1 if step < 0 else step)

    def action_change(self, way: int) -> None:
        moments = self._played[0].playback.moments
        ahead = range(self.step + 1, len(moments)) if way > 0 else range(self.step - 1, -1, -1)
        self.go(next((step for step in ahead if moments[step].changes), self.step))

    def action_session(self, by: int) -> None:
        place = self._place + by
        if not 0 <= place < len(self._sessions):
            self.app.bell()
            return
        self._stop()
        self._place = place
        self._played = tuple(self._sessions[place]())
        self._begin()

    # ------------------------------------------------------------ playing

    def action_play(self) -> None:
        if self._timer is not None:
            self._stop()
        else:
            if self.step == len(self._played[0].playback.moments) - 1:
                self.go(0)
            self._timer = self.set_interval(1 / PACES[self._pace], self._tick)
        self.go(self.step)

    def action_pace(self, by: int) -> None:
        self._pace = min(max(0, self._pace + by), len(PACES) - 1)
        if self._timer is not None:
            self._timer.stop()
            self._timer = self.set_interval(1 / PACES[self._pace], self._tick)
        self.go(self.step)

    def _tick(self) -> None:
        if self.step >= len(self._played[0].playback.moments) - 1:
            self._stop()
            self.go(self.step)
        else:
            self.go(self.step + 1)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    # ------------------------------------------------------------ panes

    def action_pane(self) -> None:
        self._pane = (self._pane + 1) % (1 + len(self._played))
        self._focus_pane()

    def _focus_pane(self) -> None:
        panes = [self.query_one(Chat), *self.query(".keeper")]
        for number, pane in enumerate(panes):
            pane.set_class(number == self._pane, "-shown")
        if self._pane == 0:
            self.query_one(Chat).view.focus()
        else:
            self.query_one(f"#keeper-{self._pane - 1} LineList").focus()

    def action_leave(self) -> None:
        self._stop()
        if self._standalone:
            self.app.exit()
        else:
            self.dismiss(None)
