"""The operator's own keys: which actions there are, what room.toml's [keys] may say of them, what is wrong there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from textual.binding import Binding
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, key_to_character
from textual.widget import Widget

from app.screens.actions import APP, PALETTE, STOP, every_action
from store.text import clean

_MODIFIERS = frozenset(("ctrl", "alt", "shift", "super", "meta", "hyper"))
_AROUND = {"Chat": "ChatView", "TierPanel": "LineList", "SessionList": "RoomScreen"}
"""What stands around a widget shares its keys."""
_NAMED = frozenset(key.value.rpartition("+")[2] for key in Keys) | frozenset(KEY_NAME_REPLACEMENTS.values())


@dataclass(frozen=True, slots=True)
class Place:
    """An action that can be put on other keys: its id, the keys it is on, and where they hold: everywhere, on the live
    screen before its widgets, there behind them, or in a widget or another screen by its name."""

    id: str
    keys: frozenset[str]
    scope: str


def places() -> Iterator[Place]:
    """Every action with a name: the program's and the live screen's, then those of the widgets and other screens."""
    for action in every_action():
        if action is not PALETTE:
            scope = "everywhere" if action in APP else "behind" if action is STOP else "live"
            yield Place(action.id, _keys(action.keys), scope)
    for node in _nodes():
        for item in node.BINDINGS:
            if isinstance(item, Binding) and item.id:
                yield Place(item.id, _keys(item.key), _AROUND.get(node.__name__, node.__name__))


def _nodes() -> tuple[type[Widget], ...]:
    # Only for a room that has keys of its own: these are not needed before the first paint.
    from app.screens.room_app import RoomScreen, SessionList
    from widgets.chat import Chat
    from widgets.chat.view import ChatView
    from widgets.composer.area import ComposerArea
    from widgets.rows import RowList
    from widgets.snug import SnugPane
    from widgets.tiers.lines import LineList
    from widgets.tiers.panel import TierPanel

    return (RoomScreen, SessionList, Chat, ChatView, ComposerArea, RowList, LineList, TierPanel, SnugPane)


def checked_keys(given: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The keys that hold, and a sentence on each that can not: it keeps its usual key."""
    known = {place.id: place for place in places()}
    wrong: list[str] = []
    kept: dict[str, str] = {}
    for name, keys in given.items():
        said = _unfit(name, keys, known)
        if said:
            wrong.append(f"room.toml [keys]: {said}")
        else:
            kept[name] = keys
    while (clash := _clash(kept, known)) is not None:
        name, other, key = clash
        del kept[name]
        wrong.append(f"room.toml [keys]: {name} and {other} would both be on {key}; {name} stays where it was")
    return kept, tuple(wrong)


def _unfit(name: str, keys: str, known: Mapping[str, Place]) -> str:
    if name not in known:
        near = get_close_matches(name, known, 1)
        guess = f"; did you mean {near[0]}?" if near else "; F1 lists the actions by name"
        return f"there is no action {clean(name)[:60]!r}{guess}"
    bad = next((key for key in keys.split(",") if not _is_key(key.strip())), None)
    if bad is not None:
        return f'{name} cannot be on {clean(bad)[:60]!r}; write a key like "f6", "ctrl+y" or "k,up"'
    return ""


def _is_key(key: str) -> bool:
    *modifiers, last = key.split("+") if key != "+" else ["+"]
    if not last or any(modifier not in _MODIFIERS for modifier in modifiers):
        return False
    return len(last) == 1 or last in _NAMED or key_to_character(last) is not None


def _clash(kept: Mapping[str, str], known: Mapping[str, Place]) -> tuple[str, str, str] | None:
    """The last of the operator's keys that another action of the same place has too, with that action and the key."""
    now = {name: _keys(kept[name]) if name in kept else place.keys for name, place in known.items()}
    for name in reversed(list(kept)):
        for other, keys in now.items():
            shared = now[name] & keys
            if other != name and shared and _meet(known[name].scope, known[other].scope):
                return name, other, min(shared)
    return None


def _meet(one: str, other: str) -> bool:
    """Whether keys of two places are ever asked for at once, with none meant to go first."""
    scopes = {one, other}
    if len(scopes) == 1 or "everywhere" in scopes:
        return True
    return "live" in scopes and "RoomScreen" not in scopes


def _keys(keys: str) -> frozenset[str]:
    return frozenset(key.strip() for key in keys.split(","))
