"""The program on screen: which screen stands first, what follows a session, and how it is left."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.screen import Screen
from textual.theme import Theme
from textual.widgets import Input, TextArea

from app.leaving import Leaving, ScreenFailed, left_in_time
from app.memory import settle_collector
from app.screens.actions import APP
from app.screens.free_name import free_file
from store.documents import write_whole
from store.layout import Layout, LayoutError, keep_layout, load_layout
from store.room import LogName, Room
from store.text import clean
from widgets.themes import LOOKS, THEMES

if TYPE_CHECKING:
    from app.demo import Staged
    from app.plan import Plan
    from app.screens.live import Ended, LiveScreen
    from app.session.endpoint import Endpoint
    from app.session.opening import Opened

FOLLOW_SECONDS = 0.5
"""How often a room that another process writes to is looked at."""
TWICE_SECONDS = 2.0
"""The second ctrl+c counts for so long."""


class TwinsApp(App[None], inherit_bindings=False):
    """Holds the room and the screens. ``parting`` is what to print once the terminal is the shell's again."""

    TITLE = "Two Twins"
    CSS = "Toast { max-width: 60%; } Footer { background: $panel; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(action.binding() for action in APP),
        Binding("question_mark", "help_here", "Keys here", show=False),
    ]

    def __init__(self, room: Room) -> None:
        super().__init__()
        self.room = room
        self.parting: list[str] = []
        self.terminal_is_gone = False
        self.layout = Layout()
        self._copies_folder: Path | None = None
        self._leaves_until = 0.0
        self._live: LiveScreen | None = None
        self._last_log: LogName | None = None
        self._leaving = Leaving(
            self._leave_the_session, lambda code: self.exit(return_code=code), self._give_the_terminal_back
        )
        self.own_keys: dict[str, str] = {}

    def on_mount(self) -> None:
        self._leaving.listen()
        self._put_on_the_theme()
        self._take_own_keys()
        if self.room.read_only:
            self.set_interval(FOLLOW_SECONDS, self.room.refresh)
        self.begin()
        self.call_after_refresh(self._say_what_was_found)  # on the screen that stands by then

    def _put_on_the_theme(self) -> None:
        """The theme that room.toml names, or else the one that was chosen last in this room."""
        for theme in THEMES:
            self.register_theme(theme)
        try:
            self.layout = load_layout(self.room.root)
        except LayoutError as error:
            self.notify(str(error), severity="warning", markup=False)
        named = self.room.settings.screen.theme
        if named and named not in self.available_themes:
            known = ", ".join(sorted(self.available_themes))
            self.notify(f"room.toml names the theme {named!r}; there are: {known}", severity="warning", markup=False)
        for theme_name in (named, self.layout.theme, LOOKS[0]):
            if theme_name in self.available_themes:
                self.theme = theme_name
                break
        self.theme_changed_signal.subscribe(self, self._theme_chosen)

    def _take_own_keys(self) -> None:
        if not self.room.settings.keys:
            return
        from app.screens.keymap import checked_keys

        self.own_keys, wrong = checked_keys(self.room.settings.keys)
        self.set_keymap(dict(self.own_keys))
        for sentence in wrong:
            self.notify(sentence, severity="warning", markup=False, timeout=15)

    def _theme_chosen(self, theme: Theme) -> None:
        self.keep_layout(self.layout.model_copy(update={"theme": theme.name}))

    def keep_layout(self, layout: Layout) -> None:
        """Remember the panes and the theme for this room; a room that is only read is left as it is."""
        layout = layout.model_copy(update={"theme": self.theme if self.layout.theme or layout.theme else ""})
        if layout == self.layout:
            return
        self.layout = layout
        if not self.room.read_only:
            try:
                keep_layout(self.room.root, layout)
            except LayoutError as error:
                self.notify(str(error), severity="warning", markup=False)

    def action_next_look(self) -> None:
        """The next of the four looks."""
        place = LOOKS.index(self.theme) + 1 if self.theme in LOOKS else 0
        self.theme = LOOKS[place % len(LOOKS)]

    # ------------------------------------------------------------ taking out

    def copy_to_clipboard(self, text: str) -> None:
        """Hand ``text`` to the terminal's clipboard. No terminal confirms that it took it, so it is in a file too."""
        super().copy_to_clipboard(text)
        count = f"{len(text):,} character" + ("" if len(text) == 1 else "s")
        try:
            file = self._copies() / "copied.txt"
            write_whole(file, text.encode("utf-8", "replace"))
        except OSError as error:
            words = f"{count} went to the terminal's clipboard; they could not be kept in a file ({error.strerror})."
            self.notify(words, severity="warning", markup=False)
        else:
            self.notify(f"{count} went to the terminal's clipboard, and into {file}", title="Copied", markup=False)

    def _copies(self) -> Path:
        """The folder of copied.txt: the room, or one that outlives a room which is only read or goes away."""
        if not self.room.read_only and self.bundles.parent == self.room.root:
            return self.room.root
        if self._copies_folder is None:
            self._copies_folder = Path(tempfile.mkdtemp(prefix="two-twins-"))
        return self._copies_folder

    def action_picture(self) -> None:
        """Write the screen as SVG, beside the bundles, under a name that is still free."""
        try:
            file = free_file(self.bundles, str(self._last_log or "room"), "svg")
            write_whole(file, self.export_screenshot().encode())
        except OSError as error:
            self.notify(f"The picture was not written: {error.strerror}", severity="error", markup=False)
        else:
            self.notify(f"The picture is written: {file}", markup=False)

    def _say_what_was_found(self) -> None:
        for found in self.room.found:
            severity = "information" if found.level == "info" else found.level
            self.notify(found.text, severity=severity, markup=False, timeout=10)

    def begin(self) -> None:
        """Put the first screen up."""
        raise NotImplementedError

    def show_session(
        self, opened: Opened, endpoint: Endpoint, *, lines: Sequence[str] = (), next_words: str = ""
    ) -> None:
        """Put a session on screen."""
        from app.screens.live import LiveScreen

        screen = LiveScreen(
            opened, endpoint, bundles=self.bundles, lines=lines, go_on_words=next_words or "leave the program"
        )
        self._live = screen
        self._last_log = opened.record.log

        def ended(how: Ended | None) -> None:
            self._live = None
            self.session_ended(opened.record.log, how or "left")

        self.push_screen(screen, ended)

    def session_ended(self, log: LogName, how: Ended) -> None:
        """A session's screen is gone. Here the program ends with it."""
        self.say_goodbye(log, how)
        self.exit()

    def say_goodbye(self, log: LogName, how: Ended) -> None:
        """Keep a line to be printed at the end: how to go on with a session that was left."""
        if how == "left":
            self.parting.append(
                f"The session {log} is left open; go on with: twins resume {log} --room {self.room.root}"
            )
        else:
            self.parting.append(f"The session {log} is closed; its letter is in {self.room.letters_dir}")

    @property
    def bundles(self) -> Path:
        """Where exports go: not into the folder that P works in."""
        return self.room.root / "bundles"

    def action_help_here(self) -> None:
        """What the keys do where they are now: of the focused widget and what it stands in."""
        from app.screens.actions import key_words
        from widgets.dialogs import Help, HelpSection

        keys: dict[tuple[str, str], list[str]] = {}
        for key, active in self.screen.active_bindings.items():
            if active.node not in (self, self.screen) and active.binding.description:
                what = active.binding.tooltip or active.binding.description
                keys.setdefault((active.binding.action, what), []).append(key)
        rows = [(" ".join(key_words(key) for key in found[:3]), what) for (_, what), found in keys.items()]
        words = "" if rows else "Nothing has the keys here but the screen itself."
        sections = [HelpSection("Where the keys are now", rows, words), HelpSection("F1", [], "shows every key")]
        self.push_screen(Help(sections, title="Keys here"))

    # ------------------------------------------------------------ leaving

    @property
    def leaving_code(self) -> int:
        """The exit code that a signal asks for; 0 when none came."""
        return self._leaving.code

    @property
    def live(self) -> LiveScreen | None:
        """The session's screen, whatever dialog stands above it; None while there is no session."""
        return self._live

    def get_driver_class(self) -> type[Driver]:
        """Textual's choice; on a terminal, the one that notices when it goes away."""
        chosen = super().get_driver_class()
        if chosen.__name__ != "LinuxDriver":
            return chosen
        from app.terminal import TwinsDriver

        return TwinsDriver

    def terminal_lost(self) -> None:
        """Nobody sees the screen any more: leave as if the hang-up had been told."""
        self.terminal_is_gone = True
        self._leaving.told(int(getattr(signal, "SIGHUP", 1)))

    def ended(self) -> None:
        """The program has come to its end by itself."""
        self._leaving.over()

    async def _leave_the_session(self) -> None:
        if self.live is not None:
            await self.live.leave()

    def _give_the_terminal_back(self) -> None:
        """The program is about to end by force, wherever it hangs."""
        driver = self._driver
        if driver is not None and self._running:
            driver.stop_application_mode()
            driver.close()
        if self._last_log is not None and not self.terminal_is_gone:
            words = f"Leaving the session hung and was ended; go on with: twins resume {self._last_log}"
            print(f"{words} --room {self.room.root}", file=sys.__stderr__, flush=True)

    def _fatal_error(self) -> None:
        """Textual would print the whole stack with its values. The plain sentence is ``failure``'s; --debug has it."""
        self.bell()
        self._close_messages_no_wait()

    def failure(self) -> ScreenFailed | None:
        """What brought the screen down, as one sentence; None when nothing did."""
        if self._exception is None:
            return None
        what = f"{type(self._exception).__name__}: {clean(str(self._exception))}".removesuffix(": ")
        how = "start it again"
        if self._last_log is not None:
            how = f"go on with: twins resume {self._last_log} --room {self.room.root}"
        return ScreenFailed(f"The screen failed ({what}). What was said is kept; {how} (--debug shows where it failed)")

    async def action_quit(self) -> None:
        """Close: a session asks how; without one the program ends."""
        if self.live is not None:
            self.live.ask_to_end()
        else:
            self.exit()

    async def action_copy_or_leave(self) -> None:
        """Copy what is selected; with nothing selected, a second press leaves and the session stays resumable."""
        focused = self.focused
        selected = focused.selected_text if isinstance(focused, Input | TextArea) else ""
        selected = selected or self.screen.get_selected_text() or ""
        if selected:
            self.copy_to_clipboard(selected)
            return
        now = self.room.clock.mono()
        if now > self._leaves_until:
            self._leaves_until = now + TWICE_SECONDS
            self.notify("ctrl+c once more leaves at once; the session can be resumed.", markup=False)
        elif self.live is None or not await left_in_time(self.live.leave):
            self.exit()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Textual's own commands, without those that the table of actions has."""
        for command in super().get_system_commands(screen):
            if command.title == "Theme":
                yield command


