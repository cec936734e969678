"""The doctor: what it finds, what it says to do, and that it mends only what loses nothing."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from cli_plays import bytes_of, in_own_process

from app.doctor import Finding, examine
from store.bodies import Change as LineChange
from store.bodies import ConditionRecord, JournalWritten, LetterFiled, Notice, OperatorSaid, SessionOpened, TiersChanged
from store.clock import FrozenClock
from store.journals import write_journal
from store.letters import file_letter
from store.lines import Line, LineId
from store.room import DESK, Room
from store.search import Index

NOW = datetime(2020, 11, 30, 12, 0, tzinfo=UTC)
"""A day that every machine's clock has behind it."""
KEY = "sk-ant-planted-in-a-room-0123456789"


def line(number: int, text: str, tier: str = "warm") -> Line:
    where = "hot" if tier == "hot" else "warm"
    return Line(LineId(f"L{number}"), where, "finding", text, "seen", "seen", 1, 3, 1, 1, 1, "keeper")


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """A room in which everything is as it should be: one open session, a letter, a journal entry, an index."""
    root = Room.create(tmp_path / "room", "Robin")
    condition = ConditionRecord("B", "silent", True, False, False, False, False, ())
    with Room.open(root, clock=FrozenClock(NOW - timedelta(hours=1))) as opened:
        log = opened.new_session_id()
        opened.append(log, "system", SessionOpened(log, 1, condition, None, "Robin", "m", "", True, "", {}))
        opened.append(log, "operator", OperatorSaid("What does the door say?"), 1)
        kept = TiersChanged("add_line", (LineChange(None, line(1, "ten")),), "kept", session=1)
        opened.append(log, "keeper", kept, 1)
        write_journal(opened, log, "keeper", "snug", "A quiet day.", 1)
        file_letter(opened, log, "letter", "Dear next,\n\nall is well.", tiers_seen=False)
        with Index.open(opened) as index:
            index.catch_up()
    return root


def found(root: Path, repair: bool = False, **environment: str) -> list[Finding]:
    variables = {"ANTHROPIC_API_KEY": KEY, **environment}
    return list(examine(root, repair=repair, offline=True, environment=variables, clock=FrozenClock(NOW)))


def wrong(root: Path, **environment: str) -> dict[str, Finding]:
    return {one.check: one for one in found(root, **environment) if one.state == "wrong"}


def log_of(root: Path) -> Path:
    return max(root.glob("sessions/2*/events.jsonl"))


def test_a_sound_room_has_nothing_wrong_and_every_check_is_named(room: Path) -> None:
    told = found(room)
    assert [one for one in told if one.state == "wrong"] == []
    here = {"permissions", "disk", "settings", "lock", "chain", "folds", "budgets", "calendar", "words", "index"}
    assert here | {"key"} <= {one.check for one in told}
    assert any(one.check == "sessions" and "resume" in one.advice for one in told), "the open session is named"


def test_looking_changes_no_byte(room: Path) -> None:
    (room / "tiers.json").write_text("{")
    (room / "letters").joinpath(next((room / "letters").iterdir())).unlink()
    before = bytes_of(room)
    found(room)
    assert bytes_of(room) == before


# ---------------------------------------------------------------- what is wrong, and what repair does about it


def loosen(root: Path) -> None:
    (root / "snug.md").chmod(0o644)


def damage_view(root: Path) -> None:
    (root / "tiers.json").write_text('{"room": ')


def change_view(root: Path) -> None:
    view = root / "tiers.json"
    view.write_text(view.read_text().replace('"ten"', '"eleven"'))


def tear(root: Path) -> None:
    with log_of(root).open("ab") as log:
        log.write(b'{"n":99,"seq":')


def cut_journal(root: Path) -> None:
    text = (root / "snug.md").read_bytes()
    (root / "snug.md").write_bytes(text[:-5])


def lose_letter(root: Path) -> None:
    next((root / "letters").iterdir()).unlink()


def spoil_index(root: Path) -> None:
    (root / "index.sqlite").write_bytes(b"no database at all, but long enough to look at" * 50)


def age_index(root: Path) -> None:
    db = sqlite3.connect(root / "index.sqlite")
    db.execute("UPDATE meta SET version = 1")
    db.commit()
    db.close()


