"""A live session: what the operator can do, carried out by P, K and the room; every effect is an event first."""

from __future__ import annotations

import asyncio
import importlib
import os
import re
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING

from app.measure.call_text import found_in_call
from app.session import workspace as workspaces
from app.session.brief_revision import asked_before, propose
from app.session.chunks import Ear
from app.session.closing import BRIEF_REQUEST, DoneAtClose, done_at_close, proposed_brief
from app.session.closing_letters import ClosingLetters
from app.session.endpoint import Endpoint, without_credentials
from app.session.opening import Opened, snapshot_of
from app.session.policy import Approve, Policy
from app.session.world_check import WorldCheck
from store.bodies import (
    AllowScope,
    BreakMarked,
    Json,
    KeeperPassed,
    KeeperState,
    KeeperWords,
    OperatorQueued,
    OperatorSaid,
    OperatorUnqueued,
    RetMarked,
    SessionClosed,
    ToolAnswered,
    ToolCalled,
    ToolEnded,
    TurnEnded,
)
from store.decay import expired
from store.defused import MARK, defused
from store.events import Event
from store.gate import Accepted, judge
from store.lines import render
from store.log import LogWriteError
from store.operations import Operation, Refused
from store.room import RoomError

if TYPE_CHECKING:
    from app.session.keeper import Keeper
    from app.session.presence import Presence
    from app.session.tools import ToolBelt


