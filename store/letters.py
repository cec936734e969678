"""Letters and handoffs: plain Markdown files, signed and dated, folded from events."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from store.bodies import LetterFiled
from store.clock import from_stamp
from store.documents import write_whole
from store.events import Event
from store.room import LogName, Room, RoomError
from store.text import clean

Which = Literal["letter", "handoff"]


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter or handoff as it was filed. ``file`` is its name under `letters/`, ``title`` its first heading or
    line, ``text`` without signature, ``at`` UTC, ``session`` the session's number (0 outside one)."""

    which: Which
    file: str
    title: str
    text: str
    at: str
    session: int
    log: LogName


def file_letter(
    room: Room, log: LogName, which: Which, text: str, tiers_seen: bool, edited: bool = False, turn: int = 0
) -> Event:
    """Files a letter of P: first the event, then the file, both on the disk when this returns.

    ``sha256`` in the event is of the text, without the signature that the file adds. Raises ValueError for a letter
    without words, LogWriteError or RoomError when it could not be kept; when only the file could not be written, the
    event stands and ``rebuild_letters`` writes it.
    """
    kept = clean(text).strip("\n")
    if not kept.strip():
        raise ValueError(f"a {which} needs words")
    name = _free_name(room.letters_dir, room.clock.now().strftime("%Y-%m-%dT%H%M%SZ"), which)
    body = LetterFiled(
        which=which,
        file=name,
        text=kept,
        sha256=hashlib.sha256(kept.encode()).hexdigest(),
        tiers_seen=tiers_seen,
        edited_by_operator=edited,
    )
    event = room.append(log, "presence", body, turn)
    try:
        write_whole(room.letters_dir / name, _signed(room, event, body).encode())
    except OSError as error:
        raise RoomError(
            f"letters/{name} could not be written ({error.strerror}); its words stand in the log and will be in the "
            "file once the letters are rebuilt"
        ) from error
    return event


def letters(room: Room) -> tuple[Letter, ...]:
    """All letters and handoffs of the room, newest last, in the words that the log holds."""
    found = [room.event_at(log, offset) for log, offset in room.letter_offsets()]
    return tuple(_letter(room, event) for event in sorted(found, key=lambda event: event.seq))


def rebuild_letters(room: Room) -> tuple[str, ...]:
    """Writes letter files that are missing, a sentence for each. Files that are there are left as they are.

    Raises RoomError when the room is read-only.
    """
    if room.read_only:
        raise RoomError("this room is open read-only; its letters were not touched")
    written = []
    for event, body in _missing(room):
        write_whole(room.letters_dir / Path(body.file).name, _signed(room, event, body).encode())
        written.append(f"letters/{body.file} was missing and was written again from the log")
    return tuple(written)


def missing_letters(room: Room) -> tuple[str, ...]:
    """The names of filed letters whose files are missing. Changes nothing."""
    return tuple(body.file for _, body in _missing(room))


def _missing(room: Room) -> Iterator[tuple[Event, LetterFiled]]:
    for log, offset in room.letter_offsets():
        event = room.event_at(log, offset)
        if isinstance(event.body, LetterFiled) and not (room.letters_dir / event.body.file).exists():
            yield event, event.body


def _letter(room: Room, event: Event) -> Letter:
    body = event.body
    if not isinstance(body, LetterFiled):
        raise TypeError(f"event {event.seq} is {event.kind}, no letter")
    log = LogName(event.log)
    session = room.session(log)
    return Letter(
        which=body.which,
        file=body.file,
        title=_title(body.text),
        text=body.text,
        at=event.at,
        session=session.number if session else 0,
        log=log,
    )


def _title(text: str) -> str:
    first = next((line for line in text.split("\n") if line.strip(" #\t")), "")
    title = first.strip(" #\t")
    return title if len(title) <= 80 else f"{title[:79]}…"


def _signed(room: Room, event: Event, body: LetterFiled) -> str:
    at = from_stamp(event.at)
    session = room.session(LogName(event.log))
    where = f", session {session.number}" if session else ""
    edited = f" Edited by {room.settings.operator} before it was filed." if body.edited_by_operator else ""
    return f"{body.text}\n\n---\n\nSigned: the Presence{where}. {at:%A %Y-%m-%d, %H:%M} UTC.{edited}\n"


def _free_name(folder: Path, second: str, which: Which) -> str:
    name, number = f"{second}-{which}.md", 1
    while (folder / name).exists():
        number += 1
        name = f"{second.removesuffix('Z')}-{number}Z-{which}.md"
    return name
