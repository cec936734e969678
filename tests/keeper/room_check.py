"""What must hold of any room, whatever its Keeper did: quotes stand in the log, budgets are kept, decisions stay."""

from __future__ import annotations

from collections import defaultdict

from store.bodies import MessageCut, MessageEnded, OperatorSaid, TiersChanged, ToolAnswered, ToolCalled, ToolEnded
from store.events import Event
from store.evidence import folded
from store.lines import BUDGETS, LineId, Tiers, with_changes
from store.room import Room


def wrong_with(room: Room) -> list[str]:
    """What is wrong with the tiers of a room, a sentence each: read from the raw log alone, not through the gate."""
    wrong: list[str] = []
    said: dict[str, list[str]] = defaultdict(list)
    tiers = Tiers()
    for event in room.all_events():
        said[event.log] += _words(event)
        body = event.body
        if not isinstance(body, TiersChanged):
            continue
        for change in body.changes:
            line = change.after
            if event.by == "keeper" and change.before is None and line.tier == "warm" and not line.quote:
                wrong.append(f"{line.id} has no quote")
            new_quote = change.before is None or change.before.quote != line.quote
            if event.by == "keeper" and line.quote and new_quote and not _stands(line.quote, said[event.log]):
                wrong.append(f"{line.id}'s quote stands nowhere before it: {line.quote!r}")
            was_decision = change.before is not None and change.before.kind == "decision"
            if was_decision and line.tier == "cold" and event.by != "operator":
                wrong.append(f"{event.by} retired the decision {line.id}")
            if line.kind == "decision" and line.tier == "warm" and line.priority < 3 and event.by != "operator":
                wrong.append(f"the decision {line.id} fell to {line.priority}")
        if event.by == "keeper" and body.quote and not _stands(body.quote, said[event.log]):
            wrong.append(f"{body.op} of {_ids(body)} stands on words that nobody said: {body.quote!r}")
        tiers = with_changes(tiers, (change.after for change in body.changes), seq=event.seq, session=body.session)
        wrong += [
            f"{tier} holds {tiers.size(tier)} of {budget} bytes after event {event.seq}"
            for tier, budget in BUDGETS.items()
            if tiers.size(tier) > budget
        ]
    if dict(tiers.lines) != dict(room.tiers.lines):
        wrong.append("the tiers are not what the log comes to")
    return wrong


def _ids(body: TiersChanged) -> list[LineId]:
    return [change.after.id for change in body.changes]


def _words(event: Event) -> list[str]:
    """All that was said or done in a session before the tiers changed, as raw text."""
    body = event.body
    match body:
        case OperatorSaid():
            return [body.text]
        case ToolAnswered():
            return [body.word]
        case MessageEnded(seat="presence") | ToolEnded():
            return _texts(body.content)
        case ToolCalled():
            return _texts(body.input)
        case MessageCut(seat="presence"):
            return [body.text]
        case _:
            return []


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    return []


def _stands(quote: str, said: list[str]) -> bool:
    return any(folded(quote) in folded(text) for text in said)
