"""Presence share: what counts as keeping notes, and what is work."""

from __future__ import annotations

import pytest
from builders import Tape

from app.measure.presence_share import presence_share
from store.bodies import JournalWritten


def turn(tape: Tape, text: str) -> None:
    tape.said("Go on.")
    tape.sent()
    tape.answered(text)
    tape.handed_back()


@pytest.mark.parametrize(
    "text",
    [
        "Let me write that down before I forget.",
        "Good. I'll make a quick note of the two clocks.",
        "I’ll save this to memory now.",
        "Let me update my notes.",
        "I should just jot that down.",
        "Note to self: the data file is the source.",
    ],
)
def test_a_turn_that_says_it_keeps_notes_is_self_administration(text: str) -> None:
    tape = Tape()
    turn(tape, "The list has nine entries.")
    turn(tape, text)
    found = presence_share(tape.events)
    assert found.share.value == 0.5 and found.share.n == 2
    assert len(found.share.events) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Let me write the fix: one line of finder.py changes.",
        "I'll save the file and run the test.",
        "The notes in NOTES.md say that the door is right.",
        "You asked me to put the list online; it is online.",
    ],
)
def test_a_turn_of_work_is_not(text: str) -> None:
    tape = Tape()
    turn(tape, text)
    assert presence_share(tape.events).share.value == 1.0


def test_writing_to_memory_counts_and_reading_it_does_not() -> None:
    tape = Tape()
    tape.said("Go.")
    tape.called("t1", {"command": "view", "path": "/memories"}, name="memory")
    tape.handed_back()
    tape.said("Go on.")
    tape.called("t2", {"command": "create", "path": "/memories/a.md", "file_text": "x"}, name="memory")
    tape.handed_back()
    assert presence_share(tape.events).share.value == 0.5


def test_the_keepers_journal_is_not_presences() -> None:
    tape = Tape()
    tape.said("Go.")
    tape.add(JournalWritten("recall", "a word"), by="keeper")
    tape.handed_back()
    assert presence_share(tape.events).share.value == 1.0


def test_the_longest_run_counts_task_turns_in_a_row() -> None:
    tape = Tape()
    for text in ["Work.", "Note to self: x.", "Work.", "Work.", "Work.", "Note to self: y."]:
        turn(tape, text)
    found = presence_share(tape.events)
    assert found.longest_run.value == 3
    assert found.share.value == pytest.approx(4 / 6)


def test_without_turns_there_is_nothing_to_measure() -> None:
    found = presence_share(Tape().events)
    assert found.share.value is None and found.share.n == 0
