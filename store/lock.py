"""The room's lock: one process writes, and a second one is told which."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError

from store.clock import Clock, stamp
from store.documents import write_whole


class Held(Exception):
    """Another process writes to the room; the text says which."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a room. ``started`` is the start time of the process as the system gives it (empty where it gives
    none): a process id alone may be another process by now. ``format`` is the version of this record."""

    pid: int
    host: str
    started: str
    since: str
    format: int = 1

    def gone(self) -> bool:
        """Whether this process certainly runs no more. False for other hosts: nobody here can know."""
        if self.host != socket.gethostname():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return bool(self.started) and started_at(self.pid) not in ("", self.started)

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} since {self.since}"


@cache
def _adapter() -> TypeAdapter[Holder]:
    return TypeAdapter(Holder)


def started_at(pid: int) -> str:
    """When a process started, in clock ticks since boot (field 22 of /proc/<pid>/stat); empty where there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    # The second field is the command's name in parentheses and may hold anything.
    return stat.rpartition(")")[2].split()[19]


class RoomLock:
    """Holds `room.lock`. The lock itself is the operating system's, so it falls with its process; the record beside
    it only says who it was."""

    def __init__(self, root: Path, clock: Clock) -> None:
        """Takes the lock at once. Raises Held, or OSError when the folder cannot be written."""
        self._record = root / "room.holder.json"
        self._lock = FileLock(root / "room.lock", timeout=0, mode=0o600, thread_local=False)
        try:
            self._lock.acquire()
        except Timeout as error:
            raise Held(self._who()) from error
        self.left_behind = self._record.exists()
        mine = Holder(os.getpid(), socket.gethostname(), started_at(os.getpid()), stamp(clock.now()))
        try:
            write_whole(self._record, _adapter().dump_json(mine))
        except OSError:
            self._lock.release()
            raise

    def release(self) -> None:
        """Lets others write."""
        if self._lock.is_locked:
            self._record.unlink(missing_ok=True)
            self._lock.release()

    def _who(self) -> str:
        holder = holder_of(self._record.parent)
        if holder is None or holder.gone():
            return "another process"
        return str(holder)


def holder_of(root: Path) -> Holder | None:
    """Who the room's record names as its holder; None when nobody is named or the record cannot be read."""
    try:
        return _adapter().validate_json((root / "room.holder.json").read_bytes())
    except (OSError, ValidationError):
        return None


def is_held(root: Path) -> bool:
    """Whether a process writes to the room at this moment. Asks the lock itself, not the record beside it; False where
    the folder cannot be written, so that nobody here could hold it."""
    path = root / "room.lock"
    if not path.exists():
        return False
    lock = FileLock(path, timeout=0, mode=0o600, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        return True
    except OSError:
        return False
    lock.release()
    return False
