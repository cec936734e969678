"""The one table of what the operator can do on the live screen: keys, footer, palette and help are read from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from textual.binding import Binding, BindingType
from textual.keys import key_to_character
from textual.widget import Widget

if TYPE_CHECKING:
    from widgets.dialogs.help import HelpSection


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do. ``id`` is its name in room.toml's [keys], ``call`` the screen's action, ``title`` its word in
    the footer (``footer`` says whether it stands there), ``what`` the sentence for palette and help."""

    id: str
    keys: str
    call: str
    title: str
    what: str
    footer: bool = False

    def binding(self) -> Binding:
        """The key binding. It goes before the focused widget's own: a text area would take some of these keys."""
        return Binding(self.keys, self.call, self.title, show=self.footer, priority=True, id=self.id, tooltip=self.what)


LIVE: tuple[Action, ...] = (
    Action("help", "f1", "help", "Help", "Show every key and action", footer=True),
    Action("chat", "f2", "pane('chat')", "Chat", "Go to the chat", footer=True),
    Action("tiers", "f3", "pane('tiers')", "Tiers", "Go to the lines of hot and warm", footer=True),
    Action("snug", "f4", "pane('snug')", "Snug", "Go to the snug, the room's private journal", footer=True),
    Action("compose", "f5", "compose", "Write", "Go to the composer"),
    Action("search", "ctrl+f", "search", "Search", "Search this session"),
    Action("take_back", "ctrl+t", "take_back", "Take back", "Take the newest queued message back into the composer"),
    Action("go_on", "ctrl+g", "go_on", "Go on", "Let Presence go on after an answer that was cut off or failed"),
    Action("mark_break", "ctrl+b", "mark_break", "Break", "Mark a natural break: the Keeper looks through warm too"),
    Action("undo_last", "f7", "undo_last", "Undo", "Take back your last change of the tiers"),
    Action("mark_ret", "f8", "mark_ret", "RET", "Set, void or restore the RET by hand, with a reason"),
    Action("keeper", "f9", "toggle_keeper", "Keeper", "Stop the Keeper, or start it again"),
    Action("zoom", "f6", "zoom", "Zoom", "Give the pane with the keys all the room, or put the others back"),
    Action("side_wider", "alt+left", "widen(5)", "Wider side", "Give tiers and snug more of the width"),
    Action("side_narrower", "alt+right", "widen(-5)", "Narrower side", "Give the chat more of the width"),
    Action("snug_taller", "alt+up", "raise_snug(10)", "Taller snug", "Give the snug more of the height"),
    Action("snug_lower", "alt+down", "raise_snug(-10)", "Lower snug", "Give the tiers more of the height"),
    Action("hide_tiers", "alt+t", "hide('tiers')", "Hide tiers", "Hide the tiers, or show them again"),
    Action("hide_snug", "alt+s", "hide('snug')", "Hide snug", "Hide the snug, or show it again"),
    Action("reset_panes", "alt+0", "reset_panes", "Panes as usual", "Put the panes back as they usually are"),
    Action("copy_wake", "alt+w", "copy_wake", "Copy wake packet", "Copy the whole wake packet of this session"),
    Action("export", "ctrl+e", "export", "Export", "Write this session as a bundle that a stranger can verify", True),
)
"""What the screen's own keys do."""

STOP = Action("stop", "escape", "stop", "Stop", "Stop Presence; what has come is kept")
"""Not before the focused widget's own: escape also ends a search and leaves a filter."""

APP: tuple[Action, ...] = (
    Action("look", "f10", "next_look", "Look", "Dark, light or high contrast, one after the other"),
    Action("picture", "f12", "picture", "Picture", "Write the screen as a picture (SVG)"),
    Action("close", "ctrl+q", "quit", "Close", "Close the session, or leave it to be resumed", footer=True),
    Action(
        "leave", "ctrl+c", "copy_or_leave", "Copy", "Copy what is selected; twice: leave, the session stays resumable"
    ),
)
"""What the program's own keys do, whatever screen is up."""

PALETTE = Action("palette", "ctrl+p", "command_palette", "Palette", "Find any action by its name")


def screen_bindings() -> list[BindingType]:
    """The live screen's bindings."""
    stop = Binding(STOP.keys, STOP.call, STOP.title, show=False, id=STOP.id, tooltip=STOP.what)
    return [*(action.binding() for action in LIVE), stop]


def every_action() -> Iterator[Action]:
    """All actions of the screen and the program, in the order of the help."""
    yield from (*LIVE[:1], PALETTE, *LIVE[1:6], STOP, *LIVE[6:], *APP)


def widget_actions(widget: type[Widget]) -> tuple[Action, ...]:
    """What the keys of a widget do while it has the focus."""
    found = (item for item in widget.BINDINGS if isinstance(item, Binding))
    return tuple(Action(item.id or "", item.key, item.action, item.description, item.tooltip) for item in found)


# The widgets are imported where they are asked for: the room's list is on screen before any of them is needed.


@cache
def line_actions() -> tuple[Action, ...]:
    """What can be done to the line under the cursor."""
    from widgets.tiers.lines import LineList

    return widget_actions(LineList)


@cache
def panel_actions() -> tuple[Action, ...]:
    """What can be done with the tier panel as a whole."""
    from widgets.tiers.panel import TierPanel

    return tuple(action for action in widget_actions(TierPanel) if action.what)


@cache
def chat_actions() -> tuple[Action, ...]:
    """What can be done in the chat."""
    from widgets.chat.view import ChatView

    return widget_actions(ChatView)


def key_words(keys: str) -> str:
    """Keys as a person reads them: ``slash`` is ``/``; the first ones of a list are enough."""
    return " ".join(_key_word(key.strip()) for key in keys.split(",")[:2])


def _key_word(key: str) -> str:
    if key in _SHORT:
        return _SHORT[key]
    char = key_to_character(key)
    if char is not None and char.isprintable():
        return char
    return key.upper() if key[0] == "f" and key[1:].isdecimal() else key


_SHORT = {"escape": "esc", "up": "↑", "down": "↓", "pageup": "pgup", "pagedown": "pgdn"}


def help_sections(own_keys: Mapping[str, str]) -> tuple[HelpSection, ...]:
    """The help; ``own_keys`` are those of room.toml, by action."""
    from app.screens.keymap import places
    from widgets.composer.area import ComposerArea
    from widgets.dialogs.help import HelpSection
    from widgets.tiers.panel import TierPanel

    def rows(actions: Iterable[Action]) -> list[tuple[str, str]]:
        return [
            (key_words(own_keys.get(action.id, action.keys)), action.what or action.title)
            for action in actions
            if action.title
        ]

    return (
        HelpSection("Everywhere", rows(every_action())),
        HelpSection("On a line (F3)", rows((*line_actions(), *widget_actions(TierPanel)))),
        HelpSection("In the chat (F2)", [("/", "Search"), *rows(chat_actions())]),
        HelpSection(
            "In the composer",
            [
                *rows(widget_actions(ComposerArea)),
                ("↑ ↓", "Earlier words of this room, at the first and last line"),
                ("/", "Every command, in an empty composer; begin with a blank to send a slash"),
                ("@", "A file of the workspace: ↑ ↓ choose, tab takes"),
            ],
            "Long pastes are folded on screen and sent whole.",
        ),
        HelpSection(
            "Other keys",
            [],
            "room.toml sets them by name: "
            + ", ".join(dict.fromkeys(place.id for place in places()))
            + '. Write for example: mark_break = "alt+b" under [keys].',
        ),
    )
