"""The bench: how much of a checklist each Keeper hands over, at what price, and how sure that is."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import sqrt

from app.replay.many import Outcome
from store.bodies import Json, Usage

SURE = 0.95
MOST_EXACT = 5
"""Up to so many transcripts every resample is reckoned; beyond, DRAWS of them are drawn with a fixed seed."""
DRAWS = 10_000
CLUSTERED = (
    "Facts found over all facts, by the lexical scorer; the interval holds 95 % of the values that come out when the "
    "transcripts are drawn anew with replacement (facts of one transcript stand or fall together)."
)
SINGLE = "Facts found over all facts, by the lexical scorer; of one transcript, so the interval is Wilson's."


@dataclass(frozen=True, slots=True)
class Row:
    """One Keeper over all transcripts that came to their end. ``hf`` is None without a checklist; ``of_twin`` is its
    share of the twin's HF (H5: 0.8), None without a twin. Bytes are the mean a successor loads."""

    keeper: str
    beside: str
    model: str
    transcripts: int
    stopped: tuple[str, ...]
    sessions: int
    turns: int
    facts: int
    found: int
    hf: float | None
    low: float | None
    high: float | None
    of_twin: float | None
    bytes_loaded: float
    usage: Usage
    usd: float | None
    seconds: float
    accepted: int
    refused: int

    @property
    def label(self) -> str:
        """What the tables call it."""
        return f"{self.keeper} at {self.beside}'s bytes" if self.beside else self.keeper

    def as_json(self) -> dict[str, Json]:
        """The row by its fields."""
        return {
            "keeper": self.keeper,
            "at_bytes_of": self.beside or None,
            "model": self.model or None,
            "transcripts": self.transcripts,
            "stopped": [*self.stopped],
            "sessions": self.sessions,
            "turns": self.turns,
            "facts": self.facts,
            "found": self.found,
            "hf": self.hf,
            "hf_low": self.low,
            "hf_high": self.high,
            "share_of_twin": self.of_twin,
            "bytes_loaded": self.bytes_loaded,
            "tokens": {
                "input": self.usage.input,
                "cache_read": self.usage.cache_read,
                "cache_write": self.usage.cache_write,
                "output": self.usage.output,
            },
            "usd": self.usd,
            "seconds": round(self.seconds, 3),
            "operations": {"accepted": self.accepted, "refused": self.refused},
        }


def rows(outcomes: Sequence[Outcome], order: Sequence[str]) -> tuple[Row, ...]:
    """A row for each Keeper, in the order asked for, each baseline at another's bytes behind it."""
    groups: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in sorted(outcomes, key=lambda one: one.job.chain.name):
        groups.setdefault((outcome.job.keeper, outcome.job.beside), []).append(outcome)
    made = [_row(keeper, beside, group) for (keeper, beside), group in groups.items()]
    twin = next((row.hf for row in made if row.keeper == "twin" and row.hf), None)
    placed = sorted(made, key=lambda row: (bool(row.beside), row.beside, order.index(row.keeper)))
    return tuple(_beside_twin(row, twin) for row in placed)


def _beside_twin(row: Row, twin: float | None) -> Row:
    from dataclasses import replace

    return replace(row, of_twin=row.hf / twin if twin and row.hf is not None else None)


def _row(keeper: str, beside: str, group: Sequence[Outcome]) -> Row:
    done = [(one.done, one) for one in group if one.done is not None]
    counts = [(sum(one.found), len(one.found)) for _, one in done if one.found]
    found, facts = sum(count for count, _ in counts), sum(of for _, of in counts)
    low, high = interval(counts) if counts else (None, None)
    priced = [one.usd for one, _ in done]
    return Row(
        keeper=keeper,
        beside=beside,
        model=next((one.model for one, _ in done if one.model), ""),
        transcripts=len(done),
        stopped=tuple(sorted({one.stopped for one in group if one.stopped})),
        sessions=sum(one.sessions for one, _ in done),
        turns=sum(one.turns for one, _ in done),
        facts=facts,
        found=found,
        hf=found / facts if facts else None,
        low=low,
        high=high,
        of_twin=None,
        bytes_loaded=sum(len(one.loaded.encode()) for one, _ in done) / len(done) if done else 0.0,
        usage=sum((one.usage for one, _ in done), Usage()),
        usd=None if any(one is None for one in priced) else sum(one or 0.0 for one in priced),
        seconds=sum(one.seconds for one, _ in done),
        accepted=sum(one.accepted for one, _ in done),
        refused=sum(one.refused for one, _ in done),
    )


def interval(counts: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """The interval of the share of facts found, given (found, of) for each transcript; see CLUSTERED and SINGLE."""
    if len(counts) == 1:
        return _wilson(*counts[0])
    drawn: list[float] = []
    if len(counts) <= MOST_EXACT:
        samples = product(counts, repeat=len(counts))
    else:
        draw = random.Random(len(counts))
        samples = (tuple(draw.choices(counts, k=len(counts))) for _ in range(DRAWS))  # type: ignore[assignment]
    for sample in samples:
        drawn.append(sum(found for found, _ in sample) / sum(of for _, of in sample))
    drawn.sort()
    left_out = (1 - SURE) / 2
    return drawn[int(left_out * len(drawn))], drawn[min(len(drawn) - 1, int((1 - left_out) * len(drawn)))]


def _wilson(found: int, of: int) -> tuple[float, float]:
    z = 1.959964  # the normal quantile of 0.975
    share = found / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    # Rounding must not put the interval beside the share itself.
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))


def method_of(outcomes: Sequence[Outcome]) -> str:
    """How the intervals of these outcomes were reckoned."""
    return CLUSTERED if len({one.job.chain.name for one in outcomes}) > 1 else SINGLE
