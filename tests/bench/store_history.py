"""Rooms with a long history, written in seconds: the same bytes that so many appends would have left."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from random import Random

from store.bodies import (
    Body,
    Change,
    Citation,
    ConditionRecord,
    FirstToken,
    KeeperState,
    LogOpened,
    MessageEnded,
    OperatorSaid,
    Partial,
    RequestSent,
    SessionOpened,
    TiersChanged,
    ToolAnswered,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    Usage,
)
from store.clock import stamp
from store.events import FORMAT, NO_HASH, plain
from store.lines import Line, LineId, Tier
from store.room import Room

TURN_EVENTS = 20
"""Events of one turn. Kinds, sizes and their shares are about those of a demo session."""
LIVE_LINES = 60
CONDITION = ConditionRecord("B", "silent", True, False, False, False, False, ("letters", "hot"))


def words(dice: Random, many: int) -> str:
    """Words as language has them: few that are everywhere, most of them rare."""
    return " ".join(f"word{int(20_000 * dice.random() ** 3)}" for _ in range(many))


def _turn_bodies(dice: Random, turn: int) -> list[tuple[str, Body]]:
    usage = Usage(900, 9_000, 700, 240)
    say = [{"type": "text", "text": words(dice, 90)}]
    call = {"command": f"run --region {words(dice, 6)}"}
    number = turn % LIVE_LINES + 1
    tier: Tier = "hot" if number % 4 == 0 else "warm"
    kept = Line(LineId(f"L{number}"), tier, "finding", words(dice, 12), words(dice, 6), words(dice, 5), 1, 3, 1, 1, 1,
                "keeper")  # fmt: skip
    bodies: list[tuple[str, Body]] = [("operator", OperatorSaid(words(dice, 30)))]
    for request in (1, 2):
        bodies.append(("presence", RequestSent("presence", request, "claude-opus-5-5", "a" * 64, 40_000)))
        bodies.append(("presence", FirstToken("presence", request, 640.5)))
        bodies += [("presence", Partial("presence", request, 0, "text", words(dice, 14))) for _ in range(3)]
        bodies.append(
            ("presence", MessageEnded("presence", request, f"msg_{turn}{request}", "claude-opus-5-5", say, "end_turn",
                                      usage, "0.0123", 640.5, 5_200.25)))  # fmt: skip
    bodies += [
        ("presence", ToolCalled(f"toolu_{turn}", "bash", call)),
        ("system", ToolAnswered(f"toolu_{turn}", "bash", "allow", "policy")),
        ("system", ToolEnded(f"toolu_{turn}", "bash", "ok", words(dice, 50), 12.5, 400)),
        ("system", TurnEnded("done")),
        ("keeper", TiersChanged("add_line", (Change(None, kept),), words(dice, 6), session=1)),
        ("system", KeeperState("idle", 0)),
    ]
    return bodies


def _encoded(bodies: list[tuple[str, Body]]) -> list[tuple[str, str, str]]:
    return [
        (by, type(body).KIND, json.dumps(plain(body), ensure_ascii=False, separators=(",", ":")))
        for by, body in bodies
    ]


def write_history(root: Path, sessions: int, events: int, tell: Callable[[int], None] | None = None) -> Path:
    """Makes a room of so many sessions with so many events in all (each a multiple of a turn's, less the opening)."""
    Room.create(root, "Robin")
    dice = Random(20_261_130)
    turns = [_encoded(_turn_bodies(dice, turn)) for turn in range(600)]
    at = datetime(2020, 1, 1, tzinfo=UTC)
    seq, prev, last = 0, NO_HASH, None
    for number in range(1, sessions + 1):
        at += timedelta(hours=1)
        second = at.strftime("%Y%m%dT%H%M%SZ")
        log, when = f"{second}-a1", stamp(at)
        folder = root / "sessions" / log
        folder.mkdir(mode=0o700)
        opening = SessionOpened(
            log, number, CONDITION, None, "Robin", "claude-opus-5-5", "loopback", True, "", {}
        )  # fmt: skip
        first = _encoded([("system", LogOpened(FORMAT, log, "two-twins", last)), ("system", opening)])
        n = 0
        with (folder / "events.jsonl").open("wb") as file:
            while n < events // sessions:
                turn = n // TURN_EVENTS + (1 if n else 0)
                for by, kind, body in first if n == 0 else turns[dice.randrange(len(turns))]:
                    n, seq = n + 1, seq + 1
                    if kind == "operator.said":  # a word that stands nowhere else
                        body = body.replace('"text":"', f'"text":"mark{seq} ', 1)
                    line = (
                        f'{{"n":{n},"seq":{seq},"at":"{when}","mono":{seq}.25,"by":"{by}","kind":"{kind}",'
                        f'"turn":{turn},"data":{body},"prev":"{prev}"}}'
                    ).encode()
                    file.write(line + b"\n")
                    prev = sha256(line).hexdigest()
                    if n == events // sessions:
                        break
        last = Citation(log, n, seq)
        if tell:
            tell(seq)
    return root
