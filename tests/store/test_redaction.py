"""No secret leaves with a bundle that was exported without them, wherever it stood and however it was cut in pieces."""

from __future__ import annotations

import hashlib
import json
import string
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from room_samples import begin

from app.measure.metrics import metrics
from store import secrets
from store.bodies import (
    Change,
    ChunkGiven,
    JournalWritten,
    LetterFiled,
    MessageEnded,
    Notice,
    OperatorSaid,
    Partial,
    SessionClosed,
    TiersChanged,
    TiersRefused,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    Usage,
    WorkspaceDiffed,
)
from store.bundle import Exported, verify_bundle, write_bundle
from store.lines import Line, LineId
from store.plain import PlainError
from store.room import DESK, LogName, Room
from store.secrets import known_secrets, secrets_in

PLANTED = "sk-ant-api03-PLANTED-abcDEF123456_ghiJKL789-xyz"
OTHERS = {
    "GitHub": "ghp_0123456789abcdefABCDEF0123456789abcd",
    "AWS": "AKIAIOSFODNN7EXAMPLE",
    "variable": "hunter2-correct-horse",
    "basic": "pa55word-of-robin",
    "token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "pem": "MIIEpAIBAAKCAQEAx7Zk1planted",
}
DUMP = (
    f"PATH=/usr/bin:/bin\nANTHROPIC_API_KEY={PLANTED}\nGITHUB_TOKEN={OTHERS['GitHub']}\nHOME=/home/robin\n"
    f"MY_SERVICE_PASSWORD={OTHERS['variable']}\naws {OTHERS['AWS']}\nhttps://robin:{OTHERS['basic']}@host/path\n"
    f"jwt {OTHERS['token']}\n-----BEGIN RSA PRIVATE KEY-----\n{OTHERS['pem']}\n-----END RSA PRIVATE KEY-----\n"
)


def held_with(root: Path, text: str, pieces: tuple[str, ...] = ()) -> LogName:
    """A room with one session in which ``text`` stands wherever a text can stand."""
    Room.create(root, "Robin")
    line = Line(LineId("L1"), "warm", "finding", text, text, text, 1, 3, 1, 1, 1, "keeper")
    with Room.open(root) as room:
        room.append(DESK, "operator", TiersChanged("add_line", (Change(None, line),), text))
        log = begin(room)
        room.append(log, "operator", OperatorSaid(text, text), 1)
        for piece in pieces:
            room.append(log, "presence", Partial("presence", 1, 0, "text", piece), 1)
        use = {"type": "tool_use", "id": "t", "name": "bash", "input": {text: text}}
        content = [{"type": "text", "text": text}, use]
        room.append(log, "presence", MessageEnded("presence", 1, "m", "a", content, "end_turn", Usage(), None, 1, 2), 1)
        room.append(log, "presence", ToolCalled("t", "bash", {"command": text}), 1)
        room.append(log, "system", ToolEnded("t", "bash", "ok", [{"type": "text", "text": text}], 1, 9), 1)
        room.append(log, "system", TurnEnded("failed", text), 1)
        room.append(log, "system", ChunkGiven((1,), "turn", text), 1)
        room.append(log, "keeper", TiersChanged("edit_line", (Change(line, line),), text, text), 1)
        room.append(log, "keeper", TiersRefused("add_line", {"text": text}, text), 1)
        room.append(DESK, "operator", TiersChanged("edit_line", (Change(line, line),), text))
        room.append(log, "keeper", JournalWritten("snug", text), 1)
        room.append(log, "presence", LetterFiled("letter", "a-letter.md", text, "0" * 64, False), 1)
        room.append(log, "system", WorkspaceDiffed("files", text), 1)
        room.append(log, "system", Notice("error", text), 1)
        room.append(log, "operator", SessionClosed(text), 1)
    return log


def exported(root: Path, log: LogName, known: dict[str, str] | None) -> tuple[Exported, dict[str, bytes]]:
    made = write_bundle(root, log, root.with_name("out.zip"), metrics, {}, known)
    with zipfile.ZipFile(made.file) as packed:
        return made, {name: packed.read(name) for name in packed.namelist()}


def test_no_secret_is_in_any_file_of_a_redacted_bundle_and_every_place_is_named(tmp_path: Path) -> None:
    log = held_with(tmp_path / "room", DUMP, (DUMP[:40], DUMP[40:61], DUMP[61:]))
    made, files = exported(tmp_path / "room", log, {})
    for name, content in files.items():
        for secret in (PLANTED, *OTHERS.values()):
            assert secret.encode() not in content, f"{name} holds {secret[:12]}…"
    listed = json.loads(files[f"{log}/data/redactions.json"])
    assert len(listed) == len(made.redactions) > 50
    kinds = {one.kind for one in made.redactions}
    assert kinds >= {"operator.said", "stream.partial", "tool.ended", "tool.called", "keeper.chunk", "letter.filed"}
    assert {one.what for one in made.redactions} >= {"Private Key", "Anthropic Key", "AWS Access Key"}
    assert any(one.where == "content.0.text" and one.kind == "tool.ended" for one in made.redactions)
    assert b"/usr/bin:/bin" in files[f"{log}/data/events.jsonl"], "what is no secret stays"


def test_a_redacted_bundle_verifies_and_folds_like_the_session(tmp_path: Path) -> None:
    log = held_with(tmp_path / "room", DUMP, (DUMP[:40], DUMP[40:]))
    made, files = exported(tmp_path / "room", log, {})
    verdict = verify_bundle(made.file, metrics)
    assert verdict.ok, verdict.findings
    after = json.loads(files[f"{log}/data/tiers/after.json"])
    assert list(after["lines"]) == ["L1"] and "[redacted: Anthropic Key]" in after["lines"]["L1"]["text"]
    whole = len((tmp_path / "room/sessions" / log / "events.jsonl").read_bytes().splitlines())
    assert verdict.events == whole


