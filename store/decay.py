"""How lines fade between sessions: warm lines by priority, hot lines at the close (paper §5.2, DESIGN §9)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from store.bodies import Change, TiersChanged
from store.lines import LINE_KINDS, Line, LineKind, Tiers
from store.plain import PlainError

Level = Annotated[int, Field(ge=0, le=5, strict=True)]


class DecayRulesError(PlainError, ValueError):
    """A file of decay rules can not be used; the message is one sentence that names the file and the key."""


class DecayRules(BaseModel):
    """How fast warm lines fade: after ``untouched_sessions`` whole sessions without a touch a line loses one level at
    each opening, down to its kind's ``floor`` (0 where none is named). ``start`` is each kind's first priority."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    untouched_sessions: Annotated[int, Field(ge=1, strict=True)] = 1
    start: Mapping[LineKind, Annotated[int, Field(ge=1, le=5, strict=True)]]
    floor: Mapping[LineKind, Level] = Field(default_factory=dict)

    def floor_of(self, kind: LineKind) -> int:
        """The level below which lines of this kind do not fade on their own."""
        return self.floor.get(kind, 0)

    def faded(self, line: Line, session: int) -> int:
        """The priority of a warm line once ``session`` has opened. Fading never raises a line that already stands
        at or below its floor."""
        if line.tier != "warm" or session - 1 - line.touched < self.untouched_sessions:
            return line.priority
        return line.priority if line.priority <= self.floor_of(line.kind) else line.priority - 1


def load_rules(path: Path | Traversable) -> DecayRules:
    """The decay rules of a TOML file. Raises DecayRulesError."""
    try:
        rules = DecayRules.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise DecayRulesError(f"{path.name}: can not be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DecayRulesError(f"{path.name}: not a TOML file in UTF-8: {error}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise DecayRulesError(f"{path.name}: {key}: {first['msg'].lower()}.") from error
    if missing := [kind for kind in LINE_KINDS if kind not in rules.start]:
        raise DecayRulesError(f"{path.name}: start: give a priority for {', '.join(missing)}.")
    return rules


@cache
def packaged_rules() -> DecayRules:
    """The rules of ``briefs/decay.toml``."""
    return load_rules(files("briefs") / "decay.toml")


def decayed(tiers: Tiers, rules: DecayRules, session: int) -> TiersChanged | None:
    """What fades when ``session`` opens, before P is woken; None when nothing does.

    To be applied once a session: each further call on its result takes off another level.
    """
    changes = tuple(
        Change(line, replace(line, priority=level, tier="warm" if level else "cold"))
        for line in tiers.warm()
        if (level := rules.faded(line, session)) != line.priority
    )
    if not changes:
        return None
    sessions = "session" if rules.untouched_sessions == 1 else f"{rules.untouched_sessions} sessions"
    return TiersChanged("decay", changes, f"untouched for a whole {sessions}", session=session)


@dataclass(frozen=True, slots=True)
class Fading:
    """A line that the next opening will lower to ``priority``; at 0 it will move to cold."""

    line: Line
    priority: int

    @property
    def to_cold(self) -> bool:
        return self.priority == 0


def will_decay(tiers: Tiers, rules: DecayRules, session: int) -> tuple[Fading, ...]:
    """What ``decayed`` would lower if ``session`` opened on these tiers: while a session runs, ask for the next one
    (``tiers.session + 1``)."""
    body = decayed(tiers, rules, session)
    changes = body.changes if body else ()
    return tuple(Fading(change.before, change.after.priority) for change in changes if change.before)


def expired(tiers: Tiers, session: int) -> TiersChanged | None:
    """What leaves hot when ``session`` closes: every line that is not promoted. None when there is none."""
    changes = tuple(Change(line, replace(line, tier="cold")) for line in tiers.hot() if not line.promoted)
    if not changes:
        return None
    return TiersChanged("expire", changes, "hot lines expire at the close unless promoted", session=session)


def promotions_spent(tiers: Tiers, session: int) -> TiersChanged | None:
    """What the wake of ``session`` uses up: a promotion carries a hot line through one close, into one wake packet.

    To be applied once the wake packet is made (promoted lines head it). The line then stands in hot as any other and
    expires at the close of ``session`` unless the operator promotes it again.
    """
    changes = tuple(Change(line, replace(line, promoted=False)) for line in tiers.hot() if line.promoted)
    if not changes:
        return None
    return TiersChanged("expire", changes, "a promotion lasts for one wake packet", session=session)


def used_by_waking(tiers: Tiers, session: int) -> TiersChanged | None:
    """The touch of every warm line that stood in the wake packet of ``session``, for rooms that count this as a use
    (``wake_packet_touches``; DESIGN §9 counts it as none, for then nothing that is handed over fades)."""
    changes = tuple(Change(line, replace(line, touched=session)) for line in tiers.warm() if line.touched != session)
    if not changes:
        return None
    return TiersChanged("touch_line", changes, "it stood in the wake packet", session=session)
