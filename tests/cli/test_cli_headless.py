"""Sessions without a screen: one JSON document, progress as lines, resumed and closed from the shell."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli_plays import Twins, in_own_process

from app.scripted.faults import Fault
from app.scripted.server import ScriptedServer
from store.bodies import LetterFiled, OperatorSaid, SessionClosed
from store.room import Room

KEYS = ["session", "condition", "turns", "ret", "seats", "tiers", "keeper_behind", "letter", "bundle"]
SEAT_KEYS = ["input", "cache_read", "cache_write", "output", "usd", "ttft_ms"]


def check_report(report: dict) -> None:
    """The keys of a report, exactly, and the kinds of their values."""
    assert list(report) == KEYS
    assert list(report["ret"]) == ["seconds", "source", "told"]
    assert set(report["seats"]) == {"presence", "keeper"}
    for seat in report["seats"].values():
        assert list(seat) == SEAT_KEYS
        assert all(isinstance(seat[key], int) for key in SEAT_KEYS[:4])
        assert seat["usd"] is None or isinstance(seat["usd"], float)
        assert all(ms > 0 for ms in seat["ttft_ms"])
    assert list(report["tiers"]) == ["hot_bytes", "warm_bytes", "lines"]


def given(room: Path, *more: str) -> list[object]:
    folder = room.parent
    return [*more, "--headless", "--room", room, "--input", folder / "turns.txt"]


def test_a_run_prints_one_json_document_with_exactly_these_keys(
    twins: Twins, room: Path, endpoint: ScriptedServer
) -> None:
    said = twins(*given(room, "run", "--json"), "--workspace", room.parent / "work")
    assert said.code == 0 and said.err == ""
    report = json.loads(said.out)
    check_report(report)
    assert report["condition"] == "B" and report["turns"] == 2 and report["keeper_behind"] == 0
    assert report["letter"] and (room / "letters" / Path(report["letter"]).name).exists()
    assert len(report["seats"]["presence"]["ttft_ms"]) == 4, "two turns, letter and handoff"
    for seat in report["seats"].values():
        assert seat["output"] > 0 and seat["input"] + seat["cache_read"] + seat["cache_write"] > 0


def test_a_run_without_json_tells_line_by_line_what_happened(
    twins: Twins, room: Path, endpoint: ScriptedServer
) -> None:
    said = twins(*given(room, "run", "--condition", "A"), "--workspace", room.parent / "work")
    assert said.code == 0
    for line in ("operator 1> one", "presence> Well.", "operator 2> two", "letter filed", "== closed", "RET none"):
        assert line in said.out
    assert endpoint.requests_of("keeper") == []


def test_a_turn_that_fails_is_exit_1_and_the_session_goes_on_with_resume(
    twins: Twins, room: Path, endpoint: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (room / "room.toml").write_text('format = 1\noperator = "Ada"\n[endpoint]\nmax_retries = 0\n')
    endpoint.misbehave("presence", Fault("server_error"))
    said = twins(*given(room, "run", "--json"), "--workspace", room.parent / "work")
    assert said.code == 1 and said.err.count("\n") == 1 and "twins resume" in said.err
    report = json.loads(said.out)
    check_report(report)
    assert report["turns"] == 1
    again = twins(*given(room, "resume", "--json"))
    assert again.code == 0, again.err
    assert json.loads(again.out)["session"] == report["session"]
    assert json.loads(again.out)["turns"] == 3
    with Room.open(room, read_only=True) as opened:
        said_in_all = [
            event.body.text for event in opened.events(opened.sessions()[0].id) if isinstance(event.body, OperatorSaid)
        ]
    assert said_in_all == ["one", "one", "two"]


def test_a_session_that_was_left_is_closed_from_the_shell(twins: Twins, room: Path, endpoint: ScriptedServer) -> None:
    (room / "room.toml").write_text('format = 1\noperator = "Ada"\n[endpoint]\nmax_retries = 0\n')
    endpoint.misbehave("presence", Fault("hang_up"))
    twins(*given(room, "run"), "--workspace", room.parent / "work")
    said = twins("close", "--room", room)
    assert said.code == 0, said.err
    with Room.open(room, read_only=True) as opened:
        bodies = [event.body for event in opened.events(opened.sessions()[0].id)]
    assert isinstance(bodies[-1], SessionClosed) and any(isinstance(body, LetterFiled) for body in bodies)


def test_messages_keep_their_lines_and_only_lines_of_three_dashes_part_them(
    twins: Twins, room: Path, endpoint: ScriptedServer
) -> None:
    (room.parent / "turns.txt").write_bytes("\ufeffa\r\n--- not\r\n\r\n  b ----\r\n---\r\n ünïcode \r\n".encode())
    twins(*given(room, "run", "--json"), "--workspace", room.parent / "work")
    with Room.open(room, read_only=True) as opened:
        texts = [e.body.text for e in opened.events(opened.sessions()[0].id) if isinstance(e.body, OperatorSaid)]
    assert texts == ["a\n--- not\n\n  b ----", "ünïcode"]


def test_text_of_a_model_reaches_the_terminal_without_controls(
    twins: Twins, room: Path, endpoint: ScriptedServer
) -> None:
    (room.parent / "turns.txt").write_text("hi \x1b]0;title\x07 [red]there\x1b[31m\n")
    said = twins(*given(room, "run"), "--workspace", room.parent / "work")
    assert "\x1b" not in said.out and "\x07" not in said.out and "[red]there" in said.out


@pytest.fixture(scope="module")
def demo() -> tuple[int, str, str]:
    said = in_own_process("demo", "--headless", "--json")
    return said.code, said.out, said.err


def test_the_demo_prints_one_json_document_with_these_keys_for_each_of_its_sessions(demo: tuple[int, str, str]) -> None:
    code, out, err = demo
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert list(document) == [*KEYS, "sessions"]
    last = {key: document[key] for key in KEYS}
    assert len(document["sessions"]) == 2 and document["sessions"][-1] == last
    for report in document["sessions"]:
        check_report(report)


def test_the_demo_measures_ret_and_keeps_lines(demo: tuple[int, str, str]) -> None:
    for report in json.loads(demo[1])["sessions"]:
        assert report["ret"]["seconds"] > 0 and report["ret"]["source"] == "clock" and report["ret"]["told"] is False
        assert report["tiers"]["lines"] > 0 and report["letter"]


def test_the_demo_needs_neither_key_nor_network_nor_terminal_and_leaves_nothing(tmp_path: Path) -> None:
    said = in_own_process("demo", environment={"TMPDIR": str(tmp_path), "HOME": str(tmp_path)})
    assert said.code == 0 and said.err == ""
    assert said.out.count("== session") == 2 and said.out.count("== closed") == 2
    assert list(tmp_path.glob("two-twins-demo-*")) == []


URL = os.environ.get("TWINS_REAL_MODEL_URL", "")


@pytest.mark.skipif(not URL, reason="TWINS_REAL_MODEL_URL names no server with a real model")
def test_a_real_model_finishes_a_session_with_real_token_counts_for_both_seats(tmp_path: Path) -> None:
    root = Room.create(tmp_path / "room", "Ada")
    (tmp_path / "work").mkdir()
    (tmp_path / "turns.txt").write_text(
        "My name is Ada. Please always answer in one short sentence.\n---\nSay hello.\n"
    )
    said = in_own_process(
        *map(str, given(root, "run", "--json")),
        *("--workspace", str(tmp_path / "work"), "--model", "any"),
        environment={"ANTHROPIC_BASE_URL": URL, "ANTHROPIC_API_KEY": "x"},
    )
    assert said.code == 0, said.err
    report = json.loads(said.out)
    check_report(report)
    for seat in report["seats"].values():
        assert seat["output"] > 0 and seat["input"] + seat["cache_read"] + seat["cache_write"] > 0
