"""Lines of the hot and warm tiers, how they are rendered and counted, and the tiers as a pure fold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NewType, get_args

Tier = Literal["hot", "warm", "cold"]
LineKind = Literal["decision", "trap", "thread", "way_back", "finding"]
LINE_KINDS: tuple[LineKind, ...] = get_args(LineKind)
LineId = NewType("LineId", str)

HOT_BUDGET = 2_048
"""Bytes of UTF-8 that hot may hold as rendered (paper §1, Tier 1: at most 2 KB)."""
WARM_BUDGET = 20_480
"""Bytes of UTF-8 that warm may hold as rendered (paper §1, Tier 2: at most 20 KB)."""
BUDGETS: Mapping[Tier, int] = {"hot": HOT_BUDGET, "warm": WARM_BUDGET}


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of hot or warm (in "cold" when it has left both).

    ``priority`` 0 to 5; ``touched`` is the number of the session that last used it; ``made_session`` and
    ``made_turn`` say where it was made; ``quote`` stands verbatim in the log at ``quote_turn`` of the session it
    was made in; ``promoted`` keeps a hot line beyond the close. Hot lines carry no quote (DESIGN §7: `rewrite_hot`
    takes texts).
    """

    id: LineId
    tier: Tier
    kind: LineKind
    text: str
    reason: str
    quote: str
    quote_turn: int
    priority: int
    touched: int
    made_session: int
    made_turn: int
    made_by: str
    promoted: bool = False


def one_line(text: str) -> str:
    """``text`` with every run of white space folded into one blank: a line is a line."""
    return " ".join(text.split())


def render_line(line: Line) -> str:
    """A line as the seats see it, and as the budgets count it."""
    if line.tier == "hot":
        return f"[{line.id}{' promoted' if line.promoted else ''}] {line.text}"
    return f"[{line.id} {line.kind} p{line.priority}] {line.text} (why: {line.reason})"


def render(lines: Iterable[Line]) -> str:
    """The lines as one text, a line each."""
    return "\n".join(render_line(line) for line in lines)


def size(lines: Iterable[Line]) -> int:
    """Bytes of UTF-8 that ``lines`` take as rendered."""
    return len(render(lines).encode())


@dataclass(frozen=True, slots=True)
class Tiers:
    """Hot and warm as they stand: the fold of every ``tiers.changed`` event of the room.

    ``lines`` holds live lines by id in the order in which they came; ``next_number`` is the next free line number;
    ``session`` the number of the newest session; ``seq`` the last event folded in. Cold lines are not held here:
    the event that sent a line there holds it whole.
    """

    lines: Mapping[LineId, Line] = field(default_factory=dict)
    next_number: int = 1
    session: int = 0
    seq: int = 0

    def hot(self) -> tuple[Line, ...]:
        """Hot lines: promoted ones first, then in the order in which they came."""
        found = [line for line in self.lines.values() if line.tier == "hot"]
        return tuple(sorted(found, key=lambda line: not line.promoted))

    def warm(self) -> tuple[Line, ...]:
        """Warm lines by priority, highest first; equal ones in the order in which they came."""
        found = [line for line in self.lines.values() if line.tier == "warm"]
        return tuple(sorted(found, key=lambda line: -line.priority))

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines.values())

    def __len__(self) -> int:
        return len(self.lines)

    def size(self, tier: Tier) -> int:
        """Bytes that a tier takes as rendered."""
        return size(self.hot() if tier == "hot" else self.warm())


def number_of(line_id: LineId) -> int:
    """The number in a line's id: ``L12`` is 12. Raises ValueError for anything else."""
    if not line_id.startswith("L"):
        raise ValueError(f"{line_id!r} is not a line id; they look like L12")
    return int(line_id[1:])


def with_changes(tiers: Tiers, changed: Iterable[Line], *, seq: int, session: int) -> Tiers:
    """``tiers`` after ``changed`` lines took their new state; lines now in cold leave the live ones."""
    lines = dict(tiers.lines)
    next_number = tiers.next_number
    for line in changed:
        next_number = max(next_number, number_of(line.id) + 1)
        if line.tier == "cold":
            lines.pop(line.id, None)
        else:
            lines[line.id] = line
    return replace(tiers, lines=lines, next_number=next_number, seq=seq, session=max(tiers.session, session))
