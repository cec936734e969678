"""What one turn changed in the tiers: which lines, in which way, and how many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from store.bodies import Change
from store.lines import LineId

ChangeName = Literal["added", "edited", "demoted", "touched"]

SIGNS: Mapping[ChangeName, str] = {"added": "+", "edited": "~", "demoted": "↓", "touched": "·"}
"""A sign for each, so that a change is not told by colour alone."""

_STRENGTH: Mapping[ChangeName, int] = {"touched": 0, "edited": 1, "demoted": 2, "added": 3}


def name_of(change: Change) -> ChangeName:
    """In which way a change concerns the eye: a line came, left or sank, says something else, or was only used."""
    before, after = change.before, change.after
    if before is None or (before.tier == "cold" and after.tier != "cold"):
        return "added"
    sank = after.tier == "cold" or (before.tier == "hot" and after.tier == "warm")
    if sank or after.priority < before.priority:
        return "demoted"
    words = (before.text, before.kind, before.reason, before.quote, before.tier, before.priority, before.promoted)
    if words != (after.text, after.kind, after.reason, after.quote, after.tier, after.priority, after.promoted):
        return "edited"
    return "touched"


@dataclass(frozen=True, slots=True)
class TurnChanges:
    """The lines that one turn changed. A line that changed twice stands under what tells most about it."""

    names: Mapping[LineId, ChangeName] = field(default_factory=dict)

    def plus(self, changes: Iterable[Change]) -> TurnChanges:
        """With ``changes`` added."""
        names = dict(self.names)
        for change in changes:
            name = name_of(change)
            line_id = change.after.id
            known = names.get(line_id)
            if change.after.tier == "cold" or known is None or _STRENGTH[name] > _STRENGTH[known]:
                names[line_id] = name
        return TurnChanges(names)

    def count(self, name: ChangeName) -> int:
        """How many lines stand under ``name``."""
        return sum(1 for found in self.names.values() if found == name)
