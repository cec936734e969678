"""Events as a session has them, and what a room must always hold to."""

from __future__ import annotations

from store.bodies import Change, ConditionRecord, SessionOpened, TiersChanged
from store.conditions import load_conditions
from store.events import Event, fold
from store.folding import check_room
from store.lines import Line, LineId, Tiers
from store.room import LogName, Room

CONDITION: ConditionRecord = load_conditions()["B"]


def opened(session: str, number: int) -> SessionOpened:
    return SessionOpened(
        session=session,
        number=number,
        condition=CONDITION,
        task=None,
        operator="Derick",
        model="claude-opus-5-5",
        endpoint="",
        scripted=True,
        workspace="",
        briefs={},
    )


def line(number: int, tier: str = "warm", text: str = "the offset is stale", session: int = 1) -> Line:
    return Line(
        id=LineId(f"L{number}"),
        tier="cold" if tier == "cold" else "hot" if tier == "hot" else "warm",
        kind="finding",
        text=text,
        reason="it cost an hour",
        quote="stale since March",
        quote_turn=1,
        priority=3,
        touched=session,
        made_session=session,
        made_turn=1,
        made_by="keeper",
    )


def changed(*lines: Line, session: int = 1) -> TiersChanged:
    return TiersChanged("add_line", tuple(Change(None, one) for one in lines), "kept", session=session)


def begin(room: Room) -> LogName:
    """A session with its first event."""
    log = room.new_session_id()
    room.append(log, "system", opened(log, room.tiers.session + 1))
    return log


def folded_anew(room: Room) -> Tiers:
    return fold(Tiers(), room.all_events())


def holds_together(room: Room) -> None:
    """The chain is whole through the room, and the views are what a fresh fold gives."""
    assert check_room(room.sessions_dir) == ()
    anew = folded_anew(room)
    assert list(room.tiers.lines.items()) == list(anew.lines.items())
    assert (room.tiers.next_number, room.tiers.session) == (anew.next_number, anew.session)
    events: list[Event] = list(room.all_events())
    assert [event.seq for event in events] == sorted(event.seq for event in events)
    assert room.seq == max((event.seq for event in events), default=0)
