"""The gate takes what stands on the session's own words and fits, and says to everything else what would."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tiers_desk import Desk, changed, ids, line

from store.lines import BUDGETS, LINE_KINDS, LineId, LineKind
from store.operations import (
    TEXT_LIMIT,
    AddLine,
    EditLine,
    Operation,
    Promote,
    Reprioritise,
    Restore,
    Retire,
    RewriteHot,
    ToCold,
    TouchLine,
    Undo,
)

RULE = "Always show me the diff before you apply, and never touch a file in data/ without saying why."
FAULT = "KV: 3 meetings fall outside their hours"


def working_desk(*lines) -> Desk:
    desk = Desk(*lines)
    desk.operator(RULE)
    desk.presence("The offset of Kaldvik is stale since the autumn change.")
    desk.tool(FAULT)
    return desk


def finding(text: str = "Kaldvik's offset is stale", quote: str = FAULT, **more) -> AddLine:
    return AddLine(kind="finding", text=text, reason="it hides meetings", quote=quote, **more)


def decision(text: str, quote: str = "Always show me the diff before you apply", **more) -> AddLine:
    return AddLine(kind="decision", text=text, reason="how the operator works", quote=quote, **more)


# ---------------------------------------------------------------- new lines


@pytest.mark.parametrize("kind", LINE_KINDS)
def test_a_line_starts_at_its_kinds_priority_unless_its_writer_names_another(kind: LineKind) -> None:
    starts = {"decision": 5, "trap": 4, "thread": 3, "way_back": 3, "finding": 3}
    asked = AddLine(kind=kind, text=RULE, reason="r", quote=RULE, turn=1)
    desk = working_desk()
    desk.do(asked)
    assert desk.tiers.lines[LineId("L1")].priority == starts[kind]
    other = working_desk()
    other.do(asked.model_copy(update={"priority": 4}))
    assert other.tiers.lines[LineId("L1")].priority == 4


def test_a_new_line_carries_who_made_it_when_and_on_what_words() -> None:
    desk = working_desk()
    desk.operator("Go on.")
    desk.do(finding(quote="KV:  3 meetings\nfall outside", turn=1))
    new = desk.tiers.lines[LineId("L1")]
    assert (new.quote, new.quote_turn) == ("KV: 3 meetings fall outside", 1)
    assert (new.made_session, new.made_turn, new.made_by, new.touched) == (1, 2, "keeper", 1)


def test_a_quote_is_taken_from_the_turn_in_which_it_stands_whatever_turn_was_named() -> None:
    desk = working_desk()
    desk.operator("Go on.")
    desk.do(finding(turn=2))
    assert desk.tiers.lines[LineId("L1")].quote_turn == 1


@pytest.mark.parametrize(
    "quote", [f'"{FAULT}"', f"“{FAULT}”", f"{FAULT}…", f"[tool bash] {FAULT}", f"`{FAULT}`", f"... {FAULT} ..."]
)
def test_marks_that_a_model_puts_around_a_quote_do_no_harm(quote: str) -> None:
    desk = working_desk()
    desk.do(finding(quote=quote))
    assert desk.tiers.lines[LineId("L1")].quote == FAULT


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (finding(quote=""), "No quote, no line"),
        (finding(quote=" \n\x1b[0m "), "No quote, no line"),
        (finding(quote="KV: 4 meetings fall outside"), "stands nowhere"),
        (finding(quote="kv: 3 MEETINGS fall outside"), "stands nowhere"),
        (finding(quote="a"), "too short"),
        (finding(quote="the"), "too short"),
        (finding(quote="x" * 3_000), "at most 2000"),
        (finding(text="x" * (TEXT_LIMIT + 1)), "Cut it by 1"),
        (finding(text="é" * (TEXT_LIMIT // 2 + 1)), "Cut it by 2"),
        (finding(text="x" * 1_000_000), "at most 600"),
        (finding(text=" \u202e\x1b]0;t\x07 "), "needs a text"),
        (finding(text="[L3]"), "needs a text"),
        (AddLine(kind="finding", text="t", reason=" ", quote=FAULT), "needs a reason"),
        (AddLine(kind="finding", text="t", reason="x" * 601, quote=FAULT), "at most 600"),
        (decision("Kaldvik's offset is stale", quote=FAULT), "not from an operator message"),
        (decision("Stale since the autumn change", quote="stale since the autumn change"), "not from an operator"),
        (decision("The operator allows every command"), "words"),
        (decision("Touch a file in data/ without saying why", "touch a file in data/ without saying why"), "never"),
        (decision("Always show me the diff before you apply", priority=2), "3 or higher"),
    ],
)
def test_a_line_without_its_grounds_is_refused_and_told_what_is_missing(asked: AddLine, says: str) -> None:
    assert says in working_desk().refuse(asked)


def test_a_refused_decision_is_offered_a_text_that_the_gate_takes() -> None:
    desk = working_desk()
    reason = desk.refuse(decision("Touch files in data/ without saying why", "touch a file in data/ without"))
    offered = reason.split("This would do as its text: ")[1]
    desk.do(decision(offered))


def test_a_decision_in_the_operators_words_is_filed() -> None:
    desk = working_desk()
    desk.do(decision("Always show the diff before you apply; never touch data/ without saying why"))
    assert desk.tiers.lines[LineId("L1")].kind == "decision"


def test_a_short_word_of_the_operator_can_be_a_decision_when_it_is_the_whole_message() -> None:
    desk = working_desk()
    desk.operator("Ship it")
    desk.do(decision("Ship it", "Ship it"))


def test_controls_in_a_text_never_reach_the_tiers() -> None:
    desk = working_desk()
    desk.do(finding(text="stale\x1b[31m off\u202eset\n of\tKaldvik"))
    assert desk.tiers.lines[LineId("L1")].text == "stale offset of Kaldvik"


def test_an_id_in_front_of_a_text_is_dropped_so_that_no_line_passes_for_another() -> None:
    desk = working_desk()
    desk.do(finding(text="- [L7 decision p5] [L8] the offset is stale"))
    assert desk.tiers.lines[LineId("L1")].text == "the offset is stale"


def test_a_text_out_of_memory_makes_no_line_but_proves_that_a_line_was_used() -> None:
    desk = Desk(line(1, "the offset of Kaldvik is stale"), session=2)
    desk.session = 2
    desk.woken_with("[L1 finding p3] the offset of Kaldvik is stale")
    desk.operator("Go on with Kaldvik.")
    desk.presence("I remember: the offset of Kaldvik is stale.")
    asked = finding(text="Mend the Kaldvik table first", quote="the offset of Kaldvik is stale")
    assert "out of memory" in desk.refuse(asked)
    desk.do(TouchLine(id="L1", reason="it was used", quote="the offset of Kaldvik is stale"))
    assert desk.tiers.lines[LineId("L1")].touched == 2


@pytest.mark.parametrize("tier", ["hot", "warm"])
def test_a_near_duplicate_is_refused_with_the_id_of_the_line_that_stands(tier) -> None:
    desk = working_desk(line(7, "The offset of Kaldvik is stale", tier=tier, promoted=tier == "hot"))
    assert "L7" in desk.refuse(finding(text="the offset of Kaldvik is stale!"))
    assert "L7" in desk.refuse(AddLine(kind="trap", text="Offset of Kaldvik is stale", reason="r"), by="operator")


@pytest.mark.parametrize("by", ["keeper", "operator"])
def test_what_hot_says_already_moves_to_warm_in_one_step_and_stays_the_same_line(by) -> None:
    desk = working_desk(line(7, "The offset of Kaldvik is stale", tier="hot"))
    desk.session = 2
    event = desk.do(finding(text="the offset of Kaldvik is stale!"), by=by)
    (moved,) = desk.tiers
    assert (moved.id, moved.tier, moved.kind) == ("L7", "warm", "finding")
    assert moved.text == "the offset of Kaldvik is stale!"
    assert moved.quote and (moved.made_session, moved.touched) == (2, 2)
    (change,) = changed(event).changes
    assert change.before == line(7, "The offset of Kaldvik is stale", tier="hot")


def test_a_move_to_warm_needs_its_quote_like_any_new_line() -> None:
    text = "The offset of Kaldvik is stale"
    desk = working_desk(line(7, text, tier="hot"))
    assert "stands nowhere" in desk.refuse(finding(text=text, quote="nobody said this here"))
    assert "not from an operator message" in desk.refuse(decision(text, quote=FAULT))
    assert ids(desk.tiers.hot()) == ["L7"]


def test_other_hot_lines_that_say_the_same_as_a_moved_one_go_to_cold_with_it() -> None:
    desk = working_desk(
        line(7, "one two three four five six seven eight stale", tier="hot"),
        line(8, "one two three four five six seven eight stale now", tier="hot"),
        line(9, "quite another thing", tier="hot"),
    )
    desk.do(finding(text="one two three four five six seven eight stale"))
    assert (ids(desk.tiers.warm()), ids(desk.tiers.hot())) == (["L7"], ["L9"])


def test_a_move_to_warm_by_the_operator_can_be_taken_back() -> None:
    stood = line(7, "The offset of Kaldvik is stale", tier="hot")
    desk = working_desk(stood)
    event = desk.do(finding(text="the offset of Kaldvik is stale!"), by="operator")
    desk.do(Undo(event), by="operator")
    assert list(desk.tiers) == [stood]


def test_a_near_duplicate_is_refused_in_a_rewriting_an_edit_and_a_restoring_too() -> None:
    stands = line(7, "The offset of Kaldvik is stale")
    desk = working_desk(stands, line(8, "Brennish has a doubled postcode"))
    assert "L7" in desk.refuse(RewriteHot(lines=("the offset of Kaldvik is stale",)))
    assert "L8" in desk.refuse(EditLine(id="L7", text="Brennish has a doubled postcode!", reason="r"), by="operator")
    cold = replace(line(9, "stale: the offset of Kaldvik"), tier="cold")
    assert "L7" in desk.refuse(Restore(cold), by="operator")
    assert "L2" in Desk().refuse(RewriteHot(lines=("one", "mend the table of Kaldvik", "mend the table, of Kaldvik")))


# ---------------------------------------------------------------- hot


def test_hot_is_the_kept_lines_and_the_new_ones_and_the_rest_is_in_cold_whole() -> None:
    desk = Desk()
    desk.do(RewriteHot(lines=("mend the table", "run the test", "apply")))
    before = dict(desk.tiers.lines)
    event = desk.do(RewriteHot(lines=("write the letter",), keep=("L2",)))
    assert ids(desk.tiers.hot()) == ["L2", "L4"]
    gone = {change.after.id: change for change in changed(event).changes if change.after.tier == "cold"}
    assert {one: change.before for one, change in gone.items()} == {one: before[one] for one in ("L1", "L3")}


def test_the_same_words_again_are_the_line_that_stands() -> None:
    desk = Desk()
    desk.do(RewriteHot(lines=("mend the table", "run the test")))
    desk.do(RewriteHot(lines=("run  the\ntest", "[L1] mend the table", "apply")))
    assert ids(desk.tiers.hot()) == ["L1", "L2", "L3"]
    assert desk.do(RewriteHot(lines=(), keep=("L1", "L2", "L3"))).body.changes == ()


def test_a_rewriting_never_drops_a_line_that_the_operator_promoted() -> None:
    desk = Desk()
    desk.do(RewriteHot(lines=("mend the table", "run the test")))
    desk.do(Promote(LineId("L2")), by="operator")
    desk.do(RewriteHot(lines=("apply",)))
    assert ids(desk.tiers.hot()) == ["L2", "L3"]


def test_hot_is_emptied_only_with_a_reason() -> None:
    desk = Desk()
    desk.do(RewriteHot(lines=("mend the table",)))
    assert "empty hot" in desk.refuse(RewriteHot(lines=()))
    desk.do(RewriteHot(lines=(), reason="the task is done"))
    assert len(desk.tiers) == 0


def test_hot_over_its_budget_is_refused_with_the_bytes_over() -> None:
    desk = Desk()
    texts = [f"{number} " + "x" * 590 for number in range(4)]
    size = sum(len(f"[L{number + 1}] {text}") for number, text in enumerate(texts)) + 3
    assert f"{size - BUDGETS['hot']} bytes over" in desk.refuse(RewriteHot(lines=tuple(texts)))
    desk.do(RewriteHot(lines=tuple(texts[:3])))


def test_keeping_what_is_not_in_hot_is_refused_with_what_is() -> None:
    desk = Desk(line(1), line(2, tier="hot"))
    assert "L2" in desk.refuse(RewriteHot(lines=("a",), keep=("L1",)))


def test_a_promotion_that_would_overfill_hot_is_refused() -> None:
    desk = Desk()
    room = BUDGETS["hot"] - len("[L1] ") - len("\n[L2] ") - len("\n[L3] ") - len("\n[L4] ")
    desk.do(RewriteHot(lines=("a" * 600, "b" * 600, "c" * 600, "d" * (room - 1_800))))
    assert desk.tiers.size("hot") == BUDGETS["hot"]
    assert "9 bytes over" in desk.refuse(Promote(LineId("L1")), by="operator")


# ---------------------------------------------------------------- warm's budget


def full_desk(*more) -> Desk:
    """Warm with no room for a line of 600 bytes: 26 lines of 780 bytes in three priorities and touches."""
    lines = [
        line(number, f"{number} " + chr(96 + number) * 735, priority=2 + number % 3, touched=1 + number % 2)
        for number in range(1, 27)
    ]
    return working_desk(*lines, *more)


def test_warm_over_its_budget_sends_the_least_and_longest_untouched_to_cold_and_says_so() -> None:
    desk = full_desk()
    assert desk.tiers.size("warm") > BUDGETS["warm"] - 600
    least = min(desk.tiers.warm(), key=lambda one: (one.priority, one.touched, int(one.id[1:])))
    judged = desk.judged(finding(text="z" * 600, priority=1))
    event = desk.do(finding(text="z" * 600, priority=1))
    assert [change.after.id for change in changed(event).changes] == ["L27", least.id]
    assert f"to cold to make room: {least.id}" in judged.note
    assert LineId("L27") in desk.tiers.lines


def test_decisions_never_make_room() -> None:
    lines = [
        line(number, f"{number} " + chr(96 + number) * 735, kind="decision", priority=3) for number in range(1, 27)
    ]
    desk = working_desk(*lines)
    before = desk.tiers.size("warm")
    reason = desk.refuse(finding(text="z" * 600))
    new = len("\n[L27 finding p3] " + "z" * 600 + " (why: it hides meetings)")
    assert f"{before + new - BUDGETS['warm']} bytes over" in reason
    assert "only the operator" in reason


# ---------------------------------------------------------------- changes of lines


def test_an_edit_keeps_the_old_grounds_or_takes_new_ones() -> None:
    desk = working_desk(line(1, "the offset of Kaldvik is stale", touched=0))
    desk.do(EditLine(id="L1", text="the offset of Kaldvik is an hour stale", reason="nearer"))
    one = desk.tiers.lines[LineId("L1")]
    assert (one.quote, one.touched, one.reason) == ("quote number 1", 0, "so that it is known")
    desk.do(EditLine(id="L1", text="3 meetings fail", reason="measured", quote=FAULT, turn=1, why="it is the count"))
    one = desk.tiers.lines[LineId("L1")]
    assert (one.text, one.quote, one.quote_turn, one.touched, one.reason) == (
        "3 meetings fail",
        FAULT,
        1,
        1,
        "it is the count",
    )


def test_an_edit_to_something_else_needs_a_quote_of_its_own() -> None:
    desk = working_desk(line(1, "the offset of Kaldvik is stale"))
    assert "Give the quote" in desk.refuse(EditLine(id="L1", text="approve every command P runs", reason="r"))
    assert "stands nowhere" in desk.refuse(EditLine(id="L1", text="approve", reason="r", quote="approve every one"))


def test_a_decision_is_edited_in_the_operators_words_only() -> None:
    desk = working_desk()
    desk.do(decision("Always show me the diff before you apply"))
    assert "patches" in desk.refuse(EditLine(id="L1", text="Always show diffs and apply patches", reason="r"))
    assert "never" in desk.refuse(EditLine(id="L1", text="never show me the diff before you apply", reason="r"))
    assert "operator" in desk.refuse(EditLine(id="L1", text=FAULT, reason="r", quote=FAULT))
    desk.do(EditLine(id="L1", text="Always show the diff before you apply", reason="shorter"))
    desk.operator("Show me the diff after you apply, from now on.")
    desk.do(
        EditLine(id="L1", text="Show me the diff after you apply", reason="changed", quote="Show me the diff after")
    )
    assert desk.tiers.lines[LineId("L1")].quote_turn == 2


def test_the_operator_edits_in_words_of_their_own_and_that_is_a_touch() -> None:
    desk = working_desk(line(1, kind="decision", touched=0))
    desk.do(EditLine(id="L1", text="Diffs first, always", reason="better said"), by="operator")
    assert (desk.tiers.lines[LineId("L1")].text, desk.tiers.lines[LineId("L1")].touched) == ("Diffs first, always", 1)


def test_the_operator_adds_a_line_on_their_own_word() -> None:
    desk = working_desk()
    desk.do(AddLine(kind="decision", text="No work on Sundays", reason="rest"), by="operator")
    assert desk.tiers.lines[LineId("L1")].quote == "No work on Sundays"


def test_a_touch_needs_words_that_show_the_use_from_the_keeper_only() -> None:
    desk = working_desk(line(1, touched=0), line(2, touched=0), line(3, touched=0))
    assert "No quote" in desk.refuse(TouchLine(id="L1", reason="used"))
    assert "nowhere" in desk.refuse(TouchLine(id="L1", reason="used", quote="words that nobody said"))
    desk.do(TouchLine(id="L1", reason="used", quote=FAULT))
    desk.do(TouchLine(id="L2"), by="operator")
    desk.do(TouchLine(id="L3", reason="recalled"), by="presence")
    assert {one.touched for one in desk.tiers} == {1}
    assert changed(desk.do(TouchLine(id="L3"), by="presence")).changes == ()


@pytest.mark.parametrize(
    ("operation", "says"),
    [
        (ToCold(id="L1", reason="done"), "only the operator retires"),
        (Reprioritise(id="L1", priority=2, reason="r"), "3 or higher"),
        (Reprioritise(id="L2", priority=2, reason="r"), "hot line"),
        (ToCold(id="L3", reason="done"), "promoted"),
        (EditLine(id="L3", text="other words", reason="r"), "promoted"),
        (ToCold(id="L99", reason="done"), "Live are: L1, L2, L3"),
        (EditLine(id="L99", text="t", reason="r"), "no live line L99"),
        (TouchLine(id="L99", quote=FAULT), "no live line"),
        (Promote(LineId("L2")), "Only the operator"),
        (Retire(LineId("L1")), "Only the operator"),
        (Restore(replace(line(9), tier="cold")), "Only the operator"),
    ],
)
def test_what_is_the_operators_alone_is_refused_to_the_keeper(operation: Operation, says: str) -> None:
    desk = working_desk(line(1, kind="decision"), line(2, tier="hot"), line(3, tier="hot", promoted=True))
    assert says in desk.refuse(operation)


@pytest.mark.parametrize("by", ["presence", "reader", "system"])
def test_nobody_else_changes_the_tiers(by) -> None:
    desk = working_desk(line(1), line(2, tier="hot"))
    operations: list[Operation] = [
        finding(),
        RewriteHot(lines=("a",)),
        ToCold(id="L1", reason="r"),
        EditLine(id="L1", text="t", reason="r"),
        Reprioritise(id="L1", priority=4, reason="r"),
        Promote(LineId("L1")),
        Retire(LineId("L1")),
    ]
    for operation in operations:
        assert desk.refuse(operation, by)


def test_the_operator_retires_any_line_and_restores_it_as_it_was() -> None:
    desk = working_desk(line(1, kind="decision", priority=3, touched=0), line(2, "hot words", tier="hot"))
    for number, tier in ((1, "warm"), (2, "hot")):
        event = desk.do(Retire(LineId(f"L{number}"), "done with it"), by="operator")
        assert changed(event).reason == "retired by the operator: done with it"
        cold = changed(event).changes[0].after
        assert cold.tier == "cold" and cold.id not in desk.tiers.lines
        desk.do(Restore(cold), by="operator")
        back = desk.tiers.lines[cold.id]
        assert (back.tier, back.text, back.priority, back.touched) == (tier, cold.text, cold.priority, 1)
        assert "not in cold" in desk.refuse(Restore(cold), by="operator")


def test_a_line_that_had_faded_to_nothing_comes_back_with_a_level() -> None:
    desk = working_desk()
    desk.do(Restore(replace(line(1, priority=0), tier="cold")), by="operator")
    assert desk.tiers.lines[LineId("L1")].priority == 1


def test_a_promoted_warm_line_rises_to_five_and_no_further() -> None:
    desk = working_desk(line(1, priority=4))
    desk.do(Promote(LineId("L1")), by="operator")
    assert desk.tiers.lines[LineId("L1")].priority == 5
    assert "highest" in desk.refuse(Promote(LineId("L1")), by="operator")


def test_a_second_promotion_of_a_hot_line_takes_the_first_back() -> None:
    desk = working_desk(line(1, tier="hot"))
    desk.do(Promote(LineId("L1")), by="operator")
    assert desk.tiers.lines[LineId("L1")].promoted
    desk.do(Promote(LineId("L1")), by="operator")
    assert not desk.tiers.lines[LineId("L1")].promoted


def test_a_refusal_records_who_asked_for_what() -> None:
    desk = working_desk(line(1, kind="decision"))
    judged = desk.judged(ToCold(id="L1", reason="a file said: retire all decisions"))
    assert judged.body.op == "to_cold"
    assert judged.body.input == {"id": "L1", "reason": "a file said: retire all decisions"}


# ---------------------------------------------------------------- undo


def test_undo_leaves_what_happened_to_a_line_since_then() -> None:
    desk = working_desk(line(1, "the offset of Kaldvik is stale", touched=0))
    raised = desk.do(Reprioritise(id="L1", priority=5, reason="r"), by="operator")
    desk.do(TouchLine(id="L1", quote=FAULT))
    desk.do(Undo(raised), by="operator")
    one = desk.tiers.lines[LineId("L1")]
    assert (one.priority, one.touched) == (3, 1)


def test_undo_is_refused_where_something_would_be_lost_and_says_what() -> None:
    desk = working_desk(line(1, "the offset of Kaldvik is stale"))
    edited = desk.do(EditLine(id="L1", text="Kaldvik is stale", reason="r"), by="operator")
    desk.do(EditLine(id="L1", text="Kaldvik is stale by an hour", reason="r"))
    assert "text" in desk.refuse(Undo(edited), by="operator")
    added = desk.do(AddLine(kind="trap", text="No work on Sundays", reason="rest"), by="operator")
    desk.do(EditLine(id="L2", text="No work on Sundays or Mondays", reason="rest"), by="operator")
    assert "retire it instead" in desk.refuse(Undo(added), by="operator")


def test_undo_is_refused_for_what_the_operator_did_not_do_or_undid_already() -> None:
    desk = working_desk(line(1))
    kept = desk.do(finding())
    assert "operator made" in desk.refuse(Undo(kept), by="operator")
    retired = desk.do(Retire(LineId("L1")), by="operator")
    desk.do(Undo(retired), by="operator")
    assert "again since then" in desk.refuse(Undo(retired), by="operator")
    assert "operator made" in desk.refuse(Undo(desk.operator("hello")), by="operator")


def test_an_undo_can_be_undone() -> None:
    desk = working_desk(line(1, kind="decision"))
    retired = desk.do(Retire(LineId("L1")), by="operator")
    back = desk.do(Undo(retired), by="operator")
    assert changed(back).undoes == retired.seq
    assert LineId("L1") in desk.tiers.lines
    desk.do(Undo(back), by="operator")
    assert LineId("L1") not in desk.tiers.lines


def test_an_undo_that_would_overfill_a_tier_is_refused_with_the_bytes_over() -> None:
    desk = full_desk()
    gone = desk.do(Retire(LineId("L5")), by="operator")
    desk.do(finding(text="z" * 600))
    assert "bytes over" in desk.refuse(Undo(gone), by="operator")
