"""Names of the workspace's files for the composer: bounded, never through links, best matches first."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

from store.lines import one_line
from store.text import clean

MOST_ENTRIES = 20_000
"""Entries of the workspace that are looked at: a completion is a convenience, not an index."""
MOST_OFFERED = 40
KNOWN_SECONDS = 5.0
"""A listing holds so long."""
PASSED_OVER = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".mypy_cache", ".ruff_cache"})


class WorkspaceFiles:
    """Lists one folder. Not for the event loop: a cold disk takes its time."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._names: tuple[str, ...] = ()
        self._until = 0.0

    def matching(self, words: str) -> tuple[str, ...]:
        """Paths below the workspace that hold ``words`` (case folded), folders with a slash at their end."""
        if monotonic() >= self._until:
            self._names = tuple(_listed(self._workspace))
            self._until = monotonic() + KNOWN_SECONDS
        wanted = words.casefold()
        ranked = (
            (rank, len(name), name) for name in self._names if (rank := _rank(name.casefold(), wanted)) is not None
        )
        return tuple(name for _, _, name in sorted(ranked)[:MOST_OFFERED])


def _rank(name: str, wanted: str) -> int | None:
    last = name.rstrip("/").rpartition("/")[2]
    if name.startswith(wanted):
        return 0
    if last.startswith(wanted):
        return 1
    if wanted in last:
        return 2
    if wanted in name:
        return 3
    letters = iter(name)
    return 4 if all(letter in letters for letter in wanted) else None


def _listed(workspace: Path) -> Iterator[str]:
    """Breadth first, so that what stands near comes before the bound does."""
    waiting = deque([""])
    seen = 0
    while waiting and seen < MOST_ENTRIES:
        folder = waiting.popleft()
        try:
            with os.scandir(workspace / folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in found:
            seen += 1
            name = folder + entry.name
            if seen > MOST_ENTRIES or entry.name in PASSED_OVER or one_line(clean(name)) != name or " " in name:
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(f"{name}/")
                yield f"{name}/"
            else:
                yield name
