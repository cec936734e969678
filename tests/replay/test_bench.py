"""The bench: checklists from four places, intervals, equal bytes, one table, one document, one page."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Take
from hypothesis import given, settings
from hypothesis import strategies as st
from test_replay import MONTHS, TALK
from transcripts import ClaudeCode, real, small_session

from app.replay.bench import interval
from app.replay.chains import chains
from app.replay.checklists import ChecklistError, checklists, from_next_session, pieces
from app.replay.desk import Asked, Result, run
from app.replay.tables import markdown, page
from store.plain import PlainError
from store.room import Room

ROOT = Path(__file__).parents[2]
FACTS = (
    "# what the next one needs\nClara opened a bakery in Porto.\nBob moved to Lisbon.\nThe moon is made of cheese.\n"
)


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.txt"
    path.write_text(TALK.format(*MONTHS), encoding="utf-8")
    return path


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    path = tmp_path / "facts.txt"
    path.write_text(FACTS, encoding="utf-8")
    return path


def benched(data: Path, facts: Path | str, work: Path, *names: str) -> Result:
    return run(Asked(data, names, work, str(facts), workers=1))


def test_each_keeper_gets_its_row_and_the_cut_baselines_as_many_bytes(talk: Path, facts: Path, tmp_path: Path) -> None:
    result = benched(talk, facts, tmp_path / "w", "none", "mechanical", "tail", "head", "everything")
    rows = {row.label: row for row in result.rows}
    assert [*rows] == [
        "none",
        "mechanical",
        "tail",
        "head",
        "everything",
        "tail at mechanical's bytes",
        "head at mechanical's bytes",
    ]
    assert rows["none"].found == 0 and rows["none"].bytes_loaded == 0
    assert 0 < rows["mechanical"].found < 3 == rows["mechanical"].facts
    for name in ("tail at mechanical's bytes", "head at mechanical's bytes"):
        assert 0 <= rows["mechanical"].bytes_loaded - rows[name].bytes_loaded < 4
    assert rows["mechanical"].usd == 0 and rows["mechanical"].usage.output == 0
    assert all(row.of_twin is None for row in result.rows)


def test_what_is_written_is_one_document_a_markdown_table_and_a_page_that_escapes(talk: Path, tmp_path: Path) -> None:
    hostile = tmp_path / "facts.txt"
    hostile.write_text("<script>alert(1)</script> & [red]bold[/]\n", encoding="utf-8")
    result = benched(talk, hostile, tmp_path / "w", "mechanical", "tail")
    document = json.loads((tmp_path / "w" / "bench.json").read_text(encoding="utf-8"))
    assert [row["keeper"] for row in document["rows"]] == ["mechanical", "tail", "tail"]
    assert {"hf", "hf_low", "hf_high", "bytes_loaded", "tokens", "usd", "seconds", "share_of_twin"} <= set(
        document["rows"][0]
    )
    shown = page(result.rows, result.outcomes, "a <b>", "m")
    assert "<script" not in shown and "&lt;script&gt;" in shown and "http" not in shown
    assert markdown(result.rows).count("\n") == 1 + 3
    assert (tmp_path / "w" / "bench.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_bench_taken_up_again_comes_to_the_same(talk: Path, facts: Path, tmp_path: Path) -> None:
    one = benched(talk, facts, tmp_path / "w", "mechanical", "tail")
    two = benched(talk, facts, tmp_path / "w", "mechanical", "tail")
    assert [(row.label, row.hf, row.bytes_loaded) for row in one.rows] == [
        (row.label, row.hf, row.bytes_loaded) for row in two.rows
    ]


# ---------------------------------------------------------------- checklists


def test_the_next_sessions_first_turns_make_a_checklist_of_what_they_had_to_find_again(
    root: Path, take: Take, tmp_path: Path
) -> None:
    first, second = small_session("one"), ClaudeCode("two")
    first.block("e", {"type": "tool_use", "id": "e1", "name": "Edit", "input": {"file_path": "src/region_br.py"}}, "me")
    first.result("er", "e1", "src/region_br.py updated")
    second.human("h", "Where are we?")
    read = {"type": "tool_use", "id": "r1", "name": "Read", "input": {"file_path": "src/region_br.py"}}
    new = {"type": "tool_use", "id": "r2", "name": "Read", "input": {"file_path": "src/never_seen.py"}}
    second.block("a", read, "m")
    second.block("b", new, "m")
    second.answer("c", "Shall I run the output test first?", "m2")
    second.human("h2", "Yes. Always run the output test before the apply.")
    for place, made in enumerate((first, second)):
        for record in made.records:
            record["cwd"] = "/project"
            record["timestamp"] = record["timestamp"].replace("2026-09-08", f"2026-09-0{8 + place}")
        take(made.write(tmp_path / f"{place}.jsonl"))
    with Room.open(root, read_only=True) as room:
        made_list = from_next_session(room, chains(room)[0])
    assert made_list is not None and made_list.upto == 1
    assert made_list.facts == ("src/region_br.py", "Always run the output test before the apply.")


def test_a_handoff_falls_into_its_statements() -> None:
    text = "# Handoff\n\nRegion BR is done.\n- The weekday check fails in KV. It costs an hour.\n2. Ask Ann.\n## Next\n"
    assert pieces(text) == ("Region BR is done.", "The weekday check fails in KV.", "It costs an hour.")


def test_a_real_handoff_of_the_room_is_a_checklist(root: Path) -> None:
    from app.session.endpoint import Endpoint
    from app.session.opening import open_session
    from store.bodies import OperatorSaid, SessionClosed, TurnEnded
    from store.conditions import load_conditions
    from store.letters import file_letter

    with Room.open(root) as room:
        opened = open_session(room, Endpoint("", "x", "m"), condition=load_conditions()["B"], task=None, workspace=root)
        log = opened.record.log
        opened.record.append("operator", OperatorSaid("Region BR has 40 meetings and 3 of them are wrong."))
        opened.record.append("system", TurnEnded("done"))
        file_letter(room, log, "handoff", "Region BR has 40 meetings.", tiers_seen=False, edited=False, turn=1)
        opened.record.append("system", SessionClosed("done"))
        opened.record.close()
    with Room.open(root, read_only=True) as room:
        lists = checklists("auto", root, room, chains(room))
    assert lists["room"].facts == ("Region BR has 40 meetings.",)
    assert "the handoff" in lists["room"].source


def test_a_file_of_facts_can_name_chains_and_errors_are_plain(root: Path, take: Take, talk: Path, facts: Path) -> None:
    take(talk)
    with Room.open(root, read_only=True) as room:
        found = chains(room)
        lists = checklists(str(facts), talk, room, found)
        assert len(lists["talk"].facts) == 3
        facts.write_text("[talk]\nBob moved.\n[nobody]\nx\n", encoding="utf-8")
        with pytest.raises(ChecklistError, match="line 3: there is no chain 'nobody'"):
            checklists(str(facts), talk, room, found)
        facts.write_bytes(b"\xff\xfe")
        with pytest.raises(ChecklistError, match="UTF-8"):
            checklists(str(facts), talk, room, found)
        with pytest.raises(ChecklistError, match="no observations"):
            checklists("observations", talk, room, found)


# ---------------------------------------------------------------- intervals


COUNTED = st.integers(1, 300).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of)))


@given(st.lists(COUNTED, min_size=1, max_size=7))
@settings(max_examples=60, deadline=None)
def test_an_interval_holds_the_share_itself_and_stays_within_nought_and_one(counts: list[tuple[int, int]]) -> None:
    low, high = interval(counts)
    share = sum(found for found, _ in counts) / sum(of for _, of in counts)
    assert 0 <= low <= high <= 1
    each = [found / of for found, of in counts]
    assert min(*each, share) - 1e-9 <= low <= high <= max(*each, share) + 1e-9 or len(counts) == 1
    if len(counts) == 1:
        assert low <= share <= high


def test_more_transcripts_that_agree_make_an_interval_narrower() -> None:
    few, many = interval([(20, 100), (40, 100)]), interval([(20, 100), (40, 100)] * 8)
    assert many[1] - many[0] < few[1] - few[0]


# ---------------------------------------------------------------- LoCoMo, and the command


def test_on_real_locomo_the_mechanical_keeper_beats_tail_and_head_at_equal_bytes(tmp_path: Path) -> None:
    data = real("locomo/locomo-first5.json")
    names = ("mechanical", "tail", "head", "tail_named", "head_named")
    result = run(Asked(data, names, tmp_path / "w", "observations", chain="conv-30"))
    rows = {row.label: row for row in result.rows}
    mechanical = rows["mechanical"]
    assert mechanical.facts == 169 and mechanical.bytes_loaded <= 20_480
    for label in ("tail", "head", *(row.label for row in result.rows if row.beside)):
        assert (mechanical.hf or 0) > (rows[label].hf or 0), label


@pytest.mark.long
def test_on_all_real_locomo_transcripts_the_intervals_do_not_even_touch(tmp_path: Path) -> None:
    data = real("locomo/locomo-first5.json")
    result = run(Asked(data, ("mechanical", "tail", "head"), tmp_path / "w", "observations"))
    rows = {row.label: row for row in result.rows}
    assert rows["mechanical"].transcripts == 5
    for label in ("tail at mechanical's bytes", "head at mechanical's bytes"):
        assert (rows["mechanical"].low or 0) > (rows[label].high or 1), label


def test_a_bundle_of_this_product_is_replayed_like_any_transcript(root: Path, tmp_path: Path) -> None:
    from app.export import export_bundle
    from app.session.endpoint import Endpoint
    from app.session.opening import open_session
    from store.bodies import OperatorSaid, SessionClosed, TurnEnded
    from store.conditions import load_conditions

    with Room.open(root) as room:
        opened = open_session(
            room, Endpoint("", "x", "m"), condition=load_conditions()["B"], task=None, workspace=tmp_path
        )
        opened.record.append("operator", OperatorSaid("From now on always run the output test before the apply."))
        opened.record.append("system", TurnEnded("done"))
        opened.record.append("system", SessionClosed("done"))
        opened.record.close()
        export_bundle(room, opened.record.log, tmp_path / "one.zip")
    for _ in range(2):
        result = run(Asked(tmp_path / "one.zip", ("mechanical",), tmp_path / "w", workers=1))
        done = result.outcomes[0].done
        assert done is not None and "always run the output test" in done.loaded
    (tmp_path / "bad.zip").write_bytes((tmp_path / "one.zip").read_bytes()[:-40] + b"x" * 40)
    with pytest.raises(PlainError):
        run(Asked(tmp_path / "bad.zip", ("mechanical",), tmp_path / "w2", workers=1))


def twins(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    code = "import sys; from app.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(cwd)},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_commands_print_one_document_and_say_bad_input_in_one_line(talk: Path, facts: Path, tmp_path: Path) -> None:
    Room.create(tmp_path / "r", "Derick")
    took = twins("import", str(talk), "--room", str(tmp_path / "r"), "--json", cwd=tmp_path)
    assert took.returncode == 0, took.stderr
    assert json.loads(took.stdout)[0]["taken"] == {"human": 5, "responses": 5}
    told = twins("import", str(talk), "--room", str(tmp_path / "r"), cwd=tmp_path)
    assert "left out 10: taken before" in told.stdout
    bench = ("replay", "--bench", str(talk), "--keeper", "mechanical", "--checklist", str(facts), "--out", "w")
    for _ in range(3):  # short replays end while some of their workers have hardly begun
        ran = twins(*bench, "--json", cwd=tmp_path)
        assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)["rows"][0]["keeper"] == "mechanical"
    for words, sentence in (
        (("replay", "nowhere.json"), "there is no nowhere.json"),
        (("replay",), "name the transcripts once"),
        (("replay", str(talk), "--keeper", "gpt"), "There is no Keeper 'gpt'; there are"),
        (("replay", str(talk), "--keeper", "small"), "There is no API key"),
        (("import", "nowhere.json", "--room", str(tmp_path / "r")), "nowhere.json cannot be read"),
    ):
        bad = twins(*words, cwd=tmp_path)
        assert (bad.returncode, bad.stdout) == (2, ""), words
        assert sentence in bad.stderr and bad.stderr.count("\n") == 1, words


def test_ctrl_c_stops_at_a_whole_turn_and_the_same_command_goes_on(facts: Path, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    said = "Ann: Room {0} of the house in Porto has {1} windows and {0} doors.\nBob: I see.\n"
    turns = "".join(said.format(number, number * 7) for number in range(400))
    path.write_text(turns, encoding="utf-8")
    words = ("replay", "--bench", str(path), "--keeper", "mechanical", "--checklist", str(facts), "--out", "w")
    code = "import sys; from app.cli import main; main()"
    begun = subprocess.Popen(
        [sys.executable, "-c", code, *words, "--workers", "1"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        for _ in range(600):
            logs = list((tmp_path / "w" / "rooms").rglob("sessions/*/events.jsonl"))
            if logs and logs[0].read_bytes().count(b"keeper.passed") > 3:
                break
            time.sleep(0.05)
        os.killpg(begun.pid, signal.SIGINT)
        _, said = begun.communicate(timeout=60)
    finally:
        begun.kill()
    assert (begun.returncode, said) == (130, "twins: stopped; the same command goes on from here\n")
    done = logs[0].read_bytes().count(b"keeper.passed")
    assert 3 < done < 400
    ran = twins(*words, "--json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert logs[0].read_bytes().count(b"keeper.passed") == 401
