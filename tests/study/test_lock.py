"""What must not happen to a locked study: editing, drawing again, deleting, early scoring, late runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from study_plays import EFFECT, Stage, play_next, play_runs, read_all, staged

from app.study.errors import StudyError
from app.study.prereg import canonical
from app.study.runs import make_next
from app.study.scoring import Desk, open_key
from app.study.study import Study, draft_study
from app.study.terms import terms_of
from store.room import Room


def test_a_lock_is_the_hash_of_its_own_canonical_json(stage: Stage) -> None:
    study = stage.study()
    terms = study.fix()
    kept = json.loads((study.folder / "lock.json").read_text())
    assert kept["sha256"] == study.lock and canonical(kept["of"]) == terms.canonical
    assert terms_of(terms.canonical).canonical == terms.canonical


def test_the_same_room_and_seed_give_the_same_lock(tmp_path: Path) -> None:
    locks = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with staged(tmp_path / name) as stage:
            locks.append(stage.study().fix().sha256)
    assert locks[0] == locks[1]


@pytest.mark.parametrize("change", ["\n", "alpha = 0.5\n"])
def test_an_edited_file_is_refused_until_it_is_put_back(stage: Stage, change: str) -> None:
    study = stage.study()
    study.fix()
    before = study.file.read_bytes()
    study.file.write_bytes(before + change.encode())
    with pytest.raises(StudyError, match="was changed"):
        make_next(Study(stage.room))
    study.file.write_bytes(before)
    assert make_next(Study(stage.room)) is not None


def test_a_schedule_is_drawn_once(stage: Stage) -> None:
    study = stage.study()
    study.fix()
    with pytest.raises(StudyError, match="cannot be drawn again"):
        Study(stage.room).fix()
    kept = json.loads((study.folder / "lock.json").read_text())
    kept["of"]["schedule"][0]["condition"] = "B" if kept["of"]["schedule"][0]["condition"] == "A" else "A"
    (study.folder / "lock.json").write_text(json.dumps(kept))
    with pytest.raises(StudyError, match="drawn once"):
        Study(stage.room).check()


@pytest.mark.parametrize("what", ["memory/note.md", "tasks/01/output_test.py", "room.toml"])
def test_what_runs_start_from_must_be_what_was_locked(stage: Stage, what: str) -> None:
    study = stage.study()
    study.fix()
    (study.folder / "base" / what).write_text("changed")
    with pytest.raises(StudyError, match="changed since the lock"):
        make_next(study)


async def test_a_run_is_never_deleted_and_its_log_never_changed(stage: Stage) -> None:
    study = stage.study()
    study.fix()
    await play_runs(stage, study, 1)
    (run,) = study.state.of("over")
    log = study.session_log(run, run.sessions["run"])
    whole = log.read_bytes()
    log.write_bytes(whole.replace(b"I look around.", b"I look about!!"))
    with pytest.raises(StudyError, match="changed after its close"):
        make_next(study)
    log.write_bytes(whole)
    shutil.move(study.run_folder(run), stage.room.root / "elsewhere")
    with pytest.raises(StudyError, match="never deleted"):
        make_next(study)


async def test_nothing_is_scored_before_a_run_is_over_and_no_key_opens_before_all_are_scored(stage: Stage) -> None:
    study = stage.study()
    study.fix()
    with pytest.raises(StudyError, match="nothing to score yet"):
        Desk(study, "Ada")
    await play_next(stage, study)
    with pytest.raises(StudyError, match="nothing to score yet"):
        Desk(study, "Ada")
    await play_runs(stage, study, 1)
    with pytest.raises(StudyError, match="runs are not over"):
        open_key(study)
    study.stop("one run is enough for this test")
    with pytest.raises(StudyError, match="no checklist"):
        open_key(study)
    await read_all(stage, study)
    open_key(study)
    for refused in (lambda: Desk(study, "Ada"), lambda: make_next(study), lambda: open_key(study)):
        with pytest.raises(StudyError):
            refused()


async def test_an_aborted_run_stays_with_its_reason_and_its_cell_can_come_again(stage: Stage) -> None:
    study = stage.study()
    study.fix()
    following = await play_next(stage, study)
    assert following is not None
    study.abort("the power failed", repeat=True)
    study = Study(stage.room)
    first = study.state.runs["run-01"]
    assert first.standing == "aborted" and first.aborted is not None and first.aborted.why == "the power failed"
    assert study.run_folder(first).is_dir() and set(first.sessions) == {"run"}
    again = study.state.runs["run-07"].scheduled
    assert (again.task, again.condition, again.repeats) == (
        first.scheduled.task, first.scheduled.condition, "run-01",
    )  # fmt: skip
    assert (await play_next(stage, study)).run.name == "run-02"  # type: ignore[union-attr]


def test_an_amendment_is_numbered_and_shows_what_changed(stage: Stage) -> None:
    study = stage.study()
    study.fix()
    text = study.file.read_text()
    study.file.write_text(text.replace("predicted = 0.85", "predicted = 0.80"))
    body = study.amend("we were too hopeful")
    assert body.number == 1 and "+predicted = 0.80" in body.diff
    study.check()
    assert study.amend("a note: the reader was ill").diff == ""
    assert [one.number for one in Study(stage.room).state.amendments] == [1, 2]
    assert study.terms.preregistration.hypotheses["H1"].predicted == 0.85


@pytest.mark.parametrize(
    ("old", "new"),
    [('seed = "a seed"', 'seed = "another"'), ('["A", "B"]', '["A", "C"]'), ('baseline = "A"', 'baseline = "B"')],
)
def test_what_the_schedule_was_drawn_from_cannot_be_amended(stage: Stage, old: str, new: str) -> None:
    study = stage.study()
    study.fix()
    text = study.file.read_text()
    assert old in text
    study.file.write_text(text.replace(old, new))
    with pytest.raises(StudyError, match="cannot be amended"):
        study.amend("because")


def test_steps_without_a_reason_are_refused(stage: Stage) -> None:
    study = stage.study()
    study.fix()
    for step in (lambda: study.amend(" "), lambda: study.stop(""), lambda: study.abort("", repeat=False)):
        with pytest.raises(StudyError, match="needs its reason"):
            step()


def test_a_room_has_one_study(stage: Stage) -> None:
    with pytest.raises(StudyError, match="has a study already"):
        draft_study(stage.room, "full")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("alpha = 0.125", "alpha = 2", "alpha"),
        ("alpha = 0.125", "alfa = 0.125", "did you mean alpha"),
        ("[hypotheses.H3]", "[hypotheses.H7]", "hypotheses"),
        ('preset = "first-pass"', 'preset = "full"', "5 tasks"),
        ('baseline = "A"', 'baseline = "Z"', "none of the conditions"),
        ("br.toml", "nowhere.toml", "there is no file"),
    ],
)
def test_a_file_that_is_not_ready_is_not_locked_and_the_sentence_says_what_to_mend(
    stage: Stage, old: str, new: str, says: str
) -> None:
    study = stage.study()
    text = study.file.read_text()
    assert old in text
    study.file.write_text(text.replace(old, new))
    with pytest.raises(Exception, match=says) as refused:
        study.fix()
    assert "\n" not in str(refused.value)
    assert Study(stage.room).state.locked is None


async def test_each_run_starts_from_the_locked_room_and_meets_nothing_of_another(stage: Stage) -> None:
    (stage.room.memory / "note.md").write_text("from before the study")
    study = stage.study()
    study.fix()
    (stage.room.memory / "later.md").write_text("after the lock")
    await play_runs(stage, study, 2)
    for run in study.state.of("over"):
        with Room.open(study.run_folder(run) / "room", read_only=True) as room:
            assert (room.memory / "note.md").is_file() and not (room.memory / "later.md").exists()
            assert [row.number for row in room.sessions()] == [1, 2]
    assert {run.scheduled.condition for run in study.state.of("over")} == {"A", "B"} & set(EFFECT.minutes)
