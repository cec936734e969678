"""Blind scoring: what scorers see and do not see, what a reader's word is worth, and how a desk is worked."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import pytest
from study_plays import EFFECT, Stage, facts, play_runs, read_all, staged

from app.study.errors import StudyError
from app.study.items import Answers, in_order_for, items, unscored
from app.study.outcomes import agreement, outcomes
from app.study.reader import BlindReader
from app.study.results import study_logs
from app.study.scoring import Asked, Desk, give_checklist, score_lexically, standing_of
from app.study.study import Study
from store.bodies import MessageEnded
from store.room import LogName


@dataclass
class Played:
    """A first pass whose runs are all over and read."""

    stage: Stage
    study: Study


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    with staged(tmp_path_factory.mktemp("scoring")) as stage:
        study = stage.study()
        study.fix()

        async def play() -> None:
            await play_runs(stage, study)
            await read_all(stage, study)

        asyncio.run(play())
        yield Played(stage, study)


def every(desk: Desk) -> list[Asked]:
    """All items of a desk, each asked once."""
    seen: dict[str, Asked] = {}
    while (asked := desk.asked()) is not None and asked.id not in seen:
        seen[asked.id] = asked
        desk.skip()
    return list(seen.values())


def test_nothing_that_a_scorer_sees_tells_the_run_or_its_condition(played: Played) -> None:
    for asked in every(Desk(played.study, "Ada", everything=True)):
        shown = f"{asked.id}\n{asked.question}\n{asked.material}"
        assert not re.search(r"run-\d|\bL\d+\b|condition [A-E]|(?i:keeper|warm:|\btiers?\b|whisper)", shown)
        assert re.fullmatch(r"[0-9a-f]{10}", asked.id)


def test_nothing_that_the_reader_is_sent_tells_the_run_or_its_condition(played: Played) -> None:
    sent = played.stage.server.requests_of("reader")
    assert sent
    for request in sent:
        text = json.dumps(request.messages)
        assert not re.search(r"run-\d|\bL\d+\b|condition [A-E]|(?i:keeper|\btiers?\b)", text)


def test_each_scorer_has_an_order_of_their_own_and_the_same_after_a_break(played: Played) -> None:
    orders = [[one.id for one in every(Desk(played.study, name, everything=True))] for name in ("Ada", "Bo", "Ada")]
    assert orders[0] == orders[2] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1])


def test_the_order_does_not_follow_the_schedule_or_the_conditions(played: Played) -> None:
    found = items(played.study.state)
    order = [one.run for one in in_order_for(played.study.state, "Ada", found)]
    assert order != sorted(order)
    conditions = [played.study.state.runs[run].scheduled.condition for run in order]
    changes = sum(one != two for one, two in pairwise(conditions))
    assert changes > len(order) / 4


def test_a_readers_yes_counts_only_with_words_that_stand_in_the_material() -> None:
    material = "- The row stands twice in the table."
    assert standing_of("y", "row stands twice", material) == "ok"
    assert standing_of("y", "row stands thrice", material) == standing_of("y", "", material) == "unverified"
    assert standing_of("n", "", material) == "ok"


def test_the_lexical_scorer_and_the_reader_are_kept_apart_and_agree_here(played: Played) -> None:
    score_lexically(played.study)
    assert score_lexically(played.study) == 0
    found = outcomes(played.study.state, played.study.terms, study_logs(played.study))
    for run in found:
        expected = 1.0 if run.condition == "B" else 0.6
        assert run.by_scorer["reader"].value == run.by_scorer["lexical"].value == expected
        assert run.by_scorer["person"].value is None
        assert run.fidelity.n == 10 and len(run.fidelity.events) == 10


def test_a_desk_is_answered_skipped_gone_back_to_and_taken_up_again(played: Played) -> None:
    desk = Desk(played.study, "Cy", everything=True)
    first = desk.asked()
    assert first is not None and first.given is None
    desk.skip()
    second = desk.asked()
    assert second is not None and second.id != first.id
    desk.answer(second.answers[0], "a note")
    assert desk.progress[0] == 1
    desk.go_to(second.id)
    again = desk.asked()
    assert again is not None and (again.given, again.note) == (second.answers[0], "a note")
    desk.answer(second.answers[1])
    assert desk.progress[0] == 1
    taken_up = Desk(Study(played.stage.room), "Cy", everything=True)
    assert taken_up.progress == desk.progress
    assert Answers(Study(played.stage.room).state.scores).of(second.id, "person")["Cy"].body.answer == second.answers[1]


def test_an_answer_that_an_item_does_not_take_is_refused_and_nothing_is_kept(played: Played) -> None:
    desk = Desk(played.study, "Di", everything=True)
    asked = desk.asked()
    assert asked is not None
    wrong = "3" if asked.kind != "warmth" else "y"
    with pytest.raises(StudyError, match="is no answer here"):
        desk.answer(wrong)  # type: ignore[arg-type]
    assert desk.progress[0] == 0


def test_scores_are_signed(played: Played) -> None:
    with pytest.raises(StudyError, match="signed"):
        Desk(played.study, " ")


def test_what_the_reader_left_open_goes_to_a_person_and_only_that(tmp_path_factory: pytest.TempPathFactory) -> None:
    with staged(tmp_path_factory.mktemp("open")) as stage:
        study = stage.study()
        study.fix()

        async def play() -> int:
            await play_runs(stage, study, 1)
            async with BlindReader(study, stage.endpoint) as reader:
                (run,) = study.state.of("over")
                stage.twins.region = run.scheduled.task
                await reader.write_checklist(run)
                made_up = {"n": 1, "answer": "yes", "quote": "words that stand nowhere at all"}
                rest = [{"n": n, "answer": "n"} for n in range(2, 11)]
                stage.twins.reader_faults = [json.dumps({"answers": [made_up, *rest]})]
                return await reader.read()

        assert asyncio.run(play()) == 1
        (open_one,) = unscored(study.state, study.terms)
        assert open_one.kind == "present"
        desk = Desk(study, "Ada")
        asked = desk.asked()
        assert asked is not None and asked.id == open_one.id and desk.progress == (0, 1)
        desk.answer("n")
        assert desk.done and unscored(study.state, study.terms) == ()


@pytest.mark.parametrize("faults", [["no JSON"], ["{}"], ['{"answers": [{"n": 1, "answer": "maybe"}]}']])
def test_a_reader_that_answers_badly_once_is_asked_again_and_twice_is_left_to_a_person(
    faults: list[str], stage: Stage
) -> None:
    study = stage.study()
    study.fix()

    async def play(count: int) -> int:
        async with BlindReader(study, stage.endpoint) as reader:
            stage.twins.reader_faults = faults * count
            return await reader.read()

    async def checklist() -> None:
        await play_runs(stage, study, 1)
        async with BlindReader(study, stage.endpoint) as reader:
            (run,) = study.state.of("over")
            stage.twins.region = run.scheduled.task
            await reader.write_checklist(run)

    asyncio.run(checklist())
    before = len(stage.server.requests_of("reader"))
    left = asyncio.run(play(2))
    assert left > 0
    asked = len(stage.server.requests_of("reader")) - before
    assert asked <= 4, "bounded: two tries for a group, no more"


async def test_a_checklist_is_written_from_handoff_and_diff_alone_and_only_once(stage: Stage) -> None:
    study = stage.study()
    study.fix()
    await play_runs(stage, study, 1)
    (run,) = study.state.of("over")
    stage.twins.region = run.scheduled.task
    async with BlindReader(study, stage.endpoint) as reader:
        await reader.write_checklist(run)
    (sent,) = stage.server.requests_of("reader")
    assert facts(run.scheduled.task)[0] in sent.operator_text
    assert facts(run.scheduled.task)[-1] not in sent.operator_text, "that one only the Keeper or P's talk held"
    with pytest.raises(StudyError, match="has a checklist already"):
        give_checklist(study, run.name, ("another",), "Ada")


async def test_a_person_can_write_the_checklist(stage: Stage) -> None:
    study = stage.study()
    study.fix()
    await play_runs(stage, study, 1)
    (run,) = study.state.of("over")
    for wrong in ((), ("one", "one")):
        with pytest.raises(StudyError):
            give_checklist(study, run.name, wrong, "Ada")
    give_checklist(study, run.name, ("The one fact.",), "Ada")
    assert [one.asked for one in items(study.state) if one.kind == "present"] == ["The one fact."]


def test_what_the_reader_cost_is_in_the_log_with_its_tokens(played: Played) -> None:
    ended = [
        event.body
        for event in played.stage.room.events(LogName("study"))
        if isinstance(event.body, MessageEnded) and event.body.seat == "reader"
    ]
    assert ended and all(body.usage.output > 0 and body.usd is not None for body in ended)


def test_agreement_counts_only_items_that_two_have_answered(played: Played) -> None:
    score_lexically(played.study)
    by_kind = {one.kind: one for one in agreement(played.study.state)}
    assert by_kind["present"].alpha == pytest.approx(1.0, abs=0.2)
    assert EFFECT.warmth and by_kind["warmth"].items <= 6
