"""Places in the room's logs that the operator goes to: from a line or a find to the turn, the quote or the event."""

from __future__ import annotations

from dataclasses import dataclass

from store.lines import Line
from store.room import LogName, Room
from widgets.chat.view import ChatView
from widgets.dialogs import Jump


@dataclass(frozen=True, slots=True)
class Place:
    """A turn of a session's log; more exactly the ``quote`` in it, or the event ``n`` (0: none)."""

    log: LogName
    turn: int
    quote: str = ""
    n: int = 0


def place_of(room: Room, jump: Jump, quote: str = "") -> Place | None:
    """Where a jump leads; None when the room has no such session."""
    row = next((row for row in room.sessions() if row.number == jump.session), None)
    return Place(row.id, jump.turn, quote) if row is not None else None


def place_of_line(room: Room, line: Line) -> Place | None:
    """Where a line's quote stands, or where the line was made."""
    turn = line.quote_turn if line.quote else line.made_turn
    return place_of(room, Jump(line.made_session, turn), line.quote)


def show_place(view: ChatView, place: Place) -> None:
    """Bring a place of this view's transcript into sight, as exactly as it can be found."""
    transcript = view.transcript
    if place.n and transcript.of_event(place.n) is not None:
        view.go_to_event(place.n)
    elif place.quote and transcript.holding(place.quote, place.turn) is not None:
        view.go_to_quote(place.quote, place.turn)
    else:
        view.go_to_turn(place.turn)
