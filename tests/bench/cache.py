"""How much of P's input is read from the prompt cache, turn by turn, on the scripted server's accounting."""

from __future__ import annotations

import asyncio
import random
import tempfile
from pathlib import Path

from app.scripted.request import Request
from app.scripted.script import Reply, Script, ToolCall
from app.scripted.server import ScriptedServer
from app.session.endpoint import Endpoint
from app.session.opening import open_session
from app.session.session import Session
from store.bodies import MessageEnded
from store.conditions import load_conditions
from store.room import Room
from tests.bench.figures import Figure

TURNS = 12
CALLS = 5
RESULT_BYTES = 2_000
"""An agent's turn as DESIGN §6 reckons it: five model calls, tool results of some 500 tokens."""


def _plays(asked: Request) -> Reply:
    if asked.round >= CALLS - 1:
        return Reply(_words(f"{asked.operator_text} done", 600))
    call = f"{asked.operator_text} {asked.round}"
    return Reply(
        _words(call, 200), tools=(ToolCall("bash", {"command": f"echo '{_words(call + ' out', RESULT_BYTES)}'"}),)
    )


def _words(seed: str, size: int) -> str:
    """Words that are no loop, the same for the same seed."""
    chosen = random.Random(seed)
    return " ".join(str(chosen.randrange(10_000)) for _ in range(size // 5))


async def _shares(folder: Path, condition: str) -> list[float]:
    """Per turn: tokens read from cache as a share of all input tokens of its requests."""
    Room.create(folder / "room", "Ada")
    (folder / "workspace").mkdir()
    per_turn: dict[int, list[MessageEnded]] = {}
    with Room.open(folder / "room") as room:
        async with ScriptedServer(Script(presence=_plays)) as server:
            endpoint = Endpoint(server.base_url, "scripted", "claude-opus-5-5", scripted=True)
            opened = open_session(
                room, endpoint, condition=load_conditions()[condition], task=None, workspace=folder / "workspace"
            )
            session = Session(opened, endpoint, approve="all")
            await session.connect()
            for turn in range(1, TURNS + 1):
                session.say(f"turn {turn}")
                await session.turn_over()
            await session.keeper_at_rest()
            for event in room.events(session.log):
                if isinstance(event.body, MessageEnded) and event.body.seat == "presence":
                    per_turn.setdefault(event.turn, []).append(event.body)
            await session.leave()
    return [
        sum(body.usage.cache_read for body in bodies) / sum(body.usage.prompt for body in bodies)
        for _, bodies in sorted(per_turn.items())
    ]


def measure() -> list[Figure]:
    """The lowest share from turn 5 on, which the issue bounds, and the share over all those turns."""
    figures = []
    for condition, what in (("B", "silent Keeper"), ("C", "hot lines behind each message")):
        with tempfile.TemporaryDirectory() as folder:
            shares = asyncio.run(_shares(Path(folder), condition))
        late = shares[4:]
        figures.append(
            Figure(
                "cache", f"lowest share read from cache, turns 5–{TURNS}, {what}", min(late) * 100, "%", least=95.0,
                versus=shares[0] * 100, against="turn 1",
            )
        )
    return figures
