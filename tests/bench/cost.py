"""What the Keeper costs beside the Presence: a fixed workload on the scripted server's cache accounting, real prices.

40 turns of 5 model calls; a turn has about 1,400 tokens of tool results and 750 of P's words behind a prompt of 6,000
tokens (system and tools). K changes one or two hot lines a turn and adds a warm line every third.
"""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from app.scripted.request import Request
from app.scripted.script import Reply, Script, ToolCall
from app.scripted.server import ScriptedServer
from app.session.endpoint import Endpoint
from app.session.opening import open_session
from app.session.pricing import usd
from app.session.session import Session
from store.bodies import MessageEnded, Seat, Usage
from store.conditions import load_conditions
from store.room import Room
from store.settings import Endpoint as Defaults
from tests.bench.figures import Figure

TURNS = 40
CALLS = 5
RESULT_TOKENS = 1_400
WORDS_TOKENS = 750
PROMPT_TOKENS = 6_000
HOT_LINES = 10
WHOLE = 1_000_000


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens of both seats over one run of the workload."""

    presence: Usage
    keeper: Usage


def prose(seed: str, tokens: int) -> str:
    """Words that look like words and never repeat: about ``tokens`` tokens at four bytes each."""
    out: list[str] = []
    size, block = 0, 0
    while size < tokens * 4:
        digest = hashlib.sha256(f"{seed}/{block}".encode()).hexdigest()
        block += 1
        for at in range(0, 60, 6):
            word = "".join(chr(ord("a") + int(char, 16)) for char in digest[at : at + 5])
            out.append(word)
            size += len(word) + 1
    return " ".join(out)[: tokens * 4]


def presence(request: Request) -> Reply:
    """P: four reads with words before each, then its last words."""
    said = prose(f"{request.operator_text} {request.round}", WORDS_TOKENS // CALLS)
    if request.round == CALLS - 1:
        return Reply(text=said)
    return Reply(
        text=said, tools=(ToolCall("read", {"file_path": f"{request.operator_text.split()[1]}-{request.round}.txt"}),)
    )


class KeeperPlayer:
    """K on the workload; it knows the tiers as a model would from its own tool results."""

    def __init__(self, room: Room, *, hot_whole: bool) -> None:
        self._room = room
        self._hot_whole = hot_whole

    def __call__(self, request: Request) -> Reply:
        if request.round or not request.operator_text.startswith("Turn "):
            return Reply(text="Nothing more.")
        turn = int(request.operator_text.split()[1])
        hot = self._room.tiers.hot()
        new = [prose(f"hot {turn} {number}", 24) for number in range(1 + turn % 2)]
        kept = hot[len(new) if len(hot) + len(new) > HOT_LINES else 0 :]
        lines = [*(line.text for line in kept), *new] if self._hot_whole else new
        given = {"lines": lines} if self._hot_whole else {"lines": lines, "keep": [line.id for line in kept]}
        tools = [ToolCall("rewrite_hot", dict(given))]
        if turn % 3 == 0:
            quote = prose(f"turn {turn} {CALLS - 1}", WORDS_TOKENS // CALLS)[:60]
            tools.append(
                ToolCall(
                    "add_line",
                    {
                        "kind": "finding",
                        "text": prose(f"warm {turn}", 25),
                        "reason": prose(f"why {turn}", 20),
                        "quote": quote.rsplit(" ", 1)[0],
                        "turn": turn,
                    },
                )
            )
        return Reply(tools=tuple(tools))


async def play(*, tool_result_bytes: int | None = None, hot_whole: bool = False, turns: int = TURNS) -> Spent:
    """The workload once, from the first turn to the last; K hears each turn before the next begins."""
    with tempfile.TemporaryDirectory(prefix="twins-cost-") as folder:
        root, workspace = Path(folder) / "room", Path(folder) / "work"
        workspace.mkdir()
        for turn in range(1, turns + 1):
            for call in range(CALLS - 1):
                text = prose(f"file {turn} {call}", RESULT_TOKENS // (CALLS - 1))
                (workspace / f"{turn}-{call}.txt").write_text(text, encoding="utf-8")
        Room.create(root, "Ada")
        (root / "briefs").mkdir()
        with Room.open(root) as room:
            if tool_result_bytes is not None:
                keeper = room.settings.keeper.model_copy(update={"tool_result_bytes": tool_result_bytes})
                room.settings = room.settings.model_copy(update={"keeper": keeper})
            script = Script(presence, KeeperPlayer(room, hot_whole=hot_whole))
            async with ScriptedServer(script) as server:
                endpoint = Endpoint(server.base_url, "scripted", Defaults().model, scripted=True)
                await _fill_prompt(room, endpoint, workspace, server)
                session = Session(
                    open_session(room, endpoint, condition=load_conditions()["B"], task=None, workspace=workspace),
                    endpoint,
                    approve="read",
                )
                await session.connect()
                for turn in range(1, turns + 1):
                    session.say(f"turn {turn}")
                    await session.turn_over()
                    await session.keeper_at_rest()
                await session.leave()
                return Spent(
                    _usage(session, "presence"),
                    _usage(session, "keeper"),
                )


async def _fill_prompt(room: Room, endpoint: Endpoint, workspace: Path, server: ScriptedServer) -> None:
    """Make P's system prompt so long that, with its tools, it has PROMPT_TOKENS: measured by asking the server."""
    import json

    brief = room.root / "briefs" / "presence.md"
    session = Session(
        open_session(room, endpoint, condition=load_conditions()["A"], task=None, workspace=workspace),
        endpoint,
        approve="none",
    )
    await session.connect()
    session.say("turn 0")
    await session.turn_over()
    await session.leave()
    body = server.requests_of("presence")[0].body
    has = len(json.dumps([body["system"], body["tools"]])) // 4
    from app.session.briefs import brief_sources

    brief.write_text(
        brief_sources(room.root)["presence"] + "\n" + prose("brief", max(0, PROMPT_TOKENS - has)), encoding="utf-8"
    )