class PlanApp(TwinsApp):
    """One session, new or taken up; the program ends with it."""

    def __init__(self, room: Room, opened: Opened, endpoint: Endpoint, lines: Sequence[str] = ()) -> None:
        super().__init__(room)
        self._session = (opened, endpoint, lines)

    def begin(self) -> None:
        opened, endpoint, lines = self._session
        self.show_session(opened, endpoint, lines=lines)


class TourApp(TwinsApp):
    """The tour's sessions one after the other, then what they came to."""

    def __init__(self, room: Room, plans: Sequence[Plan]) -> None:
        super().__init__(room)
        self._plans = tuple(plans)
        self._logs: list[LogName] = []

    @property
    def bundles(self) -> Path:
        """The tour's room goes away at its end, so bundles go where the program was started."""
        return Path.cwd()

    def begin(self) -> None:
        self._open_next()

    def _open_next(self) -> None:
        from app.session.opening import open_session

        number = len(self._logs)
        plan = self._plans[number]
        opened = open_session(
            self.room, plan.endpoint, condition=plan.condition, task=plan.task, workspace=plan.workspace
        )
        self._logs.append(opened.record.log)
        last = number + 1 == len(self._plans)
        words = "see what the tour came to" if last else "wake the next instance, with what this one leaves"
        self.show_session(opened, plan.endpoint, lines=plan.lines, next_words=words)

    def session_ended(self, log: LogName, how: Ended) -> None:
        from app.screens.tour_end import TourEnd

        if how == "left":
            self.exit()
        elif len(self._logs) < len(self._plans):
            self._open_next()
        else:
            self.push_screen(TourEnd(self.room, tuple(self._logs)), lambda _: self.exit())


