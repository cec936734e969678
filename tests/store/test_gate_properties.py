"""Whatever anybody asks, in whatever order: budgets hold, nothing disappears, quotes stand, and undo restores."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiers_desk import Desk, changed, line

from store.bodies import By, Json
from store.decay import decayed, expired, packaged_rules, promotions_spent
from store.events import Event, decode, encode, fold
from store.gate import Accepted
from store.lines import BUDGETS, LINE_KINDS, Line, LineId, LineKind, Tiers
from store.operations import (
    AddLine,
    EditLine,
    Operation,
    Promote,
    Refused,
    Reprioritise,
    Restore,
    Retire,
    RewriteHot,
    ToCold,
    TouchLine,
    Undo,
    parse_operation,
)

OPERATOR_SAID = "Always show me the diff before you apply. Never touch data without saying why. Call me Ada."
PRESENCE_SAID = "The offset of Kaldvik is stale, and the postcode table of Brennish has a doubled key."
TOOL_SAID = "KV: 3 meetings fall outside their hours"
REMEMBERED = "An older room held that the harbour road is closed on Mondays"
QUOTES = [
    *OPERATOR_SAID.split(". "),
    "The offset of Kaldvik is stale",
    "the postcode table of Brennish",
    TOOL_SAID,
    REMEMBERED,
    "words that nobody ever said here",
    "",
]
SHOWN = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)

texts = st.one_of(
    st.sampled_from(QUOTES),
    st.builds(
        lambda number, letter, share: f"{number} {letter * (share // len(letter.encode()))}",
        st.integers(0, 99_999),
        st.sampled_from("aeöあ"),
        st.sampled_from([6, 60, 300, 590, 590]),
    ),
    st.text(max_size=40),
)


@st.composite
def lines_to_start_with(draw: st.DrawFn) -> list[Line]:
    """Warm empty, half full or full to the brim, a few hot lines beside it; within the budgets."""
    random = Random(draw(st.integers(0, 1_000), label="seed"))
    few_decisions = [*LINE_KINDS[1:], *LINE_KINDS]
    kinds = draw(st.sampled_from([few_decisions, LINE_KINDS[:1]]), label="kinds")
    found: dict[LineId, Line] = {}
    for number in range(1, draw(st.sampled_from([0, 2, 20, 60]), label="lines") + 1):
        is_hot = random.random() < 0.1
        new = line(
            number,
            f"{number} " + "x" * random.choice([20, 500, 590]),
            tier="hot" if is_hot else "warm",
            kind="thread" if is_hot else random.choice(kinds),
            priority=random.randint(1, 5),
            touched=random.randint(0, 3),
        )
        if Tiers({**found, new.id: new}).size(new.tier) <= BUDGETS[new.tier]:
            found[new.id] = new
    return list(found.values())


@st.composite
def operations(draw: st.DrawFn, desk: Desk, cold: dict[LineId, Line]) -> Operation:
    live = [*desk.tiers.lines] * 3 + [LineId("L999")]
    hot = [one.id for one in desk.tiers.hot()] * 3 + [LineId("L1")]
    mine = [event for event in desk.events if event.by == "operator" and event.kind == "tiers.changed"]
    some_id = draw(st.sampled_from(live))
    reason = draw(st.sampled_from(["so it is", "so it is", "r" * 300, ""]))
    quote = draw(st.sampled_from(QUOTES))
    turn = draw(st.sampled_from([None, 0, 1, 2]))
    which = ["add", "add", "edit", "touch", "reprioritise", "to_cold", "hot", "hot", "promote", "retire"]
    match draw(st.sampled_from(which + ["restore"] * bool(cold) + ["undo"] * bool(mine))):
        case "add":
            return AddLine(
                kind=draw(st.sampled_from(LINE_KINDS)),
                text=draw(texts | st.just(quote)),
                reason=reason,
                quote=quote,
                turn=turn,
                priority=draw(st.none() | st.integers(1, 5)),
            )
        case "edit":
            why = draw(st.sampled_from(["", "another reason"]))
            return EditLine(id=some_id, text=draw(texts), reason=reason, quote=quote, turn=turn, why=why)
        case "touch":
            return TouchLine(id=some_id, reason=reason, quote=quote, turn=turn)
        case "reprioritise":
            return Reprioritise(id=some_id, priority=draw(st.integers(1, 5)), reason=reason)
        case "to_cold":
            return ToCold(id=some_id, reason=reason)
        case "hot":
            new = tuple(draw(st.lists(texts, max_size=4)))
            return RewriteHot(lines=new, keep=tuple(draw(st.lists(st.sampled_from(hot), max_size=2))), reason=reason)
        case "promote":
            return Promote(draw(st.sampled_from(live + hot)))
        case "retire":
            return Retire(some_id)
        case "restore":
            return Restore(draw(st.sampled_from(list(cold.values()))))
        case _:
            return Undo(draw(st.sampled_from(mine)))


def started(lines: list[Line]) -> Desk:
    desk = Desk(*lines, session=3)
    desk.session = 3
    desk.woken_with(REMEMBERED)
    desk.operator(OPERATOR_SAID)
    desk.presence(PRESENCE_SAID)
    desk.tool(f"{TOOL_SAID}\n{REMEMBERED}")
    return desk


def left_as_told(before: Tiers, event: Event, after: Tiers) -> None:
    """Every line that left is in the event whole; every change starts from what stood."""
    told = {change.after.id: change for change in changed(event).changes}
    assert len(told) == len(changed(event).changes)
    for one in before:
        if one.id not in after.lines:
            assert told[one.id].before == one
            # Undoing a restore puts the line back as it lay in cold, where it had not been touched by the restore.
            touched = one.touched if changed(event).op == "undo" else told[one.id].after.touched
            assert replace(told[one.id].after, tier=one.tier, priority=one.priority, touched=touched) == one
        elif one.id not in told:
            assert after.lines[one.id] == one
    for line_id, change in told.items():
        stood = before.lines.get(line_id)
        assert change.before == stood or (stood is None and change.before is not None and change.before.tier == "cold")
        if change.before is None:
            assert int(line_id[1:]) >= before.next_number


@SHOWN
@given(st.data())
def test_no_order_of_operations_breaks_a_rule_of_the_tiers(data: st.DataObject) -> None:
    desk = started(data.draw(lines_to_start_with(), label="start"))
    cold: dict[LineId, Line] = {}
    for _ in range(data.draw(st.integers(1, 20), label="how many")):
        operation = data.draw(operations(desk, cold), label="operation")
        by: By = data.draw(st.sampled_from(["keeper"] * 4 + ["operator"] * 4 + ["presence", "reader"]), label="by")
        before = desk.tiers
        judged = desk.judged(operation, by)
        assert judged == desk.judged(operation, by), "the same question has the same answer"
        if isinstance(judged, Refused):
            assert judged.reason
            assert decode(encode(desk.append(by, judged.body))).body == judged.body
            assert desk.tiers == before
            continue
        event = desk.append(by, judged.body)
        assert decode(encode(event)).body == judged.body
        assert desk.tiers == fold(before, [event])
        left_as_told(before, event, desk.tiers)
        check_rules(desk, before, operation, by, judged)
        for change in judged.body.changes:
            if change.after.tier == "cold":
                cold[change.after.id] = change.after
            else:
                cold.pop(change.after.id, None)
        assert not cold.keys() & desk.tiers.lines.keys()


def check_rules(desk: Desk, before: Tiers, operation: Operation, by: By, judged: Accepted) -> None:
    after = desk.tiers
    for tier, budget in BUDGETS.items():
        assert after.size(tier) <= budget
    changes = judged.body.changes
    if by not in ("keeper", "operator"):
        assert isinstance(operation, TouchLine)
    if by != "operator":
        for change in changes:
            if change.before is not None:
                assert not (change.before.kind == "decision" and change.after.tier == "cold")
                assert not (change.before.promoted and not isinstance(operation, TouchLine))
    if by == "keeper" and isinstance(operation, AddLine):
        new = changes[0].after
        said = (OPERATOR_SAID, PRESENCE_SAID, TOOL_SAID)
        assert any(new.quote in text for text in said) and new.quote and new.quote_turn == 1
        assert new.kind != "decision" or (new.quote in OPERATOR_SAID and new.priority >= 3)
    if judged.body.op in ("add_line", "edit_line", "restore"):
        kept = [one for one in after.warm() if one.kind != "decision" and one.id != changes[0].after.id]
        for change in changes[1:]:
            assert change.before is not None and change.before.kind != "decision"
            assert change.before.id != changes[0].after.id
            weight = (change.before.priority, change.before.touched)
            assert all(weight <= (one.priority, one.touched) for one in kept)
        if len(changes) > 1:  # no more went than had to
            last = changes[-1].before
            assert last is not None
            assert Tiers({**after.lines, last.id: last}).size("warm") > BUDGETS["warm"]


@SHOWN
@given(st.data())
def test_an_undo_at_once_restores_the_lines_exactly(data: st.DataObject) -> None:
    desk = started(data.draw(lines_to_start_with(), label="start"))
    cold: dict[LineId, Line] = {}
    for _ in range(data.draw(st.integers(1, 6), label="how many")):
        operation = data.draw(operations(desk, cold), label="operation")
        before = desk.tiers
        judged = desk.judged(operation, "operator")
        if isinstance(judged, Refused) or not judged.body.changes:
            continue
        event = desk.append("operator", judged.body)
        cold |= {change.after.id: change.after for change in judged.body.changes if change.after.tier == "cold"}
        back = desk.do(Undo(event), by="operator")
        assert dict(desk.tiers.lines) == dict(before.lines)
        if data.draw(st.booleans(), label="redo"):
            desk.do(Undo(back), by="operator")
            assert dict(desk.tiers.lines) == dict(fold(before, [event]).lines)
        for line_id in desk.tiers.lines:
            cold.pop(line_id, None)


@SHOWN
@given(st.data())
def test_over_many_sessions_decisions_stand_at_three_or_more_and_every_line_is_live_or_in_cold(
    data: st.DataObject,
) -> None:
    desk = Desk()
    rules = packaged_rules()
    seen: dict[LineId, Line] = {}
    for session in range(1, data.draw(st.integers(2, 8), label="sessions") + 1):
        desk.session = session
        for body in (decayed(desk.tiers, rules, session), promotions_spent(desk.tiers, session)):
            if body is not None:
                before = desk.tiers
                left_as_told(before, desk.append("system", body), desk.tiers)
        desk.operator(OPERATOR_SAID)
        desk.presence(PRESENCE_SAID)
        for _ in range(data.draw(st.integers(0, 3), label="how many")):
            operation = data.draw(operations(desk, {}), label="operation")
            judged = desk.judged(operation, "keeper")
            if isinstance(judged, Accepted):
                desk.append("keeper", judged.body)
        body = expired(desk.tiers, session)
        if body is not None:
            before = desk.tiers
            left_as_told(before, desk.append("system", body), desk.tiers)
        assert not [one for one in desk.tiers.hot() if not one.promoted]
        for event in desk.events:
            if event.kind == "tiers.changed":
                seen |= {change.after.id: change.after for change in changed(event).changes}
        for one in seen.values():
            assert (one.tier == "cold") != (one.id in desk.tiers.lines)
            assert one.kind != "decision" or (one.tier == "warm" and one.priority >= 3)


@SHOWN
@given(st.lists(st.tuples(st.sampled_from([*QUOTES, "L1"]), st.text(max_size=30)), max_size=100))
def test_a_hundred_calls_of_any_content_are_each_taken_or_refused(calls: list[tuple[str, str]]) -> None:
    desk = started([])
    names = ["add_line", "edit_line", "touch_line", "reprioritise", "to_cold", "rewrite_hot", "whatever"]
    for number, (quote, text) in enumerate(calls):
        given: Json = {
            key: value
            for key, value in {
                "id": "L1",
                "kind": "finding",
                "text": text,
                "reason": text,
                "quote": quote,
                "turn": "1",
                "priority": "3",
                "lines": [text, quote],
            }.items()
            if len(text) % 2 or key in ("id", "text", "reason", "quote", "lines")
        }
        operation = parse_operation(names[number % len(names)], given)
        judged = operation if isinstance(operation, Refused) else desk.judged(operation)
        desk.append("keeper", judged.body)
        assert all(desk.tiers.size(tier) <= budget for tier, budget in BUDGETS.items())


@SHOWN
@given(st.integers(0, 10_000), st.lists(st.tuples(st.sampled_from(LINE_KINDS), st.integers(1, 590)), max_size=8))
def test_a_full_warm_tier_makes_room_by_priority_then_touch_then_age(
    seed: int, adds: list[tuple[LineKind, int]]
) -> None:
    random = Random(seed)
    full: dict[LineId, Line] = {}
    for number in range(1, 120):
        kind = random.choice(LINE_KINDS)
        text = f"{number} " + random.choice("xéあ") * random.choice([20, 150, 190])
        new = line(number, text, kind=kind, priority=random.randint(1, 5), touched=random.randint(0, 3))
        if Tiers({**full, new.id: new}).size("warm") <= BUDGETS["warm"]:
            full[new.id] = new
    desk = started(list(full.values()))
    for number, (kind, length) in enumerate(adds):
        operation = AddLine(kind=kind, text=f"{1000 + number} " + "y" * length, reason="r")
        before = desk.tiers
        event = desk.do(operation, by="operator")
        left_as_told(before, event, desk.tiers)
        check_rules(desk, before, operation, "operator", Accepted(changed(event), ""))
