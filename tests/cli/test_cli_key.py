"""The key leaves nowhere: not into the room, a bundle, standard output, standard error or an error's words."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from cli_plays import Said, in_own_process

from app.scripted.script import Beat, Reply, Script, SeatScript, ToolCall
from app.scripted.server import ScriptedServer

KEY = "sk-ant-api03-planted-KEY_0123456789abcdefXYZ-tail"
OTHER = "planted-password-of-the-shop-77"
TURNS = f"What is in the environment?\n---\nMy own words: the key is {KEY}, the password {OTHER}.\n"


@pytest.fixture
def environment() -> dict[str, str]:
    return {"ANTHROPIC_API_KEY": KEY, "SHOP_PASSWORD": OTHER}


def nowhere(said: Said, *secrets: str) -> None:
    for secret in secrets or (KEY, OTHER):
        assert secret not in said.out and secret not in said.err


def files_with(folder: Path, secret: str) -> list[str]:
    return [str(path) for path in folder.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


def run_session(room: Path, server: ScriptedServer, environment: dict[str, str], turns: str) -> Said:
    turns_file = room.parent / "planted.txt"
    turns_file.write_text(turns)
    return in_own_process(
        "run", "--headless", "--input", str(turns_file), "--room", str(room), "--approve", "all",
        "--workspace", str(room.parent / "work"), "--json",
        environment={**environment, "ANTHROPIC_BASE_URL": server.base_url},
    )  # fmt: skip


def test_the_key_is_in_no_file_of_a_room_nor_in_what_is_printed(room: Path, environment: dict[str, str]) -> None:
    """P dumps the environment of its shell; the shell must not have the key to begin with."""
    call = ToolCall("bash", {"command": "env; echo $ANTHROPIC_API_KEY; echo $SHOP_PASSWORD"})
    beat = Beat("environment", (Reply("Let me look.", tools=(call,)), Reply("There it is.")))
    script = Script(presence=SeatScript((beat,), Reply("Well.")), keeper=SeatScript(otherwise=Reply("Nothing.")))
    with ScriptedServer(script) as server:
        said = run_session(room, server, environment, "What is in the environment?\n")
    assert said.code == 0, said.err
    nowhere(said)
    assert files_with(room, KEY) == [] and files_with(room, OTHER) == []
    log = max(room.glob("sessions/2*/events.jsonl")).read_text()
    assert '"tool.ended"' in log and "PATH=" in log, "the dump was made"


def test_a_key_that_was_said_aloud_leaves_a_redacted_export_without_it(
    room: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    script = Script(
        presence=SeatScript(otherwise=Reply(f"You said {KEY} and {OTHER}.")),
        keeper=SeatScript(otherwise=Reply("Nothing.")),
    )
    with ScriptedServer(script) as server:
        said = run_session(room, server, environment, TURNS)
    assert said.code == 0, said.err
    session = json.loads(said.out)["session"]
    assert files_with(room, KEY), "the operator's own words are kept as they were said"
    file = tmp_path / "out.zip"
    exported = in_own_process(
        "export", session, "--redact", "-o", str(file), "--room", str(room), environment=environment
    )
    assert exported.code == 0, exported.err
    nowhere(exported)
    assert "operator.said" in exported.out and "event" in exported.out, "it says where"
    with zipfile.ZipFile(file) as packed:
        packed.extractall(tmp_path / "u")
    assert files_with(tmp_path / "u", KEY) == [] and files_with(tmp_path / "u", OTHER) == []
    assert in_own_process("verify", str(file)).code == 0


@pytest.mark.parametrize("command", [("run", "--headless"), ("doctor",), ("wake",), ("lines",), ("search", KEY)])
def test_no_error_repeats_the_key(
    room: Path, environment: dict[str, str], command: tuple[str, ...], tmp_path: Path
) -> None:
    extra = ("--input", str(tmp_path / "turns.txt"), "--workspace", str(tmp_path)) if command[0] == "run" else ()
    for base in ("http://127.0.0.1:9", f"http://{KEY}@127.0.0.1:9/", f"ftp://{KEY}"):
        said = in_own_process(
            *command, *extra, "--room", str(room), environment={**environment, "ANTHROPIC_BASE_URL": base}
        )
        if command[0] == "search":
            assert KEY not in said.err
        else:
            nowhere(said)
    assert files_with(room, KEY) == []


def test_a_key_pasted_into_the_settings_is_refused_without_repeating_it(
    room: Path, environment: dict[str, str]
) -> None:
    toml = room / "room.toml"
    kept = toml.read_text()
    for line in (f'api_key_env = "{KEY}"', f'base_url = "https://{KEY}@host"', f'api_key = "{KEY}"', f"model = {KEY}"):
        name = line.split(" =")[0]
        text = "\n".join(line if one.startswith(f"{name} =") else one for one in kept.splitlines())
        toml.write_text(text if text != kept.rstrip("\n") else kept.replace("[endpoint]", f"[endpoint]\n{line}"))
        said = in_own_process("lines", "--room", str(room), environment=environment)
        assert said.code == 2, line
        nowhere(said)
