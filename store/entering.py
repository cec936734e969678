"""What comes before a room is open: it is made, found to be one, upgraded, read for its settings and locked."""

from __future__ import annotations

from pathlib import Path

from store.bodies import Notice
from store.clock import Clock
from store.documents import write_whole
from store.lock import Held, RoomLock
from store.plain import PlainError
from store.settings import ROOM_FORMAT, Settings, SettingsError, load_settings
from store.upgrades import UpgradeError, finish_upgrade, room_format, upgrade


class RoomError(PlainError):
    """A room cannot be made, opened or written; one plain sentence that says what to do."""


class RoomHeld(RoomError):
    """Another process writes to the room; it may be opened read-only."""


def make_room(root: Path, toml: str) -> Path:
    """Makes a new room in ``root``, with ``toml`` as its `room.toml`, and gives its path.

    Raises RoomError when ``root`` is a room already or holds anything else.
    """
    if (root / "room.toml").exists():
        raise RoomError(f"{root} is a room already; open it, or choose another folder")
    try:
        if root.exists() and (not root.is_dir() or any(root.iterdir())):
            raise RoomError(f"{root} is not empty and is no room; choose a new or an empty folder")
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        root.chmod(0o700)
        for folder in ("memory", "letters", "sessions"):
            (root / folder).mkdir(mode=0o700)
        # Last, because it is what makes a folder a room.
        write_whole(root / "room.toml", toml.encode())
    except OSError as error:
        raise RoomError(f"cannot make a room in {root}: {error.strerror}; choose another folder") from error
    return root


def enter(root: Path, read_only: bool, clock: Clock) -> tuple[Settings, RoomLock | None, list[Notice]]:
    """The settings of the room in ``root`` and its lock (None for reading only), and what there was to say on the way.

    Raises RoomError: no room there, settings that are wrong, of a newer format, in use, not to be written.
    """
    finish_upgrade(root)
    if not root.exists():
        raise RoomError(f"there is no room at {root}; make one with: twins init {root}")
    if not (root / "room.toml").is_file():
        raise RoomError(f"{root} is no room: it has no room.toml; make one with: twins init {root}")
    notices = _upgraded(root, read_only, clock)
    try:
        settings = load_settings(root / "room.toml")
    except SettingsError as error:
        raise RoomError(str(error)) from error
    return settings, None if read_only else _locked(root, clock), notices


def _locked(root: Path, clock: Clock) -> RoomLock:
    try:
        return RoomLock(root, clock)
    except Held as held:
        raise RoomHeld(f"{root} is in use by {held}; close it there, or open this room read-only") from held
    except OSError as error:
        why = error.strerror or error
        raise RoomError(f"{root} cannot be written: {why}; mend that, or open it read-only") from error


def _upgraded(root: Path, read_only: bool, clock: Clock) -> list[Notice]:
    """Brings a room of an older format up to this program's, under the lock of the room as it was."""
    if room_format(root) >= ROOM_FORMAT:
        return []
    if read_only:
        raise RoomError(f"{root} has format {room_format(root)}; open it once for writing, which upgrades it")
    lock = _locked(root, clock)
    try:
        backup = upgrade(root)
    except UpgradeError as error:
        raise RoomError(str(error)) from error
    except OSError as error:
        raise RoomError(f"{root} cannot be copied for its upgrade: {error.strerror}; it stands as it stood") from error
    finally:
        lock.release()
    return [Notice("info", f"the room was upgraded to format {ROOM_FORMAT}; as it was it is kept in {backup}")]
