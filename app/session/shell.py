"""P's bash: the SDK's persistent shell in a process group of its own that never outlives the session."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.abc
from anthropic.lib.tools import ToolError
from anthropic.lib.tools.agent_toolset import BashSession

LEASH = 'read -r _; kill -KILL -- "-$1" 2>/dev/null'
"""Run by a small shell that waits on a pipe whose other end only this program holds: when the program is gone, however
it went, the pipe closes and the whole process group of P's bash is ended."""

ENDED_WITHIN_S = 5.0
"""A killed process is gone at once, unless the kernel holds it in a call that cannot be interrupted."""


def sandbox_command(workspace: Path, memory: Path, *, network: bool) -> list[str]:
    """The bubblewrap command line before bash: everything readable, writes only in the workspace, the memory folder
    and a temporary one of its own."""
    command = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
    for folder in (workspace, memory):
        command += ["--bind", str(folder), str(folder)]
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


class Shell:
    """One persistent bash for one session. Calls run one at a time, as the tool runner makes them.

    ``timeout_s`` is the limit of one command; a command that reaches it is ended with all its children, and the next
    one finds a fresh shell.
    """

    def __init__(self, workspace: Path, env: Mapping[str, str], *, timeout_s: float, wrap: Sequence[str] = ()) -> None:
        self._workspace = workspace
        self._env = env
        self._timeout_s = timeout_s
        self._wrap = list(wrap)
        self._bash: BashSession | None = None
        self._process: anyio.abc.Process | None = None
        self._group = 0
        self._leash: subprocess.Popen[bytes] | None = None

    async def run(self, command: str, timeout_ms: int | None = None) -> str:
        """Output of a command, standard output and error together, with the SDK's bounds.

        Raises ToolError with the output and the exit code when it fails, or with the limit when it is reached.
        """
        timeout_s = min(timeout_ms / 1000.0, self._timeout_s) if timeout_ms else self._timeout_s
        bash = await self._started()
        try:
            output, code = await bash.exec(command, timeout=timeout_s)
        except TimeoutError:
            await self.close()
            raise ToolError(
                f"bash: stopped after {timeout_s:g} s, its limit, with everything it had started. The next command "
                "gets a fresh shell."
            ) from None
        except RuntimeError:
            await self.close()
            raise ToolError("bash: the shell has ended; the next command gets a fresh one.") from None
        except anyio.get_cancelled_exc_class():
            self._end_group()
            raise
        if bash.closed:
            await self.close()
        if code != 0:
            raise ToolError(f"{output}\n[exit code {code}]" if output else f"[exit code {code}]")
        return output

    async def close(self) -> None:
        """End bash and everything it started. Safe to call twice."""
        bash, self._bash = self._bash, None
        process, self._process = self._process, None
        self._end_group()
        if bash is None or process is None:
            return
        with anyio.CancelScope(shield=True):
            # Waited for before the SDK kills it once more: to signal a process that has just ended takes its exit
            # code away from asyncio, which then warns on the terminal.
            with anyio.move_on_after(ENDED_WITHIN_S):
                await process.wait()
            await bash.close()

    async def _started(self) -> BashSession:
        if self._bash is not None and not self._bash.closed:
            return self._bash
        await self.close()
        process = await anyio.open_process(
            [*self._wrap, "/bin/bash", "--noprofile", "--norc"],
            cwd=self._workspace,
            env={**self._env, "PS1": "", "PS2": "", "TERM": "dumb"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._process = process
        self._group = process.pid
        self._leash = subprocess.Popen(  # noqa: ASYNC220 — starts a shell and waits for nothing
            ["/bin/sh", "-c", LEASH, "leash", str(process.pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        # The SDK's own start() opens bash in the program's process group, where its children outlive it.
        self._bash = BashSession(process)
        return self._bash

    def _end_group(self) -> None:
        group, self._group = self._group, 0
        if group:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
        leash, self._leash = self._leash, None
        if leash is not None:
            leash.kill()
            leash.wait()
            if leash.stdin is not None:
                leash.stdin.close()
