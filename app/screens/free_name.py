"""A file name that nothing stands under yet."""

from __future__ import annotations

from itertools import count
from pathlib import Path


def free_file(folder: Path, stem: str, suffix: str) -> Path:
    """``<stem>.<suffix>`` in ``folder`` (made when it is not there), or ``<stem>-2.<suffix>`` and so on when that is
    taken: nothing is overwritten."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    names = (f"{stem}.{suffix}" if number == 1 else f"{stem}-{number}.{suffix}" for number in count(1))
    return next(folder / name for name in names if not (folder / name).exists())
