"""The append-only journals (snug, improvements, recall): signed and dated Markdown, folded from events."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from store.bodies import By, Journal, JournalWritten
from store.clock import from_stamp
from store.documents import set_aside, write_whole
from store.events import Event
from store.log import sync_folder
from store.room import LogName, Room, RoomError
from store.text import clean

HEADS: Mapping[Journal, str] = {
    "snug": "# Snug\n\nThe room's private journal. Entries are added at the end and never changed.\n",
    "improvements": "# Improvements\n\nWhat would make this work better. Entries are added at the end.\n",
    "recall": "# Quick recall\n\nWhat the Keeper wants found again quickly. Entries are added at the end.\n",
}

_ENTRY = re.compile(
    r"^## (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC · (operator|presence|keeper|reader|system)"
    r"(?:, session (\d+))?(?:, turn (\d+))?\n\n",
    re.MULTILINE,
)
# A line of the text that looks like a heading gets a backslash (as Markdown has it), so that nobody's words can pass
# for an entry signed by another.
_LIKE_A_HEADING = re.compile(r"^(\\*## )", re.MULTILINE)
_WAS_LIKE_A_HEADING = re.compile(r"^\\(\\*## )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a journal; ``at`` to the second in UTC, ``session`` and ``turn`` 0 when it was made outside."""

    at: str
    by: By
    session: int
    turn: int
    text: str


def journal_file(room: Room, journal: Journal) -> Path:
    """The file of a journal."""
    return {"snug": room.snug_file, "improvements": room.improvements_file, "recall": room.recall_file}[journal]


def write_journal(room: Room, log: LogName, by: By, journal: Journal, text: str, turn: int = 0) -> Event:
    """Adds an entry: first the event, then the entry in the journal's file, both on the disk when this returns.

    Raises ValueError for an entry without words, LogWriteError or RoomError when it could not be kept. When only the
    file could not be written, the event stands and ``rebuild_journals`` brings the file up to it.
    """
    kept = clean(text).strip("\n")
    if not kept.strip():
        raise ValueError("a journal entry needs words")
    event = room.append(log, by, JournalWritten(journal, kept), turn)
    path = journal_file(room, journal)
    try:
        _add(path, HEADS[journal], _rendered(room, event, kept))
    except OSError as error:
        raise RoomError(
            f"{path.name} could not be written ({error.strerror}); the entry stands in the log and will be in the "
            "file once the journals are rebuilt"
        ) from error
    return event


def read_journal(room: Room, journal: Journal) -> str:
    """A journal as its file holds it, without control characters; empty when there is no entry yet."""
    try:
        return clean(journal_file(room, journal).read_bytes().decode("utf-8", "replace"))
    except FileNotFoundError:
        return ""


def entries(text: str) -> tuple[Entry, ...]:
    """The entries of a journal's text in order. What stands before the first one is no entry."""
    found = list(_ENTRY.finditer(text))
    ends = [*(head.start() for head in found[1:]), len(text)][: len(found)]
    return tuple(
        Entry(
            at=head[1],
            by=cast(By, head[2]),
            session=int(head[3] or 0),
            turn=int(head[4] or 0),
            text=_WAS_LIKE_A_HEADING.sub(r"\1", text[head.end() : end].strip("\n")),
        )
        for head, end in zip(found, ends, strict=True)
    )


def rebuild_journals(room: Room) -> tuple[str, ...]:
    """Brings the journal files up to the events: missing or cut entries are added, a file in which entries are missing
    in the middle is set aside and written anew. What was done, a sentence each; empty when all was well.

    Words that someone wrote into a file by hand stay where they are. Raises RoomError when the room is read-only.
    """
    if room.read_only:
        raise RoomError("this room is open read-only; its journals were not touched")
    wanted = _wanted(room).items()
    done = (_mend(journal_file(room, journal), HEADS[journal].encode(), blocks) for journal, blocks in wanted)
    return tuple(sentence for sentence in done if sentence)


