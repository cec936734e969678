"""The chat at 100 and 10,000 messages, and with two streams, in a real pseudo-terminal; beside one widget a message."""

from __future__ import annotations

import json
import os
import select
import sys
import tempfile
from pathlib import Path
from time import time
from typing import Any

import ptyprocess

from store.events import encode
from tests.bench.figures import Figure, share
from tests.widgets.chat_plays import long_session

ROOT = Path(__file__).parents[2]
SMALL, LARGE, NAIVE = 100, 10_000, 300
"""Messages. The naive way is measured at 300, where a case takes some 20 s: at 10,000 it would run for many minutes."""


def measure() -> list[Figure]:
    """Each case in a process of its own, in a pseudo-terminal of 120×40."""
    small, large = _best("chat", SMALL), _best("chat", LARGE)
    naive = _run("naive", NAIVE)
    stream, naive_stream = _run("stream", LARGE), _run("naive-stream", NAIVE)
    part = f"chat, {LARGE:,} messages"
    rows = [
        Figure(part, "open: from process start, log read", large["open"], "s", 1.0, None, small["open"], "at 100:"),
        Figure(
            part, "key to paint, p95", share(large["keys"], 0.95), "ms", 50, None, share(small["keys"], 0.95), "at 100:"
        ),
        Figure(part, "resize to paint", large["resize"], "s", 0.3, None, small["resize"], "at 100:"),
        Figure(part, "resident memory", large["rss"], "MB", 150, None, small["rss"], "at 100:"),
        Figure(part, "the program without a chat", large["empty_rss"], "MB"),
    ]
    for what, value in (
        ("open", large["open"] / small["open"]),
        ("key to paint, p95", share(large["keys"], 0.95) / share(small["keys"], 0.95)),
        ("resize", large["resize"] / small["resize"]),
        ("memory", large["rss"] / small["rss"]),
    ):
        rows.append(Figure("chat, 10,000 to 100", what, value, "×", 1.5))
    rows += [
        Figure("two streams, 300 tokens/s each", "key to paint, p95", share(stream["keys"], 0.95), "ms", 80),
        Figure("two streams, 300 tokens/s each", "paints a second", stream["paints"], "", None, 10),
        Figure("two streams, 300 tokens/s each", "tokens a second taken in", stream["tokens"], ""),
        Figure("two streams, 300 tokens/s each", "characters lost or out of place", stream["lost"], "", 0),
        Figure("two streams, 300 tokens/s each", "share of a core", stream["core"] * 100, "%"),
    ]
    part = f"one Markdown widget a message, {NAIVE}"
    rows += [
        Figure(part, "open", naive["open"], "s", None, None, large["open"], "ours at 10,000:"),
        Figure(
            part, "key to paint, p95", share(naive["keys"], 0.95), "ms", None, None, share(large["keys"], 0.95), "ours:"
        ),
        Figure(part, "resize to paint", naive["resize"], "s", None, None, large["resize"], "ours:"),
        Figure(part, "resident memory", naive["rss"], "MB", None, None, large["rss"], "ours:"),
    ]
    part = f"two streams, one Markdown widget a message, {NAIVE}"
    for what, figure, old, new in (
        ("key to paint, p95", "ms", share(naive_stream["keys"], 0.95), share(stream["keys"], 0.95)),
        ("paints a second", "", naive_stream["paints"], stream["paints"]),
        ("tokens a second taken in", "", naive_stream["tokens"], stream["tokens"]),
        ("share of a core", "%", naive_stream["core"] * 100, stream["core"] * 100),
    ):
        rows.append(Figure(part, what, old, figure, None, None, new, f"ours at {LARGE:,}:"))
    return rows


def _best(case: str, messages: int) -> dict[str, Any]:
    """The case three times; of each figure the middle one, as other work on the machine comes and goes."""
    runs = [_run(case, messages) for _ in range(3)]
    found = {name: sorted(run[name] for run in runs)[1] for name in runs[0] if name != "keys"}
    return {**found, "keys": sorted((run["keys"] for run in runs), key=lambda keys: share(keys, 0.95))[1]}


def _run(case: str, messages: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        out, session = Path(folder) / "figures.json", Path(folder) / "events.jsonl"
        with session.open("wb") as lines:
            lines.writelines(encode(event) + b"\n" for event in long_session(messages))
        env = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "tests.bench.chat_case", case, str(session), str(time()), str(out)]
        child = ptyprocess.PtyProcess.spawn(command, dimensions=(40, 120), env=env, cwd=str(ROOT))
        tail = b""
        while True:
            ready, _, _ = select.select([child.fd], [], [], 120)
            if not ready:
                child.terminate(force=True)
                raise RuntimeError(f"the benchmark {case} {messages} stood still for two minutes")
            try:
                tail = (tail + child.read(65536))[-2_000:]
            except EOFError:
                break
        if not out.exists():
            raise RuntimeError(f"the benchmark {case} {messages} failed: {tail.decode(errors='replace')}")
        found: dict[str, Any] = json.loads(out.read_text())
        return found
