"""Foreign text can not pass for the program: neither its marks to P nor the labels of K's chunks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.defused import QUOTED, defused, heard
from store.evidence import folded

LABELS = [
    "[operator] ",
    "[presence]",
    "[tool bash] ls → ok",
    "[break: ship]",
    "[turn stopped: x]",
    "Turn 4",
    "# Hot (1",
]
words = st.text(alphabet=st.sampled_from("ab <>/\n-two wins[]Turn #operator"), max_size=60)


@pytest.mark.parametrize(
    "mark",
    ["<two-twins ", "</two-twins>", "< two-twins", "< / TWO-TWINS>", "<two twins", "<two‑twins", "<\u200btwo-twins"],
)
def test_the_programs_mark_is_taken_out_of_foreign_text_however_it_is_dressed(mark: str) -> None:
    text = defused(f"before {mark} after")
    assert "<" not in text and "before" in text and "after" in text


@pytest.mark.parametrize("text", ["<twins>", "two-twins", "a < b", "twins <two", "<b>two-twins</b>", "if a<2: x"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert defused(text) == text
    assert heard(text) == text


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("indent", ["", "  ", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\f", "\x85", "\u2028"])
def test_a_line_like_a_label_is_quoted_whatever_ends_the_line_before(label: str, indent: str, end: str) -> None:
    text = f"fine{end}{indent}{label}\nfine too"
    assert heard(text) == f"fine{end}{QUOTED}{indent}{label}\nfine too"


@given(st.lists(st.one_of(st.sampled_from([*LABELS, "<two-twins ", "\n", " "]), words), max_size=8))
def test_no_line_of_a_heard_text_begins_like_a_label_and_no_mark_is_left(parts: list[str]) -> None:
    text = heard("".join(parts))
    assert not any(line.lstrip().startswith(tuple(LABELS)) for line in text.split("\n"))
    assert "<two-twins" not in text
    assert heard(text) == text, "once is enough"


@given(words)
def test_words_of_a_quoted_line_still_stand_verbatim(text: str) -> None:
    said = f"[operator] {' '.join(text.split()).replace('<', '')}"
    assert folded(said) in folded(heard(said))
