"""TinyDB documents that survive a crash: written whole beside the old file, then put in its place."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from tinydb.storages import Storage

from store.bodies import Json
from store.log import sync_folder

Document = dict[str, dict[str, Json]]
"""A TinyDB file: tables by name, each of records by number."""


def write_whole(path: Path, content: bytes) -> None:
    """Puts ``content`` in the place of ``path`` (0600): a reader, or a crash, finds the old file or the new one,
    never a part. Raises OSError; the old file then stands."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def set_aside(path: Path) -> Path:
    """Renames ``path`` to ``<name>.damaged-<n>`` beside it and gives the new name."""
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    os.rename(path, aside)
    sync_folder(path.parent)
    return aside


class CrashSafeStorage(Storage):
    """A TinyDB storage that never truncates in place (TinyDB's own does, see its issues 467 and 89).

    A file that cannot be read is set aside under a name of its own and reported to ``on_damage``; what it held is
    never replaced by nothing without a word.
    """

    def __init__(self, path: str | Path, on_damage: Callable[[str], None], read_only: bool = False) -> None:
        self._path = Path(path)
        self._on_damage = on_damage
        self._read_only = read_only

    def read(self) -> Document | None:
        """The tables, None when there is no file yet or it had to be set aside."""
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            found = json.loads(content)
            if not isinstance(found, dict) or not all(isinstance(table, dict) for table in found.values()):
                raise ValueError("it is no object of tables")
        except ValueError as error:
            kept = "" if self._read_only else f"; it is kept as {set_aside(self._path).name}"
            self._on_damage(f"{self._path.name} could not be read ({error}){kept}")
            return None
        return found

    def write(self, data: Document) -> None:
        """Replaces the file. Raises TypeError before anything is written when a value is not JSON (TinyDB's issue 89:
        such a value used to spoil the file), OSError when the disk refuses; the old file then stands."""
        if self._read_only:
            raise OSError(f"{self._path} is open read-only; nothing was written")
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        write_whole(self._path, text.encode("utf-8", "backslashreplace"))
