"""The room: one partnership's folder, its settings, its lock, its logs, and the views folded from them."""

from __future__ import annotations

import logging
import os
import re
import shutil
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import count, product
from pathlib import Path
from string import ascii_lowercase
from types import TracebackType

from store.bodies import Body, By, LogOpened, Notice, TailMoved
from store.clock import Clock, SystemClock, stamp
from store.documents import write_whole
from store.entering import RoomError, RoomHeld, enter, make_room
from store.events import FORMAT, Event, EventFormatError, Subscriber, chained, decode
from store.folding import Level, NewerFormat, fold_room, follow, log_paths, merged
from store.lines import Tiers
from store.lock import RoomLock
from store.log import Disk, LogWriteError, LogWriter, first_line, read_events, sync_folder
from store.settings import Settings, room_toml
from store.standing import (
    DESK,
    LogName,
    SessionId,
    SessionSummary,
    Standing,
    save_standing,
)

__all__ = ["DESK", "LogName", "Room", "RoomError", "RoomHeld", "SessionId", "SessionSummary"]

_log = logging.getLogger(__name__)

OPEN_WRITERS = 4
"""Logs kept open for appending: the session, the desk, and two to spare."""
SAVE_EVERY_S = 5.0
SAVE_EVERY_EVENTS = 256
"""`tiers.json` is a view: it is saved when this many seconds and events went by, so that opening after a crash folds
little, and at close."""
_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,79}")


