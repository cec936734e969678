"""Replays one chain of sessions through one Keeper: the live gate, budgets and decay, on the transcript's clock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib import metadata
from pathlib import Path
from time import perf_counter

from app.replay.chains import Chain, Link, Turn, turns_of
from app.replay.clock import TranscriptClock
from app.replay.disk import PatientDisk
from app.replay.importers.records import Source
from app.replay.keepers.interface import Passed, ReplayKeeper, Scene
from app.replay.purse import Purse
from app.session.keeper_tools import KeeperDesk
from app.session.opening import preview
from app.session.record import SessionLog
from app.session.wake import wake_packet
from store.bodies import (
    ConditionRecord,
    KeeperPassed,
    MessageCut,
    MessageEnded,
    SessionClosed,
    SessionOpened,
    Usage,
    WakePacket,
)
from store.clock import from_stamp
from store.conditions import load_conditions
from store.decay import decayed, expired, packaged_rules, promotions_spent
from store.documents import write_whole
from store.events import Event
from store.letters import letters
from store.log import raw_lines
from store.room import LogName, Room, SessionSummary

CONDITION = "B"
"""A replay's Keeper is silent: nobody is there to hear it."""


@dataclass(slots=True)
class Replayed:
    """What a replay came to. ``seconds`` is the time it took over all its runs; ``loaded`` what a successor is
    given after the last session that was heard."""

    chain: str
    keeper: str
    model: str
    sessions: int = 0
    turns: int = 0
    accepted: int = 0
    refused: int = 0
    usage: Usage = field(default_factory=Usage)
    usd: float | None = None
    seconds: float = 0.0
    loaded: str = ""


async def replay(
    source: Room,
    chain: Chain,
    keeper: ReplayKeeper,
    root: Path,
    purse: Purse,
    *,
    upto: int | None = None,
    tell: Callable[[], None] = lambda: None,
) -> Replayed:
    """Replays ``chain`` of the room ``source`` into the room at ``root``, made if it is not there; one that was begun
    is taken up where it stood. ``upto`` sessions only, if given. ``tell`` is called after each session.

    Raises BudgetSpent when the purse is empty, Stopped when somebody stopped it; what was done stands.
    """
    links = chain.links[:upto]
    if not keeper.keeps_tiers:
        return _baseline(source, chain, links, keeper, tell)
    began = from_stamp(links[0].began)
    if not (root / "room.toml").exists():
        Room.create(root, _first_source(source, chain, links).operator, model=keeper.model or "none")
    _take_back_unfinished(root)
    clock = TranscriptClock(began)
    with Room.open(root, clock=clock, disk=PatientDisk()) as room:
        try:
            return await _Run(source, chain, links, keeper, room, clock, purse, tell).all()
        finally:
            await keeper.end()


def _baseline(
    source: Room, chain: Chain, links: Iterable[Link], keeper: ReplayKeeper, tell: Callable[[], None]
) -> Replayed:
    done = Replayed(chain.name, keeper.name, keeper.model)
    started = perf_counter()
    for link in links:
        for turn in turns_of(source, link, chain.name):
            keeper.overhear(turn)
            done.turns += 1
        done.sessions += 1
        tell()
    done.loaded = keeper.loaded()
    done.seconds = perf_counter() - started
    done.usd = 0.0
    return done


def _first_source(source: Room, chain: Chain, links: Iterable[Link]) -> Source:
    for link in links:
        for turn in turns_of(source, link, chain.name):
            return turn.source
    return Source("?", chain.name, chain.name)


def _take_back_unfinished(root: Path) -> None:
    """Cuts the log of an interrupted session back to its last whole pass, so that going on gives the same events as
    never having stopped. A replay's log can be made again; a live one is never cut."""
    logs = sorted((root / "sessions").glob("*/events.jsonl"))
    if not logs:
        return
    keep = closed = 0
    for raw in raw_lines(logs[-1]):
        head = raw.content[:300]
        if b'"kind":"keeper.passed"' in head:
            keep = raw.end
        if b'"kind":"session.closed"' in head:
            closed = raw.end
    if closed:
        return
    if keep:
        os.truncate(logs[-1], keep)
    else:
        logs[-1].unlink()
        logs[-1].parent.rmdir()


