"""The texts that a pattern is searched in, for tools with one text and for tools with many arguments."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from app.measure.call_text import call_texts, found_in_call


def test_a_command_is_first_given_as_it_was_written() -> None:
    command = "cd a && python b.py --x='1' # why"
    assert call_texts({"command": command})[0] == command
    assert "python b.py --x 1" in call_texts({"command": command})


def test_a_tool_with_arguments_is_found_by_its_json_and_by_each_text() -> None:
    called_with = {"region": "NO", "limit": 3, "paths": ["a", "b"]}
    assert found_in_call(re.compile(r'"region": "NO"'), called_with)
    assert found_in_call(re.compile(r"\ANO\Z"), called_with)
    assert not found_in_call(re.compile(r"\ASO\Z"), called_with)


@given(st.text())
def test_any_command_has_texts_and_the_written_one_is_among_them(command: str) -> None:
    assert command in call_texts({"command": command})
