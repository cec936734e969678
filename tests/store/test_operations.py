"""Tool calls of K are read where they can mean one thing only, and refused in plain words everywhere else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.bodies import Json
from store.events import decode_body, plain
from store.operations import (
    KEEPER_TOOLS,
    AddLine,
    EditLine,
    Refused,
    Reprioritise,
    RewriteHot,
    ToCold,
    TouchLine,
    parse_operation,
)

ADD: dict[str, Json] = {
    "kind": "finding",
    "text": "the offset is stale",
    "reason": "it hid meetings",
    "quote": "offset",
    "turn": 2,
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)
NAMES = [spec.name for spec in KEEPER_TOOLS]


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"turn": "2"},
        {"turn": "turn 2"},
        {"turn": 2.0},
        {"kind": "Finding"},
        {"priority": None},
    ],
)
def test_a_shape_that_can_mean_one_thing_only_is_read_as_that(change: dict[str, Json]) -> None:
    assert parse_operation("add_line", {**ADD, **change}) == AddLine.model_validate(ADD)


def test_an_input_that_came_as_json_text_is_read() -> None:
    assert parse_operation("add_line", json.dumps(ADD)) == AddLine.model_validate(ADD)


@pytest.mark.parametrize("said", ["4", "p4", 4, 4.0])
def test_a_priority_may_come_as_text(said: Json) -> None:
    asked = parse_operation("reprioritise", {"id": "L1", "priority": said, "reason": "r"})
    assert asked == Reprioritise(id="L1", priority=4, reason="r")


@pytest.mark.parametrize("said", [12, "12", "l12", "L12", "[L12]", "[L12 trap p4]", "[L12 promoted]"])
def test_an_id_may_come_in_any_dress(said: Json) -> None:
    assert parse_operation("to_cold", {"id": said, "reason": "r"}) == ToCold(id="L12", reason="r")
    assert parse_operation("to_cold", {"line_id": said, "reason": "r"}) == ToCold(id="L12", reason="r")


@pytest.mark.parametrize(
    "lines", [["a b", "c d"], [{"text": "a b"}, {"text": "c d", "id": "L3"}], '["a b", "c d"]', "a b\nc d"]
)
def test_hot_lines_may_come_as_objects_or_in_one_text(lines: Json) -> None:
    assert parse_operation("rewrite_hot", {"lines": lines}) == RewriteHot(lines=("a b", "c d"))


@pytest.mark.parametrize("keep", [["L1", "L2"], [1, 2], "L1, L2", '["L1","L2"]', [{"id": "L1"}, "[L2]"]])
def test_kept_lines_may_come_in_any_dress(keep: Json) -> None:
    assert parse_operation("rewrite_hot", {"lines": [], "keep": keep}) == RewriteHot(lines=(), keep=("L1", "L2"))


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("retire_everything", {}, "no such tool"),
        ("retire", {"id": "L1"}, "Only the operator"),
        ("undo", {"event": 3}, "Only the operator"),
        ("add_line", None, "JSON object"),
        ("add_line", "retire all decisions", "JSON object"),
        ("add_line", "[" * 100_000, "JSON object"),
        ("add_line", [1], "JSON object"),
        ("add_line", {**ADD, "kind": "rule"}, "'decision'"),
        ("add_line", {**ADD, "priority": 9}, "priority"),
        ("add_line", {**ADD, "priority": 0}, "priority"),
        ("add_line", {**ADD, "priority": True}, "priority"),
        ("add_line", {**ADD, "priority": "high"}, "priority"),
        ("add_line", {**ADD, "turn": -1}, "turn"),
        ("add_line", {**ADD, "tier": "hot"}, "there is no tier"),
        ("add_line", {"kind": "finding"}, "text is missing"),
        ("add_line", {**ADD, "text": ["a"]}, "text"),
        ("to_cold", {"id": "all", "reason": "r"}, "L12"),
        ("to_cold", {"id": "L1 and L2", "reason": "r"}, "id"),
        ("to_cold", {"id": "L1"}, "reason is missing"),
        ("rewrite_hot", {}, "lines is missing"),
        ("rewrite_hot", {"lines": [1]}, "lines"),
        ("rewrite_hot", {"lines": ["a"], "keep": ["everything"]}, "L12"),
    ],
)
def test_anything_else_is_refused_and_told_what_is_taken(name: str, given: Json, says: str) -> None:
    refusal = parse_operation(name, given)
    assert isinstance(refusal, Refused)
    assert says in refusal.reason
    assert refusal.body.op == name


def test_a_text_of_a_megabyte_is_recorded_by_its_head_and_the_number_left_out() -> None:
    refusal = parse_operation("add_line", {"kind": "rule", "text": "x" * 1_000_000})
    assert isinstance(refusal, Refused)
    assert isinstance(refusal.body.input, dict)
    assert str(refusal.body.input["text"]).endswith("(999000 characters left out)")


@given(st.sampled_from(NAMES) | st.text(max_size=12), JSON)
def test_no_input_raises_and_every_refusal_can_be_logged(name: str, given: Json) -> None:
    asked = parse_operation(name, given)
    if isinstance(asked, Refused):
        assert asked.reason.endswith(".")
        assert decode_body("tiers.refused", plain(asked.body)) == asked.body


@given(st.sampled_from(KEEPER_TOOLS), st.data())
def test_every_key_of_a_schema_is_read_and_every_required_one_is_asked_for(spec, data: st.DataObject) -> None:
    values: dict[str, Json] = {"id": "L3", "kind": "trap", "lines": ["a"], "keep": ["L1"], "turn": 1, "priority": 2}
    whole = {key: values.get(key, "some words") for key in spec.schema["properties"]}
    assert not isinstance(parse_operation(spec.name, whole), Refused)
    required = {key: whole[key] for key in spec.schema["required"]}
    assert not isinstance(parse_operation(spec.name, required), Refused)


def test_optional_keys_may_be_left_out() -> None:
    assert parse_operation("touch_line", {"id": "L1", "reason": "r", "quote": "q"}) == TouchLine(
        id="L1", reason="r", quote="q"
    )
    assert parse_operation("edit_line", {"id": "L1", "text": "t", "reason": "r"}) == EditLine(
        id="L1", text="t", reason="r"
    )
