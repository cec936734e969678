"""What the operator is asked after a session: how both talking was (H6), and what P's letter says of being observed."""

from __future__ import annotations

from app.measure.handed import stands_in
from app.study.errors import StudyError
from app.study.runs import run_logs
from app.study.state import Run
from app.study.study import Study
from store.bodies import LetterFiled
from store.study_bodies import HeardRated, Observed, ObservedAsked, Part

HEARD_QUESTION = "Was this session an assistant with a sidecar (1) or two colleagues (5)?"
OBSERVED_QUESTION = "Does P's letter say that being observed changed how it worked?"


def rate_heard(study: Study, run: str, part: Part, rating: int, note: str = "") -> None:
    """Keeps the operator's rating of a both-talk session. Raises StudyError when there is none to rate."""
    found = _closed(study, run, part)
    if not study.terms.conditions[found.scheduled.condition].speak:
        raise StudyError(f"{run} is no both-talk run; the question is for those alone")
    if not 1 <= rating <= 5:
        raise StudyError("The rating is 1 (an assistant with a sidecar) to 5 (two colleagues)")
    study.append("operator", HeardRated(run, part, rating, note))


def answer_observed(study: Study, run: str, part: Part, answer: Observed, quote: str = "") -> None:
    """Keeps what P's letter says of being observed. "better" and "worse" need its words.

    Raises StudyError when the session is not closed or the words do not stand in its letters.
    """
    _closed(study, run, part)
    if answer in ("better", "worse") and not any(stands_in(quote, text) for text in letters_of(study, run, part)):
        raise StudyError(f"Say where the letter says so: --quote with words that stand in the letter of {run} ({part})")
    study.append("operator", ObservedAsked(run, part, answer, quote))


def letters_of(study: Study, run: str, part: Part) -> tuple[str, ...]:
    """P's letter and handoff of one session of a run."""
    events = run_logs(study, study.run_named(run)).get(part, ())
    return tuple(event.body.text for event in events if isinstance(event.body, LetterFiled))


def _closed(study: Study, run: str, part: Part) -> Run:
    study.check()
    if study.state.key_opened:
        raise StudyError("The key of this study is open; what is answered now would not be blind")
    found = study.run_named(run)
    if part not in found.closed:
        raise StudyError(f"The {part} session of {run} is not closed yet")
    return found
