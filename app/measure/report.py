"""The report of one session, as ``--json`` prints it: what happened and what it came to (DESIGN §12)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal

from app.measure.cost import CostMeter, SeatCost
from app.measure.ret import RetClock, RetSource
from store.bodies import (
    BundleExported,
    Json,
    KeeperState,
    LetterFiled,
    OperatorSaid,
    Seat,
    SessionOpened,
    Usage,
)
from store.events import Event, fold
from store.lines import Tiers


@dataclass(frozen=True, slots=True)
class RetReport:
    """``seconds`` None when voided, censored or without a task; ``source`` says which (`app.measure.ret`)."""

    seconds: float | None
    source: RetSource
    told: bool


@dataclass(frozen=True, slots=True)
class SeatReport:
    """Tokens by their place in the prompt cache, US dollars (None: no known price), times to first token in ms."""

    input: int
    cache_read: int
    cache_write: int
    output: int
    usd: Decimal | None
    ttft_ms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TiersReport:
    """Bytes of hot and warm as rendered, and how many lines stand in both."""

    hot_bytes: int
    warm_bytes: int
    lines: int


@dataclass(frozen=True, slots=True)
class SessionReport:
    """One session. ``letter`` and ``bundle`` are file names, None when there is none."""

    session: str
    condition: str
    turns: int
    ret: RetReport
    seats: Mapping[Seat, SeatReport]
    tiers: TiersReport
    keeper_behind: int
    letter: str | None
    bundle: str | None

    def as_json(self) -> dict[str, Json]:
        """The report as JSON values; money as a number."""
        seats: dict[str, Json] = {
            name: {**asdict(seat), "usd": None if seat.usd is None else float(seat.usd), "ttft_ms": [*seat.ttft_ms]}
            for name, seat in self.seats.items()
        }
        return {
            "session": self.session,
            "condition": self.condition,
            "turns": self.turns,
            "ret": asdict(self.ret),
            "seats": seats,
            "tiers": asdict(self.tiers),
            "keeper_behind": self.keeper_behind,
            "letter": self.letter,
            "bundle": self.bundle,
        }


def session_report(
    events: Iterable[Event], *, tiers: Tiers | None = None, bundle: str | None = None
) -> SessionReport:
    """The report of one session's ``events``, in the order of its log.

    ``tiers`` are the room's at the session's end; without them, those of a room in which this session is the first.
    ``bundle`` names the file when its export is no event of this log. Presence and keeper are always there, with
    zeros when they did nothing. Raises ValueError when no session was opened in ``events``.
    """
    clock, cost = RetClock(), CostMeter()
    opened: SessionOpened | None = None
    letter: LetterFiled | None = None
    turns = behind = 0
    folded = Tiers()
    for event in events:
        clock.apply(event)
        cost.apply(event)
        folded = fold(folded, (event,)) if tiers is None else folded
        body = event.body
        match body:
            case SessionOpened():
                opened = body
            case OperatorSaid():
                turns += 1
            case KeeperState():
                behind = body.behind
            case LetterFiled():
                # A handoff stands beside the letter; the letter is the one that is named.
                letter = body if letter is None or body.which == "letter" else letter
            case BundleExported():
                bundle = bundle or body.file
            case _:
                pass
    if opened is None:
        raise ValueError("no session was opened in this log; pick one that `twins` lists")
    measured = clock.result()
    standing = folded if tiers is None else tiers
    used = cost.seats()
    seats: dict[Seat, SeatReport] = {"presence": _seat(used.get("presence")), "keeper": _seat(used.get("keeper"))}
    if "reader" in used:
        seats["reader"] = _seat(used["reader"])
    return SessionReport(
        session=opened.session,
        condition=opened.condition.name,
        turns=turns,
        ret=RetReport(measured.seconds.value, measured.source, measured.told),
        seats=seats,
        tiers=TiersReport(standing.size("hot"), standing.size("warm"), len(standing)),
        keeper_behind=behind,
        letter=letter.file if letter else None,
        bundle=bundle,
    )


def _seat(cost: SeatCost | None) -> SeatReport:
    used = cost.usage if cost else Usage()
    usd = cost.usd if cost else Decimal(0)
    return SeatReport(
        used.input, used.cache_read, used.cache_write, used.output, usd, cost.ttft_ms if cost else ()
    )
