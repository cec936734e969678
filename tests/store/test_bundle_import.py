"""A bundle's session taken into another room: the same tiers and measures, whole or not at all, never over a memory."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from room_samples import begin, changed, folded_anew, holds_together, line
from test_bundle import held, hostile, repacked, unpacked
from test_redaction import DUMP, PLANTED, held_with

from app.listings import import_file
from app.measure.metrics import metrics
from store import room as room_module
from store.bodies import JournalWritten, LetterFiled, OperatorSaid, SessionClosed, TiersChanged
from store.bundle import BundleError, read_bundle, write_bundle
from store.bundle_import import take_in
from store.clock import FrozenClock
from store.events import Event
from store.journals import entries, read_journal
from store.letters import letters
from store.log import LogWriteError
from store.plain import PlainError
from store.room import DESK, LogName, Room
from store.search import Index
from store.session_record import SessionRecord, read_session


def two_sessions(root: Path) -> tuple[LogName, LogName]:
    """A room with two closed sessions, the second begun with what the first left."""
    Room.create(root, "Robin")
    with Room.open(root) as room:
        logs = []
        for number in (1, 2):
            log = begin(room)
            logs.append(log)
            room.append(log, "operator", OperatorSaid(f"zebra {number}"), 1)
            room.append(log, "keeper", changed(line(number), line(number + 10, "hot"), session=number), 1)
            room.append(log, "keeper", changed(line(number + 10, "cold"), session=number), 1)
            room.append(log, "keeper", JournalWritten("snug", f"entry {number}"), 1)
            letter = LetterFiled("letter", f"2026-11-3{number - 1}T000000Z-letter.md", "Dear next", "0" * 64, False)
            room.append(log, "presence", letter, 1)
            room.append(log, "operator", SessionClosed("done"), 1)
    return logs[0], logs[1]


def bundle(root: Path, log: LogName) -> Path:
    file = root.with_name(f"{root.name}-{log}.zip")
    write_bundle(root, log, file, metrics)
    return file


def record_of(file: Path) -> SessionRecord:
    verdict, record = read_bundle(file, metrics)
    assert record is not None, verdict.findings
    return record


def new_room(tmp_path: Path, name: str = "other") -> Path:
    return Room.create(tmp_path / name, "Somebody")


def content(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_sessions_taken_in_one_behind_the_other_give_the_same_tiers_and_measures(tmp_path: Path) -> None:
    root = tmp_path / "room"
    other = new_room(tmp_path)
    for log in two_sessions(root):
        with Room.open(other) as room:
            taken = take_in(room, record_of(bundle(root, log)), Path("b.zip"))
            assert taken.events == len(list(room.events(log)))
    with Room.open(root, read_only=True) as first, Room.open(other) as second:
        assert list(first.tiers) == list(second.tiers)
        assert (first.tiers.next_number, first.tiers.session) == (second.tiers.next_number, second.tiers.session)
        holds_together(second)
        assert folded_anew(second).lines == second.tiers.lines
        assert [row.id for row in second.sessions()] == [row.id for row in first.sessions()]
        for row in first.sessions():
            mine, theirs = read_session(root, row.id), read_session(other, row.id)
            assert metrics(mine) == metrics(theirs)
            assert list(mine.after) == list(theirs.after)
            kept = [(event.n, event.at, event.mono, event.by, event.turn) for event in mine.events]
            assert kept == [(event.n, event.at, event.mono, event.by, event.turn) for event in theirs.events]
            assert [event.body for event in mine.events[1:]] == [event.body for event in theirs.events[1:]]
        assert [entry.text for entry in entries(read_journal(second, "snug"))] == ["entry 1", "entry 2"]
        assert [letter.file for letter in letters(first)] == [letter.file for letter in letters(second)]
        assert all((other / "letters" / letter.file).exists() for letter in letters(second))
        with Index.open(second) as index:
            assert len(index.search("zebra")) == 2


def test_a_session_alone_begins_with_the_lines_it_began_with(tmp_path: Path) -> None:
    root = tmp_path / "room"
    _, second = two_sessions(root)
    with Room.open(new_room(tmp_path)) as room:
        take_in(room, record_of(bundle(root, second)), Path("b.zip"))
        with Room.open(root, read_only=True) as origin:
            assert list(room.tiers) == list(origin.tiers)
            assert room.tiers.next_number == origin.tiers.next_number
        holds_together(room)
    with Room.open(tmp_path / "other") as again:
        assert not again.found and len(again.tiers) == 2


def test_what_changed_the_tiers_from_elsewhere_meanwhile_comes_too(tmp_path: Path) -> None:
    log = held(tmp_path / "room")
    with Room.open(new_room(tmp_path)) as room:
        take_in(room, record_of(bundle(tmp_path / "room", log)), Path("b.zip"))
        with Room.open(tmp_path / "room", read_only=True) as origin:
            assert list(room.tiers) == list(origin.tiers)
        holds_together(room)


def test_what_was_taken_in_can_be_exported_again_and_verifies(tmp_path: Path) -> None:
    log = held(tmp_path / "room")
    with Room.open(new_room(tmp_path)) as room:
        first = bundle(tmp_path / "room", log)
        take_in(room, record_of(first), first)
    again = bundle(tmp_path / "other", log)
    documents = [unpacked(file, tmp_path / file.stem) / "data/metrics.json" for file in (first, again)]
    reports = [json.loads(path.read_text())["report"] for path in documents]
    assert reports[0] == reports[1]


def test_a_redacted_bundle_is_taken_in_without_its_secrets(tmp_path: Path) -> None:
    log = held_with(tmp_path / "room", DUMP)
    file = tmp_path / "r.zip"
    write_bundle(tmp_path / "room", log, file, metrics, {}, {})
    with Room.open(new_room(tmp_path)) as room:
        take_in(room, record_of(file), file)
    assert not [name for name, bytes_ in content(tmp_path / "other").items() if PLANTED.encode() in bytes_]


def test_nothing_is_overwritten_and_memories_are_not_mixed(tmp_path: Path) -> None:
    root = tmp_path / "room"
    one, two = two_sessions(root)
    records = [record_of(bundle(root, log)) for log in (one, two)]
    with Room.open(root) as room:
        room.append(one, "operator", OperatorSaid("more"), 2)
        seq = room.seq
        with pytest.raises(BundleError, match="already"):
            take_in(room, records[0], Path("b.zip"))
        assert room.seq == seq
    other = new_room(tmp_path)
    with Room.open(other) as room:
        room.append(DESK, "operator", TiersChanged("add_line", changed(line(7)).changes, "mine"))
        before = content(other / "sessions")
        for record in records:
            with pytest.raises(BundleError, match="memories are not mixed"):
                take_in(room, record, Path("b.zip"))
        assert content(other / "sessions") == before


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "forge",
    [
        lambda top, tmp: hostile(tmp / "h.zip", [("s/../../evil", b"x")]),
        lambda top, tmp: hostile(tmp / "h.zip", [("/evil", b"x")]),
        lambda top, tmp: hostile(tmp / "h.zip", [("s/a", b"x"), ("s/a", b"y")]),
        lambda top, tmp: hostile(tmp / "h.zip", [("s/bomb", b"\0" * (70 << 20))]),
        lambda top, tmp: _cut(tmp),
        lambda top, tmp: _reordered(top, tmp),
        lambda top, tmp: _renamed(top, tmp),
    ],
    ids=["way up", "root", "twice", "bomb", "cut short", "reordered", "another session's name"],
)
def test_a_hostile_bundle_is_refused_with_exit_1_and_the_room_is_not_even_opened(
    tmp_path: Path, forge: Callable[[Path, Path], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    log = held(tmp_path / "room")
    write_bundle(tmp_path / "room", log, tmp_path / "good.zip", metrics)
    top = unpacked(tmp_path / "good.zip", tmp_path / "u")
    other = new_room(tmp_path)
    before = content(other)

    def opened() -> Room:
        raise AssertionError("the room was opened")

    assert import_file(opened, forge(top, tmp_path), as_json=False) == 1
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) >= 1 and "Traceback" not in said.err
    assert content(other) == before


def _cut(tmp: Path) -> Path:
    whole = (tmp / "good.zip").read_bytes()
    (tmp / "cut.zip").write_bytes(whole[: len(whole) // 2])
    return tmp / "cut.zip"


def _reordered(top: Path, tmp: Path) -> Path:
    log = top / "data/events.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    lines[3], lines[4] = lines[4], lines[3]
    log.write_bytes(b"".join(lines))
    return repacked(top, tmp / "reordered.zip")


def _renamed(top: Path, tmp: Path) -> Path:
    about = top / "data/bundle.json"
    about.write_text(about.read_text().replace(top.name, "../../desk"))
    return repacked(top, tmp / "renamed.zip")


# ---------------------------------------------------------------- whole or not at all


def test_a_disk_that_refuses_leaves_no_part_of_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = held(tmp_path / "room")
    record = record_of(bundle(tmp_path / "room", log))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for name in ("write_whole", "sync_folder"):
        other = new_room(tmp_path, f"full-{name}")
        with Room.open(other) as room:
            with monkeypatch.context() as patch:
                patch.setattr(room_module, name, full)
                with pytest.raises((LogWriteError, PlainError)):
                    take_in(room, record, Path("b.zip"))
            assert log not in room.logs() and not (other / "sessions" / log).exists()
            holds_together(room)
            take_in(room, record, Path("b.zip"))
            holds_together(room)
            assert list(room.tiers) == list(record.after)


def test_a_process_killed_anywhere_while_it_takes_a_session_in_leaves_it_whole_or_out(tmp_path: Path) -> None:
    log = held(tmp_path / "room")
    file = bundle(tmp_path / "room", log)
    record = record_of(file)
    came = {True: 0, False: 0}
    for at in range(40):
        other = new_room(tmp_path, f"killed-{at}")
        pid = os.fork()
        if pid == 0:
            _killed_at_call(at)
            with Room.open(other) as room:
                take_in(room, record, file)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        with Room.open(other, clock=None) as room:
            holds_together(room)
            there = log in room.logs()
            came[there] += 1
            if not there:
                take_in(room, record, file)
            assert list(room.tiers) == list(record.after)
            holds_together(room)
        if not killed:
            break
    assert not killed, "the last round came to its end"
    assert came[True] >= 2 and came[False] >= 5


def _killed_at_call(number: int) -> None:
    """From now on the process is killed right before its call ``number`` that changes the disk."""
    left = number

    def counted(call: Callable[..., object]) -> Callable[..., object]:
        def wrapped(*arguments: object, **named: object) -> object:
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return call(*arguments, **named)

        return wrapped

    for name in ("write", "fsync", "rename", "replace", "mkdir"):
        setattr(os, name, counted(getattr(os, name)))


def test_a_subscriber_hears_the_events_that_were_taken_in(tmp_path: Path) -> None:
    log = held(tmp_path / "room")
    heard: list[Event] = []
    with Room.open(new_room(tmp_path), clock=FrozenClock(datetime(2026, 11, 30, tzinfo=UTC))) as room:
        room.subscribe(heard.append)
        taken = take_in(room, record_of(bundle(tmp_path / "room", log)), Path("b.zip"))
    assert len([event for event in heard if event.log == log]) == taken.events
    assert [event.seq for event in heard] == list(range(1, len(heard) + 1))

