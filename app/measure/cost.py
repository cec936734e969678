"""Cost: tokens, money and answers per seat, and the session's wall time (DESIGN §10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from app.measure.elapsed import SessionClock, in_ms
from app.measure.result import EventRef, Measured, ref
from store.bodies import FirstToken, MessageCut, MessageEnded, Seat, Usage
from store.events import Event
from store.readings import SeatReading


@dataclass(frozen=True, slots=True)
class SeatCost:
    """What one seat has used.

    ``usd`` is None as soon as one response with tokens has no known price (``unpriced`` counts those);
    ``calls`` counts responses, ``cut`` those of them that did not come to their end; ``ttft_ms`` holds the time to
    first token of each response that has one, in the order in which they came.
    """

    usage: Usage
    usd: Decimal | None
    calls: int
    cut: int
    unpriced: int
    ttft_ms: tuple[float, ...]
    events: tuple[EventRef, ...]


@dataclass(frozen=True, slots=True)
class Cost:
    """A session's cost by seat (only seats that were used) and its wall time in seconds of session time."""

    seats: Mapping[Seat, SeatCost]
    wall: Measured


@dataclass(frozen=True, slots=True)
class _Response:
    usage: Usage
    usd: Decimal | None
    ttft_ms: float | None
    cut: bool
    event: EventRef

    @property
    def unpriced(self) -> bool:
        return self.usd is None and self.usage != Usage()


@dataclass(slots=True)
class _Seat:
    """Running sums over the responses of a seat, each counted once by its id."""

    responses: dict[str, _Response] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    usd: Decimal = Decimal(0)
    unpriced: int = 0

    def take(self, key: str, response: _Response) -> None:
        # Logs of some programs repeat a response's usage with every block of it: the last one holds.
        before = self.responses.get(key)
        if before is not None:
            self._add(before, -1)
        self.responses[key] = response
        self._add(response, 1)

    def _add(self, response: _Response, sign: int) -> None:
        used = response.usage
        self.usage += Usage(
            sign * used.input, sign * used.cache_read, sign * used.cache_write, sign * used.output
        )
        self.usd += sign * (response.usd or Decimal(0))
        self.unpriced += sign * response.unpriced


class CostMeter:
    """Cost as far as the events go; constant work an event."""

    def __init__(self) -> None:
        self._seats: dict[Seat, _Seat] = {}
        self._first_tokens: dict[tuple[Seat, int], float] = {}

    def apply(self, event: Event) -> None:
        """Take one event in; only answers and first tokens matter here."""
        body = event.body
        match body:
            case FirstToken():
                self._first_tokens[body.seat, body.request] = body.ms
            case MessageEnded():
                first = self._first_tokens.pop((body.seat, body.request), None)
                ttft = body.ttft_ms if body.ttft_ms is not None else first
                # Some endpoints give no id: then the request is the response.
                key = body.message_id or f"request {body.request}"
                response = _Response(body.usage, money(body.usd), ttft, False, ref(event))
                self._seats.setdefault(body.seat, _Seat()).take(key, response)
            case MessageCut():
                ttft = self._first_tokens.pop((body.seat, body.request), None)
                response = _Response(body.usage, money(body.usd), ttft, True, ref(event))
                self._seats.setdefault(body.seat, _Seat()).take(f"cut {body.request}", response)
            case _:
                pass

    def read(self, seat: Seat) -> SeatReading:
        """What the meter bar shows of a seat."""
        found = self._seats.get(seat)
        if found is None:
            return SeatReading(usd=Decimal(0))
        return SeatReading(found.usage, None if found.unpriced else found.usd, len(found.responses))

    def seats(self) -> dict[Seat, SeatCost]:
        """Every seat that was used, whole."""
        return {seat: _seat_cost(found) for seat, found in self._seats.items()}


def _seat_cost(seat: _Seat) -> SeatCost:
    responses = seat.responses.values()
    return SeatCost(
        usage=seat.usage,
        usd=None if seat.unpriced else seat.usd,
        calls=len(seat.responses),
        cut=sum(response.cut for response in responses),
        unpriced=seat.unpriced,
        ttft_ms=tuple(response.ttft_ms for response in responses if response.ttft_ms is not None),
        events=tuple(response.event for response in responses),
    )


def money(text: str | None) -> Decimal | None:
    """The decimal that an event holds as text. Raises ValueError when it is no finite number."""
    if text is None:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"{text!r} is no amount of money") from error
    if not amount.is_finite():
        raise ValueError(f"{text!r} is no amount of money")
    return amount


def cost(events: Iterable[Event]) -> Cost:
    """The cost of one session's ``events``, in the order of its log."""
    meter, clock = CostMeter(), SessionClock()
    first: EventRef | None = None
    last: EventRef | None = None
    for event in events:
        meter.apply(event)
        before = clock.elapsed
        if clock.apply(event) != before or first is None:
            last = ref(event)
        first = first or ref(event)
    return Cost(
        meter.seats(),
        Measured(
            "wall",
            in_ms(clock.elapsed) if first else None,
            "s",
            int(first is not None),
            first.log if first else "",
            "Monotonic seconds from the log's first event to the close, or to the last event of an open session; "
            "time between a crash and the resume is left out.",
            tuple(at for at in (first, last) if at is not None),
        ),
    )
