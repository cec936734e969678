"""The header shows task, condition, RET and state at every width."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from panel_samples import HOSTILE, HOSTILE_SHOWN, READING, OneWidget, controls_in, rows_on_screen

from store.readings import LiveReading, RetReading, RetState, SessionState
from widgets.header import SessionHeader
from widgets.header.header import STATES

WIDTHS = (80, 120, 200)


def shown(reading: LiveReading, width: int = 120) -> str:
    return "\n".join(row.plain for row in SessionHeader.rows(reading, width))


@pytest.mark.parametrize("width", WIDTHS)
def test_task_condition_ret_and_state_stand_at_every_width(width: int) -> None:
    text = shown(READING, width)
    for words in ("The finder sends", "condition B silent Keeper", "RET  3:12 running", "● answers", "turn 4"):
        assert words in text


@pytest.mark.parametrize("width", (40, *WIDTHS))
@pytest.mark.parametrize("mark", ("scripted", "read only"))
def test_scripted_and_read_only_never_leave_the_header(width: int, mark: str) -> None:
    reading = replace(READING, scripted=True, read_only=True, queued=3)
    assert mark in shown(reading, width)


def test_every_state_has_a_sign_and_words_of_its_own() -> None:
    assert set(STATES) == set(get_args(SessionState))
    assert len({(sign, words) for sign, words, _ in STATES.values()}) == len(STATES)
    assert len({sign for sign, _, _ in STATES.values()}) == len(STATES)


def test_every_ret_state_reads_differently_without_colour() -> None:
    texts = {shown(replace(READING, ret=RetReading(state, 61.0))) for state in get_args(RetState)}
    assert len(texts) == len(get_args(RetState))


def test_nothing_moves_sideways_while_the_ret_runs_through_its_first_hour() -> None:
    places = {
        shown(replace(READING, ret=RetReading("running", float(second)))).index("condition")
        for second in range(0, 3_600, 7)
    }
    assert len(places) == 1


def test_a_long_task_is_cut_and_takes_nothing_from_the_ret() -> None:
    reading = replace(READING, task="word " * 100)
    for width in WIDTHS:
        first = SessionHeader.rows(reading, width)[0]
        assert "…" in first.plain and first.plain.endswith("running")
        assert first.cell_length == width


def test_text_from_outside_is_shown_as_typed_and_without_controls() -> None:
    reading = replace(READING, task=HOSTILE, operator=HOSTILE, model=HOSTILE, sandbox="a\nb\tc")
    text = shown(reading, 400)
    assert text.count(HOSTILE_SHOWN) == 3 and "a b c" in text
    assert not controls_in(text)


@pytest.mark.parametrize("width", WIDTHS)
async def test_the_header_takes_two_rows_on_screen(width: int) -> None:
    header = SessionHeader()
    async with OneWidget(header).run_test(size=(width, 24)) as pilot:
        header.reading = replace(READING, task=HOSTILE)
        await pilot.pause()
        rows = rows_on_screen(pilot.app)
        assert rows[0].startswith(f" {HOSTILE_SHOWN[:20]}") and "● answers" in rows[1] and not any(rows[2:])


async def test_a_reading_that_changes_nothing_seen_paints_nothing() -> None:
    header = SessionHeader()
    async with OneWidget(header).run_test(size=(120, 24)) as pilot:
        header.reading = READING
        await pilot.pause()
        painted = []
        header.refresh = lambda *regions, **kw: painted.append(regions) or header  # type: ignore[method-assign]
        header.reading = replace(READING, ret=RetReading("running", 192.9))
        assert not painted
        header.reading = replace(READING, ret=RetReading("running", 193.1))
        assert len(painted) == 1


async def test_a_reading_set_before_the_mount_is_shown() -> None:
    header = SessionHeader()
    header.reading = READING
    async with OneWidget(header).run_test(size=(120, 24)) as pilot:
        await pilot.pause()
        assert "RET  3:12 running" in rows_on_screen(pilot.app)[0]
