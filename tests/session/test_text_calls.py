"""Tool calls that a model wrote as text are read in their common shapes, and prose stays prose."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.session.text_calls import calls_in_text

NAMES = {"add_line", "touch_line", "read_clock"}
LINE = {"kind": "trap", "text": "the door sticks", "reason": "it cost time", "quote": "sticks", "turn": 2}
BODY = json.dumps(LINE)
ONE_CALL = [{"type": "tool_use", "name": "add_line", "input": LINE}]


@pytest.mark.parametrize(
    "text",
    [
        f'<tool_call>\n{{"name": "add_line", "arguments": {BODY}}}\n</tool_call>',
        f'Sure, I keep this:\n```json\n{{"tool": "add_line", "input": {BODY}}}\n```\nDone.',
        f'{{"function": {{"name": "add_line", "arguments": {json.dumps(BODY)}}}}}',
        f'{{"tool_calls": [{{"type": "function", "function": {{"name": "add_line", "arguments": {BODY}}}}}]}}',
        f'[TOOL_CALLS] [{{"name": "add_line", "parameters": {BODY}}}]',
        f"<function=add_line>{BODY}</function>",
        f"add_line {BODY}",
        f"add_line({BODY})",
        f'{{"add_line": {BODY}}}',
        f'{{"action": "add_line", "action_input": {BODY}}}',
        '{"name": "add_line", ' + BODY[1:],
        'add_line(kind="trap", text="the door sticks", reason="it cost time", quote="sticks", turn=2)',
    ],
)
def test_each_common_shape_is_read(text: str) -> None:
    assert calls_in_text(text, NAMES) == ONE_CALL


def test_several_calls_keep_their_order_and_unknown_tools_are_prose() -> None:
    text = f'touch_line(id="L1", reason="used")\n{{"name":"rm","arguments":{{}}}}\nadd_line {BODY}\nread_clock()'
    assert [call["name"] for call in calls_in_text(text, NAMES)] == ["touch_line", "add_line", "read_clock"]


@pytest.mark.parametrize(
    "text",
    [
        "I would add_line here if I could.",
        'The add_line tool takes {"kind": one of five}.',
        "add_line(open('/etc/passwd').read())",
        "add_line(**secret)",
        '{"name": "add_line"',
        "{" * 5_000,
    ],
)
def test_prose_code_and_broken_pieces_are_no_calls(text: str) -> None:
    assert calls_in_text(text, NAMES) == []


@given(st.text(max_size=2_000))
def test_no_text_raises(text: str) -> None:
    assert isinstance(calls_in_text(text, NAMES), list)


def test_a_loop_of_calls_is_bounded() -> None:
    assert len(calls_in_text(f"add_line {BODY}\n" * 500, NAMES)) == 100
