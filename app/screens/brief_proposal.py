"""After a close: what the Keeper proposes for its own brief, shown against the one that holds, and the answer."""

from __future__ import annotations

from textual.app import App

from app.brief_desk import proposal_diff
from app.session.brief_revision import answer
from store.bodies import BriefProposed
from store.plain import PlainError
from store.room import DESK, LogName, Room
from widgets.dialogs.proposal import Proposal

WORDS = (
    "The Keeper was asked, once in this room's life, how its own brief should read. It holds from the next session on "
    "if you take it; the one before is kept beside it."
)


async def ask_brief(app: App[None], room: Room, log: LogName) -> None:
    """Show the proposal of the session ``log``, when it made one, and carry out what the operator says."""
    proposed = [event.body for event in room.events(log) if isinstance(event.body, BriefProposed)]
    diff = proposal_diff(room) if any(body.text.strip() for body in proposed) else ""
    if not diff:
        return
    accept = await app.push_screen_wait(Proposal("The Keeper proposes a brief", WORDS, diff))
    if accept is None:
        app.notify("It waits: twins brief shows it again.", markup=False)
        return
    try:
        file = answer(room, DESK, accept=accept)
    except (PlainError, OSError) as error:
        app.notify(f"The answer could not be kept: {error}", severity="error", markup=False)
    else:
        app.notify(f"The brief is {file}." if accept else "The Keeper's brief stays as it is.", markup=False)
