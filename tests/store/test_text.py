"""Foreign text passes one boundary, and no terminal control survives it, however the text was cut."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.text import Cleaner, clean

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
PIECES = [
    "\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b_", "\x1b^", "\x1bX", "\x1b\\", "\x1b(", "\x9b", "\x9d", "\x90",
    "\x9f", "\x9c", "\x07", "\x18", "\x1a", "\x00", "\x08", "\x7f", "\x85", "\r", "\n", "\r\n", "\t", "52;c;",
    "0;", "31", "m", "J", "?25l", "word", " ", "é", "日本", "👩\u200d🔬", "\ud83d", "\ude00", "\udfff", *BIDI,
]  # fmt: skip
hostile = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=30).map("".join)


def forbidden(text: str) -> list[str]:
    return [c for c in text if c in BIDI or (unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t")]


@given(hostile)
def test_no_control_ever_comes_out(text: str) -> None:
    assert forbidden(clean(text)) == []


@given(hostile, st.lists(st.integers(0, 200), max_size=8))
def test_it_makes_no_difference_where_a_stream_is_cut(text: str, cuts: list[int]) -> None:
    places = [0, *sorted(cut for cut in cuts if cut <= len(text)), len(text)]
    cleaner = Cleaner()
    chunks = [cleaner.feed(text[a:b]) for a, b in pairwise(places)]
    assert "".join(chunks) + cleaner.end() == clean(text)


@given(hostile)
def test_one_character_at_a_time_is_the_same_as_all_at_once(text: str) -> None:
    cleaner = Cleaner()
    assert "".join(cleaner.feed(c) for c in text) + cleaner.end() == clean(text)


@given(hostile)
def test_clean_text_passes_unchanged(text: str) -> None:
    once = clean(text)
    assert clean(once) == once


@given(st.text(st.characters(exclude_categories=("Cc", "Cs"), exclude_characters=BIDI)))
def test_text_without_controls_is_kept_character_for_character(text: str) -> None:
    assert clean(text) == text


@given(hostile)
def test_what_comes_out_can_be_written_as_utf_8(text: str) -> None:
    assert clean(text).encode().decode() == clean(text)


@given(hostile)
def test_later_lines_survive_whatever_stands_before_them(text: str) -> None:
    assert clean(f"{text}\nthe rest").endswith("\nthe rest")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\x1b[31mred\x1b[0m b", "ared b"),
        ("\x1b]0;a title\x07after", "after"),
        ("\x1b]52;c;ZXZpbA==\x1b\\after", "after"),
        ("\x1b]8;;http://x.test\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9d0;title\x9cafter", "after"),
        ("\x9b2Jafter", "after"),
        ("\x1bPq#0;2;0\x1b\\after", "after"),
        ("\x1b_Gi=1;AAAA\x1b\\after", "after"),
        ("\x1b^private\x1b\\\x1bXstart\x1b\\after", "after"),
        ("\x1bPtmux;\x1b\x1b]52;c;eA==\x07\x1b\\after", "after"),
        ("\x1bcafter", "after"),
        ("\x1b(0after", "after"),
        ("\x1b[?1049h\x1b[1;1Hafter", "after"),
        ("safe \u202eevil\u202c end", "safe evil end"),
        ("over\x08\x08write\x7f", "overwrite"),
        ("one\r\ntwo\rthree\nfour\tend", "one\ntwo\nthree\nfour\tend"),
        ("\x1b]0;never ended\nthe next line", "\nthe next line"),
        ("\x1b[12;é", "é"),
        ("pair \ud83d\ude00 half \ud83d", "pair 😀 half \ufffd"),
        ("[/] [red] [@click=app.bell]x[/]", "[/] [red] [@click=app.bell]x[/]"),
    ],
)
def test_each_kind_of_sequence_goes_whole_and_the_words_stay(raw: str, shown: str) -> None:
    assert clean(raw) == shown


@given(hostile)
def test_a_terminal_that_is_fed_the_result_keeps_its_title_and_modes(text: str) -> None:
    screen = pyte.Screen(40, 5)
    modes = set(screen.mode)
    replies: list[str] = []
    screen.write_process_input = replies.append  # type: ignore[method-assign]
    pyte.Stream(screen).feed(clean(text).replace("\n", "\r\n"))
    assert (screen.title, screen.icon_name, set(screen.mode), replies) == ("", "", modes, [])


def test_a_stream_holds_nothing_back_at_a_return() -> None:
    cleaner = Cleaner()
    assert cleaner.feed("one\r") == "one\n"
    assert cleaner.feed("\ntwo") == "two"
