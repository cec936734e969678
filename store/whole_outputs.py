"""Whole outputs of tools beside a session's log: which there are, and which of them a bundle can carry."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from store.bag import safe_name
from store.bodies import ToolEnded, WholeOutput
from store.events import Event

OUTPUTS: Final = "outputs/"
"""Where they are, in a session's folder as in a bundle's payload."""
MAX_OUTPUTS: Final = 8_000
"""Outputs that one bundle carries, within the files that a bag may hold (store.bag.MAX_FILES)."""
MAX_OUTPUT_BYTES: Final = 512 << 20
"""Bytes of all outputs of one bundle: within what a bag may hold (store.bag.MAX_BYTES), and they are held in memory."""


def whole_outputs(events: Iterable[Event]) -> dict[str, WholeOutput]:
    """The outputs that a log says were kept, by file; of two events that name one file the later counts, since the
    file was then written again. Names that are no plain file among the outputs are left out."""
    return {
        whole.file: whole
        for event in events
        if isinstance(event.body, ToolEnded) and (whole := event.body.whole) is not None and _is_output(whole.file)
    }


def outputs_in(folder: Path, said: Mapping[str, WholeOutput]) -> dict[str, bytes]:
    """Of the outputs in ``said`` those that are in ``folder`` with the bytes that the log tells of, as many as a
    bundle carries. What is missing, has changed, or is no plain file is left out."""
    found: dict[str, bytes] = {}
    names: set[str] = set()  # a bag holds no two names that differ only in case
    left = MAX_OUTPUT_BYTES
    for name, whole in sorted(said.items()):
        if len(found) < MAX_OUTPUTS and 0 <= whole.bytes <= left and name.casefold() not in names:
            content = _content(folder / name, whole.bytes)
            if content is not None and hashlib.sha256(content).hexdigest() == whole.sha256:
                found[name] = content
                names.add(name.casefold())
                left -= len(content)
    return found


def _is_output(name: str) -> bool:
    return name.startswith(OUTPUTS) and name.count("/") == 1 and safe_name(name)


def _content(path: Path, size: int) -> bytes | None:
    """The bytes of the plain file ``path`` if it is ``size`` long. No link is followed and no pipe is waited for."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode) or facts.st_size != size:
                return None
            return file.read(size)
    except OSError:
        return None
