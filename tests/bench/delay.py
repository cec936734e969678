"""From the operator's enter to P's request leaving, without a Keeper and beside one that takes five seconds a turn."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import ExitStack
from pathlib import Path

from app.scripted.script import Reply, Script, SeatScript
from app.scripted.server import ScriptedServer
from app.session.endpoint import Endpoint
from app.session.opening import open_session
from app.session.session import Session
from store.bodies import OperatorSaid, RequestSent
from store.conditions import load_conditions
from store.room import Room
from tests.bench.figures import Figure, median, share

TURNS = 30
PAUSE_S = 0.2
"""Between two messages of the operator: short, so that the Keeper is always busy and many turns behind."""
KEEPER_S = 5.0
MOST_RATIO = 1.05
ROUNDS = 3
"""Pairs of sessions. Both of a pair speak turn by turn in one process, now one first and now the other, because other
work on the machine comes and goes."""


def measure() -> list[Figure]:
    """Both kinds of session side by side; the ratio of their medians over all turns."""
    alone: list[float] = []
    heard: list[float] = []
    for _ in range(ROUNDS):
        without, beside = asyncio.run(_pair())
        alone += without
        heard += beside
    part = f"enter to request, {TURNS} turns × {ROUNDS}"
    keeper = f"Keeper of {KEEPER_S:g} s a turn"
    return [
        Figure(part, "without a Keeper, median", median(alone), "ms"),
        Figure(part, f"{keeper}, median", median(heard), "ms"),
        Figure(
            part, f"{keeper}, p95", share(heard, 0.95), "ms", versus=share(alone, 0.95), against="without a Keeper:"
        ),
        Figure(part, "ratio of the medians", median(heard) / median(alone), "×", MOST_RATIO),
    ]


async def _pair() -> tuple[list[float], list[float]]:
    """Milliseconds of each turn from ``operator.said`` to ``request.sent`` without and with a Keeper."""
    script = Script(
        presence=SeatScript(otherwise=Reply("Well, let me see.")),
        keeper=SeatScript(otherwise=Reply("Nothing to keep.", delay_s=KEEPER_S)),
    )
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(ScriptedServer(script))
        endpoint = Endpoint(server.base_url, "scripted", "scripted", scripted=True)
        pair: list[Session] = []
        for condition in ("A", "B"):
            workspace = folder / condition / "workspace"
            workspace.mkdir(parents=True)
            room = stack.enter_context(Room.open(Room.create(folder / condition / "room", "Ada")))
            opened = open_session(
                room, endpoint, condition=load_conditions()[condition], task=None, workspace=workspace
            )
            pair.append(Session(opened, endpoint))
            await pair[-1].connect()
        for number in range(TURNS):
            for session in pair if number % 2 else reversed(pair):
                session.say(f"message {number}")
                await session.turn_over()
                await asyncio.sleep(PAUSE_S / 2)
        for session in pair:
            await session.leave()
        alone, heard = (_between(session) for session in pair)
        return alone, heard


def _between(session: Session) -> list[float]:
    found: list[float] = []
    said = 0.0
    for event in session.room.events(session.log):
        body = event.body
        if isinstance(body, OperatorSaid):
            said = event.mono
        elif isinstance(body, RequestSent) and body.seat == "presence":
            found.append((event.mono - said) * 1000)
    return found
