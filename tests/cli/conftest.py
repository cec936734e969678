"""Fixtures of the command line's tests: a room with a workspace, an endpoint, and the command itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_plays import Said, Twins

from app import cli
from app.scripted.script import Reply, Script, SeatScript
from app.scripted.server import ScriptedServer
from store.room import Room


@pytest.fixture
def twins(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Twins:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "TWINS_ROOM"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: object) -> Said:
        monkeypatch.setattr(sys, "argv", ["twins", *map(str, words)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capfd.readouterr()
        return Said(int(ended.value.code or 0), out, err)

    return run


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """A room that was opened once, beside a workspace and an input file."""
    root = Room.create(tmp_path / "room", "Ada")
    with Room.open(root):
        pass
    (tmp_path / "work").mkdir()
    (tmp_path / "turns.txt").write_text("one\n---\ntwo\n")
    return root


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch, twins: Twins) -> Iterator[ScriptedServer]:
    """A scripted endpoint that the environment names; asked for behind ``twins``, which clears the environment."""
    script = Script(presence=SeatScript(otherwise=Reply("Well.")), keeper=SeatScript(otherwise=Reply("Nothing.")))
    with ScriptedServer(script) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        yield server
