"""The scoring desk: one item at a time for one scorer, answered, skipped, gone back to; and the opening of the key."""

from __future__ import annotations

from dataclasses import dataclass

from app.measure.handed import neutral, stands_in
from app.measure.lexical import find_fact
from app.study.errors import StudyError
from app.study.items import (
    ANSWERS,
    Answers,
    Item,
    RunLogs,
    in_order_for,
    items,
    material_of,
    question_of,
    unscored,
)
from app.study.prereg import sha256
from app.study.runs import run_logs
from app.study.study import Study
from store.bodies import LetterFiled, WorkspaceDiffed
from store.study_bodies import Answer, ChecklistWritten, ItemKind, ItemScored, KeyOpened, Standing


@dataclass(frozen=True, slots=True)
class Asked:
    """What a scorer sees: nothing here tells the run or its condition. ``given`` is their own earlier answer."""

    id: str
    kind: ItemKind
    question: str
    material: str
    answers: tuple[Answer, ...]
    given: Answer | None
    note: str


class Desk:
    """Where one person scores. The order is theirs alone and the same after a break; what they answered is kept."""

    def __init__(self, study: Study, name: str, *, everything: bool = False) -> None:
        """``everything`` asks for all items; else, where the reader's answers come first, for what it left open.

        Raises StudyError when the study is not locked, its key is open, or there is nothing to score.
        """
        study.check()
        if study.state.key_opened:
            raise StudyError("The key of this study is open: a score given now would not be blind")
        if not name.strip():
            raise StudyError("Scores are signed: say who you are with --as NAME")
        self._study = study
        self._name = name.strip()
        self._logs: dict[str, RunLogs] = {}
        state, terms = study.state, study.terms
        found = items(state)
        if not found:
            raise StudyError("There is nothing to score yet: scoring begins when a run is over (twins study next)")
        answers = Answers(state.scores)
        if not everything and terms.preregistration.scoring.primary == "reader":
            open_ones = {item.id for item in unscored(state, terms)}
            found = tuple(one for one in found if one.id in open_ones or self._name in answers.of(one.id, "person"))
        self._items = in_order_for(state, self._name, found)
        self._given = {
            item.id: mine.body for item in self._items if (mine := answers.of(item.id, "person").get(self._name))
        }
        self._at = 0
        self._to_open()

    @property
    def progress(self) -> tuple[int, int]:
        """How many are answered, of how many."""
        return len(self._given), len(self._items)

    @property
    def done(self) -> bool:
        """Whether nothing is left to answer."""
        return len(self._given) == len(self._items)

    @property
    def place(self) -> int:
        """Which item is asked, from 1."""
        return self._at + 1

    def asked(self) -> Asked | None:
        """The item that is asked now; None when there is none for this scorer."""
        if not self._items:
            return None
        item = self._items[self._at]
        given = self._given.get(item.id)
        return Asked(
            item.id,
            item.kind,
            question_of(item),
            self._material(item),
            ANSWERS[item.kind],
            given.answer if given else None,
            given.note if given else "",
        )

    def go_to(self, item: str) -> None:
        """Asks the item with this id. Raises StudyError when there is none for this scorer."""
        place = next((place for place, one in enumerate(self._items) if one.id == item), None)
        if place is None:
            raise StudyError(f"There is no item {item}; take its id from: twins score item --as NAME")
        self._at = place

    def answer(self, answer: Answer, note: str = "") -> bool:
        """Answers the item asked and goes on to the next one without an answer. Whether its run is all scored now:
        then the stop rules are due. Raises StudyError for an answer that this kind of item does not take."""
        item = self._items[self._at]
        if answer not in ANSWERS[item.kind]:
            raise StudyError(f"{answer!r} is no answer here; the answers are {', '.join(ANSWERS[item.kind])}")
        body = ItemScored(item.id, "person", self._name, answer, "ok", note=note)
        self._study.append("operator", body)
        self._given[item.id] = body
        self._to_open()
        return not any(one.run == item.run for one in unscored(self._study.state, self._study.terms))

    def skip(self) -> None:
        """Leaves the item for later and goes on."""
        if self._items:
            self._at = (self._at + 1) % len(self._items)
            self._to_open()

    def back(self) -> None:
        """Goes one item back, also to one that is answered."""
        if self._items:
            self._at = (self._at - 1) % len(self._items)

    def _to_open(self) -> None:
        for step in range(len(self._items)):
            place = (self._at + step) % len(self._items)
            if self._items[place].id not in self._given:
                self._at = place
                return

    def _material(self, item: Item) -> str:
        run = self._study.run_named(item.run)
        if item.run not in self._logs:
            self._logs[item.run] = run_logs(self._study, run)
        return material_of(item, run, self._logs[item.run], self._study.terms)


