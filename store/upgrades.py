"""Upgrading a room of an older format: on a copy, which takes the room's place; the room as it was is kept."""

from __future__ import annotations

import filecmp
import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from store.documents import write_whole
from store.folding import log_paths
from store.log import sync_folder
from store.plain import PlainError
from store.settings import ROOM_FORMAT, load_settings
from store.toml import TomlError, read_toml, toml_tables

Step = Callable[[Path], None]
"""Brings the files of a room's copy from one format to the next; `room.toml`'s own number is set afterwards."""

STEPS: Final[dict[int, Step]] = {}
"""What to do, by the format that a room has. None yet: 1 is the first. A step never rewrites a log: the logs are the
truth and chained, so `store.events.decode` goes on reading every format that was ever written."""

_FORMAT_LINE = re.compile(r"^format\s*=\s*\d+", re.MULTILINE)
# The index and the lock are not the room's memory, and a lock must not be copied.
_LEFT_BEHIND = shutil.ignore_patterns("room.lock", "room.holder.json", "index.sqlite*")


class UpgradeError(PlainError):
    """A room cannot be upgraded; it stands as it stood. One plain sentence."""


def room_format(root: Path) -> int:
    """The format that `room.toml` names; the newest when it names none that could be older (the settings then say what
    is wrong with it)."""
    try:
        found = toml_tables(read_toml(root / "room.toml"), "room.toml").get("format")
    except TomlError:
        return ROOM_FORMAT
    return found if isinstance(found, int) and not isinstance(found, bool) else ROOM_FORMAT


def finish_upgrade(root: Path) -> None:
    """Puts an upgraded copy in its place when a crash came between the two renames, the only moment at which there is
    no room at ``root``."""
    if not root.exists() and _copy(root).is_dir():
        os.rename(_copy(root), root)
        sync_folder(root.parent)


def upgrade(root: Path, steps: Mapping[int, Step] = STEPS, newest: int = ROOM_FORMAT) -> Path:
    """Upgrades the room in ``root``, which nobody else may be writing to, and gives the folder that keeps it as it was.

    Raises UpgradeError when there is no way from its format or a step fails, OSError when the copy cannot be made.
    """
    format_ = room_format(root)
    if any(number not in steps for number in range(format_, newest)):
        raise UpgradeError(
            f"this room has format {format_}, which this program cannot upgrade to {newest}; "
            "open it with a version of two-twins in between, or set room.toml right"
        )
    copy, backup = _copy(root), _backup(root, format_)
    shutil.rmtree(copy, ignore_errors=True)  # of an upgrade that a crash ended; the room itself stands
    try:
        shutil.copytree(root, copy, symlinks=True, ignore=_LEFT_BEHIND)
        for number in range(format_, newest):
            steps[number](copy)
            text = read_toml(copy / "room.toml")
            write_whole(copy / "room.toml", _FORMAT_LINE.sub(f"format = {number + 1}", text, count=1).encode())
        load_settings(copy / "room.toml")
        for log, path in log_paths(root / "sessions").items():
            if not filecmp.cmp(path, copy / "sessions" / log / path.name, shallow=False):
                raise UpgradeError(f"the upgrade would have changed log {log}; the room stands as it stood")
    except BaseException:
        shutil.rmtree(copy, ignore_errors=True)
        raise
    os.sync()
    os.rename(root, backup)
    os.rename(copy, root)
    sync_folder(root.parent)
    (backup / "room.holder.json").unlink(missing_ok=True)  # the lock of the one who upgrades, not of a crash
    return backup


def _copy(root: Path) -> Path:
    return root.with_name(f".{root.name}.upgraded")


def _backup(root: Path, format_: int) -> Path:
    name, number = f"{root.name}.format-{format_}", 1
    while (backup := root.with_name(name if number == 1 else f"{name}-{number}")).exists():
        number += 1
    return backup
