"""Runs: taken up where they were left, settled after a crash, and measured as they really went."""

from __future__ import annotations

import asyncio

import pytest
from study_plays import TURNS, Stage, play_next, play_runs

from app.scripted.faults import Fault
from app.session.opening import open_session
from app.session.session import Session
from app.study.asking import answer_observed, rate_heard
from app.study.errors import StudyError
from app.study.items import items
from app.study.outcomes import outcomes, time_of
from app.study.results import results_of, study_logs
from app.study.runs import make_next, play_session, settle
from app.study.study import Study
from store.bodies import OperatorSaid, RetMarked, SessionResumed
from store.room import Room


async def test_a_session_that_failed_goes_on_where_it_stopped_and_the_paper_says_so(stage: Stage) -> None:
    with (stage.room.root / "room.toml").open("a") as settings:
        settings.write("[endpoint]\nmax_retries = 0\n")
    study = stage.study()
    study.fix()
    following = make_next(study)
    assert following is not None
    stage.twins.attend(following)
    stage.server.misbehave("presence", Fault("server_error"))
    assert await play_session(study, following, stage.endpoint, approve="all") != ""
    study = Study(stage.room)
    again = make_next(study)
    assert again is not None and again.run.name == following.run.name and again.session
    while (following := make_next(study)) is not None and following.run.name == "run-01":
        stage.twins.attend(following)
        await play_session(study, following, stage.endpoint, approve="all")
    run = study.state.runs["run-01"]
    assert run.standing == "over"
    said = [event.body.text for event in study_logs(study)["run-01"]["run"] if isinstance(event.body, OperatorSaid)]
    assert said == list(TURNS)
    assert any("interrupted and taken up" in one for one in results_of(study).deviations)
    assert any(isinstance(event.body, SessionResumed) for event in study_logs(study)["run-01"]["run"])


async def test_a_session_that_was_closed_while_nobody_kept_the_study_is_settled_later(stage: Stage) -> None:
    study = stage.study()
    study.fix()
    following = make_next(study)
    assert following is not None
    stage.twins.attend(following)
    with Room.open(following.room, clock=stage.clock) as room:
        opened = open_session(
            room,
            stage.endpoint,
            condition=following.condition,
            task=following.task.record,
            workspace=following.workspace,
        )
        session = Session(opened, stage.endpoint, approve="all")
        await session.connect()
        session.say(TURNS[0])
        await session.turn_over()
        await session.close()
    later = Study(stage.room)
    assert later.state.runs["run-01"].sessions == {}
    settle(later)
    assert set(later.state.runs["run-01"].closed) == {"run"}
    again = make_next(later)
    assert again is not None and (again.run.name, again.part) == ("run-01", "successor")


async def test_a_crash_before_the_session_was_opened_leaves_a_fresh_workspace_to_the_next_try(stage: Stage) -> None:
    study = stage.study()
    study.fix()
    following = make_next(study)
    assert following is not None
    (following.workspace / "half").write_text("what a crash left")
    again = make_next(Study(stage.room))
    assert again is not None and again.run.name == following.run.name
    assert not (again.workspace / "half").exists() and (again.workspace / "output_test.py").is_file()


@pytest.mark.parametrize(
    ("mark", "minutes", "deviation"),
    [
        (RetMarked("void", "the phone rang"), None, "voided by hand: the phone rang"),
        (RetMarked("set", "by the clock on the wall", 90.0), 1.5, "set by hand: by the clock"),
    ],
)
async def test_what_the_operators_hand_made_of_a_ret_is_used_and_told(
    stage: Stage, mark: RetMarked, minutes: float | None, deviation: str
) -> None:
    study = stage.study()
    study.fix()
    await play_next(stage, study)
    following = make_next(study)
    assert following is not None
    stage.twins.attend(following)
    with Room.open(following.room, clock=stage.clock) as room:
        opened = open_session(
            room, stage.endpoint, condition=following.condition, task=following.task.record,
            workspace=following.workspace,
        )  # fmt: skip
        session = Session(opened, stage.endpoint, approve="all")
        await session.connect()
        session.say(TURNS[0])
        await session.turn_over()
        session.mark_ret(mark)
        await session.close()
    settle(study)
    (found,) = outcomes(study.state, study.terms, study_logs(study))
    time = time_of(found.ret)
    assert (time and time.minutes) == minutes
    assert any(deviation in one for one in results_of(study).deviations)