@pytest.mark.parametrize(
    ("harm", "check"),
    [
        (loosen, "permissions"),
        (damage_view, "folds"),
        (change_view, "folds"),
        (tear, "chain"),
        (cut_journal, "words"),
        (lose_letter, "words"),
        (spoil_index, "index"),
        (age_index, "index"),
    ],
)
def test_what_loses_nothing_is_told_and_then_mended(room: Path, harm: Callable[[Path], None], check: str) -> None:
    harm(room)
    assert "--repair" in wrong(room)[check].advice
    logs = {name: content for name, content in bytes_of(room).items() if name.endswith("events.jsonl")}
    mended = found(room, repair=True)
    assert [one.check for one in mended if one.state == "wrong"] == []
    assert check in {one.check for one in mended if one.state == "mended"}
    assert wrong(room) == {}
    after = bytes_of(room)
    for name, content in logs.items():
        whole = content[: content.rfind(b"\n") + 1]
        assert after[name].startswith(whole), "no whole event was touched"
    with Room.open(room) as opened:
        assert [one.text for one in opened.tiers] == ["ten"]


def test_what_a_repair_takes_away_is_kept_beside_it(room: Path) -> None:
    damage_view(room)
    tear(room)
    found(room, repair=True)
    names = {path.name for path in room.rglob("*")}
    assert "tiers.json.damaged-1" in names and "events.torn-1.jsonl" in names


def test_a_broken_chain_is_told_with_its_place_and_left_alone(room: Path) -> None:
    log = log_of(room)
    content = log.read_bytes()
    log.write_bytes(content.replace(b"door say", b"wall say"))
    told = wrong(room)["chain"]
    assert "line 4" in told.text and "backup" in told.advice
    before = log.read_bytes()
    assert "chain" in {one.check for one in found(room, repair=True) if one.state == "wrong"}
    assert log.read_bytes() == before


def test_a_tier_over_its_budget_is_told(room: Path) -> None:
    with Room.open(room) as opened:
        lines = tuple(LineChange(None, line(number, "x" * 500, "hot")) for number in range(2, 8))
        opened.append(DESK, "operator", TiersChanged("add_line", lines, "past the gate", session=1))
    assert "hot holds" in wrong(room)["budgets"].text


def test_settings_that_are_wrong_do_not_keep_the_other_checks_from_running(room: Path) -> None:
    with (room / "room.toml").open("a") as toml:
        toml.write('\n[keeper]\nmax_usd = "much"\n')
    told = found(room)
    assert any(one.check == "settings" and one.state == "wrong" for one in told)
    assert any(one.check == "chain" and one.state == "ok" for one in told)


def test_a_clock_behind_the_newest_event_is_told(room: Path) -> None:
    with Room.open(room, clock=FrozenClock(NOW + timedelta(days=3))) as opened:
        opened.append(DESK, "system", Notice("info", "from the future"))
    assert "set the clock" in wrong(room)["calendar"].advice


def test_a_wrong_weekday_in_a_line_a_letter_or_a_journal_is_noted(room: Path) -> None:
    with Room.open(room, clock=FrozenClock(NOW)) as opened:
        log = opened.sessions()[0].id
        said = "Relay on Monday, December 1, 2026."
        change = LineChange(None, line(2, said))
        opened.append(log, "keeper", TiersChanged("add_line", (change,), "kept", session=1), 1)
        write_journal(opened, log, "keeper", "snug", said, 1)
        file_letter(opened, log, "letter", said, tiers_seen=False)
    notes = [one for one in found(room) if one.check == "calendar" and one.state == "note"]
    assert len(notes) == 3 and all("Tuesday" in one.text for one in notes)


