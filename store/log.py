"""One log on disk: appending an event durably, reading it back, moving a torn tail aside."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from store.events import Event, EventFormatError, decode, encode, line_hash
from store.plain import PlainError

_BLOCK = 1 << 20
"""Bytes read at a time. The file is opened for each block, so that a room of thousands of logs never runs out
of file descriptors."""


class LogWriteError(PlainError, OSError):
    """An event could not be written; the log stands as it stood before. One plain sentence."""


class Disk(Protocol):
    """The three calls that change a log, so that tests can let each of them fail."""

    def write(self, fd: int, content: bytes) -> int: ...
    def fsync(self, fd: int) -> None: ...
    def truncate(self, fd: int, length: int) -> None: ...


class SystemDisk:
    """The operating system's own."""

    def write(self, fd: int, content: bytes) -> int:
        return os.write(fd, content)

    def fsync(self, fd: int) -> None:
        os.fsync(fd)

    def truncate(self, fd: int, length: int) -> None:
        os.ftruncate(fd, length)


class Written(NamedTuple):
    """Where an event came to stand: its line's first byte, the log's size after it, its line's SHA-256."""

    offset: int
    size: int
    sha256: str


def sync_folder(folder: Path) -> None:
    """Makes a new or renamed name in ``folder`` survive a power cut (fsync(2): the entry needs its own fsync)."""
    fd = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class LogWriter:
    """Appends events to one log, each in one write. What it cost before does not matter: O(1) in the log's size."""

    def __init__(self, path: Path, disk: Disk | None = None) -> None:
        """Opens ``path`` for appending and makes it (0600) when it is new. Raises LogWriteError."""
        self.path = path
        self._disk: Disk = disk or SystemDisk()
        self._broken = ""
        try:
            self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise LogWriteError(f"cannot open {path} for writing: {_reason(error)}; nothing was written") from error
        self.size = os.fstat(self._fd).st_size
        self._new = self.size == 0

    def append(self, event: Event) -> Written:
        """Writes ``event`` as one line, and fsyncs when its body is durable.

        Raises LogWriteError when any of it fails; the log is then cut back to where it stood, so that the event
        either is there whole or not at all.
        """
        if self._broken:
            raise LogWriteError(self._broken)
        line = encode(event)
        if os.fstat(self._fd).st_size != self.size:
            self._broken = (
                f"{self.path} was changed by another program while it was open; close the room and open it again"
            )
            raise LogWriteError(self._broken)
        offset = self.size
        content = line + b"\n"
        try:
            written = self._disk.write(self._fd, content)
            if written != len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if type(event.body).DURABLE:
                self._sync()
        except OSError as error:
            self._cut_back(offset)
            raise LogWriteError(
                f"cannot write to {self.path}: {_reason(error)}; the last event was not kept, all before it stands"
            ) from error
        self.size = offset + len(content)
        return Written(offset, self.size, line_hash(line))

    def sync(self) -> None:
        """Everything appended so far is on the disk when this returns. Raises LogWriteError."""
        if self._broken:
            raise LogWriteError(self._broken)
        try:
            self._sync()
        except OSError as error:
            raise LogWriteError(f"cannot fsync {self.path}: {_reason(error)}") from error

    def close(self) -> None:
        """Closes the file; nothing more can be appended."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            self._broken = f"{self.path} is closed; nothing was written"

    def _sync(self) -> None:
        self._disk.fsync(self._fd)
        if self._new:
            sync_folder(self.path.parent)
            sync_folder(self.path.parent.parent)
            self._new = False

    def _cut_back(self, length: int) -> None:
        # After a failed fsync the kernel may take the pages for clean, so a second fsync proves nothing
        # (PostgreSQL's fsync surprise, 2018): the line goes, and is written anew by whoever tries again.
        try:
            self._disk.truncate(self._fd, length)
        except OSError as error:
            self._broken = (
                f"{self.path} could not be cut back after a failed write ({_reason(error)}); "
                "close the room and open it again, which sets the torn end aside"
            )


def _reason(error: OSError) -> str:
    words = {
        errno.ENOSPC: "the disk is full",
        errno.EDQUOT: "the disk quota is used up",
        errno.EFBIG: "the file may not grow further",
        errno.EROFS: "the disk is read-only",
        errno.EACCES: "permission denied",
        errno.EIO: "the disk reports an input/output error",
    }
    return words.get(error.errno or 0, error.strerror or str(error))


# ---------------------------------------------------------------- reading


class RawLine(NamedTuple):
    """One complete line of a log: where it begins, its bytes without the line end."""

    offset: int
    content: bytes

    @property
    def end(self) -> int:
        """Where the next line begins."""
        return self.offset + len(self.content) + 1


class Head(NamedTuple):
    """An event's envelope without its body, read without parsing the whole line."""

    n: int
    seq: int
    at: str
    by: str
    kind: str
    turn: int
    prev: str


