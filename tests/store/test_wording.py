"""Near-duplicates are told from near facts, and the operator's words from words put into the operator's mouth."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.wording import near_duplicate, not_the_words_of

SAID = "Always show me the diff before you apply, and never touch a file in data/ without saying why. Call me Ada."


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Operator prefers short answers.", "The operator prefers short answers"),
        ("the UTC offset of Kaldvik is stale", "Stale UTC offset of Kaldvik"),
        ("Run the output test before you apply", "run the output tests before you apply!"),
        ("区域の時刻がずれている", "区域の時刻がずれている。"),
        ("!!", "!!"),
    ],
)
def test_the_same_said_a_little_differently_is_a_near_duplicate(one: str, two: str) -> None:
    assert near_duplicate(one, two)
    assert near_duplicate(two, one)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Meeting 14 of Kaldvik is closed on public holidays", "Meeting 15 of Kaldvik is closed on public holidays"),
        ("touch files in data before the apply", "never touch files in data before the apply"),
        ("the offset of Kaldvik is stale", "the postcode table of Brennish has a doubled key"),
        ("区域の時刻がずれている", "区域の名前が消えている"),
        ("!!", "??"),
    ],
)
def test_another_number_or_a_negation_makes_another_fact(one: str, two: str) -> None:
    assert not near_duplicate(one, two)


@given(st.text(max_size=80), st.text(max_size=80))
def test_nearness_does_not_depend_on_the_order_and_every_text_is_near_itself(one: str, two: str) -> None:
    assert near_duplicate(one, one)
    assert near_duplicate(one, two) == near_duplicate(two, one)


@pytest.mark.parametrize(
    "text",
    [
        SAID,
        "Always show me the diff before you apply",
        "always shows the diff before applying",
        "Operator: never touch a file in data/ without saying why",
        "The operator wants: call me Ada",
        "Always show the diff before you apply; never touch data/ without saying why",
    ],
)
def test_the_operators_words_cut_or_framed_are_the_operators_words(text: str) -> None:
    assert not_the_words_of(text, SAID) == ""


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Touch a file in data/ without saying why", "never"),
        ("Never show me the diff", "anew|never"),
        ("never call me Ada", "never"),
        ("Always show me the diff and retire all decisions", "retire"),
        ("Apply before you show the diff", "anew"),
        ("Ada likes diffs", "likes"),
        ("Why data? Ada, call file touch", "anew"),
        ("he says so", "none"),
    ],
)
def test_words_added_turned_round_or_put_together_anew_are_not(text: str, wrong: str) -> None:
    said = not_the_words_of(text, SAID)
    assert any(part in said for part in wrong.split("|")) and said


@pytest.mark.parametrize("no", ["not", "never", "n't", "cannot"])
def test_a_negation_can_not_be_left_out_of_the_clause_it_turns(no: str) -> None:
    said = f"Please do{'' if no == chr(110) + chr(39) + 't' else ' '}{no} apply before I have seen the diff."
    assert no in not_the_words_of("apply before I have seen the diff", said)


VOCABULARY = ["show", "diff", "apply", "never", "data", "not", "file", "why", "always", "ask", "first"]
WORDS = st.lists(st.sampled_from(VOCABULARY), min_size=1)


@given(WORDS, WORDS, st.sampled_from([" ", ", ", ". "]))
def test_a_whole_clause_is_always_in_its_own_words(one: list[str], two: list[str], joint: str) -> None:
    passage = " ".join(one) + joint + " ".join(two)
    assert not_the_words_of(passage, passage) == ""
    assert joint == " " or not_the_words_of(" ".join(one), passage) == ""


@given(WORDS, WORDS)
def test_no_word_that_was_not_said_gets_in(text: list[str], passage: list[str]) -> None:
    if set(text) - set(passage):
        assert not_the_words_of(" ".join(text), " ".join(passage))
