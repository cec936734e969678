"""P's bash: the SDK's persistent shell in a process group of its own that never outlives the session."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

import anyio
from anthropic.lib.tools import ToolError
from anthropic.lib.tools.agent_toolset import BashSession
from anyio.abc import Process

from app.session.outputs import Tee, TeedProcess
from app.session.sandbox import sandbox_command, sandbox_works
from store.bodies import WholeOutput

__all__ = ["Shell", "sandbox_command", "sandbox_works"]

LEASH = 'read -r _; kill -s KILL -- "-$1" 2>/dev/null'
"""Run by a small shell that waits on a pipe whose other end only this program holds: when the program is gone, however
it went, the pipe closes and the whole process group of P's bash is ended. With ``-s``, the form of POSIX: dash takes
no ``--`` behind ``-KILL``."""

GONE = -1
"""The SDK's exit code for output that ended without its end mark: the shell is gone, if asyncio knows it or not."""
ENDED_WITHIN_S = 5.0
"""A killed process is gone at once, unless the kernel holds it in a call that cannot be interrupted."""


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
        self._process: Process | None = None
        self._output: Tee | None = None
        self._whole: WholeOutput | None = None
        self._group = 0
        self._leash: subprocess.Popen[bytes] | None = None

    async def run(self, command: str, timeout_ms: int | None = None, keep: Path | None = None) -> str:
        """Output of a command, standard output and error together: the SDK's last 100 KB of it. When there is more,
        the whole goes to ``keep``, and ``take_whole`` tells of it.

        Raises ToolError with the output and the exit code when it fails, or with the limit when it is reached.
        """
        timeout_s = min(timeout_ms / 1000.0, self._timeout_s) if timeout_ms else self._timeout_s
        bash = await self._started()
        teed = self._output
        assert teed is not None, "a started shell has its output teed"
        teed.reset(keep)
        try:
            output, code = await bash.exec(command, timeout=timeout_s)
        except TimeoutError:
            self._whole = teed.whole()
            await self.close()
            came = f" The last it printed:\n{teed.tail}" if teed.tail else ""
            raise ToolError(
                f"bash: stopped after {timeout_s:g} s, its limit, with everything it had started. The next command "
                f"gets a fresh shell.{came}"
            ) from None
        except (RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self.close()
            raise ToolError("bash: the shell has ended; the next command gets a fresh one.") from None
        except anyio.get_cancelled_exc_class():
            self._whole = teed.whole()
            self._end_group()
            raise
        self._whole = teed.whole()
        if self._whole is not None:
            left_out = teed.count - len(output.encode("utf-8", "replace"))
            output = output.removeprefix("[output truncated]\n")
            output = (
                f"[output truncated: the first {left_out:,} of {teed.count:,} bytes are left out here; the operator "
                f"has the whole]\n{output}"
            )
        if bash.closed or code == GONE:
            await self.close()
        if code != 0:
            raise ToolError(f"{output}\n[exit code {code}]" if output else f"[exit code {code}]")
        return output

    def take_whole(self) -> WholeOutput | None:
        """Where the whole output of the last command is, when it was cut; asked once."""
        whole, self._whole = self._whole, None
        return whole

    def cwd(self) -> Path | None:
        """Where bash stands; None before it runs, and where the system does not tell."""
        if not self._group:
            return None
        for pid in _with_children(self._group):
            with suppress(OSError):
                if Path(f"/proc/{pid}/comm").read_text().strip() == "bash":
                    return Path(os.readlink(f"/proc/{pid}/cwd"))
        return None

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
        assert process.stdout is not None, "its output is a pipe"
        self._output = Tee(process.stdout)
        self._bash = BashSession(cast(Process, TeedProcess(process, self._output)))
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


def _with_children(pid: int) -> list[int]:
    """A process and what it has started, outermost first; where the system does not tell, only itself."""
    found = [pid]
    for parent in found:
        with suppress(OSError, ValueError):
            children = Path(f"/proc/{parent}/task/{parent}/children").read_text()
            found += [int(child) for child in children.split()][:8]
        if len(found) > 32:
            break
    return found