def give_checklist(study: Study, run: str, facts: tuple[str, ...], name: str) -> None:
    """A person's checklist for a run, where no reader writes one.

    Raises StudyError when the run is not over, has a checklist already, or ``facts`` are none or repeat each other.
    """
    study.check()
    found = study.run_named(run)
    if found.standing != "over":
        raise StudyError(f"{run} is {found.standing}; its checklist is written when it is over")
    if found.checklist is not None:
        raise StudyError(f"{run} has a checklist already; a second one would move the measure")
    kept = tuple(text for fact in facts if (text := " ".join(fact.split())))
    if not kept or len(set(kept)) != len(kept):
        raise StudyError("A checklist needs facts, one a line and each once")
    if not name.strip():
        raise StudyError("A checklist is signed: say who you are with --as NAME")
    handoff, diff = checklist_source(run_logs(study, found))
    study.append("operator", ChecklistWritten(run, kept, "person", name.strip(), sha256(f"{handoff}\n{diff}")))


MOST_DIFF = 40_000
"""Characters of the workspace diff that the checklist's writer is shown."""


def checklist_source(logs: RunLogs) -> tuple[str, str]:
    """What a checklist is written from: the handoff of session N (its letter, when it wrote none) and its diff. No
    tier is in it."""
    filed = {event.body.which: event.body.text for event in logs["run"] if isinstance(event.body, LetterFiled)}
    diffs = [event.body.diff for event in logs["run"] if isinstance(event.body, WorkspaceDiffed)]
    return neutral(filed.get("handoff") or filed.get("letter", "")), (diffs[-1] if diffs else "")[:MOST_DIFF]


def score_lexically(study: Study) -> int:
    """Lets the lexical scorer answer every fact that it has not answered; how many those were."""
    answers = Answers(study.state.scores)
    open_ones = [item for item in items(study.state) if item.kind == "present" and not answers.of(item.id, "lexical")]
    for item in open_ones:
        run = study.run_named(item.run)
        found = find_fact(item.asked, material_of(item, run, run_logs(study, run), study.terms))
        study.append(
            "system",
            ItemScored(item.id, "lexical", "lexical", "y" if found.present else "n", "ok", quote=found.quote),
        )
    return len(open_ones)


def standing_of(answer: Answer, quote: str, material: str) -> Standing:
    """What a model's answer is worth: a yes without words that stand in the material is unverified."""
    return "ok" if answer != "y" or stands_in(quote, material) else "unverified"


def open_key(study: Study) -> int:
    """Opens the key: from now on scores may be read beside conditions. The number of items.

    Raises StudyError while a run is left to play, a checklist or a score is missing, or when it is open already.
    """
    study.check()
    state = study.state
    if state.key_opened:
        raise StudyError("The key is open already; write the results with: twins study report")
    if not state.complete:
        left = sum(run.standing in ("scheduled", "running") for run in state.runs.values())
        raise StudyError(
            f"{left} runs are not over; the key is opened when all are (twins study next), or when the study is "
            "stopped (twins study stop --why '…')"
        )
    if lacking := [run.name for run in state.of("over") if run.checklist is None]:
        raise StudyError(f"{lacking[0]} has no checklist yet; let the reader write it: twins score reader")
    if left_open := unscored(state, study.terms):
        raise StudyError(f"{len(left_open)} items are not scored yet; score them with: twins score")
    count = len(items(state))
    study.append("operator", KeyOpened(count))
    return count
