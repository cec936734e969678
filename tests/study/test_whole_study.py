"""Whole studies, from the lock to the paper, on the real engine: planted effects are found, planted nulls are not."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from study_plays import EFFECT, NULL, Plant, Stage, play_whole

from app.study.archive import export_study, results_from
from app.study.errors import StudyError
from app.study.report import write_results
from app.study.results import Results
from app.study.study import Study
from app.study.verdicts import Judgement


@dataclass
class Told:
    """What a whole study came to."""

    found: Results | None = None
    again: Results | None = None
    texts: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    ruled: list[str] = field(default_factory=list)

    @property
    def results(self) -> Results:
        assert self.found is not None
        return self.found

    def of(self, name: str) -> Judgement:
        return next(one for one in self.results.judgements if one.hypothesis == name)


def whole(folder: Path, preset: str, plant: Plant) -> Told:
    told = Told()

    def after(stage: Stage, study: Study) -> None:
        files, told.found = write_results(study)
        told.texts = {path.suffix: path.read_text(encoding="utf-8") for path in files}
        told.texts["lock"] = study.lock
        told.ruled = stage.ruled
        bundle = folder / "study.zip"
        export_study(study, bundle)
        told.again = results_from(bundle)
        (study.folder / "results-2.md").write_text("a paper that someone wrote")
        with pytest.raises(StudyError, match="not overwritten") as refused:
            write_results(study)
        told.refused.append(str(refused.value))

    play_whole(folder, preset, plant, after)
    return told


@pytest.fixture(scope="module")
def first_pass(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return whole(tmp_path_factory.mktemp("first"), "first-pass", EFFECT)


@pytest.fixture(scope="module")
def first_pass_null(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return whole(tmp_path_factory.mktemp("null"), "first-pass", NULL)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return whole(tmp_path_factory.mktemp("full"), "full", EFFECT)


def test_a_first_pass_finds_planted_effects_with_the_right_sign(first_pass: Told) -> None:
    assert [first_pass.of(name).outcome for name in ("H1", "H2", "H3", "H4")] == ["held"] * 4
    fidelity, time, presence, warmth = (first_pass.of(name) for name in ("H1", "H2", "H3", "H4"))
    assert (fidelity.baseline, fidelity.measured) == (pytest.approx(0.6), pytest.approx(1.0))
    assert time.baseline is not None and time.measured is not None and time.baseline > 10 > 5 > time.measured
    assert presence.difference == pytest.approx(0.5) and warmth.difference == pytest.approx(-1.0)


def test_a_first_pass_finds_no_planted_null(first_pass_null: Told) -> None:
    assert all(one.outcome != "held" for one in first_pass_null.results.judgements)
    assert {one.rule: one.state for one in first_pass_null.results.rulings}["fidelity"] == "fired"


def test_stop_rules_are_judged_as_soon_as_a_run_is_read(first_pass_null: Told, first_pass: Told) -> None:
    assert len(first_pass_null.ruled) == 6
    assert (first_pass_null.ruled[0], first_pass_null.ruled[-1]) == ("waiting", "fired")
    assert "fired" not in first_pass.ruled and first_pass.ruled[-1] == "quiet"


def test_what_was_not_run_is_not_called(first_pass: Told) -> None:
    for name in ("H5", "H6"):
        assert first_pass.of(name).outcome == "not enough runs" and first_pass.of(name).n == 0


@pytest.mark.parametrize("which", ["first_pass", "first_pass_null", pytest.param("full", marks=pytest.mark.long)])
def test_all_numbers_reckoned_from_the_bundle_alone_are_the_papers(which: str, request: pytest.FixtureRequest) -> None:
    told: Told = request.getfixturevalue(which)
    assert told.again is not None
    assert told.again.numbers() == told.results.numbers() == json.loads(told.texts[".json"])


@pytest.mark.long
def test_a_full_study_finds_what_was_planted_in_each_condition(full: Told) -> None:
    assert len(full.results.runs) == 25
    for run in full.results.runs:
        keeper = run.condition != "A"
        assert run.fidelity.value == pytest.approx(1.0 if keeper else 0.6)
        assert run.warmth.value == EFFECT.warmth[run.condition]
        assert run.false_decay.n == (1 if keeper else 0)
        assert (run.verdicts.n > 0) == (run.condition == "E")
        minutes = (run.ret.seconds.value or 0) / 60
        assert EFFECT.minutes[run.condition] <= minutes < EFFECT.minutes[run.condition] + 1
    assert [full.of(name).outcome for name in ("H1", "H2", "H3", "H4", "H6")] == ["held"] * 5
    assert full.of("H1").p == pytest.approx(1 / 3125)


@pytest.mark.long
def test_a_voice_in_the_snug_recovers_warmth_and_the_rule_stays_quiet(full: Told) -> None:
    assert {one.rule: one.state for one in full.results.rulings} == {
        "fidelity": "quiet", "time": "quiet", "warmth": "quiet", "observed": "waiting",
    }  # fmt: skip


def test_the_paper_cites_the_lock_and_sets_prediction_beside_measurement(first_pass: Told) -> None:
    for kind in (".md", ".html"):
        text = first_pass.texts[kind]
        assert first_pass.texts["lock"] in text
        assert "0.85" in text and "not enough runs" in text and "Kill criterion" in text
        assert "These numbers say nothing about models" in text


def test_the_page_stands_alone_and_has_a_point_for_every_run(first_pass: Told) -> None:
    page = first_pass.texts[".html"]
    assert not re.search(r"<(?:script|link|img|iframe)\b|https?://", page.replace("http://www.w3.org", ""))
    assert page.count("<svg") == 5 and page.count('class="run"') == 3 * 6


def test_no_paper_is_written_over(first_pass: Told) -> None:
    assert first_pass.refused


def test_scorers_agree_where_both_read_and_the_paper_says_how_far(first_pass: Told) -> None:
    (present,) = [one for one in first_pass.results.agreement if one.kind == "present"]
    assert present.items == 60 and present.alpha == pytest.approx(1.0)
    assert len(present.scorers) == 2
