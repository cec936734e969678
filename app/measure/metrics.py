"""All that a session is measured to be, as a bundle holds it: the report, every measure, the figures by turn."""

from __future__ import annotations

from collections.abc import Iterator

from app.measure.cost import Cost, CostMeter, SeatCost, cost
from app.measure.elapsed import SessionClock
from app.measure.presence_share import presence_share
from app.measure.report import session_report
from app.measure.result import Measured
from app.measure.ret import Ret, ret
from store.bodies import Json, OperatorSaid, Seat, TurnEnded
from store.bundle import Metrics
from store.events import fold, plain
from store.lines import Tiers
from store.page import Fact, SeatFigures, TurnFigures
from store.session_record import SessionRecord

METRICS_FORMAT = 1
"""Version of the layout of `metrics.json`."""

_TOKENS_METHOD = "As the endpoint reports them, once per response; the last report of a response holds."
_USD_METHOD = "Tokens at the dated price of the response's model, as the log holds it; none when one price is unknown."


def metrics(record: SessionRecord) -> Metrics:
    """The metrics of one session: a pure function of its record, so that a bundle's can be made again from itself."""
    measured_ret, measured_cost = ret(record.events), cost(record.events)
    share = presence_share(record.events)
    report = session_report(record.events, tiers=record.after).as_json()
    # The bundle cannot know its own name, and an earlier export is none of its measures.
    report["bundle"] = None
    document: dict[str, Json] = {
        "format": METRICS_FORMAT,
        "report": report,
        "ret": {
            "source": measured_ret.source,
            "told": measured_ret.told,
            "told_after_s": measured_ret.told_after_s,
            "censored_after_s": measured_ret.censored_after_s,
            "reason": measured_ret.reason,
        },
        "measures": [
            plain(one)
            for one in (
                measured_ret.seconds,
                measured_ret.waiting,
                measured_cost.wall,
                share.share,
                share.longest_run,
                *_seat_measures(measured_cost),
            )
        ],
    }
    return Metrics(document, tuple(_facts(measured_ret, measured_cost)), turn_figures(record))


def _seat_measures(measured: Cost) -> Iterator[Measured]:
    for seat, used in measured.seats.items():
        log = used.events[0].log
        tokens = {
            "input": used.usage.input,
            "cache_read": used.usage.cache_read,
            "cache_write": used.usage.cache_write,
            "output": used.usage.output,
        }
        for name, count in tokens.items():
            yield Measured(f"{seat}_{name}", count, "tokens", used.calls, log, _TOKENS_METHOD, used.events)
        usd = None if used.usd is None else float(used.usd)
        yield Measured(f"{seat}_usd", usd, "USD", used.calls - used.unpriced, log, _USD_METHOD, used.events)


def _facts(measured_ret: Ret, measured_cost: Cost) -> Iterator[Fact]:
    seconds = measured_ret.seconds.value
    told = ", told" if measured_ret.told else ""
    yield Fact("RET", f"{measured_ret.source}{told}" if seconds is None else f"{seconds:.1f} s{told}")
    if measured_cost.wall.value is not None:
        yield Fact("Wall time", f"{measured_cost.wall.value:.1f} s")
    for seat, used in measured_cost.seats.items():
        yield Fact(seat.capitalize(), _seat_fact(used))


def _seat_fact(used: SeatCost) -> str:
    money = "price unknown" if used.usd is None else f"US $ {used.usd:.4f}"
    tokens = used.usage
    return (
        f"{tokens.input:,} tokens in, {tokens.cache_read:,} from the cache, {tokens.cache_write:,} into it, "
        f"{tokens.output:,} out; {money}; {used.calls} answers"
    )


# ---------------------------------------------------------------- by turn


def turn_figures(record: SessionRecord) -> tuple[TurnFigures, ...]:
    """Each turn's length, use and tiers. A response counts to the turn of its event: what K answers after P has
    handed back is of that turn still."""
    clock = SessionClock()
    began: dict[int, float] = {}
    seconds: dict[int, float] = {}
    costs: dict[int, CostMeter] = {}
    after: dict[int, Tiers] = {}
    tiers = record.before
    for event in record.in_order():
        tiers = fold(tiers, (event,))
        if event.log != record.log:
            continue
        elapsed = clock.apply(event)
        after[event.turn] = tiers
        costs.setdefault(event.turn, CostMeter()).apply(event)
        if isinstance(event.body, OperatorSaid):
            began[event.turn] = elapsed
        elif isinstance(event.body, TurnEnded) and event.turn in began:
            seconds[event.turn] = elapsed - began[event.turn]
    return tuple(
        TurnFigures(
            turn,
            seconds.get(turn),
            _seat_figures(costs[turn], "presence"),
            _seat_figures(costs[turn], "keeper"),
            after[turn].size("hot"),
            after[turn].size("warm"),
        )
        for turn in began
    )


def _seat_figures(meter: CostMeter, seat: Seat) -> SeatFigures:
    reading = meter.read(seat)
    return SeatFigures(reading.usage, reading.usd)