class _Run:
    def __init__(
        self,
        source: Room,
        chain: Chain,
        links: tuple[Link, ...],
        keeper: ReplayKeeper,
        room: Room,
        clock: TranscriptClock,
        purse: Purse,
        tell: Callable[[], None],
    ) -> None:
        self._source = source
        self._chain = chain
        self._links = links
        self._keeper = keeper
        self._room = room
        self._clock = clock
        self._purse = purse
        self._tell = tell
        self._condition = load_conditions()[CONDITION]
        self._done = Replayed(chain.name, keeper.name, keeper.model)
        self._priced = True
        self._worked = False
        room.subscribe(self._count)

    async def all(self) -> Replayed:
        started = perf_counter()
        begun = {row.number: row for row in self._room.sessions()}
        for earlier in begun.values():
            for event in self._room.events(earlier.id):
                self._count(event)
        try:
            await self._heard(begun)
        finally:
            self._done.seconds = self._spent(perf_counter() - started)
        self._done.loaded = memory_of(preview(self._room, self._condition, None))
        self._done.usd = (self._done.usd or 0.0) if self._priced else None
        return self._done

    async def _heard(self, begun: Mapping[int, SessionSummary]) -> None:
        for number, link in enumerate(self._links, 1):
            row = begun.get(number)
            if row is not None and row.closed_at:
                for turn in turns_of(self._source, link, self._chain.name):
                    self._keeper.overhear(turn)
                    self._done.turns += 1
                self._clock.stand_at(from_stamp(row.closed_at))
            else:
                self._worked = True
                await self._session(number, link, row.id if row else None)
            self._done.sessions += 1
            self._tell()

    def _spent(self, more: float) -> float:
        """Seconds that this replay took over all its runs, kept beside its room: its own clocks are the transcript's,
        and its events must not depend on how fast a machine is."""
        kept = self._room.root.with_suffix(".seconds")
        before = float(kept.read_text()) if kept.exists() else 0.0
        if self._worked:
            write_whole(kept, f"{before + more:.3f}\n".encode())
            return before + more
        return before

    async def _session(self, number: int, link: Link, begun: LogName | None) -> None:
        record: SessionLog | None = None
        scene: Scene | None = None
        heard: set[int] = set()
        last: datetime | None = None
        for turn in turns_of(self._source, link, self._chain.name):
            self._clock.stand_at(turn.at)
            if record is None or scene is None:
                record = SessionLog(self._room, begun or self._room.new_session_id())
                if begun:
                    events = record.replay()
                    heard = {one for e in events if isinstance(e.body, KeeperPassed) for one in e.body.turns}
                else:
                    self._open(record, turn.source, number)
                desk = KeeperDesk(record, self._condition)
                scene = Scene(record, desk, turn.source, self._purse.check)
                await self._keeper.open(scene)
            self._purse.go_on()
            self._keeper.overhear(turn)
            if turn.number not in heard:
                await self._turn(scene, turn)
            last = turn.events[-1].at
            self._done.turns += 1
        if record is None or scene is None or last is None:
            return
        self._clock.stand_at(last)
        self._pass(record, (), "closing", await self._keeper.closing(scene))
        gone = expired(self._room.tiers, number)
        if gone is not None:
            record.append("system", gone)
        record.append("system", SessionClosed("the recorded session ends here"))
        record.close()

    async def _turn(self, scene: Scene, turn: Turn) -> None:
        for taken in turn.events:
            self._clock.stand_at(taken.at)
            scene.record.append(taken.by, taken.body, turn.number)
        self._pass(scene.record, (turn.number,), "turn", await self._keeper.hear(scene, turn))

    def _pass(self, record: SessionLog, turns: tuple[int, ...], purpose: str, passed: Passed | None) -> None:
        if passed is None:
            return
        body = KeeperPassed(
            turns, "closing" if purpose == "closing" else "turn", passed.accepted, passed.refused, passed.note
        )
        record.append("keeper", body, max(turns, default=record.turn))

    def _open(self, record: SessionLog, source: Source, number: int) -> None:
        room = self._room
        record.append("system", session_opened(record, source, number, self._condition, self._keeper))
        fading = decayed(room.tiers, packaged_rules(), number)
        if fading is not None:
            record.append("system", fading)
        packet = wake_packet(
            operator=room.settings.operator,
            number=number,
            condition=self._condition,
            task=None,
            letters=letters(room),
            tiers=room.tiers,
            now=room.clock.now(),
        )
        record.append("system", packet)
        spent = promotions_spent(room.tiers, number)
        if spent is not None:
            record.append("system", spent)

    def _count(self, event: Event) -> None:
        body = event.body
        if isinstance(body, KeeperPassed):
            self._done.accepted += body.accepted
            self._done.refused += body.refused
        elif isinstance(body, MessageEnded | MessageCut) and body.seat == "keeper":
            self._done.usage += body.usage
            if body.usd is None:
                self._priced = False
            else:
                self._done.usd = (self._done.usd or 0.0) + float(body.usd)
            self._purse.spend(float(body.usd or 0), body.usage.prompt + body.usage.output)


def session_opened(
    record: SessionLog, source: Source, number: int, condition: ConditionRecord, keeper: ReplayKeeper
) -> SessionOpened:
    """How a replayed session begins: no task, no workspace, and what is replayed through what in its settings."""
    try:
        version = metadata.version("two-twins")
    except metadata.PackageNotFoundError:
        version = "from source"
    return SessionOpened(
        session=record.log,
        number=number,
        condition=condition,
        task=None,
        operator=source.operator,
        model=keeper.model or "none",
        endpoint="",
        scripted=False,
        workspace="",
        briefs={},
        settings={"replay": {"keeper": keeper.name, "format": source.format, "session": source.session}},
        versions={"two-twins": version},
    )


def memory_of(packet: WakePacket) -> str:
    """The tier text of a wake packet: what the Keeper handed over, without the program's own words."""
    from app.measure.handed import packet_parts

    return "\n".join(text for name, text in packet_parts(packet) if name in ("hot", "warm"))