def run_tour(staged: Staged) -> None:
    """The demo tour on screen."""
    with Room.open(staged.room) as room:
        _run(TourApp(room, staged.plans))


def run_plan(room: Room, plan: Plan) -> None:
    """A new session on screen."""
    from app.session.opening import open_session

    opened = open_session(room, plan.endpoint, condition=plan.condition, task=plan.task, workspace=plan.workspace)
    _run(PlanApp(room, opened, plan.endpoint, plan.lines))


def run_resumed(room: Room, log: LogName, endpoint: Endpoint) -> None:
    """A session taken up on screen."""
    from app.session.opening import resume_session

    _run(PlanApp(room, resume_session(room, log), endpoint))


def run_room(room: Room) -> None:
    """The room's sessions on screen: take one up, look at one, or begin a new one."""
    from app.screens.room_app import RoomApp

    _run(RoomApp(room))


def _run(app: TwinsApp) -> None:
    """Show the program until it ends, then say what there is to say. Raises ScreenFailed, and SystemExit with the exit
    code that a signal asks for."""
    settle_collector()
    app.run()
    app.ended()
    if app.terminal_is_gone:
        _no_terminal()
    if (failure := app.failure()) is not None:
        raise failure from app._exception
    for line in app.parting:
        print(line)
    if code := app.leaving_code or app.return_code:
        sys.exit(code)


def _no_terminal() -> None:
    """Words that are still printed go nowhere, where they would raise."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
