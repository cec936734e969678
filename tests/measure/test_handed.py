"""What a successor loaded: all of it up to the first right action, nothing behind, and blind as to who kept it."""

from __future__ import annotations

import pytest
from builders import CONDITION_B, RIGHT, SESSION, TASK, WRONG, Tape
from hypothesis import given
from hypothesis import strategies as st

from app.measure.handed import MASK, first_right_action, handed, neutral, packet_parts, stands_in
from app.session.wake import wake_packet
from store.bodies import OperatorSaid, RetMarked, ToolEnded, WakePacket
from store.clock import FrozenClock
from store.letters import Letter
from store.lines import Line, LineId, Tiers
from store.room import LogName


def packet(letter: str = "Dear next one.", handoff: str = "- Six meetings are missing.") -> WakePacket:
    clock = FrozenClock(Tape().clock.now())
    written = [
        Letter(which, f"x-{which}.md", "Title", text, "2026-11-30T00:00:00.000Z", 1, LogName(SESSION))  # type: ignore[arg-type]
        for which, text in (("letter", letter), ("handoff", handoff))
    ]
    line = Line(LineId("L4"), "warm", "trap", "The row stands twice.", "it cost an hour", "q", 1, 4, 1, 1, 1, "keeper")
    tiers = Tiers(lines={line.id: line})
    return wake_packet(
        operator="Robin", number=2, condition=CONDITION_B, task=TASK, letters=written, tiers=tiers, now=clock.now()
    )


def recalled(tape: Tape, call: str, text: str, name: str = "recall") -> None:
    tape.called(call, {"query": "x"}, name)
    tape.add(ToolEnded(call, name, "ok", text, 1.0, len(text), "memory"), by="system")


def test_the_packet_and_what_memory_gave_before_the_first_right_action_count_and_nothing_later() -> None:
    tape = Tape()
    tape.add(packet(), by="system")
    tape.begun()
    recalled(tape, "m1", "found before")
    tape.called("b1", WRONG)
    tape.ended("b1")
    recalled(tape, "m2", "found after the wrong one")
    tape.called("b2", RIGHT)
    recalled(tape, "m3", "too late")
    tape.ended("b2")
    found = handed(tape.events)
    text = found.blind()
    assert "found before" in text and "after the wrong one" in text and "too late" not in text
    assert found.until is not None and found.until == first_right_action(tape.events)


def test_results_of_the_world_are_no_memory() -> None:
    tape = Tape()
    tape.begun()
    tape.called("b1", WRONG)
    tape.ended("b1")
    assert handed(tape.events).passages == ()


def test_where_the_action_never_came_all_that_was_loaded_counts() -> None:
    tape = Tape()
    tape.begun()
    recalled(tape, "m1", "something")
    tape.handed_back()
    found = handed(tape.events)
    assert found.until is None and "something" in found.blind()


@pytest.mark.parametrize("action", ["void", "set"])
def test_a_mark_of_the_operators_hand_moves_the_ret_and_not_what_was_loaded(action: str) -> None:
    tape = Tape()
    tape.begun()
    tape.called("b1", RIGHT)
    recalled(tape, "m1", "too late")
    tape.add(RetMarked(action, "a reason", 3.0 if action == "set" else None), by="operator")  # type: ignore[arg-type]
    assert first_right_action(tape.events) is not None and "too late" not in handed(tape.events).blind()


def test_what_the_program_showed_behind_a_message_was_loaded_too() -> None:
    tape = Tape()
    tape.turn += 1
    tape.add(OperatorSaid("Begin.", "Hot lines:\n[L9] the review is open"), by="operator")
    assert "the review is open" in handed(tape.events).blind()


def test_scorers_see_neither_ids_nor_kinds_nor_titles_nor_the_programs_own_words() -> None:
    tape = Tape()
    tape.add(packet("The Keeper whispered: tier two, condition B."), by="system")
    text = handed(tape.events).blind()
    assert "- The row stands twice. (why: it cost an hour)" in text
    words = ("L4", "trap p4", "Warm", "Keeper", "whisper", "tier", "condition B", "recall with words", TASK.brief)
    for telling in words:
        assert telling not in text
    assert MASK in text


HOSTILE = st.text(alphabet=st.sampled_from("# \n\tAbéL1[]—界"), max_size=120)


@given(letter=HOSTILE, handoff=HOSTILE)
def test_the_parts_of_a_packet_are_found_again_whatever_the_letters_hold(letter: str, handoff: str) -> None:
    parts = dict(packet_parts(packet(letter, handoff)))
    assert parts["letter"] == letter and parts["handoff"] == handoff and "The row stands twice." in parts["warm"]


def test_a_quote_counts_only_where_it_stands_verbatim_but_for_white_space() -> None:
    assert stands_in("row stands\n twice", "The row stands twice.")
    assert not stands_in("row stands thrice", "The row stands twice.")
    assert not stands_in("row", "The row stands twice.")


@given(st.text(max_size=200))
def test_making_a_text_neutral_twice_changes_nothing_more(text: str) -> None:
    once = neutral(text)
    assert neutral(once) == once
