"""What holds P's bash: bubblewrap where it may be used, and what a room that demands it is told where it may not."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Literal

from store.plain import PlainError
from store.settings import ToolSettings

Held = Literal["bwrap", "off", "not available"]
"""What holds P's bash; the header shows it in these words."""


class SandboxError(PlainError):
    """The room demands a sandbox and there is none; one plain sentence that says what to do."""


def sandbox_command(workspace: Path, memory: Path, *, network: bool) -> list[str]:
    """The bubblewrap command line before bash: everything readable, writes only in the workspace, the memory folder
    and a temporary one of its own. A room that lies inside the workspace stays read-only but for its memory."""
    command = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
    command += ["--bind", str(workspace), str(workspace)]
    room = memory.parent
    if room.is_relative_to(workspace):
        command += ["--ro-bind", str(room), str(room)]
    command += ["--bind", str(memory), str(memory)]
    command += ["--die-with-parent", "--unshare-pid", "--chdir", str(workspace)]
    return command if network else [*command, "--unshare-net"]


def sandbox_works(workspace: Path, memory: Path, *, network: bool) -> bool:
    """Whether bubblewrap is installed and may be used here (containers often forbid it)."""
    if shutil.which("bwrap") is None:
        return False
    try:
        tried = subprocess.run(
            [*sandbox_command(workspace, memory, network=network), "true"], capture_output=True, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0


def check_sandbox(tools: ToolSettings, workspace: Path, memory: Path) -> None:
    """Raises SandboxError when the room's settings demand a sandbox that cannot be had, before anything is written."""
    if tools.sandbox == "required" and not sandbox_works(workspace, memory, network=tools.network):
        why = "is not installed" if shutil.which("bwrap") is None else "may not be used here"
        raise SandboxError(
            f'This room runs commands in a sandbox only, and bubblewrap {why}: install or allow it, or set sandbox = '
            '"auto" under [tools] in room.toml. Nothing was written.'
        )
