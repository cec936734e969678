"""The operator's own editor for a message: the program steps aside, and takes the words back when it ends."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from textual.app import App, SuspendNotSupported

from store.plain import PlainError


class NoEditor(PlainError):
    """The words could not be edited outside; one plain sentence."""


def editor_command(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The operator's editor: $VISUAL, else $EDITOR. Raises NoEditor when neither names one."""
    for name in ("VISUAL", "EDITOR"):
        try:
            words = shlex.split(environment.get(name, ""))
        except ValueError as error:
            raise NoEditor(f"${name} cannot be read ({error}); set it to a command such as: nano") from error
        if words:
            return words
    raise NoEditor("There is no editor: set EDITOR to a command such as nano, then start twins again.")


async def edited(app: App[object], text: str) -> str:
    """``text`` as the editor leaves it. P and K work on meanwhile. Raises NoEditor when it could not be edited."""
    command = editor_command()
    with tempfile.TemporaryDirectory(prefix="two-twins-") as folder:
        file = Path(folder) / "message.md"
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        file.chmod(0o600)
        try:
            # Nothing is drawn until the terminal is ours again: the editor has it.
            with app.batch_update(), app.suspend(), _deaf_to_ctrl_c():
                code = await asyncio.to_thread(subprocess.call, [*command, str(file)])
        except SuspendNotSupported as error:
            raise NoEditor("This terminal cannot be lent to an editor.") from error
        except OSError as error:
            raise NoEditor(f"The editor {command[0]} could not be started ({error.strerror}).") from error
        if code:
            raise NoEditor(f"{command[0]} ended with {code}; your words are as they were.")
        words = file.read_bytes().decode("utf-8", "replace")
    return words.removesuffix("\n") if not text.endswith("\n") else words


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """A ctrl+c is the editor's. A handler and not SIG_IGN, which the editor would inherit."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
