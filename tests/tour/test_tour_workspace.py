"""The meeting finder: each region's fault is real, and is mended by exactly the edits that the script makes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tour_plays import SESSIONS, TOUR, Session, beats_for, copy_of, play

EVERY_SESSION = pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.task["name"])


def run(workspace: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], cwd=workspace, capture_output=True, text=True, timeout=60)


def region_of(session: Session) -> str:
    return session.task["name"].upper()


def mend(session: Session, workspace: Path) -> None:
    """Make the script's edits, and nothing else, as the edit tool would."""
    for line in session.lines:
        for reply in beats_for("presence", line)[0].replies:
            for call in reply.tools:
                if call.name == "edit":
                    target = workspace / str(call.input["file_path"])
                    text = target.read_text(encoding="utf-8")
                    assert text.count(str(call.input["old_string"])) == 1
                    target.write_text(
                        text.replace(str(call.input["old_string"]), str(call.input["new_string"])), encoding="utf-8"
                    )


@EVERY_SESSION
def test_the_output_test_fails_until_the_scripted_edits_and_passes_after(session: Session, tmp_path: Path) -> None:
    workspace, region = copy_of(session, tmp_path / "w"), region_of(session)
    before = run(workspace, "output_test.py", "--region", region)
    assert before.returncode == 1
    assert f"output test: {region} FAILED" in before.stdout and "the door says" in before.stdout
    mend(session, workspace)
    after = run(workspace, "output_test.py", f"--region={region.lower()}")
    assert (after.returncode, after.stderr) == (0, "")
    on_file = {"KV": 36, "BR": 38}[region]
    assert after.stdout == f"output test: {region} passed ({on_file} meetings)\n"


@EVERY_SESSION
def test_mending_one_region_leaves_the_other_as_it_was(session: Session, tmp_path: Path) -> None:
    workspace, other = copy_of(session, tmp_path / "w"), {"KV": "BR", "BR": "KV"}[region_of(session)]
    before = run(workspace, "output_test.py", "--region", other)
    mend(session, workspace)
    after = run(workspace, "output_test.py", "--region", other)
    assert (before.returncode, before.stdout) == (after.returncode, after.stdout)
    assert before.returncode == 1


@EVERY_SESSION
def test_apply_writes_only_when_the_output_test_passes(session: Session, tmp_path: Path) -> None:
    workspace, region = copy_of(session, tmp_path / "w"), region_of(session)
    refused = run(workspace, "apply.py", "--region", region)
    assert refused.returncode == 1 and "not written" in refused.stdout
    assert not (workspace / "out").exists()
    mend(session, workspace)
    assert run(workspace, "apply.py", "--region", region).returncode == 0
    written = json.loads((workspace / "out" / f"{region.lower()}.json").read_text(encoding="utf-8"))
    assert len(written) == {"KV": 36, "BR": 38}[region]
    assert [path.name for path in (workspace / "out").iterdir()] == [f"{region.lower()}.json"]


@pytest.mark.parametrize("program", ["output_test.py", "apply.py"])
@pytest.mark.parametrize("words", [["--region", "ZZ"], ["--region", ""], [], ["--reg", "KV"]])
def test_a_region_that_does_not_exist_leaves_with_exit_2(program: str, words: list[str], tmp_path: Path) -> None:
    done = run(copy_of(SESSIONS[0], tmp_path / "w"), program, *words)
    assert done.returncode == 2
    assert done.stdout == "" and "Traceback" not in done.stderr and program in done.stderr


@EVERY_SESSION
def test_a_wrong_mend_does_not_pass(session: Session, tmp_path: Path) -> None:
    workspace, region = copy_of(session, tmp_path / "w"), region_of(session)
    wrong = {
        "KV": ("finder/clock.py", '"KV": 60,', '"KV": 180,'),
        "BR": ("data/br_towns.csv", "BR07,Osk Ferry\n", ""),
    }[region]
    target = workspace / wrong[0]
    target.write_text(target.read_text(encoding="utf-8").replace(wrong[1], wrong[2]), encoding="utf-8")
    assert run(workspace, "output_test.py", "--region", region).returncode == 1


@EVERY_SESSION
def test_playing_a_session_changes_only_what_the_script_edits_and_applies(session: Session, played) -> None:
    turns, workspace = played(session)
    edited = {given["file_path"] for turn in turns for name, given, _, _ in turn.calls if name == "edit"}
    there = {path.relative_to(workspace).as_posix() for path in workspace.rglob("*") if path.is_file()}
    came = {path.relative_to(TOUR / "workspace").as_posix() for path in (TOUR / "workspace").rglob("*")}
    assert there - came == {f"out/{session.task['name']}.json"}
    for file in there & came:
        same = (workspace / file).read_bytes() == (TOUR / "workspace" / file).read_bytes()
        assert same == (file not in edited), file


@EVERY_SESSION
def test_one_day_is_printed_as_people_see_it(session: Session, tmp_path: Path) -> None:
    workspace = copy_of(session, tmp_path / "w")
    play(session, workspace)
    day = run(workspace, "-B", "-m", "finder", region_of(session), "sun")
    assert (
        day.returncode == 0
        and {"KV": "09:00  First Bread", "BR": "12:15  Sunday Soup"}[region_of(session)] in day.stdout
    )
    assert run(workspace, "-B", "-m", "finder", "ZZ", "Sun").returncode == 2
