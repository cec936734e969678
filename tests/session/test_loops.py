"""An answer that repeats itself without end is told from long text that does not."""

from __future__ import annotations

import pytest

from app.session.answers import LOOP_WINDOW, loops


@pytest.mark.parametrize("piece", ["The second instance is the first instance.\n\n", "ha", "x" * 399 + "\n"])
def test_one_piece_over_and_over_is_a_loop(piece: str) -> None:
    assert loops((piece * LOOP_WINDOW)[-LOOP_WINDOW:])


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"row {number}: done\n" for number in range(2_000)),
        " " * 10_000,
        "The second instance is the first instance. " * 20,
        "start" + "ha" * ((LOOP_WINDOW - 5) // 2),
    ],
)
def test_long_lists_blanks_short_repeats_and_a_beginning_of_its_own_are_none(text: str) -> None:
    assert not loops(text[:LOOP_WINDOW])
