"""Taking transcripts into a room: what is counted, what is left out, and that nothing comes twice."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import Take
from hypothesis import given, settings
from hypothesis import strategies as st
from transcripts import USAGE, ClaudeCode, real, small_session

from app.replay.importers.detect import format_of
from app.replay.importers.json_stream import json_items
from app.replay.importers.records import Tally, TranscriptError
from app.replay.taking import PREFIX, Library
from store.bodies import (
    ContextCompacted,
    JournalWritten,
    MessageEnded,
    OperatorSaid,
    Rewound,
    ToolCalled,
    ToolEnded,
    TranscriptBegan,
    TurnEnded,
    Usage,
)
from store.events import Event
from store.folding import check_room
from store.room import Room


def events_of(root: Path) -> dict[str, list[Event]]:
    with Room.open(root, read_only=True) as room:
        return {log: list(room.events(log)) for log in room.logs() if log.startswith(PREFIX)}


def said(root: Path) -> list[str]:
    return [e.body.text for log in events_of(root).values() for e in log if isinstance(e.body, OperatorSaid)]


# ---------------------------------------------------------------- the real ones


@pytest.mark.parametrize(
    ("name", "human", "responses", "usage"),
    [
        ("large", 27, 170, Usage(360, 66_925_567, 2_395_354, 22_976)),
        ("long", 15, 71, Usage(2_005, 4_890_806, 1_129_638, 3_675)),
        ("medium", 0, 0, Usage()),
        ("short", 1, 1, Usage(4, 16_999, 0, 1)),
        ("tiny", 2, 3, Usage(14, 76_406, 483, 3)),
    ],
)
def test_real_claude_code_sessions_count_as_they_were_counted_by_hand(
    take: Take, root: Path, name: str, human: int, responses: int, usage: Usage
) -> None:
    (report,) = take(real(f"claude-code/{name}.jsonl"))
    assert (report.taken.get("human", 0), report.taken.get("responses", 0), report.usage) == (human, responses, usage)
    bodies = [event.body for log in events_of(root).values() for event in log]
    answers = [body for body in bodies if isinstance(body, MessageEnded)]
    assert len({body.message_id for body in answers}) == responses
    assert sum((body.usage for body in answers), Usage()) == usage
    interrupted = [body for body in bodies if isinstance(body, TurnEnded) and body.end == "stopped"]
    assert sum(isinstance(body, OperatorSaid) for body in bodies) + len(interrupted) == human


def test_real_files_taken_twice_add_nothing_twice(take: Take, root: Path) -> None:
    names = [f"claude-code/{name}.jsonl" for name in ("large", "long", "medium", "short", "tiny")]
    files = [real(name) for name in [*names, "locomo/locomo-first5.json"]]
    first = take(*files)
    before = events_of(root)
    second = take(*files)
    assert events_of(root) == before
    assert sum(report.events for report in first) > 4_000
    assert [(report.events, report.usage) for report in second] == [(0, Usage())] * len(files)
    assert check_room(root / "sessions") == ()


def test_real_locomo_gives_each_turn_of_each_session_on_its_day(take: Take, root: Path) -> None:
    (report,) = take(real("locomo/locomo-first5.json"))
    assert report.taken == {"turns of the conversation": 419 + 369 + 663 + 629 + 680}
    assert len(report.sessions) == 19 + 19 + 32 + 29 + 29
    first = next(log for log in events_of(root).values() if log[1].body.source == "conv-26-01")  # type: ignore[attr-defined]
    assert {event.at for event in first if isinstance(event.body, OperatorSaid)} == {"2023-05-08T13:56:00.000Z"}


# ---------------------------------------------------------------- Claude Code, record by record


def test_an_answer_of_many_records_is_one_message_and_its_results_come_behind_it(
    take: Take, root: Path, tmp_path: Path
) -> None:
    take(small_session().write(tmp_path / "s.jsonl"))
    (log,) = events_of(root).values()
    kinds = [type(event.body).__name__ for event in log if event.turn == 1]
    assert kinds == ["OperatorSaid", "MessageEnded", "ToolCalled", "ToolEnded", "MessageEnded", "TurnEnded"]
    result = next(event.body for event in log if isinstance(event.body, ToolEnded))
    assert (result.name, result.outcome, result.bytes) == ("Bash", "ok", len("3 of 40 meetings fail: wrong weekday"))


def test_usage_that_grows_while_an_answer_streams_counts_once_and_the_last_wins(take: Take, tmp_path: Path) -> None:
    made = ClaudeCode()
    made.human("h", "hello")
    made.answer("a", "one", "m", {**USAGE, "output_tokens": 1})
    made.answer("b", "two", "m", {**USAGE, "output_tokens": 9})
    made.human("h2", "go on")
    made.answer("c", "three", "m", {**USAGE, "output_tokens": 11})
    (report,) = take(made.write(tmp_path / "s.jsonl"))
    assert report.taken["responses"] == 1
    assert report.usage == Usage(3, 100, 20, 11)


def test_what_is_no_conversation_is_left_out_and_named(take: Take, root: Path, tmp_path: Path) -> None:
    made = small_session()
    made.human("meta", "<system-reminder>", isMeta=True)
    made.human("side", "You are a subagent", isSidechain=True)
    made.answer("side2", "done", "side-m", isSidechain=True)
    made.human("summary", "This session is being continued. We had decided much.", isCompactSummary=True)
    made.add("system", "x", subtype="compact_boundary")
    made.add("file-history-snapshot", "y")
    made.add("holiday", "z")
    (report,) = take(made.write(tmp_path / "s.jsonl", '{"type": "user", "mess', "[1, 2]", '"text"', "{}"))
    assert report.left_out == {
        "meta (written by the program)": 1,
        "side chain (a subagent's talk)": 2,
        "system record (compact_boundary)": 1,
        "file-history-snapshot record": 1,
        "holiday record": 1,
        "not JSON (a cut or damaged line)": 1,
        "a foreign record": 3,
    }
    assert report.taken["human"] == 2
    assert len(said(root)) == 2
    (log,) = events_of(root).values()
    assert [e.body.text for e in log if isinstance(e.body, ContextCompacted)] == [
        "This session is being continued. We had decided much."
    ]


def test_an_interruption_ends_the_turn_and_is_nobodys_words(take: Take, root: Path, tmp_path: Path) -> None:
    made = small_session()
    made.human("stop", [{"type": "text", "text": "[Request interrupted by user for tool use]"}])
    (report,) = take(made.write(tmp_path / "s.jsonl"))
    assert (report.taken["human"], len(said(root))) == (3, 2)
    (log,) = events_of(root).values()
    assert [e.body.end for e in log if isinstance(e.body, TurnEnded)] == ["done", "stopped"]


def test_a_fork_marks_the_turn_it_goes_back_to(take: Take, root: Path, tmp_path: Path) -> None:
    made = small_session()
    made.human("again", "No: run the apply at once.", after="s1-a3")
    made.answer("a9", "Then I apply.", "m9")
    (report,) = take(made.write(tmp_path / "s.jsonl"))
    assert report.taken["rewinds"] == 1
    (log,) = events_of(root).values()
    assert [(e.turn, e.body.to_turn) for e in log if isinstance(e.body, Rewound)] == [(3, 1)]


def test_a_resumed_copy_adds_only_what_is_new(take: Take, root: Path, tmp_path: Path) -> None:
    first = small_session()
    copy = ClaudeCode("s2")
    copy.records = [{**record, "sessionId": "s2"} for record in first.records]
    copy.human("n1", "Now ship it.")
    copy.answer("n2", "Shipped.", "n-m")
    whole, copied = take(first.write(tmp_path / "a.jsonl"), copy.write(tmp_path / "b.jsonl"))
    assert whole.taken["human"] == 2
    assert copied.left_out == {"taken before": 7}
    assert copied.taken == {"human": 1, "responses": 1}
    assert sorted(said(root)) == sorted({*said(root)})
    assert whole.usage + copied.usage == Usage(3 * 4, 100 * 4, 20 * 4, 7 * 4)


def test_a_file_that_grew_is_taken_on_from_where_it_stood(take: Take, root: Path, tmp_path: Path) -> None:
    made = small_session()
    path = made.write(tmp_path / "a.jsonl")
    take(path)
    made.answer("late", "And one thing more.", "m4")
    made.human("h3", "Good.")
    made.write(path)
    take(path)
    (log,) = events_of(root).values()
    assert [e.turn for e in log if isinstance(e.body, OperatorSaid)] == [1, 2, 3]
    assert [e.turn for e in log if isinstance(e.body, MessageEnded)] == [1, 1, 2, 2]


def test_a_file_named_jsonl_that_is_one_pretty_printed_object_is_read(take: Take, tmp_path: Path) -> None:
    path = tmp_path / "agent-1.jsonl"
    path.write_text(json.dumps(small_session().records[0], indent=2), encoding="utf-8")
    (report,) = take(path)
    assert report.taken == {"human": 1}


def test_the_bytes_of_pictures_stay_outside_the_log(take: Take, root: Path, tmp_path: Path) -> None:
    made = ClaudeCode()
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA" * 9_999}}
    made.human("h", [{"type": "text", "text": "look"}, picture])
    made.block("a", {"type": "tool_use", "id": "t", "name": "Read", "input": {}}, "m")
    made.result("r", "t", [picture])  # type: ignore[arg-type]
    take(made.write(tmp_path / "s.jsonl"))
    assert said(root) == ["look\n\n[image]"]
    assert sum(file.stat().st_size for file in (root / "sessions").rglob("events.jsonl")) < 5_000


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=4), st.binary(max_size=12))
@settings(max_examples=25, deadline=None)
def test_damage_anywhere_costs_only_the_records_it_touches(cuts: list[int], noise: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = small_session().write(Path(folder) / "s.jsonl")
        raw = bytearray(path.read_bytes())
        touched = set()
        for cut in cuts:
            at = cut % len(raw)
            touched.add(bytes(raw[:at]).count(b"\n"))
            raw[at] = 0x01
        path.write_bytes(bytes(raw) + noise.replace(b"\n", b"").replace(b"\x00", b""))
        root = Room.create(Path(folder) / "room", "Derick")
        with Library(root) as library:
            report = library.take(path)
        heard = said(root)
        assert ("Run the output test for region BR." in heard) or 0 in touched
        assert sum(report.left_out.values()) <= len(touched) + 3


def test_an_import_that_was_killed_is_taken_up_and_nothing_comes_twice(root: Path, tmp_path: Path) -> None:
    path = small_session().write(tmp_path / "s.jsonl")
    wanted = None
    for kill_after in range(12):
        room = Room.create(tmp_path / f"room-{kill_after}", "Derick")
        library = Library(room)
        write, left = library._write, kill_after

        def one_more(taken, write=write):  # type: ignore[no-untyped-def]
            nonlocal left
            if left == 0:
                raise KeyboardInterrupt
            left -= 1
            return write(taken)

        library._write = one_more  # type: ignore[method-assign]
        try:
            library.take(path)
        except KeyboardInterrupt:
            library.room.close()  # a kill marks nothing
        else:
            library.close()
        with Library(room) as again:
            again.take(path)
        (log,) = events_of(room).values()
        bodies = [(e.turn, e.body) for e in log if e.kind not in ("log.opened", "transcript.records")]
        wanted = wanted or bodies
        assert bodies == wanted


def test_an_import_into_a_room_that_a_crash_left_behind_makes_its_journals_good_first(
    root: Path, tmp_path: Path
) -> None:
    pid = os.fork()
    if pid == 0:
        room = Room.open(root)
        room.append(room.new_session_id(), "keeper", JournalWritten("snug", "written before the crash"), 1)
        os._exit(1)  # the log holds the entry; its file was not written, the room not closed
    os.waitpid(pid, 0)
    assert not (root / "snug.md").exists()
    with Library(root) as library:
        library.take(small_session().write(tmp_path / "s.jsonl"))
        assert [notice for notice in library.room.found if "snug" in notice.text]
    assert "written before the crash" in (root / "snug.md").read_text()
    assert check_room(root / "sessions") == ()


# ---------------------------------------------------------------- the other formats


def test_a_claude_ai_export_is_tolerated_as_it_comes(take: Take, root: Path, tmp_path: Path) -> None:
    def message(uuid: str, sender: str, text: str, content: list[object], **more: object) -> dict[str, object]:
        return {"uuid": uuid, "sender": sender, "text": text, "content": content, **more}

    answer = [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": None, "name": "web_search", "input": {"query": "x"}},
        {"type": "tool_result", "name": "web_search", "content": [{"type": "text", "text": "found"}]},
    ]
    export = [
        {
            "uuid": "c1",
            "created_at": "2026-01-02T03:04:05.678901",
            "chat_messages": [
                message(
                    "1", "human", "", [{"type": "text", "text": "only in content"}], created_at="2026-01-02T03:04:05"
                ),
                message("2", "assistant", "", answer),
                message(
                    "3",
                    "human",
                    "read this",
                    [],
                    attachments=[{"file_name": "a.txt", "extracted_content": "inside"}, {"file_name": ""}],
                ),
                message("4", "assistant", "only in text", []),
                "nonsense",
            ],
        },
        {"uuid": "c2", "name": "", "chat_messages": []},
        {"name": "no uuid", "chat_messages": []},
        17,
    ]
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(export), encoding="utf-8")
    (report,) = take(path)
    assert report.format == "claude.ai"
    assert report.taken == {"human": 2, "responses": 2, "tool results": 1}
    assert report.left_out == {"a foreign record": 2, "an empty conversation": 1, "a conversation without its uuid": 1}
    assert said(root) == [
        "only in content",
        "read this\n\n[attachment a.txt]\ninside\n\n[attachment without a name]",
    ]
    (log,) = events_of(root).values()
    called = next(e.body for e in log if isinstance(e.body, ToolCalled))
    ended = next(e.body for e in log if isinstance(e.body, ToolEnded))
    assert called.tool_use_id == ended.tool_use_id == "2:1"
    assert log[2].at == "2026-01-02T03:04:05.000Z"
    assert take(path)[0].events == 0


def test_an_export_that_is_cut_gives_what_came_before_the_cut(take: Take, root: Path, tmp_path: Path) -> None:
    conversation = {"chat_messages": [{"uuid": "1", "sender": "human", "text": "kept " * 99}], "uuid": "c1"}
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([conversation, conversation])[:-300], encoding="utf-8")
    (report,) = take(path)
    assert len(said(root)) == 1
    assert report.left_out == {"not JSON (a cut or damaged line)": 1}


@given(st.lists(st.one_of(st.integers(), st.text(), st.lists(st.none()), st.dictionaries(st.text(), st.text()))))
@settings(max_examples=60, deadline=None)
def test_items_of_an_array_come_one_by_one_as_they_are(items: list[object]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.json"
        path.write_text(json.dumps(items, indent=1), encoding="utf-8")
        assert list(json_items(path, Tally())) == items


def test_items_beyond_a_blocks_size_are_whole(tmp_path: Path) -> None:
    items = [{"text": "x" * size} for size in (10, 3_000_000, 1_048_576, 5)]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(items), encoding="utf-8")
    assert list(json_items(path, Tally())) == items


def test_a_plain_file_is_read_by_its_roles(take: Take, root: Path, tmp_path: Path) -> None:
    path = tmp_path / "talk.txt"
    path.write_text(
        "# 2026-09-08 14:00\nuser: Run it.\nNote: with care.\n\nassistant: Done.\n2026-09-09\n**User**: And again?\n",
        encoding="utf-8",
    )
    (report,) = take(path)
    assert said(root) == ["Run it.\nNote: with care.", "And again?"]
    assert report.sessions and len(report.sessions) == 2
    logs = list(events_of(root).values())
    assert [log[2].at[:10] for log in logs] == ["2026-09-08", "2026-09-09"]
    assert take(path)[0].events == 0


def test_a_plain_file_without_roles_is_read_by_its_first_two_names(take: Take, root: Path, tmp_path: Path) -> None:
    path = tmp_path / "talk.txt"
    path.write_text("Ann: Hi Bob.\nBob: Hi.\nPlan: see the lake.\nAnn: Yes.\n", encoding="utf-8")
    take(path)
    assert said(root) == ["Hi Bob.", "Yes."]
    (log,) = events_of(root).values()
    assert isinstance(log[1].body, TranscriptBegan)


def test_imported_sessions_move_neither_the_rooms_numbers_nor_its_tiers_and_are_found_by_search(
    take: Take, root: Path, tmp_path: Path
) -> None:
    from store.search import Index

    take(small_session().write(tmp_path / "s.jsonl"))
    with Room.open(root) as room:
        assert room.sessions() == ()
        assert (room.tiers.session, len(room.tiers)) == (0, 0)
        index = Index.open(room)
        try:
            assert index.search("weekday")
        finally:
            index.close()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\x00\x01binary", "is not text"),
        (b"just words\nand more\n", "no line begins with a role"),
        (b'[{"what": 1}]', "of a kind that this program does not know"),
    ],
)
def test_what_is_no_transcript_is_said_in_one_sentence(
    take: Take, tmp_path: Path, content: bytes, sentence: str
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(TranscriptError, match=sentence):
        take(path)


def test_a_file_is_known_by_what_it_holds_not_by_its_name(tmp_path: Path) -> None:
    path = small_session().write(tmp_path / "holiday.txt")
    assert format_of(path) == "claude-code"
    path.write_text("cut off at the beginning}\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert format_of(path) == "claude-code"
