"""What the engine's tests share: a stage with room, workspace and scripted server, and words for what happens on it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from app.scripted.request import Request, Seat
from app.scripted.script import Beat, Player, Reply, Script, SeatScript, ToolCall
from app.scripted.server import ScriptedServer
from app.session.endpoint import Endpoint
from app.session.opening import open_session, resume_session
from app.session.policy import Approve
from app.session.session import Session
from store.bodies import Body, TaskRecord
from store.clock import Clock
from store.conditions import load_conditions
from store.events import Event
from store.room import LogName, Room

PATIENCE_S = 60.0
"""A test that hangs ends after this; no test waits for it when all is well."""

BodyT = TypeVar("BodyT", bound=Body)
SILENT = SeatScript(otherwise=Reply(text="Nothing to keep."))


def always(*replies: Reply) -> SeatScript:
    """A seat that answers whatever is said with these replies, one model call each."""
    return SeatScript((Beat("", replies),))


def beats(**words: tuple[Reply, ...] | Reply) -> SeatScript:
    """A seat that answers a message that holds a name's word with its replies."""
    return SeatScript(tuple(Beat(word, r if isinstance(r, tuple) else (r,)) for word, r in words.items()))


def keeping(*replies: Reply) -> SeatScript:
    """A Keeper that answers every chunk with these replies, except the closing one."""
    return SeatScript((Beat("The session closes", (Reply(text="Nothing to add."),)), Beat("", replies)))


def calls(name: str, **given: Any) -> Reply:
    """A reply that calls one tool."""
    return Reply(tools=(ToolCall(name, given),))


def bash(command: str, **given: Any) -> Reply:
    return calls("bash", command=command, **given)


def finding(text: str, quote: str, turn: int = 1, **more: Any) -> ToolCall:
    """K's call that adds a finding."""
    return ToolCall(
        "add_line",
        {"kind": "finding", "text": text, "reason": "it was seen", "quote": quote, "turn": turn, **more},
    )


@dataclass
class Stage:
    """A room, a workspace and a scripted server; ``open`` gives a live session on them."""

    root: Path
    workspace: Path
    server: ScriptedServer
    room: Room
    stack: AsyncExitStack
    live: list[Session] = field(default_factory=list)

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.server.base_url, "scripted", "claude-opus-5-5", scripted=True)

    async def open(
        self, condition: str = "B", approve: Approve = "all", task: TaskRecord | None = None, *, connect: bool = True
    ) -> Session:
        opened = open_session(
            self.room, self.endpoint, condition=load_conditions()[condition], task=task, workspace=self.workspace
        )
        return await self._live(Session(opened, self.endpoint, approve=approve), connect)

    async def resume(self, log: str, approve: Approve = "all") -> Session:
        opened = resume_session(self.room, LogName(log))
        return await self._live(Session(opened, self.endpoint, approve=approve), True)

    async def _live(self, session: Session, connect: bool) -> Session:
        self.live.append(session)
        if connect:
            await session.connect()
        return session

    def asked(self, seat: Seat = "presence") -> list[Request]:
        """The message requests of one seat so far."""
        return self.server.requests_of(seat)


Stages = Callable[..., Any]


def write_settings(root: Path, **sections: Mapping[str, object]) -> None:
    """A room.toml with these sections and every other setting at its default."""
    lines = ["format = 1", 'operator = "Ada"']
    for name, keys in sections.items():
        lines.append(f"[{name}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    (root / "room.toml").write_text("\n".join(lines) + "\n")


async def set_stage(
    stack: AsyncExitStack,
    folder: Path,
    presence: Player = SILENT,
    keeper: Player = SILENT,
    *,
    clock: Clock | None = None,
    settings: Mapping[str, Mapping[str, object]] | None = None,
    **server: Any,
) -> Stage:
    root, workspace = folder / "room", folder / "workspace"
    Room.create(root, "Ada")
    given = {name: dict(keys) for name, keys in (settings or {}).items()}
    given.setdefault("tools", {}).setdefault("sandbox", "off")
    write_settings(root, **given)
    workspace.mkdir()
    room = stack.enter_context(Room.open(root, clock=clock))
    served = await stack.enter_async_context(
        ScriptedServer(Script(presence=presence, keeper=keeper), minimum_cached_tokens=0, **server)
    )
    stage = Stage(root, workspace, served, room, stack)

    async def leave_all() -> None:
        for session in stage.live:
            await session.leave()

    stack.push_async_callback(leave_all)
    return stage


async def said(session: Session, *texts: str) -> None:
    """Say each text and wait until P has handed back and K has heard it."""
    for text in texts:
        async with asyncio.timeout(PATIENCE_S):
            session.say(text)
            await session.turn_over()
            await session.keeper_at_rest()


async def until(true: Callable[[], object], what: str = "it") -> None:
    """Wait for something that another task brings about."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not true():  # noqa: ASYNC110 — what is waited for may happen in another process
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"{what} never came") from None


def events(session: Session) -> list[Event]:
    return list(session.room.events(session.log))


def bodies(session: Session, kind: type[BodyT], **having: object) -> list[BodyT]:
    """The bodies of one kind in a session's log, with these values in their fields."""
    return [
        event.body
        for event in events(session)
        if isinstance(event.body, kind) and all(getattr(event.body, key) == value for key, value in having.items())
    ]


def blocks(request: Request) -> list[tuple[str, str]]:
    """A request's content as the prompt cache sees it: role and the block's bytes, one behind the other."""
    found = []
    for message in request.messages:
        content = message["content"]
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            found.append((message["role"], json.dumps(block, ensure_ascii=False)))
    return found


def is_prefix(shorter: Request, longer: Request) -> bool:
    """Whether all that one request says stands byte for byte at the beginning of the other."""
    begin, whole = blocks(shorter), blocks(longer)
    return whole[: len(begin)] == begin


def texts(requests: Iterable[Request]) -> str:
    """All text of some requests, as raw JSON."""
    return "\n".join(request.raw.decode() for request in requests)


def running(mark: str) -> list[int]:
    """Ids of the processes whose command line holds ``mark``."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark in path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found