class Room:
    """One room, open. ``found`` is what opening it had to say: files set aside, views rebuilt, broken chains.
    ``crashed`` tells that the process which wrote here last never closed it: journals and letters then want a
    ``rebuild_journals`` and a ``rebuild_letters``."""

    def __init__(
        self, root: Path, settings: Settings, read_only: bool, clock: Clock, lock: RoomLock | None, disk: Disk | None
    ) -> None:
        """Use ``Room.open``."""
        self.root = root
        self.settings = settings
        self.read_only = read_only
        self.clock = clock
        self.found: list[Notice] = []
        self.memory = root / "memory"
        self.letters_dir = root / "letters"
        self.sessions_dir = root / "sessions"
        self.snug_file = root / "snug.md"
        self.improvements_file = root / "improvements.md"
        self.recall_file = root / "recall.md"
        self.crashed = lock is not None and lock.left_behind
        self._lock = lock
        self._disk = disk
        self._closed = False
        self._guard = threading.RLock()
        self._subscribers: list[Subscriber] = []
        self._waiting: deque[Event] = deque()
        self._delivering = False
        self._writers: OrderedDict[LogName, LogWriter] = OrderedDict()
        self._standing = Standing()
        self._unsaved = 0
        self._saved_at = clock.mono()
        self._given_ids: set[str] = set()

    # ------------------------------------------------------------ making and opening

    @staticmethod
    def create(
        root: Path,
        operator: str,
        *,
        model: str = "claude-opus-5-5",
        base_url: str = "",
        api_key_env: str = "ANTHROPIC_API_KEY",
    ) -> Path:
        """Makes a new room in ``root`` and gives its path; open it with ``Room.open``.

        Raises RoomError when ``root`` is a room already or holds anything else.
        """
        return make_room(root, room_toml(operator, model, base_url, api_key_env))

    @classmethod
    def open(cls, root: Path, read_only: bool = False, clock: Clock | None = None, disk: Disk | None = None) -> Room:
        """The room in ``root``, its views folded up to its newest event.

        Raises RoomError when there is no such room, when another process writes to it, when its settings are wrong
        or its format is newer than this program.
        """
        clock = clock or SystemClock()
        settings, lock, notices = enter(root, read_only, clock)
        room = cls(root, settings, read_only, clock, lock, disk)
        room.found += notices
        try:
            room._fold_all()
        except (NewerFormat, OSError) as error:
            room._let_go()
            raise RoomError(str(error)) from error
        except BaseException:
            room._let_go()
            raise
        return room

    def close(self) -> None:
        """Saves the views, closes the logs and lets go of the lock. Safe to call twice."""
        with self._guard:
            if self._closed:
                return
            try:
                if not self.read_only and self._unsaved:
                    self._save()
            finally:
                self._let_go()

    def __enter__(self) -> Room:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _let_go(self) -> None:
        self._closed = True
        for writer in self._writers.values():
            writer.close()
        self._writers.clear()
        if self._lock:
            self._lock.release()

    def _fold_all(self) -> None:
        folded = fold_room(self.sessions_dir, self.root / "tiers.json", self.read_only, self._say)
        self._standing = folded.standing
        self._unsaved = folded.newer
        for log, torn in folded.torn:
            text = f"a crash left {torn.bytes} bytes of an unfinished event in {log}, kept in {torn.file.name}"
            self._say("warning", text)
            self.append(log, "system", TailMoved(torn.bytes, torn.file.name))

    def refresh(self) -> tuple[Event, ...]:
        """In a read-only room: folds in what the writer appended since, tells the subscribers, and gives it."""
        if not self.read_only:
            return ()
        with self._guard:
            seen = self.seq
            newer: list[Event] = []
            self._standing = follow(self.sessions_dir, self._standing, self._say, newer.append)
            self._waiting.extend(event for event in newer if event.seq > seen)
            self._deliver()
            return tuple(event for event in newer if event.seq > seen)

    def _say(self, level: Level, text: str) -> None:
        notice = Notice(level, text)
        if notice not in self.found:
            self.found.append(notice)

    # ------------------------------------------------------------ what stands

    @property
    def tiers(self) -> Tiers:
        """Hot and warm as they stand."""
        return self._standing.tiers

    @property
    def seq(self) -> int:
        """The newest event's ``seq``; 0 in a new room."""
        return self._standing.seq

    def logs(self) -> tuple[LogName, ...]:
        """The room's logs, in the order in which they were opened as far as their names tell; the desk last."""
        return tuple(sorted(self._standing.logs, key=lambda name: (name == DESK, name)))

    def log_sizes(self) -> dict[LogName, int]:
        """How many bytes each log holds: as written here, or in a read-only room as they are on the disk now."""
        if self.read_only:
            return {log: path.stat().st_size for log, path in log_paths(self.sessions_dir).items()}
        return {log: stand.size for log, stand in self._standing.logs.items()}

    def log_path(self, log: LogName) -> Path:
        """Where a log's events stand. Raises RoomError for a name that cannot be one."""
        if not _NAME.fullmatch(log):
            raise RoomError(f"{log!r} is no name of a session; they look like 20261130T000512Z-a1")
        return self.sessions_dir / log / "events.jsonl"

    def sessions(self) -> tuple[SessionSummary, ...]:
        """The room's sessions by number, without reading their logs."""
        found = (stand.summary() for stand in self._standing.logs.values())
        return tuple(sorted((row for row in found if row), key=lambda row: row.number))

    def session(self, log: LogName) -> SessionSummary | None:
        """The row of one session; None for a log that is none."""
        stand = self._standing.logs.get(log)
        return stand.summary() if stand else None

    def letter_offsets(self) -> tuple[tuple[LogName, int], ...]:
        """Where the events of filed letters begin: log and byte, log by log."""
        return tuple((name, offset) for name in self.logs() for offset in self._standing.logs[name].letters)

    def new_session_id(self) -> SessionId:
        """A name for a new session that sorts by time: ``20261130T000512Z-a1``, a2 … z9, za1 … within one second."""
        second = self.clock.now().strftime("%Y%m%dT%H%M%SZ")
        for beyond in count():
            for letter, digit in product(ascii_lowercase, "123456789"):
                name = f"{second}-{'z' * beyond}{letter}{digit}"
                if name not in self._given_ids and not (self.sessions_dir / name).exists():
                    self._given_ids.add(name)
                    return SessionId(LogName(name))
        raise AssertionError("names never run out")

    # ------------------------------------------------------------ reading

    def events(self, log: LogName) -> Iterator[Event]:
        """The events of one log in order. Damaged lines are left out and said in ``found``."""
        path = self.log_path(log)
        if path.exists():
            yield from read_events(path, log, on_damage=lambda damage: self._say("error", str(damage)))

    def event_at(self, log: LogName, offset: int) -> Event:
        """The event whose line begins at a byte of a log. Raises EventFormatError when none does."""
        raw = first_line(self.log_path(log), offset)
        if raw is None:
            raise EventFormatError(f"log {log} holds no event at byte {offset}")
        return decode(raw.content, log)

    def all_events(self) -> Iterator[Event]:
        """Every event of the room in order of ``seq``, whatever the clock did."""
        for log, raw, _ in merged({name: self.log_path(name) for name in self.logs()}, {}):
            try:
                yield decode(raw.content, log)
            except EventFormatError as error:
                self._say("error", f"log {log}, byte {raw.offset}: {error}")

    # ------------------------------------------------------------ writing

    def append(self, log: LogName, by: By, body: Body, turn: int = 0) -> Event:
        """Writes one event, folds it in and tells the subscribers; when it returns, the event stands on the disk.

        What it costs does not depend on the room's size. Raises LogWriteError when the disk refuses (nothing of the
        event is then kept), RoomError when the room is read-only or closed.
        """
        with self._guard:
            self._refuse_if_shut()
            if log not in self._standing.logs:
                self._open_log(log)
            event = self._write(log, by, body, turn)
            self._deliver()
            self._save_when_due()
            return event

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Calls ``subscriber`` with every event from now on, in the order of the log, after it stands on the disk.
        The result ends that. An event appended by a subscriber is told once the present one has been told to all."""
        self._subscribers.append(subscriber)

        def unsubscribe() -> None:
            if subscriber in self._subscribers:
                self._subscribers.remove(subscriber)

        return unsubscribe

    def adopt(self, log: LogName, events: Sequence[Event], outputs: Mapping[str, bytes]) -> None:
        """Takes in the events of another room's session as the log ``log`` of this one: their words, dates and clock
        stay, their numbers and chain are this room's. ``outputs`` are put beside it by name. All is there or nothing,
        whatever happens.

        Raises RoomError when there is such a log already, LogWriteError when the disk refuses.
        """
        with self._guard:
            self._refuse_if_shut()
            folder = self.log_path(log).parent
            if folder.exists():
                raise RoomError(f"{log} is in this room already; nothing was changed")
            cites, prev = self._standing.cited()
            staged = self.root / f".{log}.new"
            try:
                if cites:
                    self._writer(LogName(cites.log)).sync()
                shutil.rmtree(staged, ignore_errors=True)  # of a process that was killed on its way
                staged.mkdir(mode=0o700)
                content = chained(log, events, cites, prev, self.seq)
                write_whole(staged / "events.jsonl", content)
                for name, output in outputs.items():
                    (staged / name).parent.mkdir(mode=0o700, exist_ok=True)
                    write_whole(staged / name, output)
                sync_folder(staged)
                os.rename(staged, folder)
                sync_folder(self.sessions_dir)
            except OSError as error:
                shutil.rmtree(staged, ignore_errors=True)
                raise LogWriteError(f"cannot write {folder}: {error.strerror}; nothing was written") from error
            newer: list[Event] = []
            self._standing = follow(self.sessions_dir, self._standing, self._say, newer.append)
            self._unsaved += len(newer)
            self._waiting.extend(newer)
            self._deliver()

    def _refuse_if_shut(self) -> None:
        if self.read_only:
            raise RoomError("this room is open read-only; nothing was written")
        if self._closed:
            raise RoomError("this room is closed; nothing was written")

    def _open_log(self, log: LogName) -> None:
        path = self.log_path(log)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            sync_folder(self.sessions_dir)
        except OSError as error:
            raise LogWriteError(f"cannot make {path.parent}: {error.strerror}; nothing was written") from error
        cites, _ = self._standing.cited()
        if cites:
            # The new log's first line hashes the cited one: that one must not be lost to a power cut behind it.
            self._writer(LogName(cites.log)).sync()
        self._write(log, "system", LogOpened(FORMAT, log, _program(), cites), 0)

    def _write(self, log: LogName, by: By, body: Body, turn: int) -> Event:
        stand = self._standing.logs.get(log)
        prev = stand.sha256 if stand else self._standing.cited()[1]
        event = Event(
            n=stand.n + 1 if stand else 1,
            seq=self._standing.seq + 1,
            at=stamp(self.clock.now()),
            mono=self.clock.mono(),
            by=by,
            turn=turn,
            body=body,
            prev=prev,
            log=log,
        )
        written = self._writer(log).append(event)
        self._standing.take_event(log, event, written.offset, written.size, written.sha256)
        self._unsaved += 1
        self._waiting.append(event)
        return event

    def _writer(self, log: LogName) -> LogWriter:
        writer = self._writers.get(log)
        if writer is None:
            writer = self._writers[log] = LogWriter(self.log_path(log), self._disk)
            while len(self._writers) > OPEN_WRITERS:
                self._writers.popitem(last=False)[1].close()
        self._writers.move_to_end(log)
        return writer

    def _deliver(self) -> None:
        if self._delivering:
            return
        self._delivering = True
        try:
            while self._waiting:
                event = self._waiting.popleft()
                for subscriber in tuple(self._subscribers):
                    try:
                        subscriber(event)
                    except Exception:  # noqa: BLE001 - whatever a listener does, the event stands and others hear it
                        _log.exception("a subscriber failed on event %d (%s)", event.seq, event.kind)
        finally:
            self._delivering = False

    def _save_when_due(self) -> None:
        if self._unsaved >= SAVE_EVERY_EVENTS and self.clock.mono() - self._saved_at >= SAVE_EVERY_S:
            self._save()

    def _save(self) -> None:
        try:
            for name, writer in self._writers.items():
                # A view must not be ahead of its log after a power cut.
                writer.sync()
                self._standing.logs[name].mtime_ns = os.stat(writer.path).st_mtime_ns
            save_standing(self.root / "tiers.json", self._standing)
        except OSError as error:
            # The logs are the truth and stand; the next opening folds them again.
            _log.warning("tiers.json was not saved: %s", error)
        self._saved_at = self.clock.mono()
        self._unsaved = 0


@cache
def _program() -> str:
    from importlib import metadata  # here, because it brings the mail package with it and delays the first paint

    try:
        return f"two-twins {metadata.version('two-twins')}"
    except metadata.PackageNotFoundError:
        return "two-twins from source"
