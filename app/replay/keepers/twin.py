"""The live Keeper, as it is: the same conversation, windows, tools and gate, given recorded turns to hear."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from app.replay.chains import Turn
from app.replay.importers.records import Source
from app.replay.keepers.interface import KeeperSetup, KeeperStopped, Passed, ReplayKeeper, Scene
from app.session.answers import Listener
from app.session.briefs import keeper_brief, presence_brief
from app.session.chunks import Ear
from app.session.endpoint import Endpoint
from app.session.keeper import Keeper
from app.session.keeper_tools import tools_for
from app.session.opening import Opened
from app.session.seats import REQUEST_TIMEOUT_S, keeper_opening
from app.session.wire import connect
from store.conditions import load_conditions

NEEDS_MODEL = True
NO_LIMIT = 10**15
"""The purse of the replay is the limit, across all sessions and transcripts."""


class Twin(ReplayKeeper):
    """Lets the live Keeper hear one turn after the other, each to its end."""

    name = "twin"

    def __init__(self, setup: KeeperSetup) -> None:
        self.model = setup.model
        self._setup = setup
        self._keeper: Keeper | None = None
        self._task: asyncio.Task[None] | None = None
        self._client: object | None = None

    def overhear(self, turn: Turn) -> None:
        """What was heard before a restart stands in the tiers: the Keeper begins a new window with them."""

    async def open(self, scene: Scene) -> None:
        await self.end()
        record, settings = scene.record, scene.record.room.settings
        condition = load_conditions()["B"]
        brief = keeper_brief(record.room.root, scene.source.operator, condition)
        presence = presence_brief(record.room.root, scene.source.operator, condition)
        opened = Opened(record, condition, None, Path(), presence, brief)
        listener = Listener(record, "keeper", self.model, idle_timeout_s=self._setup.idle_timeout_s, journal=False)
        client = connect(
            Endpoint(self._setup.base_url, self._setup.key, self.model),
            "keeper",
            listener.tap,
            max_retries=self._setup.max_retries,
            timeout_s=REQUEST_TIMEOUT_S,
        )
        ear = Ear(settings.keeper.tool_result_bytes)
        record.subscribe(ear.apply)
        self._client = client
        self._keeper = Keeper(
            record,
            client,
            listener,
            ear,
            scene.desk,
            model=self.model,
            brief=brief.text,
            tools=tools_for(condition),
            opening=lambda: keeper_opening(opened) + _names(scene.source),
            max_tokens=self._setup.max_tokens,
            cache_control={"type": "ephemeral"},
            window_turns=settings.keeper.window_turns,
            max_usd=float(NO_LIMIT),
            max_session_tokens=NO_LIMIT,
        )
        self._task = asyncio.create_task(self._keeper.run())

    async def hear(self, scene: Scene, turn: Turn) -> Passed | None:
        scene.may_spend()
        assert self._keeper is not None
        self._keeper.hear(turn.number)
        await self._keeper.at_rest()
        if self._keeper.standing == "failed":
            if self._keeper.behind:
                raise KeeperStopped("The twin's endpoint failed three times in a row; see the replay's log, try again.")
            self._keeper.start_again()  # it answered, if with nothing that could be accepted: it hears the next turn
        return None

    async def closing(self, scene: Scene) -> Passed | None:
        scene.may_spend()
        assert self._keeper is not None
        await self._keeper.close()
        return None

    async def end(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if self._client is not None:
            await self._client.close()  # type: ignore[attr-defined]
        self._task = self._client = self._keeper = None


def _names(source: Source) -> str:
    return f"\n\nThis is a recording: [operator] is {source.operator}, [presence] is {source.presence}."


def make(setup: KeeperSetup) -> ReplayKeeper:
    """A new one for one chain."""
    return Twin(setup)
