"""The lexical scorer against pairs labelled by hand, and against its promises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.measure.lexical import LabelledPair, agreement, find_fact, labelled_pairs
from store.evidence import folded

PAIRS = labelled_pairs()
FACTS = [pair for pair in PAIRS if pair.present and pair.sort == "same"]


def test_there_are_at_least_sixty_pairs_half_of_them_held_back_and_every_sort_in_both_halves() -> None:
    assert len(PAIRS) >= 60
    halves = [{pair.sort for pair in PAIRS if pair.held is held} for held in (True, False)]
    assert halves[0] == halves[1] == {"same", "paraphrase", "opposite", "other", "missing", "amid"}


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.sort in ("opposite", "other")], ids=lambda p: p.fact)
def test_the_opposite_and_the_same_of_another_region_are_not_present(pair: LabelledPair) -> None:
    assert not find_fact(pair.fact, pair.text).present


def test_on_pairs_held_back_it_agrees_with_the_person_beyond_chance() -> None:
    held = agreement("held")
    assert held.n >= 30 and held.kappa is not None and held.kappa > 0.6
    assert held.same + held.wrongly_absent + held.wrongly_present == held.n


@given(st.sampled_from(PAIRS))
def test_a_present_fact_rests_on_words_of_the_material(pair: LabelledPair) -> None:
    found = find_fact(pair.fact, pair.text)
    assert not found.present or found.quote in folded(pair.text)


@given(st.sampled_from(PAIRS), st.sampled_from(PAIRS))
def test_what_was_present_stays_so_when_more_stands_around_it(pair: LabelledPair, other: LabelledPair) -> None:
    if find_fact(pair.fact, pair.text).present:
        assert find_fact(pair.fact, f"{other.text}\n\n{pair.text}\n\n{other.text}").present


REGIONS = ("Kelvarra", "Brindelow", "Marrowick", "Tessholt", "Hallin Reach")
SAYINGS = (
    "{} is two hours ahead of UTC.",
    "The list of {} lacks six meetings.",
    "{}'s halls send their times on Friday.",
    "Nobody in {} wants the old list back.",
    "Run the test of {} before the review.",
)


@given(st.sampled_from(SAYINGS), st.permutations(REGIONS))
def test_no_saying_about_one_region_is_present_where_it_is_said_of_another(saying: str, regions: list[str]) -> None:
    fact, text = saying.format(regions[0]), saying.format(regions[1])
    assert not find_fact(fact, text).present
    assert find_fact(fact, fact).present


@given(st.sampled_from(("is", "may be", "must be", "was")), st.sampled_from(("not", "never")), st.sampled_from(REGIONS))
def test_a_negation_on_either_side_alone_makes_it_the_opposite(verb: str, no: str, region: str) -> None:
    first, *rest = verb.split()
    yes = f"The list of {region} {verb} rebuilt at night."
    denied = f"The list of {region} {' '.join([first, no, *rest])} rebuilt at night."
    assert not find_fact(yes, denied).present and not find_fact(denied, yes).present
    assert find_fact(denied, denied).present


@given(st.integers(0, 999), st.integers(0, 999))
def test_another_number_is_another_fact(one: int, two: int) -> None:
    fact = f"The offset of Kelvarra is {one} minutes."
    assert find_fact(fact, f"The offset of Kelvarra is {two} minutes.").present is (one == two)


@given(st.text(max_size=80), st.text(max_size=200))
def test_any_text_at_all_gets_an_answer(fact: str, text: str) -> None:
    assert 0 <= find_fact(fact, text).share <= 1
