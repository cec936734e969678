"""One case of the chat's benchmarks, run in a terminal of its own; writes its figures as JSON."""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections.abc import Awaitable, Callable
from itertools import cycle
from pathlib import Path
from time import perf_counter, process_time, time
from typing import Any

from textual import events
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.geometry import Offset, Size
from textual.widget import Widget
from textual.widgets import Markdown

from app.memory import settle_collector
from store.bodies import Seat
from store.entries import SpeechEntry, source
from store.events import decode
from store.transcript import Transcript, transcript
from tests.widgets.chat_plays import Numbered, said
from widgets.chat import Chat

STARTED = time()
"""When the process was started, in seconds of the wall clock; told by whoever started it."""
STREAM_SECONDS = 6.0
TOKENS_A_SECOND = 300
FENCE = "```python\n" + ("value = compute(value)  # words of code\n" * (30_000 // 39))
"""What the first of two streams begins with: code of some 30,000 characters whose fence stays open."""


def resident() -> float:
    """Resident memory of this process now, in megabytes (Linux; elsewhere its peak)."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Case(App[None]):
    """Notes the time of every paint, and measures itself once it stands."""

    def __init__(self, out: Path) -> None:
        super().__init__()
        self.out = out
        self.found: dict[str, Any] = {}
        self.painted = asyncio.Event()
        self.paints: list[float] = []
        self.left: Offset | None = None
        self.arrived = asyncio.Event()
        self.arrived_at = 0.0

    def _display(self, screen: Any, renderable: Any) -> None:
        super()._display(screen, renderable)
        self.paints.append(perf_counter())
        self.painted.set()
        if self.left is not None and self.place().scroll_offset != self.left:
            self.left, self.arrived_at = None, self.paints[-1]
            self.arrived.set()

    async def paint(self) -> float:
        """The time of the next paint."""
        self.painted.clear()
        await asyncio.wait_for(self.painted.wait(), 60)
        return self.paints[-1]

    def place(self) -> Widget:
        raise NotImplementedError

    async def key(self, name: str) -> float:
        """Milliseconds from a key to the first paint that shows where it led."""
        self.arrived.clear()
        self.left, began = self.place().scroll_offset, perf_counter()
        self.post_message(events.Key(name, None))
        await asyncio.wait_for(self.arrived.wait(), 30)
        return (self.arrived_at - began) * 1000

    async def keys(self, rounds: int) -> list[float]:
        await self.key("pageup")
        names = ["up", "pageup", "up", "down", "pagedown", "up"] * rounds
        return [await self.key(name) for name in names]

    async def resized(self) -> float:
        """Seconds from a new size of the terminal to the last paint that follows from it; the slower of two."""
        return max([await self._resized(columns) for columns in (90, 120)])

    async def _resized(self, columns: int) -> float:
        began = perf_counter()
        self.post_message(events.Resize(Size(columns, 40), Size(columns, 40)))
        await self.paint()
        count = 0
        while count != len(self.paints):
            count = len(self.paints)
            await asyncio.sleep(0.2)
        return self.paints[-1] - began

    async def under_streams(self, tell: Callable[[int, str], Awaitable[None]], to_end: Callable[[], None]) -> list[str]:
        """Press keys while two streams bring tokens, and note keys, paints and share of a core; what each has sent."""
        sent: tuple[list[str], list[str]] = ([FENCE], [""])
        await tell(0, FENCE)
        await asyncio.sleep(0.3)
        done = asyncio.Event()
        counted = 0

        async def stream() -> None:
            nonlocal counted
            began = perf_counter()
            while (elapsed := perf_counter() - began) < STREAM_SECONDS:
                # Taking a token in may take time: who cannot keep up is not given more than the seconds there are.
                while counted < elapsed * TOKENS_A_SECOND and perf_counter() - began < STREAM_SECONDS:
                    counted += 1
                    for which in (0, 1):
                        token = f"tok{counted} " if counted % 9 else f"tok{counted}\n"
                        sent[which].append(token)
                        await tell(which, token)
                await asyncio.sleep(0.003)
            done.set()

        task = asyncio.create_task(stream())
        first, cpu, began = len(self.paints), process_time(), perf_counter()
        keys: list[float] = []
        for name in cycle(("up", "pageup", "up", "down", "end")):
            # The last key stands before the streams' end: after it nothing need move, and none would be seen to arrive.
            if perf_counter() - began > STREAM_SECONDS - 0.5:
                break
            if name != "end":
                keys.append(await self.key(name))
            else:
                to_end()
            await asyncio.sleep(0.05)
        await done.wait()
        await task
        elapsed = perf_counter() - began
        self.found |= {
            "keys": keys,
            "paints": (len(self.paints) - first) / elapsed,
            "core": (process_time() - cpu) / elapsed,
            "seconds": elapsed,
        }
        return ["".join(part) for part in sent]

    def on_mount(self) -> None:
        self.run_worker(self.measure(), exit_on_error=True)

    async def measure(self) -> None:
        raise NotImplementedError


class Drawn(Case):
    """Our chat."""

    heard: tuple[Seat, ...] = ("presence",)

    def __init__(self, out: Path, session: Path) -> None:
        super().__init__(out)
        self.found["empty_rss"] = resident()
        shown = Transcript(self.heard)
        with session.open("rb") as lines:
            for line in lines:
                shown.apply(decode(line))
        self.chat = Chat(shown)

    def compose(self) -> ComposeResult:
        yield self.chat

    def place(self) -> Widget:
        return self.chat.view

    async def measure(self) -> None:
        while not self.chat.view.render_line(0).text.strip():
            await self.paint()
        self.found["open"] = time() - STARTED
        self.chat.view.focus()
        await asyncio.sleep(0.3)
        self.found["keys"] = await self.keys(10)
        self.found["resize"] = await self.resized()
        self.found["rss"] = resident()
        self.out.write_text(json.dumps(self.found))
        self.exit()


class Streamed(Drawn):
    """Two answers at once over a long transcript, one inside an open fence, while keys are pressed."""

    heard = ("presence", "keeper")

    async def measure(self) -> None:
        self.chat.view.focus()
        make = Numbered()
        make.n = 10**6

        async def tell(which: int, token: str) -> None:
            self.chat.apply(make(said(token, 10**6 + which, seat=self.heard[which])))

        sent = await self.under_streams(tell, self.chat.view.action_scroll_end)
        self.chat.view.flush()
        spoken: dict[str, str] = {
            e.seat: e.text for e in self.chat.transcript.entries[-2:] if isinstance(e, SpeechEntry)
        }
        self.found["lost"] = sum(spoken.get(seat) != text for seat, text in zip(self.heard, sent, strict=True))
        self.found["tokens"] = sum(text.count("tok") for text in spoken.values()) / self.found["seconds"]
        self.out.write_text(json.dumps(self.found))
        self.exit()


class Naive(Case):
    """One Markdown widget a message in a scrolling container."""

    def __init__(self, out: Path, session: Path) -> None:
        super().__init__(out)
        told = [decode(line) for line in session.read_bytes().splitlines()]
        self.texts = [source(entry) for entry in transcript(told).entries]

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            for text in self.texts:
                yield Markdown(text)

    def place(self) -> Widget:
        return self.query_one(VerticalScroll)

    async def opened(self) -> None:
        """Wait until all messages stand and the last one is on screen."""
        widget = self.place()
        while widget.max_scroll_y < len(self.texts) * 3:
            await self.paint()
        widget.scroll_end(animate=False)
        await self.paint()
        self.found["open"] = time() - STARTED
        widget.focus()
        self.animation_level = "none"
        await asyncio.sleep(1)

    async def measure(self) -> None:
        await self.opened()
        self.found["keys"] = await self.keys(3)
        self.found["resize"] = await self.resized()
        self.found["rss"] = resident()
        self.out.write_text(json.dumps(self.found))
        self.exit()


class NaiveStreamed(Naive):
    """The same two answers, each written into a Markdown widget by the stream that Textual has for it."""

    async def measure(self) -> None:
        await self.opened()
        place, answers = self.place(), (Markdown(), Markdown())
        await place.mount(*answers)
        streams = [Markdown.get_stream(answer) for answer in answers]

        async def tell(which: int, token: str) -> None:
            await streams[which].write(token)

        await self.under_streams(tell, lambda: place.scroll_end(animate=False))
        # What a widget has taken in by now, not what still waits before it.
        self.found["tokens"] = sum(answer.source.count("tok") for answer in answers) / self.found["seconds"]
        self.found["rss"] = resident()
        self.out.write_text(json.dumps(self.found))
        self.exit()


CASES: dict[str, type[Drawn] | type[Naive]] = {
    "chat": Drawn,
    "stream": Streamed,
    "naive": Naive,
    "naive-stream": NaiveStreamed,
}

if __name__ == "__main__":
    STARTED = float(sys.argv[3])
    settle_collector()
    CASES[sys.argv[1]](Path(sys.argv[4]), Path(sys.argv[2])).run()
