"""`twins search`: what is looked for in the cold tier, read from the shell's words, and the finds printed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import get_args

from app.plan import InputError
from app.printing import print_json
from store.bodies import By
from store.events import plain
from store.room import DESK, LogName, Room
from store.search import Hit, Index
from store.text import clean


@dataclass(frozen=True, slots=True)
class Sought:
    """What is looked for: words, and what narrows them down; empty fields narrow nothing."""

    words: str
    seat: str = ""
    kind: str = ""
    session: str = ""
    since: str = ""
    until: str = ""


def search_cold(room: Room, sought: Sought, *, limit: int, as_json: bool) -> None:
    """Finds in everything this room ever said, best first."""
    since, until = _moment("--since", sought.since), _moment("--until", sought.until, whole_day=True)
    seat = next((by for by in get_args(By) if by == sought.seat), None)
    if sought.seat and seat is None:
        raise InputError(f"--seat takes {', '.join(get_args(By))}, not {sought.seat!r}.")
    with room:
        session = _session(room, sought.session) if sought.session else None
        with Index.open(room) as index:
            hits = index.search(
                sought.words,
                seat=seat,
                kind=sought.kind or None,
                session=session,
                since=since,
                until=until,
                limit=limit,
            )
        if as_json:
            print_json([plain(hit) for hit in hits])
        else:
            _print(hits)


def _print(hits: tuple[Hit, ...]) -> None:
    for hit in hits:
        line = f" {hit.line_id}" if hit.line_id else ""
        print(f"{hit.at[:16].replace('T', ' ')} {hit.log} turn {hit.turn} {hit.by} {hit.kind}{line}")
        print(f"    {' '.join(clean(hit.snippet).split())}")
    if not hits:
        print("Nothing found.")


def _session(room: Room, asked: str) -> LogName:
    rows = room.sessions()
    if asked == DESK:
        return DESK
    for row in rows:
        if asked in (row.id, str(row.number)):
            return row.id
    names = ", ".join(f"{row.number} ({row.id})" for row in rows[-3:]) or "none yet"
    raise InputError(f"There is no session {clean(asked)[:60]} in this room; the newest are: {names}.")


def _moment(option: str, text: str, *, whole_day: bool = False) -> datetime | None:
    """A date or time in UTC; with ``whole_day`` a date alone means its end."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(
            f"{option} takes a date or a time such as 2026-11-30 or 2026-11-30T14:00, not {text!r}."
        ) from error
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment + timedelta(days=1) if whole_day and len(text) <= len("2026-11-30") else moment
