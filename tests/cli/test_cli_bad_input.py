"""Bad input: one plain line on standard error, exit 2, and not a byte of the room is touched."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest
from cli_plays import Said, Twins, bytes_of, in_own_process

from app.scripted.server import ScriptedServer
from store.room import Room

TASK = """\
name = "t"
title = "T"
workspace = "work"
brief = "Do it."
"""
FIRST = '[first_action]\ntool = "bash"\npattern = "output_test"\n'


def refused(said: Said, *words: str) -> None:
    """One line on standard error with these words, nothing on standard output, exit 2, no traceback."""
    assert said.code == 2, said
    assert said.out == ""
    assert said.err.startswith("twins: ") and said.err.count("\n") == 1 and said.err.endswith("\n"), said.err
    assert "Traceback" not in said.err and len(said.err) < 600
    for word in words:
        assert word in said.err, (word, said.err)


def headless(room: Path, *more: object) -> list[object]:
    folder = room.parent
    given = [str(word) for word in more]
    words: list[object] = ["run", "--headless", "--room", room, "--workspace", folder / "work", *given]
    return words if "--input" in given else [*words, "--input", folder / "turns.txt"]


def test_no_such_room(twins: Twins, room: Path, endpoint: ScriptedServer) -> None:
    none = room.parent / "none"
    refused(twins(*headless(none)), str(none), "twins init")
    assert not none.exists()


def test_a_folder_that_is_no_room(twins: Twins, room: Path, endpoint: ScriptedServer) -> None:
    refused(twins(*headless(room.parent / "work")), "is no room", "twins init")
    assert bytes_of(room.parent / "work") == {}


def test_a_room_that_another_process_holds(twins: Twins, room: Path, endpoint: ScriptedServer) -> None:
    with Room.open(room):
        before = bytes_of(room)
        said = in_own_process(*map(str, headless(room)), environment={"ANTHROPIC_BASE_URL": endpoint.base_url})
        refused(said, f"process {os.getpid()}", "read-only")
        assert bytes_of(room) == before


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("keeper = 7", ("keeper",)),
        ("[keeper]\nmax_usd = 'much'", ("line 4", "keeper.max_usd")),
        ("[keeper]\nmax_uds = 1.0", ("line 4", "keeper.max_uds")),
        ("[endpoint]\nbase_url = 'ftp://x'", ("line 4", "endpoint.base_url")),
        ("[session]\ncache_ttl = '2h'", ("line 4", "session.cache_ttl")),
        ("[keeper", ("line 3",)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_broken_room_toml_is_told_with_line_and_key(
    twins: Twins, room: Path, endpoint: ScriptedServer, line: str, words: tuple[str, ...]
) -> None:
    (room / "room.toml").write_text(f'format = 1\noperator = "Ada"\n{line}\n')
    before = bytes_of(room)
    refused(twins(*headless(room)), "room.toml", *words)
    assert bytes_of(room) == before


def test_a_room_toml_that_is_not_utf8(twins: Twins, room: Path, endpoint: ScriptedServer) -> None:
    (room / "room.toml").write_bytes(b'format = 1\noperator = "\xff"\n')
    refused(twins(*headless(room)), "room.toml", "UTF-8")


def test_no_key_and_no_base_url(twins: Twins, room: Path) -> None:
    before = bytes_of(room)
    refused(twins(*headless(room)), "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "twins demo")
    assert bytes_of(room) == before


def test_the_key_variable_that_the_room_names_is_the_one_to_set(twins: Twins, room: Path) -> None:
    (room / "room.toml").write_text('format = 1\noperator = "Ada"\n[endpoint]\napi_key_env = "HOUSE_KEY"\n')
    refused(twins(*headless(room)), "HOUSE_KEY")


def test_an_endpoint_that_cannot_be_reached(twins: Twins, room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{port}")
    before = bytes_of(room)
    refused(twins(*headless(room)), f"127.0.0.1:{port}", "cannot be reached")
    assert bytes_of(room) == before


@pytest.mark.parametrize("url", ["localhost:8088", "ftp://me:swordfish@127.0.0.1", "http://", "nonsense"])
def test_a_base_url_that_is_none(twins: Twins, room: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    said = twins(*headless(room))
    refused(said, "base URL", "ANTHROPIC_BASE_URL")
    assert "swordfish" not in said.err, "what stands there may hold a password"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TASK, ("no [first_action]",)),
        (TASK + '[first_action]\ntool = "bash"\npattern = ""\n', ("first_action.pattern",)),
        (TASK + '[first_action]\ntool = "bash"\n', ("first_action.pattern",)),
        (TASK + '[first_action]\ntool = "bash"\npattern = "("\n', ("first_action.pattern", "regular expression")),
        ("colour = 1\n" + TASK + FIRST, ("colour",)),
        (TASK.replace('"work"', '"nowhere"') + FIRST, ("workspace",)),
        ("name = \n", ("line 1",)),
    ],
    ids=["none", "empty", "no pattern", "no regex", "unknown key", "no workspace", "no TOML"],
)
def test_a_task_file_that_cannot_be_used(
    twins: Twins, room: Path, endpoint: ScriptedServer, text: str, words: tuple[str, ...]
) -> None:
    task = room.parent / "task.toml"
    task.write_text(text)
    before = bytes_of(room)
    refused(twins(*headless(room, "--task", task)), "task.toml", *words)
    assert bytes_of(room) == before


def test_a_task_file_that_is_not_there_or_not_utf8(twins: Twins, room: Path, endpoint: ScriptedServer) -> None:
    refused(twins(*headless(room, "--task", room.parent / "none.toml")), "none.toml")
    (room.parent / "bad.toml").write_bytes(b"\xff\xfe")
    refused(twins(*headless(room, "--task", room.parent / "bad.toml")), "bad.toml", "UTF-8")


def test_a_condition_that_does_not_exist(twins: Twins, room: Path, endpoint: ScriptedServer) -> None:
    before = bytes_of(room)
    refused(twins(*headless(room, "--condition", "Z")), "'Z'", "A", "E")
    assert bytes_of(room) == before


def test_a_condition_of_the_settings_that_does_not_exist(twins: Twins, room: Path, endpoint: ScriptedServer) -> None:
    (room / "room.toml").write_text('format = 1\noperator = "Ada"\n[session]\ncondition = "Q"\n')
    refused(twins(*headless(room)), "'Q'")


def test_an_input_file_that_is_not_utf8(twins: Twins, room: Path, endpoint: ScriptedServer) -> None:
    (room.parent / "latin.txt").write_bytes("Grüße".encode("latin-1"))
    before = bytes_of(room)
    refused(twins(*headless(room, "--input", room.parent / "latin.txt")), "latin.txt", "UTF-8")
    assert bytes_of(room) == before and endpoint.requests == []


@pytest.mark.parametrize("text", ["", "  \n\n", "---\n---\n \n---"])
def test_an_input_file_without_a_message(twins: Twins, room: Path, endpoint: ScriptedServer, text: str) -> None:
    (room.parent / "empty.txt").write_text(text)
    before = bytes_of(room)
    refused(twins(*headless(room, "--input", room.parent / "empty.txt")), "empty.txt", "no message")
    assert bytes_of(room) == before


def test_an_input_file_that_is_not_there(twins: Twins, room: Path, endpoint: ScriptedServer) -> None:
    refused(twins(*headless(room, "--input", room.parent / "none.txt")), "none.txt")
    refused(twins(*headless(room, "--input", room.parent)), str(room.parent))


def test_headless_and_input_go_together(twins: Twins, room: Path, endpoint: ScriptedServer) -> None:
    refused(twins("run", "--headless", "--room", room), "--input")
    refused(twins("run", "--input", room.parent / "turns.txt", "--room", room), "--headless")
    refused(twins("resume", "--headless", "--room", room), "--input")


def test_a_workspace_that_is_no_folder(twins: Twins, room: Path, endpoint: ScriptedServer) -> None:
    none = room.parent / "nowhere"
    refused(
        twins("run", "--headless", "--room", room, "--workspace", none, "--input", room.parent / "turns.txt"), str(none)
    )


def test_an_approval_policy_that_does_not_exist(twins: Twins, room: Path, endpoint: ScriptedServer) -> None:
    refused(twins(*headless(room, "--approve", "ask")), "--approve", "read")


@pytest.mark.parametrize("command", ["resume", "close"])
def test_a_session_that_does_not_exist(twins: Twins, room: Path, endpoint: ScriptedServer, command: str) -> None:
    more = ["--headless", "--input", room.parent / "turns.txt"] if command == "resume" else []
    before = bytes_of(room)
    refused(twins(command, "20990101T000000Z-a1", "--room", room, *more), "20990101T000000Z-a1")
    refused(twins(command, "../../etc", "--room", room, *more), "../../etc")
    refused(twins(command, "--room", room, *more), "twins run")
    assert bytes_of(room) == before


def test_an_export_of_a_session_that_does_not_exist(twins: Twins, room: Path) -> None:
    out = room.parent / "out.zip"
    refused(twins("export", "20990101T000000Z-a1", "-o", out, "--room", room), "20990101T000000Z-a1")
    assert not out.exists()


def test_commands_and_options_that_do_not_exist(twins: Twins, room: Path) -> None:
    refused(twins("dance"), "dance")
    refused(twins("lines", "--loud", "--room", room), "--loud")
    refused(twins("run", "--room"), "--room")


def test_a_room_where_something_is_already(twins: Twins, room: Path) -> None:
    before = bytes_of(room.parent)
    refused(twins("init", room), "is a room already")
    (room.parent / "work" / "file").write_text("mine")
    refused(twins("init", room.parent / "work"), "not empty")
    assert bytes_of(room.parent) == {**before, "work/file": b"mine"}


def test_no_terminal_and_no_command(room: Path) -> None:
    refused(in_own_process("--room", str(room)), "no terminal", "--headless")


def test_help_asks_for_nothing(twins: Twins) -> None:
    said = twins("--help")
    assert said.code == 0 and said.err == ""
    for command in ("run", "resume", "demo", "init", "export", "verify", "search"):
        assert re.search(rf"^\s+{command}\b", said.out, re.MULTILINE)


def test_debug_shows_where_it_came_from(room: Path) -> None:
    said = in_own_process("lines", "--debug", "--room", str(room.parent / "none"))
    assert said.code == 1 and "Traceback" in said.err and "RoomError" in said.err
