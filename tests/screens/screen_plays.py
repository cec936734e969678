"""Plays a live screen on the real engine against the real scripted server, and waits for what shall come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from textual.events import Paste
from textual.pilot import Pilot

from app.screens.live import LiveScreen
from app.scripted.script import Beat, Reply, Script, SeatScript, ToolCall
from app.scripted.server import ScriptedServer
from app.session.endpoint import Endpoint
from app.session.opening import open_session
from app.session.session import Session
from app.tui import PlanApp
from store.bodies import Body, FirstAction, TaskRecord
from store.conditions import load_conditions
from store.lines import Line
from store.room import Room
from widgets.dialogs.letter import LetterReview

BodyT = TypeVar("BodyT", bound=Body)
PATIENCE_S = 20.0
"""So long a test waits for what must come before it says what did not; a machine may be busy."""

TASK = TaskRecord("kv", "Kelvarra's clocks", "Mend them.", FirstAction("bash", r"output_test"), {})
QUOTE = "always show me the diff"


def beat(when: str, *replies: Reply) -> Beat:
    """What a seat does when the operator's words hold ``when``."""
    return Beat(when, replies)


def speaks(*beats: Beat, keeper: tuple[Beat, ...] = ()) -> Script:
    """A script of both seats. K hears turns in chunks, so all that match are played."""
    return Script(
        presence=SeatScript(beats, otherwise=Reply(text="Understood.")),
        keeper=SeatScript(keeper, otherwise=Reply(text="Nothing to keep."), every_match=True),
    )


def keeps_a_decision() -> tuple[Beat, ...]:
    """K files one decision in the operator's words, and one hot line."""
    line = {"kind": "decision", "text": QUOTE, "reason": "they said so", "quote": QUOTE, "turn": 1}
    hot = {"lines": ["The clocks are wrong."]}
    return (beat(QUOTE, Reply(tools=(ToolCall("add_line", line), ToolCall("rewrite_hot", hot)))),)


@dataclass
class Play:
    """A session on screen: the program, its keys, the engine behind it and the server behind that."""

    app: PlanApp
    pilot: Pilot[None]
    session: Session
    room: Room
    server: ScriptedServer

    @property
    def live(self) -> LiveScreen:
        found = self.app.live
        assert found is not None
        return found

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def write(self, text: str) -> None:
        """Paste ``text`` into what has the focus, as a terminal does, and enter."""
        self.app.post_message(Paste(text))
        await self.pilot.pause()
        await self.pilot.press("enter")

    async def until(self, holds: Callable[[], object], what: str = "") -> None:
        """Wait until something holds; fails with the screen when it does not come."""
        deadline = asyncio.get_running_loop().time() + PATIENCE_S
        while not holds():
            assert asyncio.get_running_loop().time() < deadline, f"{what or holds} did not come:\n{self.seen()}"
            await self.pilot.pause(0.05)  # looking costs a drawn screen

    async def until_seen(self, words: str) -> None:
        await self.until(lambda: words in self.seen(), f"{words!r}")

    async def until_ready(self, turns: int) -> None:
        """Wait until so many turns are over and K has heard them."""
        await self.until(lambda: self.session.record.turn >= turns and not self.session.busy, f"turn {turns}")
        await self.session.keeper_at_rest()
        await self.pilot.pause()

    def seen(self) -> str:
        """The whole screen as text."""
        return "\n".join(strip.text.rstrip() for strip in self.app.screen._compositor.render_strips())

    def told(self) -> list[str]:
        """What the notifications say."""
        return [note.message for note in self.app._notifications]

    def bodies(self, kind: type[BodyT]) -> list[BodyT]:
        """The bodies of a kind in this session's log."""
        return [event.body for event in self.room.events(self.session.log) if isinstance(event.body, kind)]

    def line(self, number: int = 1) -> Line | None:
        return next((line for line in self.room.tiers if line.id == f"L{number}"), None)


@asynccontextmanager
async def playing(
    folder: Path,
    script: Script,
    *,
    condition: str = "B",
    task: TaskRecord | None = TASK,
    lines: tuple[str, ...] = (),
    size: tuple[int, int] = (120, 40),
    toml: str = "",
    operator: str = "Ada",
) -> AsyncIterator[Play]:
    """A new session of a new room on screen, its server running; left in order when the block ends.

    ``toml`` stands in for the line ``[keys]`` and so on: it replaces a part of room.toml, as ``old => new``.
    """
    root = Room.create(folder / "room", operator)
    if toml:
        old, _, new = toml.partition(" => ")
        settings = root / "room.toml"
        text = settings.read_text()
        assert old in text
        settings.write_text(text.replace(old, new))
    workspace = folder / "work"
    workspace.mkdir()
    with Room.open(root) as room:
        async with ScriptedServer(script) as server:
            endpoint = Endpoint(server.base_url, "scripted", "scripted", scripted=True)
            opened = open_session(
                room, endpoint, condition=load_conditions()[condition], task=task, workspace=workspace
            )
            app = PlanApp(room, opened, endpoint, lines)
            async with app.run_test(size=size) as pilot:
                await pilot.pause()
                assert app.live is not None
                play = Play(app, pilot, app.live.session, room, server)
                yield play
                if app.live is not None and app.is_running:
                    await app.live.leave()
                    await pilot.pause()


async def files_the_letters(play: Play) -> None:
    """Let both letters be filed as Presence wrote them."""
    for which in ("letter", "handoff"):
        await play.until(
            lambda which=which: (
                isinstance(play.app.screen, LetterReview) and play.app.screen.which == which and play.app.screen._armed
            ),
            f"the {which} to be read",
        )
        await play.press("enter")


def slowly(text: str, tokens_a_second: float = 20.0) -> Reply:
    """A reply that takes its time."""
    return replace(Reply(text=text), pace=tokens_a_second)
