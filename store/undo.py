"""Taking back a change of the tiers: the changes that compensate for it, or why that would lose something."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace

from store.bodies import Change, TiersChanged
from store.events import Event
from store.lines import Line, LineId, Tiers


class CanNotUndo(Exception):
    """The change can not be taken back as things stand; the message says what stands in the way."""


def last_change(events: Iterable[Event], line_id: LineId | None = None) -> Event | None:
    """The operator's newest change of a line (None: of any) that was not taken back since; None when there is none."""
    standing = standing_changes(events, line_id)
    return standing[-1] if standing else None


def standing_changes(events: Iterable[Event], line_id: LineId | None = None) -> list[Event]:
    """The operator's changes of a line (None: of any) that were not taken back, oldest first."""
    standing: list[Event] = []
    for event in events:
        body = event.body
        if event.by != "operator" or not isinstance(body, TiersChanged):
            continue
        if line_id is not None and all(change.after.id != line_id for change in body.changes):
            continue
        if body.undoes is None:
            standing.append(event)
        else:
            standing = [one for one in standing if one.seq != body.undoes]
    return standing


def undone(tiers: Tiers, event: Event) -> tuple[Change, ...]:
    """The changes that take back an operator's change. Raises CanNotUndo.

    Only what the change had changed is put back: what happened to other fields of its lines since then stays. A line
    that the change had made goes to cold; one that it had sent to cold comes back as it was.
    """
    body = event.body
    if not isinstance(body, TiersChanged) or event.by != "operator":
        raise CanNotUndo("Only a change that the operator made can be taken back.")
    if not body.changes:
        raise CanNotUndo("That changed nothing, so there is nothing to take back.")
    return tuple(_taken_back(tiers, change) for change in body.changes)


def _taken_back(tiers: Tiers, change: Change) -> Change:
    before, after = change.before, change.after
    now = tiers.lines.get(after.id)
    if after.tier == "cold":
        if now is not None:
            raise CanNotUndo(f"{after.id} stands in {now.tier} again since then; change it there.")
        return _back_from_cold(before, after)
    if now is None:
        raise CanNotUndo(f"{after.id} has moved to cold since then; restore it from there.")
    if before is None or before.tier == "cold":
        if _differing(now, after) - {"touched", "priority"}:
            raise CanNotUndo(f"{after.id} was changed since then, and that would be lost; retire it instead.")
        return Change(now, replace(now if before is None else before, tier="cold"))
    touched_fields = _differing(before, after)
    if lost := sorted(touched_fields & _differing(now, after)):
        raise CanNotUndo(f"{after.id} was changed since then ({', '.join(lost)}), and that would be lost.")
    return Change(now, replace(now, **{name: getattr(before, name) for name in touched_fields}))


def _back_from_cold(before: Line | None, after: Line) -> Change:
    if before is None:
        raise CanNotUndo(f"{after.id} was never live.")
    return Change(after, before)


def _differing(one: Line, two: Line) -> set[str]:
    return {field.name for field in fields(Line) if getattr(one, field.name) != getattr(two, field.name)}
