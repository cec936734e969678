"""A real small model as both seats, where the address of its server is given: nobody here wrote its answers."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from app.session.endpoint import Endpoint
from app.session.opening import open_session
from app.session.session import Session
from store.bodies import KeeperPassed, MessageEnded, SessionClosed, TurnEnded
from store.conditions import load_conditions
from store.room import Room
from tests.keeper.room_check import wrong_with
from tests.session.session_plays import write_settings

URL = os.environ.get("TWINS_REAL_MODEL_URL", "")
TURNS = (
    "Hello. I decide: we never delete a line from todo.txt, we only mark it as done.",
    "The harbour office closes at noon on Mondays; that cost me an hour.",
    "The gate key is under the blue pot.",
    "What have we decided?",
    "The fence is mended.",
    "What should I do first tomorrow?",
    "The plants were watered today.",
    "Where is the gate key?",
    "What is still open?",
    "Thank you, that is all.",
)


@pytest.mark.long
@pytest.mark.skipif(not URL, reason="set TWINS_REAL_MODEL_URL to a server that speaks the Messages API")
async def test_ten_turns_with_a_real_model_end_with_budgets_kept_and_every_quote_in_the_log(tmp_path: Path) -> None:
    root, workspace = tmp_path / "room", tmp_path / "work"
    workspace.mkdir()
    Room.create(root, "Ada")
    write_settings(root, endpoint={"max_tokens": 300, "idle_timeout_s": 600.0}, tools={"sandbox": "off"})
    with Room.open(root) as room:
        endpoint = Endpoint(URL, "none", "local", scripted=False)
        opened = open_session(room, endpoint, condition=load_conditions()["B"], task=None, workspace=workspace)
        live = Session(opened, endpoint, approve="none")
        await live.connect()
        async with asyncio.timeout(3_600):
            for text in TURNS:
                live.say(text)
                await live.turn_over()
                await live.keeper_at_rest()
            await live.close()
        found = [event.body for event in room.events(live.log)]
        assert sum(isinstance(body, TurnEnded) for body in found) == len(TURNS)
        assert any(isinstance(body, KeeperPassed) for body in found) and isinstance(found[-1], SessionClosed)
        spoke = {body.seat for body in found if isinstance(body, MessageEnded) and body.usage.output}
        assert spoke == {"presence", "keeper"}
        assert wrong_with(room) == []