def journals_behind(room: Room) -> tuple[Path, ...]:
    """The journal files that do not hold every entry that the log holds. Changes nothing."""
    behind = []
    for journal, blocks in _wanted(room).items():
        path = journal_file(room, journal)
        if not path.exists() or _held(path.read_bytes(), blocks)[1] < len(blocks):
            behind.append(path)
    return tuple(behind)


def _wanted(room: Room) -> dict[Journal, list[bytes]]:
    """The entries of each journal that has any, as its file is to hold them."""
    wanted: dict[Journal, list[bytes]] = {}
    for event in room.all_events():
        if isinstance(event.body, JournalWritten):
            wanted.setdefault(event.body.journal, []).append(_rendered(room, event, event.body.text).encode())
    return wanted


def entry_text(event: Event, text: str, session: int) -> str:
    """An entry as its file holds it: signed and dated. ``session`` is the session's number, 0 outside one."""
    at = from_stamp(event.at).strftime("%Y-%m-%d %H:%M:%S")
    where = f", session {session}" if session else ""
    turn = f", turn {event.turn}" if event.turn else ""
    escaped = _LIKE_A_HEADING.sub(r"\\\1", text)
    return f"## {at} UTC · {event.by}{where}{turn}\n\n{escaped}\n"


def _rendered(room: Room, event: Event, text: str) -> str:
    session = room.session(LogName(event.log))
    return entry_text(event, text, session.number if session else 0)


def _add(path: Path, head: str, block: str) -> None:
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(fd).st_size
        ends_a_line = size > 0 and os.pread(fd, 1, size - 1) == b"\n"
        before = f"{head}\n" if size == 0 else "\n" if ends_a_line else "\n\n"
        content = (before + block).encode()
        try:
            if os.write(fd, content) != len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(fd)
        except OSError:
            os.ftruncate(fd, size)
            raise
    finally:
        os.close(fd)
    if size == 0:
        sync_folder(path.parent)


def _mend(path: Path, head: bytes, blocks: list[bytes]) -> str:
    # In bytes, because a cut goes through characters and a hand may have written in another encoding.
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        write_whole(path, head + b"\n" + b"\n".join(blocks))
        return f"{path.name} was missing and was written again from the log"
    end, kept = _held(text, blocks)
    if kept == len(blocks):
        return ""
    missing = blocks[kept:]
    between = _without_a_cut_entry(text[end:], missing[0])
    if kept == 0 and (head + b"\n" + missing[0]).startswith(text):
        before = head
    elif _ENTRY.search(between.decode("utf-8", "replace")) is None:
        before = text[:end] + between  # words that someone added by hand, or nothing
    else:
        aside = set_aside(path)
        write_whole(path, head + b"\n" + b"\n".join(blocks))
        return f"{path.name} did not hold what the log holds; it is kept as {aside.name} and was written again"
    write_whole(path, before.rstrip(b"\n") + b"\n\n" + b"\n".join(missing))
    lacked = "entry" if len(missing) == 1 else f"{len(missing)} entries"
    return f"{path.name} lacked its last {lacked}, now added from the log"


def _held(text: bytes, blocks: list[bytes]) -> tuple[int, int]:
    """How many of ``blocks`` stand in ``text`` one behind the other, and the byte where the last of them ends."""
    end, kept = 0, 0
    for block in blocks:
        at = text.find(block, end)
        if at < 0:
            break
        end, kept = at + len(block), kept + 1
    return end, kept


def _without_a_cut_entry(text: bytes, block: bytes) -> bytes:
    """``text`` without the beginning of ``block`` on lines of its own at its end."""
    for length in range(min(len(text), len(block)), 0, -1):
        start = len(text) - length
        if text.endswith(block[:length]) and (start == 0 or text[start - 1 : start] == b"\n"):
            return text[:start]
    return text
