"""Reads JSON Lines and the items of one large JSON array without holding the file in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from app.replay.importers.records import Tally
from store.bodies import Json

_BLOCK = 1 << 20
DAMAGED = "not JSON (a cut or damaged line)"


def json_lines(path: Path, tally: Tally) -> Iterator[Json]:
    """The values of a file of JSON Lines; a line that is no JSON costs only itself. A file that is one document in
    spite of its name gives the items of that document."""
    if _is_document(path):
        yield from json_items(path, tally)
        return
    with path.open("rb") as file:
        for line in file:
            if line.isspace():
                continue
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                tally.left(DAMAGED)


def _is_document(path: Path) -> bool:
    """Whether a file is one array or one object over several lines: its first line alone is no JSON."""
    with path.open("rb") as file:
        first = next((line for line in file if not line.isspace()), b"").strip()
    return first in (b"{", b"[") or first.startswith(b"[{")


def json_items(path: Path, tally: Tally) -> Iterator[Json]:
    """The items of the array that a file holds, one after the other; an object counts as its only item.

    What follows a damaged item is lost with it, for nobody can tell where the next one begins.
    """
    decoder = json.JSONDecoder()
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        buffer, whole = file.read(_BLOCK).lstrip(), False
        in_array = buffer.startswith("[")
        position, wanted = (1 if in_array else 0), _BLOCK
        while True:
            position = _past(buffer, position)
            if position < len(buffer) and buffer[position] == "]" and in_array:
                return
            try:
                if position >= len(buffer):
                    raise ValueError("nothing left")
                item, end = decoder.raw_decode(buffer, position)
                if end == len(buffer) and not whole:
                    raise ValueError("a number may go on")
            except (ValueError, RecursionError):
                if whole:
                    if position < len(buffer):
                        tally.left(DAMAGED)
                    return
                # The more an item needs, the more is read at once: an item is not scanned for each block anew.
                more = file.read(wanted)
                whole, wanted = len(more) < wanted, wanted * 2
                buffer, position = buffer[position:] + more, 0
                continue
            yield item
            position, wanted = end, _BLOCK
            if not in_array:
                return


def _past(buffer: str, position: int) -> int:
    while position < len(buffer) and buffer[position] in " \t\r\n,":
        position += 1
    return position