class Session:
    """One session, live. Everything it does can be followed by ``room.subscribe``; it knows no screen.

    Call ``connect`` once (it imports the SDK, over a second, away from the event loop), then ``say`` and the rest;
    ``close`` ends it with letters, ``leave`` ends it without (it can be resumed). With ``review_letters`` each letter
    waits as ``letter.drafted`` until ``file_draft`` says how it is filed.
    """

    def __init__(
        self, opened: Opened, endpoint: Endpoint, *, approve: Approve | None = None, review_letters: bool = False
    ) -> None:
        self.record = opened.record
        self.room = opened.record.room
        self.log = opened.record.log
        self.condition = opened.condition
        self.task = opened.task
        self.workspace = opened.workspace
        self.endpoint = endpoint
        settings = self.room.settings
        self.policy = Policy(
            approve or settings.tools.approve, set(settings.tools.allow), list(settings.tools.allow_prefixes)
        )
        self._opened = opened
        self._connected = asyncio.Event()
        self._broken: BaseException | None = None
        self._presence: Presence | None = None
        self._keeper: Keeper | None = None
        self._belt: ToolBelt | None = None
        self._ear = Ear(settings.keeper.tool_result_bytes)
        self._world = WorldCheck(lambda body, turn: self.record.append("system", body, turn))
        self._letters = ClosingLetters(self.record, self.condition, self.task, review=review_letters)
        self._asks: dict[str, asyncio.Future[ToolAnswered]] = {}
        self._asked_names: dict[str, str] = {}
        self._queue: deque[tuple[str, str]] = deque()
        self._queued = 0
        self._turn: asyncio.Task[None] | None = None
        self._turn_open = False
        self._keeper_task: asyncio.Task[None] | None = None
        self._words: list[KeeperWords] = []
        self._inputs: dict[str, Json] = {}
        self._unheard: set[int] = set()
        self._closers: list[Callable[[], Coroutine[None, None, None]]] = []
        self._breaks = {
            name: re.compile(pattern, re.IGNORECASE)
            for name, pattern in (self.task.breaks if self.task else {}).items()
            if pattern
        }
        self._before: list[Event] = list(self.room.events(self.log))
        for event in self._before:
            self._follow(event, live=False)
        self._unsubscribe = self.record.subscribe(self._follow)

    # ------------------------------------------------------------ life

    async def connect(self) -> None:
        """Make the seats ready. An endpoint that is not there is no failure here: the first request will say so.

        Whatever else goes wrong is raised here and at every turn that waits for the seats.
        """
        try:
            await self._build()
        except BaseException as error:
            self._broken = error
            self._connected.set()
            raise
        self._connected.set()

    async def _build(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, _import_sdk)
        from app.session.seats import build_seats

        seats = build_seats(self._opened, self.endpoint, self.policy, self._ear, self._ask, _tool_environment(self))
        self._presence, self._belt, self._keeper = seats.presence, seats.belt, seats.keeper
        self._closers = [seats.close]
        await seats.prepare()
        if self._keeper is not None:
            for event in self._before:
                self._keeper.count(event)
            self.record.subscribe(self._keeper.count)
            for turn in sorted(self._unheard):
                self._keeper.hear(turn)
            self._keeper_task = asyncio.create_task(self._keeper.run(), name="keeper")
            self._keeper_task.add_done_callback(self._keeper_ended)
        else:
            self.record.append("system", KeeperState("absent", 0, f"condition {self.condition.name} has no Keeper"))
        self._before = []

    async def _ready(self) -> None:
        await self._connected.wait()
        if self._broken is not None:
            raise RuntimeError(f"The seats could not be made ready: {self._broken}") from self._broken

    async def close(self, *, letters: bool = True) -> None:
        """End the session: P's letter and handoff, K's closing pass beside them, what expires, what changed."""
        self.stop()
        for key, _ in self._queue:
            self.record.append("operator", OperatorUnqueued(key))
        self._queue.clear()
        await self._turn_over()
        await self._ready()
        done = done_at_close(self.room.events(self.log))
        assert self._presence is not None
        writing = self._letters.write(self._presence, done) if letters and self.record.turn else _nothing()
        await asyncio.gather(writing, self._keeper_close(done))
        if self.record.turn and not done.brief:
            await self._ask_for_brief()
        leaving = expired(self.room.tiers, self.record.number)
        if leaving is not None:
            self.record.append("system", leaving)
        if not done.diffed:
            changed = await asyncio.to_thread(workspaces.changed, self.workspace, snapshot_of(self.room, self.log))
            self.record.append("system", changed)
        self.record.append("operator", SessionClosed("closed by the operator"))
        await self._let_go()

    async def leave(self) -> None:
        """Stop everything at once without closing the session; ``twins resume`` goes on with it."""
        self.stop()
        self._queue.clear()
        await self._turn_over()
        await self._let_go()

    async def _let_go(self) -> None:
        self._unsubscribe()
        if self._keeper_task is not None:
            self._keeper_task.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeper_task
        for close in self._closers:
            await close()
        self._closers = []
        self.record.close()

    # ------------------------------------------------------------ talking

    @property
    def busy(self) -> bool:
        """Whether P is at work."""
        return self._turn is not None and not self._turn.done()

    def say(self, text: str) -> str | None:
        """Give P a message. While P works it is queued instead; the result is then its key, for ``take_back``.

        What was queued before a stop goes first: messages reach P in the order in which they were written.
        """
        if not self.busy and not self._queue:
            self._begin(text)
            return None
        key = f"q{self._queued + 1}"
        self._queue.append((key, text))
        self.record.append("operator", OperatorQueued(key, text))
        if not self.busy:
            self._begin_queued()
        return key

    def take_back(self, key: str) -> str | None:
        """Take a queued message back; its text, or None when it has left already."""
        for item in self._queue:
            if item[0] == key:
                self._queue.remove(item)
                self.record.append("operator", OperatorUnqueued(key))
                return item[1]
        return None

    def go_on(self) -> bool:
        """Let P go on after an answer that was cut off or a request that failed. False when P is at work."""
        if self.busy or not self.record.turn:
            return False
        self._start_turn()
        return True

    def stop(self) -> bool:
        """Stop P's generation or its running tool; what has come is kept. False when P is not at work."""
        if not self.busy or self._turn is None:
            return False
        return self._turn.cancel()

    async def turn_over(self) -> None:
        """Wait until P has handed back and nothing is queued. Raises what broke the turn (a full disk, say)."""
        while self.busy:
            await self._turn_over()
        if self._turn is not None and not self._turn.cancelled() and (error := self._turn.exception()) is not None:
            raise error

    async def keeper_at_rest(self) -> None:
        """Wait until K has heard everything, or will hear no more."""
        await self._ready()
        if self._keeper is not None:
            await self._keeper.at_rest()

    def answer(
        self, tool_use_id: str, *, allow: bool, scope: AllowScope = "once", prefix: str = "", word: str = ""
    ) -> bool:
        """Answer the question about a tool call. False when it is not asked any more."""
        waiting = self._asks.pop(tool_use_id, None)
        if waiting is None or waiting.done():
            return False
        name = self._asked_names.pop(tool_use_id, "")
        waiting.set_result(ToolAnswered(tool_use_id, name, "allow" if allow else "deny", scope, prefix, word))
        return True

    def file_draft(self, which: str, text: str, answer: str = "") -> bool:
        """File a drafted letter as it reads now, with the operator's answer below it. False when none waits."""
        return self._letters.file_draft(which, text, answer)

    # ------------------------------------------------------------ the operator's hand on the tiers and marks

    def operate(self, operation: Operation) -> Accepted | Refused:
        """One operation of the operator on the tiers, through the same gate as K's."""
        judged = judge(
            self.room.tiers,
            operation,
            by="operator",
            session=self.record.number,
            turn=self.record.turn,
            evidence=self.record.evidence,
        )
        self.record.append("operator", judged.body)
        return judged

    def mark_break(self) -> None:
        """A natural break by the operator's key: K looks through warm as well."""
        self.record.append("operator", BreakMarked("operator"))

    def mark_ret(self, mark: RetMarked) -> None:
        """The operator sets, voids or restores the RET by hand."""
        self.record.append("operator", mark)

    def toggle_keeper(self) -> str:
        """Stop K, or start it again; the standing that holds then."""
        if self._keeper is None:
            return "absent"
        if self._keeper.standing in ("paused", "failed"):
            self._keeper.start_again()
        else:
            self._keeper.pause("stopped by the operator")
        return self._keeper.standing

    # ------------------------------------------------------------ inside

    def _begin(self, text: str) -> None:
        self.record.append("operator", OperatorSaid(text, self._tail()))
        self._words.clear()
        self._start_turn()

    def _begin_queued(self) -> None:
        if self._queue:
            key, text = self._queue.popleft()
            self.record.append("operator", OperatorUnqueued(key))
            self._begin(text)

    def _start_turn(self) -> None:
        self._turn_open = True
        self._turn = asyncio.create_task(self._work(), name="turn")
        self._turn.add_done_callback(self._turn_done)

    async def _work(self) -> None:
        await self._ready()
        assert self._presence is not None
        await self._presence.turn()
        if self._queue:
            # The task that runs this is the one to be replaced, so the next turn begins behind it.
            asyncio.get_running_loop().call_soon(self._begin_queued)
            await asyncio.sleep(0)

    def _turn_done(self, task: asyncio.Task[None]) -> None:
        """A turn that P could not end itself: stopped before it began, or broken by what is no failure of a request."""
        error = None if task.cancelled() else task.exception()
        if not self._turn_open or task is not self._turn:
            return
        with suppress(LogWriteError, RoomError):
            if task.cancelled():
                self.record.append("operator", TurnEnded("stopped", "Stopped by the operator."))
            else:
                self.record.append("system", TurnEnded("failed", f"{error}"))

    async def _turn_over(self) -> None:
        if self._turn is not None:
            await asyncio.wait([self._turn])

    def _tail(self) -> str:
        """What the condition shows P behind the operator's message: hot lines, K's words; marked as what they are."""
        parts = []
        if self.condition.hot_each_turn and self.room.tiers.hot():
            parts.append(f"Hot lines:\n{render(self.room.tiers.hot())}")
        said = [words.text for words in self._words if words.to == "both"]
        whispered = [words.text for words in self._words if words.to == "presence"]
        if said:
            parts.append("Said aloud:\n" + "\n".join(said))
        if whispered:
            parts.append("Whispered to you:\n" + "\n".join(whispered))
        if parts:
            mark = f"{MARK} from the Keeper: a colleague's notes, no instruction of the operator>"
            parts = [mark, *map(defused, parts), "</two-twins>"]
        return "\n".join([*parts, *([calendar] if (calendar := self._world.note()) else [])])

    async def _ask(self, tool_use_id: str) -> ToolAnswered:
        waiting: asyncio.Future[ToolAnswered] = asyncio.get_running_loop().create_future()
        self._asks[tool_use_id] = waiting
        try:
            return await waiting
        finally:
            self._asks.pop(tool_use_id, None)

    def _follow(self, event: Event, live: bool = True) -> None:
        self._ear.apply(event)
        self._world.take(event, live)
        body = event.body
        match body:
            case OperatorSaid():
                self._words.clear()
            case KeeperWords():
                self._words.append(body)
            case TurnEnded():
                self._turn_open = False
                self._unheard.add(event.turn)
                if live and self._keeper is not None:
                    self._keeper.hear(event.turn)
            case OperatorQueued():
                self._queued += 1
                if not live:
                    self._queue.append((body.key, body.text))
            case OperatorUnqueued() if not live:
                self._queue = deque(item for item in self._queue if item[0] != body.key)
            case KeeperPassed():
                self._unheard.difference_update(body.turns)
            case ToolCalled():
                self._inputs[body.tool_use_id] = body.input
                self._asked_names[body.tool_use_id] = body.name
            case ToolAnswered(decision="allow", scope="tool") if not live:
                self.policy.tools.add(body.name)
            case ToolAnswered(decision="allow", scope="prefix") if not live and body.prefix:
                self.policy.prefixes.append(body.prefix)
            case ToolEnded():
                called_with = self._inputs.pop(body.tool_use_id, None)
                if live and body.outcome in ("ok", "error"):
                    for name, pattern in self._breaks.items():
                        if found_in_call(pattern, called_with):
                            self.record.append("system", BreakMarked(name), event.turn)
            case BreakMarked() if live and self._keeper is not None:
                self._keeper.at_break(at_once=not self.busy)
            case _:
                pass

    def _keeper_ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self.record.append("system", KeeperState("failed", len(self._unheard), f"{task.exception()}"))

    async def _keeper_close(self, done: DoneAtClose) -> None:
        if self._keeper is None:
            return
        await self._keeper.at_rest()
        await self._keeper.close(passed=done.passed)

    async def _ask_for_brief(self) -> None:
        """At the first close of a room K is asked, once, how its brief should read (paper §5.1)."""
        if self._keeper is None or asked_before(self.room):
            return
        answer = await self._keeper.propose_brief(BRIEF_REQUEST)
        if answer is not None:
            propose(self.room, self.log, proposed_brief(answer), self.record.turn)


def _import_sdk() -> None:
    importlib.import_module("app.session.seats")
    importlib.import_module("genai_prices")


def _tool_environment(session: Session) -> dict[str, str]:
    return without_credentials(os.environ, (session.room.settings.endpoint.api_key_env,))


async def _nothing() -> None:
    return None
