"""What there is to score, as scorers meet it: opaque ids, shuffled order, material, question, and no condition."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from app.measure.handed import handed, neutral
from app.study.state import Run, Score, StudyState
from app.study.terms import Terms
from store.bodies import LetterFiled
from store.events import Event
from store.study_bodies import Answer, ItemKind, Part, ScorerKind

RunLogs = Mapping[Part, tuple[Event, ...]]
"""The events of a run's sessions."""

ANSWERS: Mapping[ItemKind, tuple[Answer, ...]] = {
    "present": ("y", "n", "u"),
    "warmth": ("0", "1", "2", "3"),
    "needed": ("y", "n", "u"),
    "verdict": ("y", "n", "u"),
}


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to score. ``id`` is all that a scorer sees of where it comes from; ``place`` is which fact, line or
    entry of the run it is; ``asked`` the fact, the line or the entry's words (empty for warmth)."""

    id: str
    kind: ItemKind
    run: str
    place: str
    asked: str


def items(state: StudyState) -> tuple[Item, ...]:
    """Every item there is: of runs that are over, as far as their checklists are written."""
    if state.locked is None:
        return ()
    salt = state.locked.salt
    return tuple(
        Item(opaque_id(salt, run.name, kind, place), kind, run.name, place, asked)
        for run in state.of("over")
        for kind, place, asked in _of_run(run)
    )


def _of_run(run: Run) -> Iterator[tuple[ItemKind, str, str]]:
    for number, fact in enumerate(run.checklist.facts if run.checklist else (), 1):
        yield "present", str(number), fact
    yield "warmth", "", ""
    if run.over is not None:
        for line in run.over.dropped:
            yield "needed", line.id, f"{line.text} (why: {line.reason})"
        for entry in run.over.entries:
            yield "verdict", f"{entry.part} {entry.n}", entry.text


def opaque_id(salt: str, run: str, kind: str, place: str) -> str:
    """Ten letters and digits that tell nothing to one who does not know the salt."""
    return hashlib.sha256(f"{salt}|item|{run}|{kind}|{place}".encode()).hexdigest()[:10]


def in_order_for(state: StudyState, scorer: str, found: tuple[Item, ...]) -> tuple[Item, ...]:
    """``found`` in the order of one scorer: shuffled, and the same whenever they come back."""
    salt = state.locked.salt if state.locked else ""
    return tuple(sorted(found, key=lambda one: hashlib.sha256(f"{salt}|{scorer}|{one.id}".encode()).digest()))


def material_of(item: Item, run: Run, logs: RunLogs, terms: Terms) -> str:
    """The material that stands beside an item's question, neutral as to who kept it."""
    if item.kind == "verdict":
        return neutral(item.asked)
    if item.kind == "needed":
        return _for_the_one_after(run, logs, terms)
    return handed(logs["successor"]).blind()


def _for_the_one_after(run: Run, logs: RunLogs, terms: Terms) -> str:
    """What session N+2 would be about: its task, and what N+1 wrote to it."""
    names = [task.record.name for task in terms.tasks]
    following = names[(names.index(run.scheduled.successor) + 1) % len(names)]
    written = [neutral(event.body.text) for event in logs["successor"] if isinstance(event.body, LetterFiled)]
    return "\n\n".join([f"The next task: {terms.task(following).record.brief.strip()}", *written])


def question_of(item: Item) -> str:
    """The question in words."""
    match item.kind:
        case "present":
            return f"Does the material say this?\n\n{neutral(item.asked)}"
        case "warmth":
            return (
                "How warm, with reasons, is the material to one who wakes with nothing? One point each: it carries "
                "why, not only what; it is signed and dated; the reader would know that they were welcome."
            )
        case "needed":
            return f"This line was let go before the next task. Was it still needed?\n\n{neutral(item.asked)}"
        case "verdict":
            return "Is this entry a verdict (it judges, it sets a rule) rather than a reflection (it tells what was)?"


# ---------------------------------------------------------------- answers that count


class Answers:
    """All answers of a study, by item, kind of scorer and scorer; the last one of each scorer holds."""

    def __init__(self, scores: list[Score]) -> None:
        self._by: dict[str, dict[ScorerKind, dict[str, Score]]] = {}
        for score in scores:
            body = score.body
            if body.standing != "skipped":
                self._by.setdefault(body.item, {}).setdefault(body.scorer, {})[body.name] = score

    def of(self, item: str, scorer: ScorerKind) -> Mapping[str, Score]:
        """The answers of one kind of scorer to an item, by name; unverified ones too."""
        return self._by.get(item, {}).get(scorer, {})

    def settled(self, item: str, scorer: ScorerKind) -> Score | None:
        """The answer of one kind of scorer: what most of them say, or the first of them where they are at odds."""
        good = [score for score in self.of(item, scorer).values() if score.body.standing == "ok"]
        if not good:
            return None
        counts = {score.body.answer: sum(one.body.answer == score.body.answer for one in good) for score in good}
        return next(score for score in good if counts[score.body.answer] == max(counts.values()))

    def primary(self, item: str, terms: Terms) -> Score | None:
        """The answer that the verdicts stand on: the locked primary scorer's, a person's where a model could not
        tell."""
        person = self.settled(item, "person")
        if terms.preregistration.scoring.primary == "person":
            return person
        reader = self.settled(item, "reader")
        return reader if reader is not None and reader.body.answer != "u" else person


def unscored(state: StudyState, terms: Terms) -> tuple[Item, ...]:
    """Items that have no answer yet that counts."""
    answers = Answers(state.scores)
    return tuple(item for item in items(state) if answers.primary(item.id, terms) is None)
