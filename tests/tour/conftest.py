"""The played sessions of the tour, each played once."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tour_plays import Session, Turn, copy_of, play


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Session], tuple[list[Turn], Path]]:
    """A session's turns and the workspace they left; each session is played once, in a fresh copy."""
    kept: dict[str, tuple[list[Turn], Path]] = {}

    def played_once(session: Session) -> tuple[list[Turn], Path]:
        name = session.task["name"]
        if name not in kept:
            workspace = copy_of(session, tmp_path_factory.mktemp(name) / "workspace")
            kept[name] = (play(session, workspace), workspace)
        return kept[name]

    return played_once
