"""The demo tour: two sessions in a fresh room with scripted twins, on screen or line by line."""

from __future__ import annotations

import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from app.plan import Plan, condition_for
from app.scripted.script_file import load_script
from app.scripted.server import ScriptedServer
from app.session.endpoint import Endpoint
from store.room import Room
from store.settings import Endpoint as Priced
from store.tasks import load_task


@dataclass(frozen=True, slots=True)
class Stop:
    """One session of the tour: its task file and the operator lines that stand ready."""

    task: Path
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tour:
    """The tour as ``briefs/tour/tour.toml`` says it."""

    title: str
    script: Path
    condition: str
    stops: tuple[Stop, ...]


def load_tour() -> Tour:
    """The tour that ships with the program."""
    folder = Path(str(files("briefs") / "tour"))
    read = tomllib.loads((folder / "tour.toml").read_text(encoding="utf-8"))
    return Tour(
        title=str(read["title"]),
        script=folder / str(read["script"]),
        condition=str(read["condition"]),
        stops=tuple(Stop(folder / str(stop["task"]), tuple(map(str, stop["lines"]))) for stop in read["session"]),
    )


@dataclass(frozen=True, slots=True)
class Staged:
    """The tour made ready: a room, the scripted server's endpoint, and a plan for each session."""

    room: Path
    plans: tuple[Plan, ...]


@contextmanager
def staged_tour(keep: Path | None = None, *, at_speed: bool = False) -> Iterator[Staged]:
    """A fresh room and workspaces for the tour, with the scripted server behind it while the context lasts.

    ``keep`` names the folder to make them in and leave there; without it they go away at the end. ``at_speed`` plays
    the script without its pauses.
    """
    tour = load_tour()
    folder = Path(tempfile.mkdtemp(prefix="two-twins-demo-")) if keep is None else keep
    room = folder / "room"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        Room.create(room, "the operator")
        with ScriptedServer(load_script(tour.script), ignore_pace=at_speed) as server:
            plans = []
            for number, stop in enumerate(tour.stops, 1):
                task = load_task(stop.task)
                workspace = folder / f"workspace-{number}-{task.record.name}"
                shutil.copytree(task.workspace, workspace, ignore=shutil.ignore_patterns("__pycache__", "out"))
                endpoint = Endpoint(server.base_url, "scripted", Priced().model, scripted=True)
                plans.append(Plan(endpoint, condition_for(room, tour.condition), task.record, workspace, stop.lines))
            yield Staged(room, tuple(plans))
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)
