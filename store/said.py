"""What the operator said in a room, newest last, read from the logs without decoding what is not theirs."""

from __future__ import annotations

from store.bodies import OperatorSaid
from store.events import EventFormatError, decode
from store.room import LogName, Room

_KIND = b'"operator.said"'


def operator_words(room: Room, *, besides: LogName, limit: int) -> tuple[str, ...]:
    """The operator's last ``limit`` messages of all sessions but ``besides``, oldest first."""
    found: list[str] = []
    for row in reversed(room.sessions()):
        if row.id == besides:
            continue
        if len(found) >= limit:
            break
        found = [*_words_in(room, row.id), *found]
    return tuple(found[-limit:])


def _words_in(room: Room, log: LogName) -> list[str]:
    words: list[str] = []
    with room.log_path(log).open("rb") as lines:
        for line in lines:
            if _KIND not in line:
                continue
            try:
                body = decode(line.rstrip(b"\n"), log).body
            except EventFormatError:
                continue  # damage in a log is told by whoever folds it
            if isinstance(body, OperatorSaid):
                words.append(body.text)
    return words
