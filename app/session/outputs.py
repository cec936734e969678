"""Whole outputs of tools: kept in the session's folder when they are too long for a request, and cut with a count."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anyio.abc import Process

from store.bodies import Json, WholeOutput

MOST_SENT = 256 * 1024
"""Bytes of one text that P is sent at the most: the SDK's own limit for reading a file."""
KEPT_IN_MEMORY = 100_000
"""Bytes of a command's output after which it is written to a file; what the SDK's bash gives back at the most."""
MOST_KEPT = 64 * 1024 * 1024
"""Bytes of one output that are kept: more than any output that a person will read, less than a disk."""
TAIL = 4_000
SENTINEL = re.compile(rb"\n__ANT_CMD_[0-9a-f]{32}_DONE__-?\d+\n\Z")
"""How the SDK's bash marks the end of a command; it is no part of the output."""


def output_path(folder: Path, turn: int, call_id: str) -> Path:
    """Where the whole output of one tool call is kept when it is long. The id is the endpoint's, so it is bounded."""
    return folder / "outputs" / f"{turn:04d}-{re.sub(r'[^A-Za-z0-9_-]', '', call_id)[:60] or 'call'}.txt"


class Tee:
    """A command's output on its way to the SDK, with the whole of it going to a file once it is long."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._path: Path | None = None
        self._file: Any = None
        self.reset(None)

    def reset(self, path: Path | None) -> None:
        """A new command begins; its output goes to ``path`` if it is long."""
        self.close()
        self._path = path
        self._head = bytearray()
        self._tail = bytearray()
        self.count = 0
        self._written = 0

    async def receive(self, max_bytes: int = 65_536) -> bytes:
        """The stream's next bytes, as the SDK asks for them."""
        chunk: bytes = await self._stream.receive(max_bytes)
        self.count += len(chunk)
        self._tail = (self._tail + chunk)[-TAIL:]
        if not self._written and len(self._head) + len(chunk) <= KEPT_IN_MEMORY:
            self._head += chunk
        elif self._path is not None:
            self._write(chunk)
        return chunk

    async def aclose(self) -> None:
        self.close()
        await self._stream.aclose()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    @property
    def tail(self) -> str:
        """The last of what came, for a command that did not come to its end."""
        return self._tail.decode("utf-8", "replace").strip()

    def whole(self) -> WholeOutput | None:
        """Where the whole output is; None when it was short enough to be sent whole, or the disk refused."""
        if not self._written or self._path is None:
            return None
        self.close()
        try:
            with self._path.open("r+b") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - 100))
                mark = SENTINEL.search(file.read())
                lost = self.count - size
                if mark is not None:
                    size = max(0, size - 100) + mark.start()
                    file.truncate(size)
                file.seek(0)
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            return WholeOutput(f"outputs/{self._path.name}", size, digest, lost)
        except OSError:
            return None

    def _write(self, chunk: bytes) -> None:
        assert self._path is not None
        try:
            if self._file is None:
                self._file = _private_file(self._path)
                self._file.write(self._head)
                self._written = len(self._head)
                self._head.clear()
            if self._written < MOST_KEPT:
                kept = chunk[: MOST_KEPT - self._written]
                self._file.write(kept)
                self._written += len(kept)
        except OSError:
            # A full disk must not end the command: P still gets the end of its output, and the log its size.
            self.close()
            self._path = None


@dataclass(slots=True)
class TeedProcess:
    """A process as the SDK's bash uses it, whose output goes through a Tee."""

    process: Process
    stdout: Tee

    @property
    def stdin(self) -> Any:
        return self.process.stdin

    @property
    def returncode(self) -> int | None:
        return self.process.returncode

    @property
    def pid(self) -> int:
        return self.process.pid

    def kill(self) -> None:
        self.process.kill()

    async def wait(self) -> int:
        return await self.process.wait()

    async def aclose(self) -> None:
        self.stdout.close()
        await self.process.aclose()


def sent_of(content: Json, path: Path) -> tuple[Json, WholeOutput | None]:
    """What P is sent of a result: long texts cut in the middle with a count, the whole kept in a file."""
    if isinstance(content, str):
        return _cut(content, path)
    if not isinstance(content, list):
        return content, None
    whole: WholeOutput | None = None
    blocks: list[Json] = []
    for block in content:
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(text := block.get("text"), str):
            cut, kept = _cut(text, path)
            if kept is not None:
                whole = kept if whole is None or kept.bytes > whole.bytes else whole
                path = path.with_stem(f"{path.stem}-next")
                block = {**block, "text": cut}
        blocks.append(block)
    return blocks, whole


def _cut(text: str, path: Path) -> tuple[str, WholeOutput | None]:
    raw = text.encode("utf-8", "replace")
    if len(raw) <= MOST_SENT:
        return text, None
    kept = raw[:MOST_KEPT]
    whole: WholeOutput | None = None
    try:
        with _private_file(path) as file:
            file.write(kept)
        whole = WholeOutput(
            f"outputs/{path.name}", len(kept), hashlib.sha256(kept).hexdigest(), len(raw) - len(kept)
        )
    except OSError:
        pass
    half = MOST_SENT // 2
    left_out = len(raw) - 2 * half
    return (
        raw[:half].decode("utf-8", "ignore")
        + f"\n[… output truncated: {left_out:,} bytes left out here; the operator has the whole …]\n"
        + raw[-half:].decode("utf-8", "ignore")
    ), whole


def _private_file(path: Path) -> Any:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
