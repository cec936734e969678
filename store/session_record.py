"""One session read whole: its events, the tiers before and after it, and what changed them meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from heapq import merge
from pathlib import Path

from store.bodies import LogOpened, SessionOpened
from store.events import FOLDED, Event, EventFormatError, decode, fold
from store.folding import log_paths, merged
from store.lines import Tiers
from store.log import raw_lines
from store.plain import PlainError
from store.standing import LogName


class NoSession(PlainError, ValueError):
    """There is no such session, or its log cannot be read; one plain sentence."""


@dataclass(frozen=True)
class SessionRecord:
    """A session as its log holds it, with what it takes to fold the tiers again without the rest of the room.

    ``log`` is the name of its log and ``content`` the log's bytes up to its last whole line; ``before`` are the
    room's tiers when the log began; ``meanwhile`` the events of other logs, between this one's first and last, that
    changed them (an operator's changes from the desk, another session's), with the lines they were read from;
    ``outputs`` are whole outputs kept beside the log, by file, where they were read too (for a bundle).
    """

    log: LogName
    content: bytes
    events: tuple[Event, ...]
    before: Tiers
    meanwhile: tuple[tuple[Event, bytes], ...] = ()
    outputs: Mapping[str, bytes] = field(default_factory=dict)

    @cached_property
    def opened(self) -> SessionOpened:
        """How the session was opened."""
        return next(event.body for event in self.events if isinstance(event.body, SessionOpened))

    @cached_property
    def after(self) -> Tiers:
        """The tiers at the session's last event."""
        return fold(self.before, self.in_order())

    def in_order(self) -> Iterator[Event]:
        """The session's events and those of ``meanwhile``, in order of ``seq``."""
        return merge(self.events, (event for event, _ in self.meanwhile), key=lambda event: event.seq)


def session_record(
    log: LogName, content: bytes, before: Tiers, meanwhile: tuple[tuple[Event, bytes], ...] = ()
) -> SessionRecord:
    """The record that the bytes of a log come to. Raises NoSession when they are no session's log."""
    lines = content.split(b"\n")
    if lines.pop():
        raise NoSession(f"the log of {log} ends within a line")
    try:
        events = tuple(decode(line, log) for line in lines)
    except (EventFormatError, RecursionError) as error:
        raise NoSession(f"the log of {log} cannot be read: {error}") from error
    opening = next((event.body for event in events if isinstance(event.body, LogOpened)), None)
    if opening is None or opening.log != log or not any(isinstance(event.body, SessionOpened) for event in events):
        raise NoSession(f"{log} is no session; pick one that `twins lines` or the session list names")
    return SessionRecord(log, content, events, before, meanwhile)


def read_session(root: Path, log: LogName) -> SessionRecord:
    """The record of one session of the room in ``root``, as it stands now; the room need not be open, and may be.

    Raises NoSession. Of other logs only the envelopes and the tier changes are read.
    """
    paths = log_paths(root / "sessions")
    if log not in paths:
        raise NoSession(f"there is no session {log} in {root}; the sessions are: {', '.join(paths) or 'none yet'}")
    content = b"".join(raw.content + b"\n" for raw in raw_lines(paths[log]))
    own = session_record(log, content, Tiers())
    first, last = own.events[0].seq, own.events[-1].seq
    before, meanwhile = Tiers(), []
    for name, raw, found in merged(paths, {}):
        if found is None or found.kind not in FOLDED or name == log:
            continue  # the envelope alone tells; a room may hold a million events
        if found.seq > last:
            break
        try:
            event = decode(raw.content, name)
        except EventFormatError:
            continue  # the room leaves it out of its tiers too, and says so when it is opened
        if found.seq < first:
            before = fold(before, (event,))
        else:
            meanwhile.append((event, raw.content))
    return SessionRecord(log, content, own.events, before, tuple(meanwhile))