_HEAD = re.compile(
    rb'\{"n":(\d+),"seq":(\d+),"at":"([0-9TZ:.+-]+)","mono":[-+0-9.eE]+,"by":"(\w+)","kind":"([\w.?-]+)",'
    rb'"turn":(\d+),"data":'
)
_PREV = re.compile(rb',"prev":"([0-9a-f]{64})"\}\Z')


def head(line: bytes) -> Head | None:
    """The envelope of a line; None when the line is no event. Lines spelled as ``encode`` spells them are read by
    their ends alone (a fold over a million events must not parse them all); others are parsed."""
    front = _HEAD.match(line)
    back = _PREV.search(line, max(0, len(line) - 80))
    if front and back:
        n, seq, at, by, kind, turn = front.groups()
        return Head(int(n), int(seq), at.decode(), by.decode(), kind.decode(), int(turn), back[1].decode())
    try:
        event = decode(line)
    except EventFormatError:
        return None
    return Head(event.n, event.seq, event.at, event.by, event.kind, event.turn, event.prev)


def raw_lines(path: Path, from_offset: int = 0) -> Iterator[RawLine]:
    """The complete lines of ``path`` from ``from_offset`` on (the beginning of a line). An unfinished last line is
    left out: it may be on its way."""
    offset = from_offset
    while True:
        with open(path, "rb") as file:
            file.seek(offset)
            block = file.read(_BLOCK)
            while block and b"\n" not in block:
                more = file.read(_BLOCK)
                if not more:
                    return
                block += more
        if not block:
            return
        lines = block.split(b"\n")
        for content in lines[:-1]:
            yield RawLine(offset, content)
            offset += len(content) + 1


@dataclass(frozen=True, slots=True)
class DamagedLine:
    """A complete line that is no event: bits lost, or written by something else."""

    log: str
    line: int
    offset: int
    reason: str

    def __str__(self) -> str:
        return f"log {self.log}, line {self.line} (byte {self.offset}): {self.reason}"


def read_events(
    path: Path, log: str, from_offset: int = 0, on_damage: Callable[[DamagedLine], None] | None = None
) -> Iterator[Event]:
    """The events of a log in order.

    A damaged line raises EventFormatError with its place, or is given to ``on_damage`` and left out.
    """
    for number, raw in enumerate(raw_lines(path, from_offset), 1):
        try:
            yield decode(raw.content, log)
        except EventFormatError as error:
            damage = DamagedLine(log, number, raw.offset, str(error))
            if on_damage is None:
                raise EventFormatError(str(damage)) from error
            on_damage(damage)


def first_line(path: Path, offset: int = 0) -> RawLine | None:
    """The complete line that begins at ``offset``, read without what follows it; None when there is none."""
    with open(path, "rb") as file:
        file.seek(offset)
        content = file.readline()
    return RawLine(offset, content[:-1]) if content.endswith(b"\n") else None


def last_line(path: Path, end: int) -> RawLine | None:
    """The line whose line end is the byte before ``end``; None when no complete line ends there."""
    with open(path, "rb") as file:
        if end < 1 or os.fstat(file.fileno()).st_size < end:
            return None
        file.seek(end - 1)
        if file.read(1) != b"\n":
            return None
        start = _line_start(file.fileno(), end - 1)
        return RawLine(start, os.pread(file.fileno(), end - 1 - start, start))