def _usage(session: Session, seat: Seat) -> Usage:
    total = Usage()
    for event in session.room.events(session.log):
        if isinstance(event.body, MessageEnded) and event.body.seat == seat:
            total += event.body.usage
    return total


def price(usage: Usage) -> Decimal:
    """Money for ``usage`` at the default model's price of today."""
    found = usd(usage, Defaults().model, datetime.now(UTC))
    assert found is not None, "the default model has no known price"
    return found


def uncached(usage: Usage) -> Usage:
    """The same tokens at an endpoint without a prompt cache."""
    return Usage(input=usage.prompt, output=usage.output)


def parts(usage: Usage) -> dict[str, Decimal]:
    """What each part of ``usage`` costs by itself."""
    return {
        "input": price(Usage(input=usage.input)),
        "cache reads": price(Usage(cache_read=usage.cache_read)),
        "cache writes": price(Usage(cache_write=usage.cache_write)),
        "output": price(Usage(output=usage.output)),
    }


def measure() -> list[Figure]:
    """K's money as a share of P's, the three other ways beside it, and what its parts cost."""
    lean = asyncio.run(play())
    whole_results = asyncio.run(play(tool_result_bytes=WHOLE))
    hot_whole = asyncio.run(play(hot_whole=True))
    presence_usd = price(lean.presence)
    share = float(100 * price(lean.keeper) / presence_usd)

    def beside(what: str, value: float) -> Figure:
        return Figure("cost", what, value, "%", versus=share, against="as built")

    figures = [
        Figure("cost", "K's money as a share of P's, 40 turns", share, "%", most=15.0),
        beside("… with whole tool results", float(100 * price(whole_results.keeper) / price(whole_results.presence))),
        beside("… with hot written out whole", float(100 * price(hot_whole.keeper) / price(hot_whole.presence))),
        beside("… without K's prompt cache", float(100 * price(uncached(lean.keeper)) / presence_usd)),
        beside(
            "… without any prompt cache",
            float(100 * price(uncached(lean.keeper)) / price(uncached(lean.presence))),
        ),
        Figure("cost", "P's money", float(presence_usd), "USD"),
        Figure("cost", "K's money", float(price(lean.keeper)), "USD"),
    ]
    for name, money in parts(lean.keeper).items():
        figures.append(Figure("cost", f"K: {name}", float(100 * money / presence_usd), "% of P"))
    for name, money in parts(lean.presence).items():
        figures.append(Figure("cost", f"P: {name}", float(100 * money / presence_usd), "% of P"))
    for seat, usage in (("P", lean.presence), ("K", lean.keeper)):
        figures.append(Figure("cost", f"{seat}: prompt tokens", usage.prompt, "tokens"))
        figures.append(Figure("cost", f"{seat}: output tokens", usage.output, "tokens"))
    return figures
