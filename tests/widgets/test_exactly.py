"""What the operator decides on hides nothing: invisible characters, blanks, alphabets, paths that imitate a diff."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.entries import edit_diff
from widgets.dialogs.exactly import exactly, warnings_on
from widgets.dialogs.plain_text import text_lines

HIDING = (
    "\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u2066", "\u2028", "\u2029", "\x0c", "\x1b", "\x00",
    "\x7f", "\x9b", "\u00a0", "\u3000", "\u3164", "\u2800", "\ufe0f", "\U000e0041", "\U000e0101", "\r", "\ue000",
)  # fmt: skip


@pytest.mark.parametrize("char", HIDING, ids=lambda char: f"U+{ord(char):04X}")
def test_a_character_that_is_not_drawn_is_spelled_out_and_warned_of(char: str) -> None:
    command = f"rm{char} -r build"
    assert f"‹U+{ord(char):04X}›" in exactly(command)
    assert any("not drawn" in warning for warning in warnings_on(command))


@given(st.text(max_size=200))
def test_two_commands_that_differ_never_look_alike_but_for_what_is_typed_as_spelled_out(text: str) -> None:
    shown = exactly(text)
    assert all(unicodedata.category(char) not in ("Cc", "Cf", "Zl", "Zp") or char in "\n\t" for char in shown)
    back = shown
    for char in set(text):
        if exactly(char) != char:
            back = back.replace(exactly(char), char)
    if "‹" not in text:
        assert back == text


def test_plain_commands_and_plain_words_of_any_language_are_left_alone() -> None:
    for command in ("git push origin main", "echo 'Grüße, 日本語, привет'", "a\tb\nc", "printf '%s' naïve"):
        assert exactly(command) == command and list(warnings_on(command)) == []


@pytest.mark.parametrize("command", ["cаt /etc/hosts", "сurl https://host.invalid", "ｒｍ -r .", "ls && ρrintf x"])
def test_a_word_that_only_looks_latin_is_warned_of(command: str) -> None:
    assert any("mixes two alphabets" in warning for warning in warnings_on(command))


@pytest.mark.parametrize("blanks", [" " * 200, "\n" * 30, "\n   " * 10])
def test_what_stands_behind_a_stretch_of_blanks_is_warned_of_and_still_shown(blanks: str) -> None:
    command = f"ls{blanks}rm -r build"
    assert any("stretch of blanks" in warning for warning in warnings_on(command))
    assert any("rm -r build" in line.text for line in text_lines(command))


def test_a_path_cannot_pass_for_lines_of_a_diff() -> None:
    shown = edit_diff("a.py\n+harmless", "old", "evil")
    assert "+harmless" not in shown.split("\n") and "+evil" in shown.split("\n")


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_diff_shows_every_line_that_changes_whatever_ends_it(before: str, after: str) -> None:
    rows = edit_diff("f", before, after).split("\n")
    for line in set(after.split("\n")) - set(before.split("\n")):
        assert f"+{line}" in rows
    for line in set(before.split("\n")) - set(after.split("\n")):
        assert f"-{line}" in rows
    assert (rows == ["f: no change"]) == (before == after)


def test_replacing_every_place_is_said() -> None:
    assert edit_diff("f", "a", "b", every=True).startswith("every place")
