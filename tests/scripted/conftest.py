"""The fixture that plays a script to the real SDK in one line."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from scripted_plays import Play

from app.scripted.script import Player, Script
from app.scripted.server import ScriptedServer


@pytest.fixture
async def play() -> AsyncIterator[Play]:
    async with AsyncExitStack() as stack:

        async def start(
            presence: Player | Script, *, retries: int = 0, **settings: Any
        ) -> tuple[ScriptedServer, AsyncAnthropic]:
            script = presence if isinstance(presence, Script) else Script(presence=presence)
            server = await stack.enter_async_context(ScriptedServer(script, **settings))
            client = AsyncAnthropic(base_url=server.base_url, api_key="scripted", max_retries=retries)
            await stack.enter_async_context(client)
            return server, client

        yield start