def _line_start(fd: int, end: int) -> int:
    """Where the line begins that holds the bytes before ``end``."""
    while end > 0:
        start = max(0, end - _BLOCK)
        found = os.pread(fd, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


# ---------------------------------------------------------------- the chain and the torn tail


@dataclass(frozen=True, slots=True)
class ChainBreak:
    """The place where a log's chain breaks."""

    log: str
    line: int
    offset: int
    reason: str

    def __str__(self) -> str:
        return f"the chain of log {self.log} breaks at line {self.line} (byte {self.offset}): {self.reason}"


class Chain:
    """Follows one log line by line and says where it does not hold together."""

    def __init__(self, log: str, prev: str | None, n: int = 0, seq: int = 0) -> None:
        """``prev`` is the hash of the line before, None when it is not known; ``n`` and ``seq`` as they stood."""
        self._log = log
        self.prev = prev
        self.n = n
        self.seq = seq
        self.line = n

    def take(self, raw: RawLine, found: Head | None) -> ChainBreak | None:
        """The break at this line, if there is one; goes on from the line as it is."""
        self.line += 1
        reason = ""
        if found is None:
            reason = "the line is no event"
        elif self.prev is not None and found.prev != self.prev:
            reason = f"its prev is {found.prev[:12]}…, the line before hashes to {self.prev[:12]}…"
        elif found.n != self.n + 1:
            reason = f"event {found.n} follows event {self.n}"
        elif found.seq <= self.seq:
            reason = f"seq {found.seq} follows seq {self.seq}"
        self.prev = line_hash(raw.content)
        self.n = found.n if found else self.n + 1
        self.seq = found.seq if found else self.seq
        return ChainBreak(self._log, self.line, raw.offset, reason) if reason else None


def check_chain(path: Path, prev: str | None, log: str = "") -> ChainBreak | None:
    """The first place where the chain of ``path`` breaks, None when it holds. ``prev`` is what its first line must
    cite, None when only the chain inside counts. A torn last line is no break."""
    chain = Chain(log or path.parent.name, prev)
    for raw in raw_lines(path):
        broken = chain.take(raw, head(raw.content))
        if broken:
            return broken
    return None


class TornTail(NamedTuple):
    """What a crash left at a log's end: how many bytes, and the file in which they are kept."""

    bytes: int
    file: Path


def _is_event(content: bytes) -> bool:
    if head(content) is not None:
        return True
    try:
        raw = json.loads(content)
    except ValueError:
        return False
    # A whole object with an envelope whose body this version cannot read is damage, not a torn line.
    return isinstance(raw, dict) and {"n", "seq", "kind", "prev"} <= raw.keys()


def good_length(path: Path) -> int:
    """Bytes up to the end of the last whole event: what follows is a line that never was finished, or what a power
    cut left in its place."""
    with open(path, "rb") as file:
        fd = file.fileno()
        size = os.fstat(fd).st_size
        end = size
        while end > 0:
            if os.pread(fd, 1, end - 1) == b"\n":
                start = _line_start(fd, end - 1)
                if _is_event(os.pread(fd, end - 1 - start, start)):
                    return end
                end = start
            else:
                end = _line_start(fd, end)
    return 0


def take_aside_torn_tail(path: Path) -> TornTail | None:
    """Moves a torn tail into ``events.torn-<n>.jsonl`` beside the log; None when the log ends with a whole event.

    Nothing is deleted: the bytes are on the disk under their new name before the log is cut. Raises LogWriteError.
    """
    good = good_length(path)
    if good == path.stat().st_size:
        return None
    try:
        with open(path, "r+b") as file:
            file.seek(good)
            tail = file.read()
            aside = _keep(path, tail)
            file.truncate(good)
            os.fsync(file.fileno())
    except OSError as error:
        raise LogWriteError(f"cannot set the torn end of {path} aside: {_reason(error)}") from error
    return TornTail(len(tail), aside)


def _keep(path: Path, tail: bytes) -> Path:
    number = 1
    while True:
        aside = path.with_name(f"{path.stem}.torn-{number}{path.suffix}")
        try:
            fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            number += 1
            continue
        with os.fdopen(fd, "wb") as file:
            file.write(tail)
            file.flush()
            os.fsync(fd)
        sync_folder(path.parent)
        return aside