@pytest.mark.parametrize(
    ("first", "longer_than"), [("Please run output_test now.", 0.0), ("Only look around, please.", None)]
)
async def test_told_and_never_are_longer_than_and_neither_is_dropped(
    stage: Stage, first: str, longer_than: float | None
) -> None:
    study = stage.study()
    study.fix()
    await play_next(stage, study)
    following = make_next(study)
    assert following is not None
    stage.twins.attend(following)
    with Room.open(following.room, clock=stage.clock) as room:
        opened = open_session(
            room, stage.endpoint, condition=following.condition, task=following.task.record,
            workspace=following.workspace,
        )  # fmt: skip
        session = Session(opened, stage.endpoint, approve="all")
        await session.connect()
        session.say(first)
        await session.turn_over()
        stage.clock.advance(120)
        await session.close()
    settle(study)
    (found,) = outcomes(study.state, study.terms, study_logs(study))
    time = time_of(found.ret)
    assert time is not None and time.censored
    if longer_than is not None:
        assert time.minutes == longer_than and found.ret.told
    else:
        assert found.ret.source == "censored" and time.minutes >= 2
    assert f"{found.run}" in " ".join(results_of(study).deviations)


async def test_lines_that_decay_before_the_second_successor_are_there_to_be_judged(stage: Stage) -> None:
    study = stage.study()
    study.fix()
    await play_runs(stage, study, 2)
    by_condition = {run.scheduled.condition: run for run in study.state.of("over")}
    assert by_condition["A"].over is not None and by_condition["A"].over.dropped == ()
    dropped = by_condition["B"].over.dropped if by_condition["B"].over else ()
    assert [line.priority for line in dropped] == [1]
    asked = [item for item in items(study.state) if item.kind == "needed"]
    assert len(asked) == 1 and asked[0].run == by_condition["B"].name


async def test_a_run_takes_the_locked_messages_and_a_task_without_any_needs_a_screen(stage: Stage) -> None:
    text = (stage.room.root / "study" / "preregistration.toml").read_text()
    for region in ("kv", "br", "mw"):
        text = text.replace(f'turns = "../../tasks/{region}.turns.md"', 'turns = ""')
    (stage.room.root / "study" / "preregistration.toml").write_text(text)
    study = stage.study()
    study.fix()
    following = make_next(study)
    assert following is not None
    with pytest.raises(StudyError, match="need a screen"):
        await play_session(study, following, stage.endpoint, approve="all")


async def test_the_operator_is_asked_only_about_closed_sessions_and_only_both_talk_ones_are_rated(
    stage: Stage,
) -> None:
    study = stage.study()
    study.fix()
    with pytest.raises(StudyError, match="not closed yet"):
        answer_observed(study, "run-01", "run", "no")
    await play_next(stage, study)
    with pytest.raises(StudyError, match="no both-talk run"):
        rate_heard(study, "run-01", "run", 5)
    with pytest.raises(StudyError, match="words that stand in the letter"):
        answer_observed(study, "run-01", "run", "better", "words that are in no letter")
    answer_observed(study, "run-01", "run", "better", "Dear next one")
    assert study.state.runs["run-01"].observed["run"].answer == "better"


def test_two_runs_never_share_a_room(stage: Stage) -> None:
    study = stage.study()
    study.fix()
    asyncio.run(play_runs(stage, study, 2))
    rooms = {study.run_folder(run) / "room" for run in study.state.of("over")}
    assert len(rooms) == 2
    for run in study.state.of("over"):
        log = study.session_log(run, run.sessions["successor"]).read_text()
        others = [other for other in study.state.of("over") if other is not run]
        assert all(name not in log for other in others for name in other.sessions.values())
