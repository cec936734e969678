"""What the command line's tests share: running a command in this process or in one of its own, and a room's bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAIN = "import sys; from app.cli import main; sys.argv[0] = 'twins'; main()"


@dataclass(frozen=True)
class Said:
    """How a command ended: exit code, standard output and error."""

    code: int
    out: str
    err: str


Twins = Callable[..., Said]


def in_own_process(*words: str, environment: Mapping[str, str] | None = None, cwd: Path | None = None) -> Said:
    """A command in a process of its own, without terminal and without any credential of this machine."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "TWINS_"))}
    ran = subprocess.run(
        [sys.executable, "-c", MAIN, *words],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        env={**clean, "PYTHONPATH": str(ROOT), **(environment or {})},
    )
    return Said(ran.returncode, ran.stdout, ran.stderr)


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Every file of a folder with its bytes. The lock's own files say nothing of the room and are left out."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("room.lock", "room.holder.json")
    }
