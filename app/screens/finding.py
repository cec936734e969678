"""Finding places in a transcript: a turn by its number, and where the RET's clock stopped or was marked."""

from __future__ import annotations

from collections.abc import Iterable

from textual.app import App

from app.measure.ret import ret
from store.events import Event
from widgets.chat.view import ChatView
from widgets.dialogs import AskText


async def ask_turn(app: App[object], view: ChatView) -> None:
    """Ask for a turn's number and show where it begins. To be awaited in a worker."""
    last = max((entry.turn for entry in view.transcript.entries), default=0)
    words = f"Its number, up to {last}." if last else "There is no turn yet."
    given = await app.push_screen_wait(AskText("Go to a turn", words))
    if given is None:
        return
    if not (given.isascii() and given.isdecimal()) or not view.go_to_turn(int(given)):
        app.notify(f"There is no turn {given!r} here.", severity="warning", markup=False)


def show_ret(app: App[object], view: ChatView, events: Iterable[Event]) -> None:
    """Show the action that stopped the RET's clock, or the operator's mark."""
    found = ret(events)
    if found.source in ("clock", "set", "void") and found.seconds.events:
        if view.go_to_event(found.seconds.events[-1].n):
            view.focus()
    else:
        app.notify("The RET has no mark here: no first right action has been seen.", markup=False)
