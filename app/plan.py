"""What is to be run: one session's room, task, condition, workspace and endpoint, settled from what the user gave."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.session.endpoint import Endpoint, check_reachable, resolve_endpoint
from app.session.sandbox import check_sandbox
from store.bodies import ConditionRecord, TaskRecord
from store.conditions import SHIPPED, condition_named, load_conditions
from store.plain import PlainError
from store.room import LogName, Room
from store.tasks import load_task

ROOM_VARIABLE = "TWINS_ROOM"
DEFAULT_ROOM = Path("~/two-twins")


class InputError(PlainError):
    """What the user gave cannot be used; one plain sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One session to be opened."""

    endpoint: Endpoint
    condition: ConditionRecord
    task: TaskRecord | None
    workspace: Path
    lines: tuple[str, ...] = ()


def room_path(given: Path | None, environment: Mapping[str, str] = os.environ) -> Path:
    """The room that is meant: ``--room``, then ``TWINS_ROOM``, then ``~/two-twins``."""
    return (given or Path(environment.get(ROOM_VARIABLE) or DEFAULT_ROOM)).expanduser()


def plan_session(
    room: Room,
    *,
    task: Path | None = None,
    condition: str = "",
    workspace: Path | None = None,
    model: str = "",
    environment: Mapping[str, str] = os.environ,
) -> Plan:
    """The session that the user asked for. Nothing is written yet.

    Raises what says what is wrong with the endpoint, the task, the condition, the workspace or the sandbox.
    """
    endpoint = resolve_endpoint(room.settings, environment, model)
    named = condition_for(room.root, condition or room.settings.session.condition)
    loaded = load_task(task) if task is not None else None
    folder = workspace or (loaded.workspace if loaded else Path.cwd())
    if not folder.is_dir():
        raise InputError(f"The workspace {folder} is no folder; name one that exists with --workspace.")
    check_sandbox(room.settings.tools, folder.resolve(), room.memory)
    check_reachable(endpoint)
    return Plan(endpoint, named, loaded.record if loaded else None, folder.resolve())


def known_conditions(room: Path) -> dict[str, ConditionRecord]:
    """The conditions by name, the room's own ``conditions.toml`` before the packaged ones."""
    own = room / "conditions.toml"
    return load_conditions(*([SHIPPED, own] if own.is_file() else []))


def condition_for(room: Path, name: str) -> ConditionRecord:
    """A condition of the room by name. Raises ConditionError naming the ones that exist."""
    return condition_named(known_conditions(room), name)


def operator_turns(path: Path) -> tuple[str, ...]:
    """The operator's messages of an input file: UTF-8, one behind the other, parted by lines that hold only ``---``.

    Raises InputError when there is no such file, it is not UTF-8, or there is no message in it.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"The input file {path} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise InputError(f"The input file {path} is not UTF-8 (byte {error.start}); save it as UTF-8.") from error
    turns: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.strip() == "---":
            turns.append([])
        else:
            turns[-1].append(line)
    found = tuple(turn for lines in turns if (turn := "\n".join(lines).strip()))
    if not found:
        raise InputError(f"The input file {path} holds no message; write one, and --- on a line between two.")
    return found


def resume_plan(room: Room, session: str, model: str, *, offline: bool = False) -> tuple[LogName, Endpoint]:
    """Which session is to be taken up (the newest open one when none is named) and behind which endpoint.

    Raises InputError when there is none, and what the endpoint raises; ``offline`` asks for no endpoint that answers.
    """
    rows = room.sessions()
    open_ones = [row for row in rows if not row.closed_at]
    if not session:
        if not open_ones:
            raise InputError("No session of this room is open; begin one with: twins run")
        session = open_ones[-1].id
    found = next((row.id for row in rows if row.id == session), None)
    if found is None:
        names = ", ".join(row.id for row in rows[-3:]) or "none yet"
        raise InputError(f"There is no session {session} in this room; the newest are: {names}.")
    if offline:
        return found, Endpoint("http://127.0.0.1:9", "none", room.settings.endpoint.model)
    endpoint = resolve_endpoint(room.settings, os.environ, model)
    check_reachable(endpoint)
    return found, endpoint
