"""Measures that stand on scorers' answers: handoff fidelity, warmth with reasons, false decay, heard (DESIGN §10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from app.measure.result import EventRef, Measured
from store.bodies import TiersChanged
from store.events import Event
from store.lines import Line
from store.study_bodies import Answer

WARMTH_RUBRIC = (
    "0: bare facts. 1: one of: why as well as what; signed and dated; the reader would know they were welcome. "
    "2: two of them. 3: all three."
)
"""Paper §1, WWR: does it carry why, not only what; is it signed and dated; would the reader know they were welcome."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One answer that counts, and the event it stands on."""

    answer: Answer
    event: EventRef


def fidelity(answers: Sequence[Scored | None], source: str) -> Measured:
    """HF, 0 to 1: facts of the checklist found in what the successor loaded. None stands for an unanswered fact: then
    there is no value. "Cannot tell" is not found."""
    method = "Facts answered present over all facts of the checklist; one that could not be told is not present."
    return _share("hf", answers, source, method)


def warmth(answer: Scored | None, source: str) -> Measured:
    """WWR, 0 to 3, of what the successor was handed."""
    value = float(answer.answer) if answer and answer.answer in "0123" else None
    events = (answer.event,) if answer else ()
    return Measured("wwr", value, "rubric 0-3", int(value is not None), source, WARMTH_RUBRIC, events)


def false_decay(answers: Sequence[Scored | None], source: str) -> Measured:
    """Of the lines dropped before session N+2, the share that a blind reader still needed, 0 to 1; no value when none
    was dropped."""
    method = "Lines answered still needed over all lines that had left warm for cold before session N+2."
    return _share("false_decay", answers, source, method)


def verdict_share(answers: Sequence[Scored | None], source: str) -> Measured:
    """Of K's own entries the share that are verdicts, 0 to 1 (H6); no value when K wrote none."""
    method = "Entries answered a verdict over all entries that the Keeper wrote in its own name."
    return _share("verdict_share", answers, source, method)


def heard(ratings: Sequence[tuple[int, EventRef]], source: str) -> Measured:
    """The operator's mean rating of both-talk sessions: 1 an assistant with a sidecar, 5 two colleagues (H6)."""
    value = fmean(rating for rating, _ in ratings) if ratings else None
    method = "Mean of the operator's ratings after both-talk sessions."
    return Measured("heard", value, "rating 1-5", len(ratings), source, method, tuple(at for _, at in ratings))


def _share(name: str, answers: Sequence[Scored | None], source: str, method: str) -> Measured:
    events = tuple(one.event for one in answers if one)
    if not answers:
        return Measured(name, None, "share", 0, source, f"{method} There was nothing to answer.", events)
    if missing := sum(one is None for one in answers):
        return Measured(name, None, "share", len(answers), source, f"{method} {missing} are not answered yet.", events)
    yes = sum(one is not None and one.answer == "y" for one in answers)
    return Measured(name, yes / len(answers), "share", len(answers), source, method, events)


def decayed_to_cold(events: Sequence[Event]) -> tuple[Line, ...]:
    """The warm lines that decay sent to cold in a session's log, as they stood before. Lines that someone retired or
    that a full tier pushed out did not decay."""
    return tuple(
        change.before
        for event in events
        if isinstance(event.body, TiersChanged) and event.body.op == "decay"
        for change in event.body.changes
        if change.before is not None and change.before.tier == "warm" and change.after.tier == "cold"
    )
