"""What the header and the meter bar show of a running session: plain frozen readings, no events behind them."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from store.bodies import KeeperStanding, Usage

RetState = Literal["none", "waiting", "running", "stopped", "told", "void", "set", "missed"]
"""How the RET stands: no task, P not yet at its first token, the clock runs, stopped by the first right action,
given away by the operator, voided by hand, set by hand, never come before the session closed (DESIGN §10)."""

SessionState = Literal["waking", "ready", "waiting", "streaming", "tool", "asking", "closing", "closed", "failed"]
"""What P does now. ``waiting``: a request left and no token came yet; ``asking``: a tool waits for the operator."""


@dataclass(frozen=True, slots=True)
class SeatReading:
    """What a seat has used in this session so far. ``usd`` is None when its model has no known price."""

    usage: Usage = field(default_factory=Usage)
    usd: Decimal | None = None
    calls: int = 0


@dataclass(frozen=True, slots=True)
class RetReading:
    """The RET. ``seconds`` since P's first token, None as long as there is nothing to show."""

    state: RetState = "none"
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class TurnReading:
    """One ended turn, for the sparklines: its length in milliseconds and P's money in it (None: price unknown)."""

    ms: float
    usd: Decimal | None


@dataclass(frozen=True, slots=True)
class LiveReading:
    """Everything that the header and the meter bar show, at one moment.

    ``task`` and ``model`` are titles for the eye and may hold foreign text. ``ttft_ms`` and ``turn_ms`` are those
    of the turn that runs, or else of the last one; ``wall_s`` is the time since the session opened in this
    process's clock. ``behind`` counts turns that K has not heard. ``cache_share`` (0 to 1) is the share of P's
    last prompt that came from the prompt cache; ``context_tokens`` its size, ``context_window`` the model's limit
    (0: unknown). ``recent`` holds the last ended turns, oldest first. ``sandbox`` says in a word what holds bash
    ("bwrap", "off"); ``queued`` counts messages that wait for P.
    """

    operator: str = ""
    task: str = ""
    condition: str = ""
    condition_title: str = ""
    model: str = ""
    scripted: bool = False
    read_only: bool = False
    state: SessionState = "waking"
    turn: int = 0
    ret: RetReading = RetReading()
    ttft_ms: float | None = None
    turn_ms: float | None = None
    wall_s: float = 0.0
    presence: SeatReading = SeatReading()
    keeper: SeatReading = SeatReading()
    keeper_standing: KeeperStanding = "absent"
    keeper_reason: str = ""
    behind: int = 0
    cache_share: float | None = None
    context_tokens: int = 0
    context_window: int = 0
    sandbox: str = ""
    queued: int = 0
    recent: tuple[TurnReading, ...] = ()

    @property
    def keeper_share(self) -> float | None:
        """K's money as a share of P's; None while either is unknown or P has cost nothing."""
        if self.presence.usd is None or self.keeper.usd is None or not self.presence.usd:
            return None
        return float(self.keeper.usd / self.presence.usd)
