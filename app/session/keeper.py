"""The Keeper: hears each turn in the background and answers with tool calls that change the tiers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, cast

import httpx2
from anthropic import APIConnectionError, APIStatusError

from app.session.answers import Answer, Listener, LoopingError, OverlongError, StalledError
from app.session.chunks import Ear
from app.session.keeper_tools import KeeperDesk, Outcome
from app.session.presence import failure_of
from app.session.record import SessionLog
from app.session.text_calls import calls_in_text
from store.bodies import ChunkGiven, Json, KeeperPassed, KeeperStanding, KeeperState, MessageCut, MessageEnded
from store.conversation import sendable
from store.defused import MARK, defused
from store.events import Event
from store.operations import ToolSpec

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types.beta import BetaCacheControlEphemeralParam, BetaMessageParam, BetaToolParam

Purpose = Literal["turn", "warm", "closing"]
FAILURES = (APIStatusError, APIConnectionError, httpx2.HTTPError, StalledError, LoopingError, OverlongError, ValueError)
"""What can keep an answer of K from coming; anything else is a fault of ours and is not hidden."""
MOST_ROUNDS = 3
"""Answers of K in one pass: a second and a third only when a read or a refusal needs it (DESIGN §7)."""
MOST_FAILURES = 3
CHARACTERS_A_TOKEN = 16
"""More than any tokenizer puts into a token on the average of an answer: an endpoint whose answer of K is longer than
its limit of tokens times this does not keep to the limit, and is not listened to for ever."""
CARRIED_TURNS = 1
"""Turns that a new window of K begins with, for the thread of the talk. Each costs what a turn costs to write."""
INSTRUCTIONS: Mapping[Purpose, str] = {
    "turn": "",
    "warm": "\n\nThis is a natural break: look through warm as well. What does the next session need of this?",
    "closing": "\n\nThe session closes. Hot expires unless the operator promoted it: move to warm what must not be "
    "lost (add_line with its words and their quote moves a line), and make warm what the next instance should find "
    "first.",
}


class Keeper:
    """K's side of the engine: a conversation of its own, append-only so that it is read from the prompt cache, in
    windows so that what it reads stays bounded.

    ``hear`` is called when a turn is over and returns at once; a task works the queue. A failure never reaches P:
    the turns wait and the standing says why.
    """

    def __init__(
        self,
        record: SessionLog,
        client: AsyncAnthropic,
        listener: Listener,
        ear: Ear,
        desk: KeeperDesk,
        *,
        model: str,
        brief: str,
        tools: tuple[ToolSpec, ...],
        opening: Callable[[], str],
        max_tokens: int,
        cache_control: BetaCacheControlEphemeralParam,
        window_turns: int,
        max_usd: float,
        max_session_tokens: int,
    ) -> None:
        self._record = record
        self._client = client
        self._listener = listener
        self._ear = ear
        self._desk = desk
        self._model = model
        self._brief = brief
        self._tools: list[dict[str, Any]] = [
            {"name": spec.name, "description": spec.description, "input_schema": spec.schema} for spec in tools
        ]
        self._names = {spec.name for spec in tools}
        self._opening = opening
        self._max_tokens = max_tokens
        self._cache = cache_control
        self._window_turns = window_turns
        self._max_usd = Decimal(str(max_usd))
        self._max_session_tokens = max_session_tokens
        self._messages: list[dict[str, Any]] = []
        self._results: list[dict[str, Any]] = []
        self._window: list[int] = []
        self._due: list[int] = []
        self._hearing = 0
        self._warm = False
        self._asked = False
        self._failures = 0
        self._spent = Decimal(0)
        self._tokens = 0
        self._standing: KeeperStanding = "idle"
        self._reason = ""
        self._wake = asyncio.Event()
        self._at_rest = asyncio.Event()
        self._at_rest.set()

    @property
    def behind(self) -> int:
        """Turns that K has not yet heard to their end."""
        return len(self._due)

    @property
    def standing(self) -> KeeperStanding:
        return self._standing

    def count(self, event: Event) -> None:
        """Take in what K has cost so far; fed with this session's events, the replayed ones too."""
        body = event.body
        if isinstance(body, MessageEnded | MessageCut) and body.seat == "keeper":
            self._spent += Decimal(body.usd or "0")
            self._tokens += body.usage.prompt + body.usage.output

    def hear(self, turn: int) -> None:
        """A turn is over; K will hear it as soon as it can. One that ends again after it went on waits only once,
        unless K is at it: then the rest of it must still be heard."""
        if turn not in self._due[self._hearing :]:
            self._due.append(turn)
        self._tell()
        self._at_rest.clear()
        self._wake.set()

    def at_break(self, *, at_once: bool) -> None:
        """The next pass looks through warm too. In the middle of a turn that is the pass over this turn; ``at_once``
        asks for one now."""
        self._warm = True
        if not at_once:
            return
        self._asked = True
        self._at_rest.clear()
        self._wake.set()

    def pause(self, reason: str) -> None:
        """Stop K visibly; what it is working on is finished."""
        self._stand("paused", reason)

    def start_again(self) -> None:
        """Let K go on after a pause or a failure; it catches up."""
        self._failures = 0
        if self._standing in ("paused", "failed"):
            self._stand("idle", "")
        self._at_rest.clear()
        self._wake.set()

    async def run(self) -> None:
        """Work the queue until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while (self._due or self._asked) and self._may_work():
                turns = tuple(self._due[: self._window_turns])
                purpose: Purpose = "warm" if self._warm else "turn"
                self._warm = self._asked = False
                await self._attempt(turns, purpose)
            if self._standing != "busy":
                self._at_rest.set()

    async def at_rest(self) -> None:
        """Wait until K has nothing to do, or will do nothing more (paused, failed)."""
        await self._at_rest.wait()

    async def close(self, *, passed: bool = False) -> None:
        """The closing pass, behind whatever is still due; none when it has ``passed`` in a close before this one."""
        if self._may_work() and not passed:
            await self._attempt(tuple(self._due[: self._window_turns]), "closing")
        self._stand("ended", self._reason)

    async def propose_brief(self, request: str) -> str | None:
        """K's words to a request about its brief, behind its conversation; None when K cannot work."""
        if self._standing != "ended" or self._spent >= self._max_usd or self._tokens >= self._max_session_tokens:
            return None
        blocks: list[dict[str, Any]] = [*self._results, {"type": "text", "text": request}]
        self._results = []
        self._messages.append({"role": "user", "content": blocks})
        try:
            return (await self._answer("brief")).text
        except FAILURES:
            return None

    def _may_work(self) -> bool:
        if self._standing in ("paused", "failed", "ended"):
            return False
        if self._spent >= self._max_usd:
            self._stand("paused", f"its budget of ${self._max_usd} for this session is spent")
            return False
        if self._tokens >= self._max_session_tokens:
            self._stand("paused", f"its budget of {self._max_session_tokens:,} tokens for this session is spent")
            return False
        return True

    async def _attempt(self, turns: tuple[int, ...], purpose: Purpose) -> None:
        self._stand("busy", "")
        self._hearing = len(turns)
        try:
            accepted, refused, note = await self._pass(turns, purpose)
        except FAILURES as error:
            self._failed(failure_of(error).reason, purpose)
            if self._standing != "failed" and purpose != "closing":
                await asyncio.sleep(min(0.5 * 2**self._failures, 8.0))
            return
        finally:
            self._hearing = 0
        del self._due[: len(turns)]
        self._record.append("keeper", KeeperPassed(turns, purpose, accepted, refused, note), self._turn_of(turns))
        if refused and not accepted:
            self._failures += 1
            if self._failures >= MOST_FAILURES:
                self._stand("failed", f"{MOST_FAILURES} passes in a row in which nothing could be accepted")
                return
        else:
            self._failures = 0
        if self._standing == "busy":
            self._stand("idle", "")

    def _failed(self, reason: str, purpose: Purpose) -> None:
        self._new_window()
        self._due = list(dict.fromkeys(self._due))
        self._warm = self._warm or purpose == "warm"
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            self._stand("failed", f"{MOST_FAILURES} failures in a row; the last: {reason}")
        elif self._standing == "busy":
            self._stand("idle", reason)

    async def _pass(self, turns: tuple[int, ...], purpose: Purpose) -> tuple[int, int, str]:
        if len(self._window) + len(turns) > self._window_turns:
            self._new_window()
        text = self._chunk(turns, purpose)
        turn = self._turn_of(turns)
        self._record.append("system", ChunkGiven(turns, purpose, text), turn)
        blocks: list[dict[str, Any]] = [*self._results]
        if not self._messages:
            blocks.append({"type": "text", "text": self._opening_text(turns)})
        blocks.append({"type": "text", "text": text})
        self._results = []
        self._messages.append({"role": "user", "content": blocks})
        self._window.extend(turns)
        accepted = refused = 0
        note = ""
        for round_number in range(1, MOST_ROUNDS + 1):
            answer = await self._answer(purpose)
            again = False
            # Small models write their calls as text; such a call has no id, so its result is told as text too.
            calls = answer.calls or calls_in_text(answer.text, self._names)
            for call in calls:
                name = str(call.get("name"))
                outcome = self._desk.call(name, call.get("input"), turn)
                accepted += not outcome.refused and not outcome.read
                refused += outcome.refused
                again = again or outcome.refused or outcome.read
                self._results.append(_result(call.get("id"), name, outcome))
            if not calls:
                note = "words without tools" if answer.text.strip() else "nothing to keep"
            if not again or round_number == MOST_ROUNDS:
                break
            self._messages.append({"role": "user", "content": self._results})
            self._results = []
        return accepted, refused, note if not accepted and not refused else ""

    async def _answer(self, purpose: str) -> Answer:
        self._listener.begin(purpose)
        try:
            async with self._client.beta.messages.stream(
                model=self._model,
                max_tokens=self._max_tokens,
                system=[{"type": "text", "text": self._brief, "cache_control": self._cache}],
                tools=cast("list[BetaToolParam]", self._tools),
                messages=cast("list[BetaMessageParam]", self._messages),
                cache_control=self._cache,
            ) as stream:
                answer = await self._listener.read(stream, CHARACTERS_A_TOKEN * self._max_tokens)
        except BaseException as error:
            reason = failure_of(error).reason if isinstance(error, Exception) else "stopped with the session"
            if not self._listener.cut(reason):
                self._listener.fail(type(error).__name__, reason, getattr(error, "status_code", 0))
            raise
        content: list[Json] = sendable(answer.content) or [{"type": "text", "text": "(nothing to keep)"}]
        self._messages.append({"role": "assistant", "content": content})
        return answer

    def _chunk(self, turns: tuple[int, ...], purpose: Purpose) -> str:
        text = self._ear.chunk(turns) or "(no new turn)"
        if self._ear.operator_changes and self._messages:
            text = f"[the operator changed the tiers: {'; '.join(self._ear.operator_changes)}]\n\n{text}"
        self._ear.operator_changes.clear()
        return text + INSTRUCTIONS[purpose]

    def _opening_text(self, turns: tuple[int, ...]) -> str:
        first = turns[0] if turns else self._record.turn + 1
        carried = range(max(1, first - CARRIED_TURNS), first)
        before = self._ear.chunk(carried)
        self._ear.forget_before(first - CARRIED_TURNS)
        return self._opening() + (f"\n\n# Heard before, already kept\n{before}" if before else "")

    def _new_window(self) -> None:
        self._messages, self._results, self._window = [], [], []

    def _turn_of(self, turns: tuple[int, ...]) -> int:
        return max(turns, default=self._record.turn)

    def _stand(self, standing: KeeperStanding, reason: str) -> None:
        if standing == "busy" and self._standing not in ("idle", "busy"):
            return
        self._standing, self._reason = standing, reason
        if standing in ("paused", "failed", "ended"):
            self._at_rest.set()
        self._tell()

    def _tell(self) -> None:
        with suppress(RuntimeError):  # a room that is closing takes no more events
            self._record.append("system", KeeperState(self._standing, self.behind, self._reason))


def _result(call_id: Json, name: str, outcome: Outcome) -> dict[str, Any]:
    if not isinstance(call_id, str):
        said = "refused" if outcome.refused else "result"
        return {"type": "text", "text": f"{MARK} {said} of your call {name}: {defused(outcome.text)}>"}
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id, "content": outcome.text}
    return {**result, "is_error": True} if outcome.refused else result
