"""The room: made, opened, locked, written, followed, and its views rebuilt whenever they do not fit the logs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from room_samples import begin, changed, folded_anew, holds_together, line, opened

from store.bodies import LogOpened, Notice, OperatorSaid, Partial, SessionClosed, TailMoved, TurnEnded
from store.clock import FrozenClock
from store.events import NO_HASH, Event, line_hash
from store.folding import check_room
from store.log import LogWriteError, raw_lines
from store.room import DESK, LogName, Room, RoomError

HELLO = Notice("info", "hello")


def every_file(root: Path) -> dict[str, bytes]:
    return {str(file.relative_to(root)): file.read_bytes() for file in sorted(root.rglob("*")) if file.is_file()}


# ---------------------------------------------------------------- making and opening


def test_a_new_room_is_for_its_owner_only_and_opens(tmp_path: Path) -> None:
    root = Room.create(tmp_path / "a" / "room", 'Derick "D" \\ Müller')
    with Room.open(root) as room:
        begin(room)
        assert room.settings.operator == 'Derick "D" \\ Müller'
        assert room.found == []
    modes = {file: file.stat().st_mode & 0o777 for file in root.rglob("*")}
    assert {mode for file, mode in modes.items() if file.is_dir()} == {0o700}
    assert {mode for file, mode in modes.items() if file.is_file()} == {0o600}
    assert root.stat().st_mode & 0o777 == 0o700


def test_a_room_is_not_made_where_something_is(tmp_path: Path, room_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("years of work")
    before = every_file(tmp_path)
    for place in (tmp_path / "full", room_path, tmp_path / "full" / "thesis.txt"):
        with pytest.raises(RoomError, match=r"another folder|new or an empty folder"):
            Room.create(place, "Derick")
    assert every_file(tmp_path) == before


def test_what_is_no_room_is_not_opened_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(RoomError, match="twins init"):
        Room.open(tmp_path / "nowhere")
    with pytest.raises(RoomError, match=r"no room\.toml"):
        Room.open(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_wrong_settings_are_one_sentence_and_take_no_lock(room_path: Path) -> None:
    (room_path / "room.toml").write_text('format = 1\noperator = "D"\n[keeper]\nmax_usd = "much"\n')
    before = every_file(room_path)
    with pytest.raises(RoomError) as raised:
        Room.open(room_path)
    assert str(raised.value) == "room.toml line 4: keeper.max_usd: must be a number"
    assert every_file(room_path) == before


@pytest.mark.parametrize("newer", ["settings", "log"])
def test_a_room_of_a_newer_version_is_refused_and_left_alone(room_path: Path, newer: str) -> None:
    with Room.open(room_path) as room:
        begin(room)
    if newer == "settings":
        file = room_path / "room.toml"
        file.write_text(file.read_text().replace("format = 1", "format = 2"))
    else:
        (room_path / "tiers.json").unlink()
        file = next((room_path / "sessions").glob("*/events.jsonl"))
        file.write_bytes(file.read_bytes().replace(b'"format":1', b'"format":2'))
    before = every_file(room_path)
    with pytest.raises(RoomError, match="update two-twins"):
        Room.open(room_path)
    after = every_file(room_path)
    after.pop("room.lock", None)
    before.pop("room.lock", None)
    assert after == before
    with pytest.raises(RoomError, match="update two-twins"):  # and the lock was let go
        Room.open(room_path)


def test_a_closed_room_takes_nothing_more_and_closing_twice_is_no_harm(room_path: Path) -> None:
    room = Room.open(room_path)
    room.close()
    room.close()
    with pytest.raises(RoomError, match="closed"):
        room.append(DESK, "operator", HELLO)


# ---------------------------------------------------------------- the lock


def test_a_second_process_is_told_who_writes_and_may_read(room: Room) -> None:
    program = (
        "import sys; from pathlib import Path; from store.room import *\n"
        "try: Room.open(Path(sys.argv[1]))\n"
        "except RoomError as error: print(error)\n"
        "print(len(list(Room.open(Path(sys.argv[1]), read_only=True).all_events())))"
    )
    begin(room)
    said = subprocess.run(
        [sys.executable, "-c", program, str(room.root)], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert f"process {os.getpid()} on " in said[0] and "since 2026-11-30T00:05:12" in said[0]
    assert "read-only" in said[0]
    assert said[1] == "2"


def test_a_second_opening_in_one_process_is_refused_too(room: Room) -> None:
    with pytest.raises(RoomError, match=f"process {os.getpid()}"):
        Room.open(room.root)


def test_a_lock_falls_with_its_process(room_path: Path) -> None:
    pid = os.fork()
    if pid == 0:
        Room.open(room_path)
        os._exit(0)
    os.waitpid(pid, 0)
    assert (room_path / "room.holder.json").exists()
    with Room.open(room_path) as room:
        assert room.crashed
        room.append(DESK, "operator", HELLO)
    assert not (room_path / "room.holder.json").exists()
    with Room.open(room_path) as room:
        assert not room.crashed


def test_a_record_of_a_holder_that_is_damaged_or_foreign_is_no_obstacle(room_path: Path) -> None:
    for record in (b"", b"{", b'{"pid":1,"host":"elsewhere","started":"","since":"x"}'):
        (room_path / "room.holder.json").write_bytes(record)
        Room.open(room_path).close()


# ---------------------------------------------------------------- writing


def test_events_count_in_their_log_and_in_the_room_and_are_chained_through_both(room: Room) -> None:
    first = begin(room)
    room.append(DESK, "operator", HELLO)
    second = begin(room)
    room.append(first, "operator", OperatorSaid("late"), 1)
    hashes = {
        (log, number): line_hash(raw.content)
        for log in room.logs()
        for number, raw in enumerate(raw_lines(room.log_path(log)), 1)
    }
    events = list(room.all_events())
    assert [event.seq for event in events] == list(range(1, 8))
    assert events[0].prev == NO_HASH
    for event in events[1:]:
        if isinstance(event.body, LogOpened):
            assert event.body.cites is not None
            assert event.prev == hashes[event.body.cites.log, event.body.cites.n]
        else:
            assert event.prev == hashes[event.log, event.n - 1]
    assert [event.n for event in room.events(first)] == [1, 2, 3]
    assert room.logs() == (first, second, DESK)
    holds_together(room)


def test_a_clock_that_is_set_back_changes_dates_and_nothing_else(room: Room, clock: FrozenClock) -> None:
    begin(room)
    clock.set_wall(datetime(2001, 1, 1, tzinfo=UTC))
    log = begin(room)
    clock.advance(2)
    room.append(log, "keeper", changed(line(1), session=2))
    events = list(room.all_events())
    assert events[-1].at.startswith("2001-01-01") and events[-1].mono > events[-2].mono
    assert [row.number for row in room.sessions()] == [1, 2]
    holds_together(room)


def test_session_ids_sort_by_time_and_never_repeat(room: Room, clock: FrozenClock) -> None:
    given_ids = [room.new_session_id() for _ in range(700)]
    clock.advance(1)
    given_ids.append(room.new_session_id())
    assert given_ids[0] == "20261130T000512Z-a1"
    assert given_ids == sorted(set(given_ids))


@pytest.mark.parametrize("name", ["", "../desk", "a/b", "/etc", ".hidden", "a\n", "x" * 81, "ü"])
def test_a_log_cannot_lead_out_of_the_room(room: Room, name: str) -> None:
    with pytest.raises(RoomError):
        room.append(LogName(name), "operator", HELLO)
    assert room.seq == 0


def test_sessions_are_told_without_their_logs(room: Room, room_path: Path, clock: FrozenClock) -> None:
    log = begin(room)
    room.append(log, "operator", OperatorSaid("hi"), 1)
    room.append(log, "system", TurnEnded("done"), 1)
    room.append(log, "system", SessionClosed("done"), 1)
    begin(room)
    rows = room.sessions()
    assert [(row.id, row.number, row.condition, row.turns, bool(row.closed_at)) for row in rows] == [
        (log, 1, "B", 1, True),
        (rows[1].id, 2, "B", 0, False),
    ]
    room.close()
    with Room.open(room_path, clock=clock) as again:
        assert again.sessions() == rows
        assert again.session(log) == rows[0] and again.session(DESK) is None


def test_a_folder_that_cannot_be_written_is_told_in_one_sentence_and_nothing_is_lost(room: Room) -> None:
    begin(room)
    before = room.seq
    shutil.rmtree(room.sessions_dir)
    room.sessions_dir.write_text("a file in its place")
    with pytest.raises(LogWriteError, match="nothing was written"):
        room.append(DESK, "operator", HELLO)
    assert room.seq == before


# ---------------------------------------------------------------- subscribers


def test_a_subscriber_that_fails_loses_no_event_and_harms_no_other(room: Room) -> None:
    heard: list[int] = []

    def fails(event: Event) -> None:
        raise RuntimeError("a widget broke")

    room.subscribe(fails)
    room.subscribe(lambda event: heard.append(event.seq))
    event = room.append(DESK, "operator", HELLO)
    assert event.seq == 2 and heard == [1, 2]
    assert [read.seq for read in room.all_events()] == [1, 2]


def test_an_event_that_a_subscriber_appends_comes_after_the_present_one_for_all(room: Room) -> None:
    heard: dict[str, list[int]] = {"first": [], "second": []}

    def answers(event: Event) -> None:
        heard["first"].append(event.seq)
        if isinstance(event.body, OperatorSaid):
            assert room.append(DESK, "system", HELLO).seq == event.seq + 1

    end = room.subscribe(answers)
    room.subscribe(lambda event: heard["second"].append(event.seq))
    room.append(DESK, "operator", OperatorSaid("hi"))
    end()
    room.append(DESK, "operator", OperatorSaid("hi"))
    assert heard == {"first": [1, 2, 3], "second": [1, 2, 3, 4]}


# ---------------------------------------------------------------- read-only


def test_reading_changes_no_byte_of_a_room(room_path: Path) -> None:
    with Room.open(room_path) as room:
        log = begin(room)
        room.append(log, "keeper", changed(line(1)))
    with open(room_path / "sessions" / log / "events.jsonl", "ab") as file:
        file.write(b'{"n":4,"se')
    (room_path / "tiers.json").write_bytes(b"damaged")
    before = every_file(room_path)
    with Room.open(room_path, read_only=True) as room:
        assert [one.id for one in room.tiers] == ["L1"]
        assert len(list(room.all_events())) == 3
        room.refresh()
        with pytest.raises(RoomError, match="read-only"):
            room.append(DESK, "operator", HELLO)
    assert every_file(room_path) == before


def test_a_reader_follows_what_the_writer_appends(room: Room) -> None:
    begin(room)
    with Room.open(room.root, read_only=True) as reader:
        heard: list[Event] = []
        reader.subscribe(heard.append)
        assert reader.refresh() == ()
        log = begin(room)
        written = [room.append(log, "keeper", changed(line(1), session=2)), room.append(DESK, "operator", HELLO)]
        assert [event.body for event in reader.refresh()][-3:] == [written[0].body, *[e.body for e in heard[-2:]]]
        assert [event.seq for event in heard] == [3, 4, 5, 6, 7]
        assert (reader.tiers, reader.seq, reader.sessions()) == (room.tiers, room.seq, room.sessions())
        assert reader.refresh() == ()


def test_a_reader_sees_only_whole_events(room: Room) -> None:
    log = begin(room)
    content = room.log_path(log).read_bytes()
    copy = room.root.parent / "copy"
    shutil.copytree(room.root, copy)
    place = copy / "sessions" / log / "events.jsonl"
    place.write_bytes(content[:-1])
    with Room.open(copy, read_only=True) as reader:
        assert reader.seq == 1
        place.write_bytes(content)
        assert [event.seq for event in reader.refresh()] == [2]


# ---------------------------------------------------------------- views that do not fit


def test_a_torn_tail_is_set_aside_said_and_recorded(room_path: Path) -> None:
    with Room.open(room_path) as room:
        log = begin(room)
    place = room_path / "sessions" / log / "events.jsonl"
    whole = place.read_bytes()
    place.write_bytes(whole + b'{"n":3,"seq":3,"at"')
    with Room.open(room_path) as room:
        last = list(room.events(log))[-1]
        assert last.body == TailMoved(19, "events.torn-1.jsonl")
        assert "19 bytes" in room.found[-1].text
        assert (place.parent / "events.torn-1.jsonl").read_bytes() == b'{"n":3,"seq":3,"at"'
        assert place.read_bytes().startswith(whole)
        holds_together(room)


def test_a_log_whose_first_event_was_torn_begins_anew(room_path: Path) -> None:
    with Room.open(room_path) as room:
        room.append(DESK, "operator", HELLO)
        (room.sessions_dir / "late").mkdir()
        (room.sessions_dir / "late" / "events.jsonl").write_bytes(b'{"n":1')
    with Room.open(room_path) as room:
        assert [event.kind for event in room.events(LogName("late"))] == ["log.opened", "log.tail_moved"]
        holds_together(room)


def wreck_missing(view: Path) -> None:
    view.unlink()


def wreck_emptied(view: Path) -> None:
    view.write_bytes(b"")


def wreck_cut(view: Path) -> None:
    view.write_bytes(view.read_bytes()[:-20])


def wreck_by_hand(view: Path) -> None:
    view.write_text(view.read_text().replace("the offset is stale", "the offset is fresh"))


def wreck_other_version(view: Path) -> None:
    tables = json.loads(view.read_text())
    tables["room"]["1"]["format"] = 99
    view.write_text(json.dumps(tables))


def wreck_other_tables(view: Path) -> None:
    view.write_text('{"_default": {"1": {"a": 1}}}')


def wreck_no_table(view: Path) -> None:
    view.write_text("[1, 2]")


@pytest.mark.parametrize(
    "wreck",
    [wreck_missing, wreck_emptied, wreck_cut, wreck_by_hand, wreck_other_version, wreck_other_tables, wreck_no_table],
)
def test_views_that_are_of_no_use_are_folded_again_and_that_is_said(
    room_path: Path, wreck: Callable[[Path], None]
) -> None:
    with Room.open(room_path) as room:
        log = begin(room)
        room.append(log, "keeper", changed(line(1), line(2, "hot")))
        right = room.tiers
    wreck(room_path / "tiers.json")
    with Room.open(room_path) as room:
        assert room.tiers == right
        assert any("folded again from the logs" in notice.text for notice in room.found)
        holds_together(room)
    with Room.open(room_path) as room:
        assert room.found == [] and room.tiers == right


def test_views_of_another_room_are_not_taken_for_this_ones(tmp_path: Path) -> None:
    roots = [Room.create(tmp_path / name, "Derick") for name in ("one", "two")]
    for root, text in zip(roots, ("mine", "yours"), strict=True):
        with Room.open(root) as room:
            log = LogName("same")
            room.append(log, "system", opened(log, 1))
            room.append(log, "keeper", changed(line(1, text=text)))
    shutil.copy(roots[0] / "tiers.json", roots[1] / "tiers.json")
    with Room.open(roots[1]) as room:
        assert [one.text for one in room.tiers] == ["yours"]
        assert room.found


def test_a_log_that_is_gone_cut_or_changed_is_told(room_path: Path) -> None:
    with Room.open(room_path) as room:
        first, second = begin(room), begin(room)
        room.append(second, "keeper", changed(line(1), session=2))
    place = room_path / "sessions" / second / "events.jsonl"
    whole = place.read_bytes()

    def told(content: bytes) -> str:
        place.write_bytes(content)
        os.utime(place, ns=(1, 1))
        with Room.open(room_path, read_only=True) as room:
            assert room.tiers == folded_anew(room)
            return " / ".join(notice.text for notice in room.found)

    assert "shorter" in told(b"".join(whole.splitlines(keepends=True)[:-1]))
    assert "is not what it was" in told(whole.replace(b"stale", b"fresh"))
    assert told(whole) == ""
    shutil.rmtree(place.parent)
    with Room.open(room_path, read_only=True) as room:
        assert any(f"log {second} is gone" in notice.text for notice in room.found)
        assert room.logs() == (first,)


def test_the_check_of_a_room_names_the_place_of_every_break(room: Room) -> None:
    first, second = begin(room), begin(room)
    assert check_room(room.sessions_dir) == ()
    place = room.log_path(first)
    place.write_bytes(place.read_bytes().replace(b'"program":"two-twins', b'"program":"Two-twins'))
    wrong = check_room(room.sessions_dir)
    assert len(wrong) == 1 and f"log {first} breaks at line 2" in wrong[0]
    room.log_path(second).write_bytes(place.read_bytes())
    assert len(check_room(room.sessions_dir)) > 1


# ---------------------------------------------------------------- any history

STEP = st.tuples(
    st.sampled_from(["desk", "session", "new", "line", "cold", "words", "reopen", "lose view", "tear", "back"]),
    st.integers(0, 7),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(STEP, max_size=25))
def test_whatever_happened_the_views_are_what_the_logs_say(steps: list[tuple[str, int]]) -> None:
    clock = FrozenClock(datetime(2026, 11, 30, tzinfo=UTC))
    with tempfile.TemporaryDirectory() as folder:
        root = Room.create(Path(folder) / "room", "Derick")
        room = Room.open(root, clock=clock)
        logs: list[LogName] = [DESK]
        seen: dict[int, bytes] = {}
        for what, number in steps:
            log = logs[number % len(logs)]
            if what == "new":
                logs.append(begin(room))
            elif what in ("line", "cold"):
                tier = "cold" if what == "cold" else "hot" if number % 2 else "warm"
                room.append(log, "keeper", changed(line(number + 1, tier), session=room.tiers.session))
            elif what == "back":
                clock.set_wall(datetime(2000 + number, 1, 1, tzinfo=UTC))
            elif what in ("reopen", "lose view", "tear"):
                room.close()
                if what == "lose view":
                    (root / "tiers.json").unlink(missing_ok=True)
                if what == "tear" and (root / "sessions" / log / "events.jsonl").exists():
                    with open(root / "sessions" / log / "events.jsonl", "ab") as file:
                        file.write(b'{"n":' * (number + 1))
                room = Room.open(root, clock=clock)
            else:
                body = HELLO if what == "desk" else Partial("presence", 1, 0, "text", "w" * number)
                room.append(log, "presence", body, number)
            for event in room.all_events():
                kept = seen.setdefault(event.seq, repr(event).encode())
                assert kept == repr(event).encode()
            assert len(seen) == room.seq
            holds_together(room)
        room.close()


def test_a_line_in_the_views_is_the_line_in_the_log(room: Room, room_path: Path) -> None:
    log = begin(room)
    odd = replace(line(3, "hot"), text="ü 会 \u2028 \\ \"'", promoted=True)
    room.append(log, "keeper", changed(odd, line(1), line(2, "hot")))
    room.close()
    with Room.open(room_path) as again:
        assert list(again.tiers) == [odd, line(1), line(2, "hot")]
