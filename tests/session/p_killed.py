"""A session in a process of its own that kills itself behind the first event of one kind."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from app.session.endpoint import Endpoint
from app.session.opening import open_session
from app.session.session import Session
from store.conditions import load_conditions
from store.events import Event
from store.room import Room


async def live(folder: Path, base_url: str, kind: str) -> None:
    """Work one turn and close, if nothing happens before."""

    def follow(event: Event) -> None:
        if event.kind == kind:
            os.kill(os.getpid(), signal.SIGKILL)

    with Room.open(folder / "room") as room:
        room.subscribe(follow)
        endpoint = Endpoint(base_url, "scripted", "claude-opus-5-5", scripted=True)
        opened = open_session(
            room, endpoint, condition=load_conditions()["B"], task=None, workspace=folder / "workspace"
        )
        session = Session(opened, endpoint, approve="all")
        await session.connect()
        session.say("work")
        await session.turn_over()
        await session.keeper_at_rest()
        await session.close()


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
