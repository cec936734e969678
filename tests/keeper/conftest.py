"""The fixture that sets a stage for the Keeper's tests, as the engine's tests do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.session.session_plays import Stage, Stages, set_stage


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stages]:
    async with AsyncExitStack() as stack:

        async def build(*seats: Any, **more: Any) -> Stage:
            return await set_stage(stack, tmp_path, *seats, **more)

        yield build