def test_the_room_itself_keeps_every_byte(tmp_path: Path) -> None:
    log = held_with(tmp_path / "room", DUMP)
    before = (tmp_path / "room/sessions" / log / "events.jsonl").read_bytes()
    exported(tmp_path / "room", log, {})
    assert (tmp_path / "room/sessions" / log / "events.jsonl").read_bytes() == before


def test_without_redaction_the_log_goes_out_as_it_is(tmp_path: Path) -> None:
    log = held_with(tmp_path / "room", DUMP)
    made, files = exported(tmp_path / "room", log, None)
    assert made.redactions == () and f"{log}/data/redactions.json" not in files
    assert files[f"{log}/data/events.jsonl"] == (tmp_path / "room/sessions" / log / "events.jsonl").read_bytes()


@settings(max_examples=25, deadline=None)
@given(
    value=st.text(string.ascii_letters + string.digits + "+/_-.$%", min_size=8, max_size=40),
    before=st.text(max_size=10),
    cuts=st.lists(st.integers(0, 60), max_size=6),
)
def test_what_is_known_to_be_secret_goes_whatever_it_looks_like_and_however_a_stream_cut_it(
    tmp_path_factory: pytest.TempPathFactory, value: str, before: str, cuts: list[int]
) -> None:
    root = tmp_path_factory.mktemp("known") / "room"
    text = f"{before}{value} and {value}"
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = tuple(text[one:other] for one, other in pairwise(edges))
    log = held_with(root, text, pieces)
    made, files = exported(root, log, {value: "MY_KEY"})
    events = [json.loads(line) for line in files[f"{log}/data/events.jsonl"].splitlines()]
    streamed = "".join(event["data"]["text"] for event in events if event["kind"] == "stream.partial")
    assert value not in streamed and all(value not in json.dumps(event["data"], ensure_ascii=False) for event in events)
    assert verify_bundle(made.file, metrics).ok


def test_a_secret_found_in_one_place_goes_everywhere(tmp_path: Path) -> None:
    root = tmp_path / "room"
    Room.create(root, "Robin")
    with Room.open(root) as room:
        log = begin(room)
        room.append(log, "system", ToolEnded("t", "bash", "ok", "DEPLOY_TOKEN=blue-7-horse-battery", 1, 9), 1)
        room.append(log, "operator", OperatorSaid("Use blue-7-horse-battery for that, please."), 2)
    _, files = exported(root, log, {})
    assert not [name for name, content in files.items() if b"blue-7-horse" in content]
    assert "Use [redacted: " in files[f"{log}/data/events.jsonl"].decode()


@pytest.mark.parametrize(
    "text",
    [
        "The secret: ask why the offset moved.",
        "max_tokens=2000000 and MAX_TOKENS=16000000",
        'api_key_env = "ANTHROPIC_API_KEY"',
        "Set ANTHROPIC_API_KEY=$KEY, or token=${TOKEN}, or password=<your password>.",
        "AUTHOR=Robin Example",
        "The key is under the mat; the password was never told.",
        "version 1.2.3.4 of the parser",
    ],
)
def test_words_about_secrets_are_left_alone(text: str) -> None:
    assert secrets_in(text, {}) == ()


def test_nothing_that_was_found_is_tried_at_its_service(monkeypatch: pytest.MonkeyPatch) -> None:
    import requests

    def asked(*arguments: object, **named: object) -> None:
        raise AssertionError("a secret was sent out")

    monkeypatch.setattr(requests.sessions.Session, "request", asked)
    slack = "xoxb-123456789012-123456789012-abcdefghijklmnopqrstuvwx"
    assert {one.what for one in secrets_in(f"{DUMP}\n{slack}\nsk_live_0123456789abcdefABCDEFGH", {})} > {"Private Key"}


def test_credentials_of_the_environment_are_told_by_their_names() -> None:
    environment = {"MY_TOKEN": "abcdefgh", "PATH": "/usr/bin:/bin", "DB_PASSWORD": "short", "A_KEY": PLANTED}
    assert known_secrets(environment) == {"abcdefgh": "MY_TOKEN", PLANTED: "A_KEY"}


def test_without_detect_secrets_nothing_goes_out_and_one_line_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import builtins

    imported = builtins.__import__

    def lacking(name: str, *rest: object, **named: object) -> object:
        if name.startswith("detect_secrets"):
            raise ImportError(name)
        return imported(name, *rest, **named)  # type: ignore[arg-type]

    log = held_with(tmp_path / "room", DUMP)
    secrets._detectors.cache_clear()
    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(PlainError, match="pip install detect-secrets"):
        exported(tmp_path / "room", log, {})
    assert not (tmp_path / "out.zip").exists()


def test_a_brief_that_holds_a_secret_is_left_out(tmp_path: Path) -> None:
    from test_bundle import held

    brief = f"Use {PLANTED} to listen.\n"
    log = held(tmp_path / "room", brief_sha256=hashlib.sha256(brief.encode()).hexdigest())
    made = write_bundle(tmp_path / "room", log, tmp_path / "o.zip", metrics, {"keeper.md": brief}, {})
    assert made.left_out == ("keeper.md",)
    whole = write_bundle(tmp_path / "room", log, tmp_path / "p.zip", metrics, {"keeper.md": brief})
    assert whole.left_out == ()
