"""Full-text search: words of any script are found at once, and an index that does not fit is built anew."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from room_samples import begin, changed, line

from store import search
from store.bodies import (
    ChunkGiven,
    Json,
    MessageEnded,
    Notice,
    OperatorQueued,
    OperatorSaid,
    Partial,
    ToolCalled,
    ToolEnded,
    Usage,
    WakePacket,
)
from store.clock import FrozenClock
from store.lines import LineId
from store.room import DESK, LogName, Room, RoomError
from store.search import Index
from store.search_words import Term, snippet, terms


@pytest.fixture
def index(room: Room) -> Iterator[Index]:
    with Index.open(room) as opened:
        yield opened


def say(room: Room, text: str, turn: int = 1) -> int:
    return room.append(DESK, "operator", OperatorSaid(text), turn).n


def answer(text: str) -> MessageEnded:
    content: Json = [
        {"type": "thinking", "thinking": "hidden musing", "signature": "x"},
        {"type": "text", "text": text},
        {"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "toolword"}},
    ]
    return MessageEnded("presence", 1, "m1", "model", content, "tool_use", Usage(), None, None, 1.0)


# ---------------------------------------------------------------- what is found


@pytest.mark.parametrize(
    ("said", "queries"),
    [
        ("Der Café-Plan für Kelvarra", ["cafe", "CAFÉ", "fur", '"plan für kelvarra"', "kelv*", "kelvarra plan"]),
        ("run output_test.py --region BR", ["output_test", "output_test.py", "test", "--region", "br", '"region br"']),
        ("see finder/clock.py and C:\\temp\\x", ["finder/clock.py", "clock", "finder/*", "temp\\x"]),
        ("readRoomFile(path) raised XMLParseError", ["readRoomFile", "readroomfile", "RoomFile", "parse", "XMLParse"]),
        ("会議の予定を直す。時差", ["会議", "予定", "会議の予定", "時", "直す"]),
        ("회의는 내일이다", ["회의", "내일"]),
        ("ประชุมวันนี้", ["ประชุม", "วันนี้"]),
        ("Η ΑΘΗΝΑ και Straße, Łódź", ["αθηνα", "STRASSE", "straße", "łódź"]),
        ("हिन्दी में बैठक", ["बैठक", "हिन्दी"]),
        ("اجتماع اليوم и встреча", ["اجتماع", "ВСТРЕЧА"]),
        ("ｆｕｌｌ ﬁne e\u0301te\u0301", ["full", "fine", "été", "ete"]),
        ("L12 was 3.14 on 2026-11-30", ["L12", "3.14", "2026-11-30"]),
    ],
)
def test_words_phrases_and_beginnings_of_any_script_are_found(
    room: Room, index: Index, said: str, queries: list[str]
) -> None:
    say(room, "something else altogether")
    n = say(room, said, turn=7)
    for query in queries:
        found = index.search(query)
        assert [(hit.n, hit.turn, hit.by, hit.log) for hit in found] == [(n, 7, "operator", DESK)], query


@pytest.mark.parametrize("query", ["plan cafe", '"plan fur cafe"', "plann", "la", "議会", "NOT plan", "roomfile"])
def test_what_was_not_said_is_not_found(room: Room, index: Index, query: str) -> None:
    say(room, "Der Kelvarra-Plan, 会議 lang")
    assert index.search(query) == ()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(st.text(max_size=30) | st.text(st.sampled_from('"*-:()^{}AND OR NOT NEAR+,\\\x00\ud800')))
def test_no_query_whatever_it_holds_is_an_error(room: Room, index: Index, query: str) -> None:
    if room.seq == 0:
        say(room, "a AND b OR c NOT d NEAR(e)")
    index.search(query)
    index.cold_lines(query)


def test_each_word_of_a_text_finds_it_in_its_scripts_own_case(room: Room, index: Index) -> None:
    words = [
        "Kelvarra",
        "наряд",
        "Ωμέγα",
        "مرحبا",
        "שלום",
        "会议",
        "かな",
        "カナ",
        "안녕",
        "ไทย",
        "x1",
        "ß",
        "ﬂow",
        "Ǆ",
    ]
    n = say(room, " ".join(words))
    for word in words:
        assert [hit.n for hit in index.search(word)] == [n], word


def test_new_events_are_found_at_once_and_only_what_somebody_said(room: Room, index: Index) -> None:
    log = begin(room)
    room.append(log, "presence", answer("spoken word"), 1)
    room.append(log, "presence", ToolCalled("t", "bash", {"command": "grep toolword", "more": ["deep"]}), 1)
    room.append(log, "presence", ToolEnded("t", "bash", "ok", [{"type": "text", "text": "resultword"}], 1.0, 9), 1)
    room.append(log, "presence", ToolEnded("u", "recall", "ok", "memoryword", 1.0, 9, "memory"), 1)
    room.append(log, "presence", Partial("presence", 1, 0, "text", "partword"), 1)
    room.append(log, "system", WakePacket("B", "packetword", (), ""), 0)
    room.append(log, "system", ChunkGiven((1,), "turn", "chunkword"), 1)
    room.append(log, "operator", OperatorQueued("k", "queuedword"), 1)
    kinds = {
        word: [hit.kind for hit in index.search(word)]
        for word in ("spoken", "toolword", "deep", "resultword", "silent Keeper")
    }
    assert kinds == {
        "spoken": ["message.ended"],
        "toolword": ["tool.called"],
        "deep": ["tool.called"],
        "resultword": ["tool.ended"],
        "silent Keeper": ["session.opened"],
    }
    for copy in ("musing", "memoryword", "partword", "packetword", "chunkword", "queuedword"):
        assert index.search(copy) == ()


def test_finds_are_narrowed_by_seat_kind_session_and_date(room: Room, index: Index, clock: FrozenClock) -> None:
    first = begin(room)
    room.append(first, "operator", OperatorSaid("the word"), 1)
    room.append(first, "presence", answer("the word too"), 1)
    clock.advance(86_400)
    second = begin(room)
    room.append(second, "operator", OperatorSaid("the word again"), 1)

    def found(**narrow: object) -> list[tuple[LogName, int]]:
        return sorted((hit.log, hit.n) for hit in index.search("word", **narrow))  # type: ignore[arg-type]

    assert found() == [(first, 3), (first, 4), (second, 3)]
    assert found(seat="presence") == [(first, 4)]
    assert found(seat="keeper") == []
    assert found(kind="operator.said") == found(kind="operator") == [(first, 3), (second, 3)]
    assert found(session=first, seat="operator") == [(first, 3)]
    assert found(session=LogName("none")) == []
    day = datetime(2026, 12, 1, tzinfo=UTC)
    assert found(since=day) == [(second, 3)]
    assert found(until=day) == [(first, 3), (first, 4)]
    assert found(since=day, until=day + timedelta(seconds=1)) == []
    assert [hit.n for hit in index.search("", session=first, limit=2)] == [4, 3]


def test_the_best_comes_first_and_of_equals_the_newest(room: Room, index: Index) -> None:
    weak = say(room, "clock " + "and many other words about nothing " * 20)
    strong = say(room, "clock clock clock")
    say(room, "nothing")
    assert [hit.n for hit in index.search("clock")] == [strong, weak]
    same = [say(room, "twin text") for _ in range(3)]
    assert [hit.n for hit in index.search("twin")] == same[::-1]
    assert len(index.search("clock", limit=1)) == 1


def test_words_that_stand_nearly_everywhere_give_the_newest(
    room: Room, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "RANKED_BELOW", 5)
    numbers = [say(room, f"common {'x ' * number}") for number in range(9)]
    assert [hit.n for hit in index.search("common", limit=4)] == numbers[:-5:-1]


def test_a_snippet_is_one_clean_line_around_the_find(room: Room, index: Index) -> None:
    say(room, "x " * 300 + "\n\nthe Café\tis \x1b[31mopen\u202e today " + "y " * 300)
    (hit,) = index.search("cafe")
    assert "the Café is open today" in hit.snippet
    assert hit.snippet.startswith("…") and hit.snippet.endswith("…")
    assert len(hit.snippet) <= 170


@given(before=st.text(max_size=400), after=st.text(max_size=400))
def test_a_snippet_holds_the_word_that_was_looked_for(before: str, after: str) -> None:
    assert "needle" in snippet(f"{before} Needle {after}", [Term("NEEDLE")]).lower()


def test_a_query_is_words_phrases_and_beginnings() -> None:
    assert terms('a "b c" d* "e f"* -- "" * "') == (
        Term("a"),
        Term("b c"),
        Term("d", prefix=True),
        Term("e f", prefix=True),
    )


# ---------------------------------------------------------------- cold lines


def test_a_cold_line_is_found_until_it_is_restored(room: Room, index: Index) -> None:
    log = begin(room)
    room.append(log, "keeper", changed(line(1), line(2, "hot", "the harbour moved")))
    assert index.cold_line(LineId("L1")) is None and index.cold_lines() == ()
    room.append(log, "keeper", changed(line(1, "cold"), line(2, "cold", "the harbour moved")))
    assert index.cold_line(LineId("L2")) == line(2, "cold", "the harbour moved")
    assert [one.id for one in index.cold_lines("harbour")] == ["L2"]
    assert [one.id for one in index.cold_lines("L1")] == ["L1"]
    assert [one.id for one in index.cold_lines()] == ["L2", "L1"]
    room.append(log, "operator", changed(replace(line(2), text="the harbour stands")))
    assert index.cold_line(LineId("L2")) is None
    assert index.cold_lines("harbour") == ()
    assert index.search("harbour stands")[0].line_id == "L2"


# ---------------------------------------------------------------- an index that does not fit


def test_the_index_goes_on_from_where_it_stood(room: Room) -> None:
    say(room, "one")
    with Index.open(room) as index:
        assert index.catch_up() == 2
    say(room, "two")
    passed: list[int] = []
    with Index.open(room) as index:
        assert index.catch_up(passed.append) == 1
        assert passed == [1]
        assert len(index.search("one")) == len(index.search("two")) == 1
        assert index.catch_up() == 0
        assert index.check() == ""
    assert (room.root / "index.sqlite").stat().st_mode & 0o777 == 0o600


def wreck_missing(path: Path) -> None:
    path.unlink()


def wreck_emptied(path: Path) -> None:
    path.write_bytes(b"")


def wreck_other_file(path: Path) -> None:
    path.write_bytes(b"not a database at all, but long enough to be looked at" * 100)


def wreck_cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def wreck_middle(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xaa" * (len(content) - 4096)
    path.write_bytes(bytes(content))


def wreck_version(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET version = 99")
    db.close()


def wreck_table(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE places")
    db.close()


def wreck_places(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("UPDATE places SET offset = offset + 1")
    db.close()


def wreck_marks(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("UPDATE logs SET size = size + 1000000")
    db.close()


@pytest.mark.parametrize(
    "wreck",
    [
        wreck_missing,
        wreck_emptied,
        wreck_other_file,
        wreck_cut,
        wreck_middle,
        wreck_version,
        wreck_table,
        wreck_places,
        wreck_marks,
    ],
)
def test_an_index_that_is_of_no_use_is_built_anew_and_finds_all(room: Room, wreck: Callable[[Path], None]) -> None:
    numbers = [say(room, f"word{number} always") for number in range(60)]
    with Index.open(room) as index:
        index.catch_up()
    for end in ("-wal", "-shm"):
        assert not (room.root / f"index.sqlite{end}").exists()
    wreck(room.root / "index.sqlite")
    with Index.open(room) as index:
        assert [hit.n for hit in index.search("word7")] == [numbers[7]]
        assert sorted(hit.n for hit in index.search("always", limit=100)) == numbers
        assert index.check() == ""


def test_an_index_of_logs_that_were_replaced_is_built_anew(room_path: Path) -> None:
    with Room.open(room_path) as room, Index.open(room) as index:
        say(room, "first history")
        assert index.search("first")
        place = room.log_path(DESK)
    place.unlink()
    with Room.open(room_path) as room, Index.open(room) as index:
        say(room, "other history, and somewhat longer than the old one")
        assert index.search("first") == ()
        assert len(index.search("history")) == 1


def test_a_damaged_line_in_a_log_does_not_stop_the_search_of_the_rest(room_path: Path) -> None:
    with Room.open(room_path) as room:
        for text in ("before", "broken", "after"):
            say(room, text)
        place = room.log_path(DESK)
    place.write_bytes(place.read_bytes().replace(b'"text":"broken"', b'"text":"broke\x00\x01'))
    with Room.open(room_path) as room, Index.open(room) as index:
        assert index.search("before") and index.search("after")
        assert index.search("broken") == ()


def test_two_processes_may_keep_one_index(room: Room) -> None:
    with Index.open(room) as writer, Room.open(room.root, read_only=True) as second, Index.open(second) as reader:
        for number in range(30):
            say(room, f"entry number{number}")
            assert len((writer if number % 2 else reader).search(f"number{number}")) == 1
        assert len(reader.search("entry", limit=99)) == len(writer.search("entry", limit=99)) == 30


def test_threads_may_search_while_the_session_appends(room: Room, index: Index) -> None:
    wrong: list[BaseException] = []

    def searches() -> None:
        try:
            for _ in range(20):
                index.search("entry")
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test must see it
            wrong.append(error)

    threads = [threading.Thread(target=searches) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(60):
        say(room, f"entry {number}")
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(index.search("entry", limit=99)) == 60


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into every folder")
def test_a_room_that_may_only_be_read_is_searched_in_memory(room_path: Path) -> None:
    with Room.open(room_path) as room:
        say(room, "kept")
    room_path.chmod(0o500)
    try:
        with Room.open(room_path, read_only=True) as room, Index.open(room) as index:
            assert len(index.search("kept")) == 1
    finally:
        room_path.chmod(0o700)


def test_where_no_index_file_can_be_a_reader_searches_in_memory_and_a_writer_is_told(room_path: Path) -> None:
    (room_path / "index.sqlite").mkdir()
    with Room.open(room_path) as room:
        room.append(DESK, "operator", Notice("info", "kept"))
        with pytest.raises(RoomError, match="index cannot be opened"):
            Index.open(room)
    with Room.open(room_path, read_only=True) as room, Index.open(room) as index:
        assert len(index.search("kept")) == 1
