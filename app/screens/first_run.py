"""The first screen of all, while there is no room: name, endpoint, model, a test of the endpoint; it makes the room."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Footer, Input, Label, Static

from app.plan import room_path
from app.session.endpoint import environment
from store.plain import PlainError
from store.room import Room
from store.settings import Endpoint, Settings, parse_settings, room_toml
from store.text import clean
from widgets.themes import LOOKS, THEMES

FIELDS = ("name", "folder", "url", "variable", "model")


class FirstRun(App[Path], inherit_bindings=False):
    """Comes back with the path of the room that was made, or None when left. Nothing is written before."""

    TITLE = "Two Twins"
    CSS = """
    #first { padding: 0 2; background: $surface; }
    #first-words { height: auto; margin-bottom: 1; }
    Label { color: $text-muted; width: 1fr; }
    Input { height: 1; border: none; padding: 0 1; margin-bottom: 1; background: $boost; }
    #first-said { height: auto; min-height: 2; }
    Footer { background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "try", "Test the endpoint", priority=True),
        Binding("enter", "make", "Make the room", priority=True),
        Binding("up", "app.focus_previous", "Field above", show=False),
        Binding("down", "app.focus_next", "Field below", show=False),
        Binding("f10", "next_look", "Look", priority=True),
        Binding("ctrl+q,ctrl+c,escape", "leave", "Leave", priority=True),
    ]

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def compose(self) -> ComposeResult:
        usual = Endpoint()
        with VerticalScroll(id="first", can_focus=False):
            yield Static(
                Content.assemble(
                    ("Two Twins  ", "bold $text-primary"),
                    "There is no room yet: a folder for what you and your twins keep.\n",
                    ("Without a key or a server, leave this and run: twins demo", "$text-muted"),
                ),
                id="first-words",
            )
            yield Label("your name, as the twins and the letters use it")
            yield Input(getpass.getuser(), id="first-name", compact=True)
            yield Label("the room's folder")
            yield Input(str(self._folder), id="first-folder", compact=True)
            yield Label("base URL of a Messages API; empty for Anthropic's own")
            yield Input(id="first-url", placeholder="http://127.0.0.1:8080", compact=True)
            yield Label("environment variable that holds the key (never the key itself)")
            yield Input(usual.api_key_env, id="first-variable", compact=True)
            yield Label("model of both twins")
            yield Input(usual.model, id="first-model", compact=True)
            yield Static("", id="first-said", markup=False)
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = LOOKS[0]
        self._tell_of_key()

    def _field(self, name: str) -> str:
        return self.query_one(f"#first-{name}", Input).value.strip()

    def _say(self, words: str, style: str = "") -> None:
        self.query_one("#first-said", Static).update(Content.styled(clean(words), style))

    @on(Input.Changed, "#first-variable")
    def _tell_of_key(self) -> None:
        name = self._field("variable")
        if environment().get(name):
            self._say(f"✓ {name} is set.", "$text-success")
        else:
            # The name is not repeated: it may be the key, pasted into the wrong place.
            self._say("○ This variable is not set here; a server of your own may do without.", "$text-muted")

    def _settings(self) -> tuple[str, Settings] | None:
        """The room.toml that the fields come to; None when something in them cannot be used, which is said."""
        text = room_toml(self._field("name"), self._field("model"), self._field("url"), self._field("variable"))
        try:
            return text, parse_settings(text)
        except PlainError as error:
            self._say(f"✗ {error}", "$text-error")
            return None

    def action_try(self) -> None:
        """Ask the endpoint for one word."""
        found = self._settings()
        if found is not None:
            self._say("… asking the endpoint for one word", "$text-muted")
            self._try(found[1])

    @work(thread=True, exclusive=True)
    def _try(self, settings: Settings) -> None:
        from app.session.trial import try_endpoint

        try:
            said = try_endpoint(settings, environment())
        except PlainError as error:
            self.call_from_thread(self._say, f"✗ {error}", "$text-error")
        else:
            self.call_from_thread(self._say, f"✓ {said}", "$text-success")

    def action_make(self) -> None:
        """Make the room, and go into it."""
        found = self._settings()
        if found is None:
            return
        place = room_path(Path(self._field("folder")))
        try:
            Room.create(
                place,
                self._field("name"),
                model=self._field("model"),
                base_url=self._field("url"),
                api_key_env=self._field("variable"),
            )
        except PlainError as error:
            self._say(f"✗ {error}", "$text-error")
        else:
            self.exit(place)

    def action_next_look(self) -> None:
        """The next of the four looks."""
        self.theme = LOOKS[(LOOKS.index(self.theme) + 1) % len(LOOKS)]

    def action_leave(self) -> None:
        """Leave; nothing is made."""
        self.exit()


def make_first_room(folder: Path) -> Path | None:
    """Show the first screen; the room that was made, or None."""
    return FirstRun(folder).run()
