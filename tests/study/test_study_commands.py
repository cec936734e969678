"""The study from the shell: each command, its exit code, its one plain line; nothing by condition before the key."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from study_plays import NULL, Twins, write_tasks

from app.cli import main
from app.scripted.script import Script
from app.scripted.server import ScriptedServer
from app.study.study import Study
from store.clock import FrozenClock, SystemClock
from store.room import Room

Shell = Callable[..., tuple[int, str, str]]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Shell]:
    """Runs one command in a room behind scripted twins: exit code, standard output, standard error."""
    Room.create(tmp_path / "room", "Ada")
    (tmp_path / "room" / "room.toml").write_text('format = 1\noperator = "Ada"\n[tools]\nsandbox = "off"\n')
    write_tasks(tmp_path / "tasks", 3)
    twins = Twins(FrozenClock(SystemClock().now()), NULL)

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["twins", *words])
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    with ScriptedServer(
        Script(presence=twins.presence, keeper=twins.keeper, reader=twins.reader), ignore_pace=True
    ) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "scripted")
        monkeypatch.setenv("TWINS_ROOM", str(tmp_path / "room"))
        run.twins = twins  # type: ignore[attr-defined]
        yield run


def drafted(shell: Shell, tmp_path: Path) -> None:
    words = []
    for region in ("kv", "br", "mw"):
        words += ["--task", str(tmp_path / "tasks" / f"{region}.toml")]
        words += ["--turns", str(tmp_path / "tasks" / f"{region}.turns.md")]
    assert shell("study", "init", "--preset", "first-pass", "--seed", "s", *words)[0] == 0


def test_a_study_goes_from_init_to_a_verified_bundle(shell: Shell, tmp_path: Path) -> None:
    drafted(shell, tmp_path)
    assert shell("study", "lock")[0] == 0
    assert shell("study", "next", "--headless")[0] == 0
    code, out, _ = shell("study", "status", "--json")
    status = json.loads(out)
    assert code == 0 and [run["standing"] for run in status["runs"]] == ["over"] + ["scheduled"] * 5
    assert all("condition" not in run for run in status["runs"])
    assert shell("study", "abort", "--why", "x")[0] == 2
    assert shell("study", "stop", "--why", "one run shows the way")[0] == 0
    assert shell("score", "reveal")[0] == 2
    twins = shell.twins  # type: ignore[attr-defined]
    twins.region = status["runs"][0]["task"]
    code, out, err = shell("score", "reader")
    assert code == 0 and "No item is left to a person." in out, err
    asked = json.loads(shell("score", "item", "--as", "Ada", "--all", "--json")[1])
    assert set(asked) == {"id", "kind", "question", "material", "answers", "given", "note"}
    assert shell("score", "answer", asked["id"], asked["answers"][0], "--as", "Ada")[0] == 0
    assert shell("study", "report")[0] == 2
    assert shell("score", "reveal")[0] == 0
    assert shell("score", "answer", asked["id"], asked["answers"][0], "--as", "Ada")[0] == 2
    code, out, _ = shell("study", "report")
    assert code == 0 and "H1 not enough runs" in out
    bundle = tmp_path / "study.zip"
    assert shell("study", "export", "-o", str(bundle))[0] == 0
    numbers = tmp_path / "room" / "study" / "results-1.json"
    assert shell("study", "verify", str(bundle), "--against", str(numbers))[0] == 0
    changed = json.loads(numbers.read_text())
    changed["runs"][0]["condition"] = "Z"
    numbers.write_text(json.dumps(changed))
    assert shell("study", "verify", str(bundle), "--against", str(numbers))[0] == 1
    status = json.loads(shell("study", "status", "--json")[1])
    assert status["runs"][0]["condition"] in "AB" and len(status["judgements"]) == 6


def test_the_answer_that_being_observed_made_it_worse_stops_the_study_at_once(shell: Shell, tmp_path: Path) -> None:
    drafted(shell, tmp_path)
    shell("study", "lock")
    shell("study", "next", "--headless")
    assert "run-01" in shell("study", "questions")[1]
    code, _, err = shell("study", "observed", "run-01", "--answer", "worse")
    assert code == 2 and "--quote" in err
    code, _, err = shell("study", "observed", "run-01", "--answer", "worse", "--quote", "Dear next one")
    assert code == 1 and "observed has fired" in err
    assert shell("study", "status")[0] == 1
    code, _, err = shell("study", "heard", "run-01", "--rating", "4")
    assert code == 2 and "no both-talk run" in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("study", "status"), "twins study init"),
        (("study", "lock"), "twins study init"),
        (("study", "init", "--preset", "half"), "full or first-pass"),
        (("score", "item", "--as", "Ada"), "twins study init"),
        (("study", "verify", "nowhere.zip"), "no bundle of a study"),
    ],
)
def test_bad_input_gets_one_plain_line_and_exit_2(shell: Shell, words: tuple[str, ...], says: str) -> None:
    code, _, err = shell(*words)
    assert code == 2 and says in err and err.count("\n") == 1


def test_before_the_lock_everything_else_says_to_lock_first(shell: Shell, tmp_path: Path) -> None:
    drafted(shell, tmp_path)
    for words in (("next", "--headless"), ("abort", "--why", "x"), ("report",), ("stop", "--why", "x")):
        code, _, err = shell("study", *words)
        assert code == 2 and err.count("\n") == 1
    assert "twins study lock" in shell("study", "status")[1]


def test_power_can_be_asked_for_before_there_is_a_study(shell: Shell) -> None:
    code, out, _ = shell("study", "simulate", "--preset", "first-pass", "--rounds", "20")
    assert code == 0 and "6 runs" in out and "H4" in out


def test_what_the_shell_says_while_it_runs_does_not_tell_the_condition(shell: Shell, tmp_path: Path) -> None:
    drafted(shell, tmp_path)
    shell("study", "lock")
    _, out, _ = shell("study", "next", "--headless")
    assert "condition" not in out and "run-01" in out
    with Room.open(tmp_path / "room", read_only=True) as room:
        study = Study(room)
        assert "condition" not in (tmp_path / "room" / "study.json").read_text()
        assert study.run_folder(study.state.runs["run-01"]).name == "run-01"