def test_a_full_disk_is_told_before_it_is_full(room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for free, state in ((50 << 20, "wrong"), (500 << 20, "note"), (50 << 30, "ok")):
        usage = type("usage", (), {"free": free})
        monkeypatch.setattr("shutil.disk_usage", lambda _, usage=usage: usage)
        assert next(one for one in found(room) if one.check == "disk").state == state


def test_a_room_in_use_names_its_holder_and_is_not_mended(room: Path) -> None:
    loosen(room)
    tear_before = bytes_of(room)
    with Room.open(room):
        told = found(room, repair=True)
    lock = next(one for one in told if one.check == "lock")
    assert f"process {os.getpid()} on {socket.gethostname()}" in lock.text
    assert any(one.check == "repair" and one.state == "wrong" for one in told)
    assert {name for name in bytes_of(room) if "torn" in name} == {name for name in tear_before if "torn" in name}


def test_the_record_of_a_process_that_is_gone_is_taken_away_by_repair_only(room: Path) -> None:
    record = room / "room.holder.json"
    record.write_text(json.dumps({"pid": 2**22 - 1, "host": socket.gethostname(), "started": "1", "since": "long ago"}))
    assert any(one.check == "lock" and "ended without closing" in one.text for one in found(room))
    assert record.exists()
    assert any(one.check == "lock" and one.state == "mended" for one in found(room, repair=True))
    assert not record.exists()


def test_a_lock_held_without_a_record_is_believed(room: Path) -> None:
    with open(room / "room.lock", "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert any(one.check == "lock" and "in use" in one.text for one in found(room))
    assert any(one.check == "lock" and one.state == "ok" for one in found(room))


# ---------------------------------------------------------------- key and endpoint


def test_a_key_that_stands_in_the_room_is_told_by_its_place_and_never_shown(room: Path) -> None:
    (room / "memory" / "notes.txt").write_text(f"export ANTHROPIC_API_KEY={KEY}\n")
    (room / "memory" / "notes.txt").chmod(0o600)
    told = found(room)
    assert any(one.check == "key" and "memory/notes.txt" in one.text and one.state == "wrong" for one in told)
    assert not any(KEY in one.text + one.advice for one in told)


def test_no_key_is_wrong_only_where_one_is_needed(room: Path) -> None:
    assert "ANTHROPIC_API_KEY" in wrong(room, ANTHROPIC_API_KEY="")["key"].advice
    assert "key" not in wrong(room, ANTHROPIC_API_KEY="", ANTHROPIC_BASE_URL="http://127.0.0.1:9")


class _Endpoint(BaseHTTPRequestHandler):
    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.send_header("content-type", "application/json")
        self.end_headers()
        model = {"type": "model", "id": "m", "display_name": "M", "created_at": "2026-01-01T00:00:00Z"}
        error = {"type": "error", "error": {"type": "authentication_error", "message": f"bad key {KEY}"}}
        self.wfile.write(json.dumps(model if self.status == 200 else error).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


ANSWERS = [(200, "ok"), (401, "wrong"), (403, "wrong"), (404, "note"), (500, "wrong")]


@pytest.mark.parametrize(("status", "state"), ANSWERS)
def test_the_endpoint_is_asked_once_and_its_answer_told_without_the_key(
    room: Path, endpoint: str, monkeypatch: pytest.MonkeyPatch, status: int, state: str
) -> None:
    monkeypatch.setattr(_Endpoint, "status", status)
    environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": endpoint}
    told = list(examine(room, environment=environment, clock=FrozenClock(NOW)))
    assert [one.state for one in told if one.check == "endpoint"] == [state]
    assert not any(KEY in one.text + one.advice for one in told)


def test_an_endpoint_that_is_not_there_is_told(room: Path) -> None:
    environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    told = list(examine(room, environment=environment, clock=FrozenClock(NOW)))
    assert any(one.check == "endpoint" and "cannot be reached" in one.text for one in told)


# ---------------------------------------------------------------- from the shell


def test_exit_0_when_sound_1_when_something_is_wrong_2_when_there_is_no_room(room: Path, tmp_path: Path) -> None:
    environment = {"ANTHROPIC_API_KEY": KEY}
    sound = in_own_process("doctor", "--offline", "--room", str(room), environment=environment)
    assert (sound.code, sound.err) == (0, "") and "ok     chain" in sound.out
    lose_letter(room)
    found_ = in_own_process("doctor", "--offline", "--json", "--room", str(room), environment=environment)
    document = json.loads(found_.out)
    assert found_.code == 1 and document["ok"] is False
    assert [one["check"] for one in document["findings"] if one["state"] == "wrong"] == ["words"]
    mended = in_own_process("doctor", "--offline", "--repair", "--room", str(room), environment=environment)
    assert mended.code == 0 and "mended words" in mended.out
    none = in_own_process("doctor", "--room", str(tmp_path / "nowhere"))
    assert none.code == 2 and none.out == "" and "twins init" in none.err and len(none.err.splitlines()) == 1


def test_hostile_words_in_a_room_reach_the_terminal_as_text(room: Path) -> None:
    hostile = "\x1b]0;owned\x07 on Monday, December 1, 2026"
    with Room.open(room) as opened:
        log = opened.sessions()[0].id
        opened.append(log, "presence", LetterFiled("letter", "x.md", hostile, "0" * 64, False))
        opened.append(log, "keeper", JournalWritten("recall", hostile))
    told = in_own_process("doctor", "--offline", "--room", str(room))
    assert "\x1b" not in told.out and "\x07" not in told.out
    assert stat.S_IMODE(room.stat().st_mode) == 0o700
