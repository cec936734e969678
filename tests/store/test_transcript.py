"""The transcript folds a session's events into what the chat shows, and says truly what each event touched."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from store.bodies import (
    Body,
    By,
    ConditionRecord,
    KeeperWords,
    MessageCut,
    MessageEnded,
    Notice,
    OperatorQueued,
    OperatorSaid,
    OperatorUnqueued,
    Partial,
    RequestFailed,
    RequestRetried,
    RequestSent,
    Seat,
    SessionOpened,
    SessionResumed,
    ToolAnswered,
    ToolAsked,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    Usage,
    WakePacket,
)
from store.entries import (
    HEAD_CHARS,
    DividerEntry,
    KeeperEntry,
    NoticeEntry,
    OperatorEntry,
    SpeechEntry,
    ToolEntry,
    source,
    whole_tool,
)
from store.events import NO_HASH, Event
from store.transcript import Transcript, transcript

CONDITION = ConditionRecord("B", "silent", True, False, False, False, False, ("letters",))
OPENED = SessionOpened("s1", 1, CONDITION, None, "Ada", "twin-1", "", True, ".", {})


def events(*bodies: Body, turn: int = 1) -> list[Event]:
    by: By = "system"
    return [
        Event(n, n, "2026-11-30T00:00:00.000Z", float(n), by, turn, body, NO_HASH) for n, body in enumerate(bodies, 1)
    ]


def told(*bodies: Body, heard: tuple[Seat, ...] = ("presence",)) -> Transcript:
    return transcript(events(*bodies), heard)


def said(text: str, request: int = 1, block: int = 0, seat: Seat = "presence") -> Partial:
    return Partial(seat, request, block, "text", text)


def ended(*content: Any, request: int = 1, seat: Seat = "presence", stop: str = "end_turn") -> MessageEnded:
    blocks = [{"type": "text", "text": block} if isinstance(block, str) else block for block in content]
    return MessageEnded(seat, request, f"m{request}", "twin-1", blocks, stop, Usage(), None, 1.0, 2.0)


def speech(found: Transcript) -> list[tuple[str, str]]:
    return [(entry.text, entry.state) for entry in found.entries if isinstance(entry, SpeechEntry)]


def test_an_answer_streams_into_one_entry_and_ends_as_the_message_says() -> None:
    assert speech(told(said("Hel"), said("lo"))) == [("Hello", "streaming")]
    assert speech(told(said("Hel"), said("lo"), ended("Hello there"))) == [("Hello there", "done")]


def test_an_answer_that_never_streamed_is_shown_all_the_same() -> None:
    assert speech(told(ended("At once"))) == [("At once", "done")]


@given(
    st.lists(st.text("ab` \n#*", min_size=1, max_size=20), min_size=2, max_size=8),
    st.lists(st.text("xyz|_>", min_size=1, max_size=20), min_size=2, max_size=8),
    st.randoms(use_true_random=False),
)
def test_two_streams_never_end_up_in_one_entry(one: list[str], two: list[str], chance: Any) -> None:
    order = ["presence"] * len(one) + ["keeper"] * len(two)
    chance.shuffle(order)
    mine, theirs = iter(one), iter(two)
    bodies = [said(next(mine)) if seat == "presence" else said(next(theirs), seat="keeper") for seat in order]
    found = told(*bodies, heard=("presence", "keeper"))
    by_seat = {entry.seat: entry.text for entry in found.entries if isinstance(entry, SpeechEntry)}
    assert by_seat == {"presence": "".join(one), "keeper": "".join(two)}


def test_the_keepers_answers_stay_out_of_the_live_chat_but_its_words_are_in() -> None:
    found = told(said("add_line", seat="keeper"), ended("ok", seat="keeper"), KeeperWords("both", "Look at L3."))
    assert [type(entry) for entry in found.entries] == [KeeperEntry]


def test_text_blocks_of_one_answer_stand_apart_and_thinking_goes_with_the_text_after_it() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "x"}
    found = told(
        Partial("presence", 1, 0, "thinking", "hm"),
        said("one", block=1),
        said("two", block=2),
        ended(thought, "one", "two"),
    )
    assert [(e.thinking, e.text) for e in found.entries if isinstance(e, SpeechEntry)] == [("hm", "one"), ("", "two")]


def test_a_cut_answer_keeps_its_words_and_says_why() -> None:
    found = told(said("half a sen"), MessageCut("presence", 1, "half a sentence", "the connection was lost"))
    [entry] = found.entries
    assert isinstance(entry, SpeechEntry)
    assert (entry.text, entry.state, entry.reason) == ("half a sentence", "cut", "the connection was lost")


def test_an_answer_cut_before_its_first_word_says_so() -> None:
    [entry] = told(RequestSent("presence", 1, "m", "", 1), MessageCut("presence", 1, "", "stopped")).entries
    assert isinstance(entry, NoticeEntry) and "stopped" in entry.text


def test_an_answer_that_hits_the_token_limit_is_marked_as_cut() -> None:
    assert speech(told(ended("long", stop="max_tokens"))) == [("long", "cut")]


def test_the_end_of_a_turn_leaves_nothing_streaming_or_running() -> None:
    found = told(said("```\nopen fence"), ToolCalled("t1", "bash", {"command": "ls"}), TurnEnded("stopped"))
    assert speech(found) == [("```\nopen fence", "cut")]
    assert [entry.state for entry in found.entries if isinstance(entry, ToolEntry)] == ["stopped"]


def test_a_resume_marks_what_the_crash_left_as_interrupted() -> None:
    found = told(said("half"), ToolCalled("t1", "bash", {}), SessionResumed("a half answer"))
    assert [getattr(entry, "state", "-") for entry in found.entries] == ["cut", "stopped", "-"]


def test_a_tool_call_goes_from_asked_to_its_outcome_in_one_entry() -> None:
    steps: list[Body] = [ToolCalled("t1", "bash", {"command": "python output_test.py --region BR"})]
    assert told(*steps).entries[0].state == "running"  # type: ignore[union-attr]
    steps.append(ToolAsked("t1", "bash", "$ python output_test.py\x1b[2J"))
    asked = told(*steps).entries[0]
    assert isinstance(asked, ToolEntry) and (asked.state, asked.shown) == ("asked", "$ python output_test.py")
    steps += [
        ToolAnswered("t1", "bash", "allow", "once"),
        ToolEnded("t1", "bash", "error", [{"type": "text", "text": "boom"}], 12.5, 4),
    ]
    [entry] = told(*steps).entries
    assert isinstance(entry, ToolEntry)
    assert (entry.state, entry.ms, entry.head, entry.bytes, entry.ended_n) == ("error", 12.5, "boom", 4, 4)
    assert entry.summary == "python output_test.py --region BR"


def test_a_denied_tool_keeps_the_operators_word() -> None:
    [entry] = told(ToolCalled("t1", "bash", {}), ToolAnswered("t1", "bash", "deny", "once", word="not here")).entries
    assert isinstance(entry, ToolEntry) and (entry.state, entry.word) == ("denied", "not here")


def test_a_long_output_is_kept_as_its_head_and_says_so() -> None:
    [entry] = told(ToolCalled("t1", "read", {"path": "x"}), ToolEnded("t1", "read", "ok", "x" * 9000, 1, 9000)).entries
    assert isinstance(entry, ToolEntry)
    assert (len(entry.head), entry.bytes, entry.whole) == (HEAD_CHARS, 9000, False)


def test_the_whole_text_of_a_tool_can_be_read_from_the_log_again() -> None:
    told_events = events(
        ToolCalled("t1", "bash", {"command": "a" * 5_000}),
        ToolCalled("t2", "bash", {"command": "other"}),
        ToolEnded("t1", "bash", "ok", "x\x1b[2J" * 5_000, 1, 25_000),
    )
    found = transcript(told_events)
    [long, other] = found.entries
    assert isinstance(long, ToolEntry) and isinstance(other, ToolEntry)
    assert whole_tool(long, told_events) == ("command: " + "a" * 5_000, "x" * 5_000)
    assert whole_tool(other, told_events) == ("command: other", "")
    assert whole_tool(long, told_events[1:]) is None
    assert (found.of_event(3), found.of_event(2), found.of_event(9)) == (0, 1, None)


def test_queued_messages_stand_last_until_they_are_sent_or_taken_back() -> None:
    steps: list[Body] = [OperatorQueued("q1", "later"), OperatorQueued("q2", "latest"), said("working")]
    assert [source(entry) for entry in told(*steps).entries] == ["working", "later", "latest"]
    sent = told(*steps, ended("worked"), OperatorSaid("later"))
    assert [(source(e), getattr(e, "queued", None)) for e in sent.entries] == [
        ("worked", None), ("later", False), ("latest", True),
    ]  # fmt: skip
    assert [source(entry) for entry in told(*steps, OperatorUnqueued("q2")).entries] == ["working", "later"]


def test_retries_of_one_request_are_one_line_and_its_failure_takes_its_place() -> None:
    retry = [RequestRetried("presence", 1, n, 529, "the endpoint is overloaded", 2.0) for n in (1, 2, 3)]
    found = told(*retry)
    assert len(found.entries) == 1 and "attempt 4" in source(found.entries[0])
    failed = told(*retry, RequestFailed("presence", 1, "overloaded_error", "gave up"), TurnEnded("failed", "gave up"))
    assert [source(entry) for entry in failed.entries] == ["gave up"]


def test_places_can_be_found_by_turn_by_error_and_by_a_lines_quote() -> None:
    found = Transcript()
    for event in events(OperatorSaid("never touch\n  apply.py"), turn=3) + events(
        ToolCalled("a", "bash", {}), ToolEnded("a", "bash", "error", "no", 1, 2), OperatorSaid("else"), turn=4
    ):
        found.apply(event)
    assert (found.of_turn(4), found.last_error()) == (1, 1)
    assert found.holding("touch apply.py", turn=3) == 0
    assert found.holding("touch apply.py", turn=4) is None


def test_the_wake_packet_is_a_divider_that_opens_to_its_text() -> None:
    found = told(OPENED, WakePacket("B", "Dear successor", (), ""))
    assert found.operator == "Ada"
    assert [type(entry) for entry in found.entries] == [DividerEntry, DividerEntry]
    assert found.entries[1].text == "Dear successor"  # type: ignore[union-attr]


HOSTILE = "\x1b]52;c;ZXZpbA==\x07[/][red]\x9b2J\u202e"
requests = st.integers(1, 3)
texts = st.sampled_from(["a", "`", "\n", HOSTILE, "\x1b", "]0;x\x07", "\r", "word "])
seats: st.SearchStrategy[Seat] = st.sampled_from(["presence", "keeper"])
bodies = st.one_of(
    st.builds(Partial, seats, requests, st.integers(0, 2), st.sampled_from(["text", "thinking", "tool_input"]), texts),
    st.builds(RequestSent, seats, requests, st.just("m"), st.just(""), st.just(1)),
    st.builds(lambda parts, r, s: ended(*parts, request=r, seat=s), st.lists(texts, max_size=3), requests, seats),
    st.builds(MessageCut, seats, requests, texts, texts),
    st.builds(RequestRetried, seats, requests, st.integers(1, 3), st.just(529), texts, st.just(1.0)),
    st.builds(RequestFailed, seats, requests, st.just("e"), texts),
    st.builds(OperatorSaid, texts, texts),
    st.builds(OperatorQueued, st.sampled_from("ab"), texts),
    st.builds(OperatorUnqueued, st.sampled_from("ab")),
    st.builds(ToolCalled, st.sampled_from("tuv"), texts, texts),
    st.builds(ToolAsked, st.sampled_from("tuv"), texts, texts),
    st.builds(ToolAnswered, st.sampled_from("tuv"), texts, st.sampled_from(["allow", "deny"]), st.just("once")),
    st.builds(
        ToolEnded, st.sampled_from("tuv"), texts, st.sampled_from(["ok", "error"]), texts, st.just(1.0), st.just(1)
    ),
    st.builds(TurnEnded, st.sampled_from(["done", "stopped", "failed", "interrupted"]), texts),
    st.builds(Notice, st.sampled_from(["info", "error"]), texts),
    st.builds(WakePacket, st.just("B"), texts, st.just(()), st.just("")),
    st.builds(KeeperWords, st.sampled_from(["presence", "both"]), texts),
    st.builds(SessionResumed, texts),
)


@settings(max_examples=300)
@given(st.lists(bodies, max_size=40))
def test_what_an_event_says_it_touched_is_all_that_it_touched(told_bodies: list[Body]) -> None:
    found = Transcript(("presence", "keeper"))
    before: list[object] = []
    for event in events(*told_bodies):
        touched = found.apply(event)
        after: list[object] = list(found.entries)
        if touched is None:
            assert after == before
        else:
            assert 0 <= touched.first <= touched.stop <= len(after)
            assert after[: touched.first] == before[: touched.first]
            if len(after) != len(before):
                assert touched.stop == len(after)
            else:
                assert after[touched.stop :] == before[touched.stop :]
        before = after


@given(st.lists(bodies, max_size=40))
def test_no_entry_holds_a_terminal_control_and_no_two_share_a_key(told_bodies: list[Body]) -> None:
    found = told(*told_bodies, heard=("presence", "keeper"))
    for entry in found.entries:
        words = [getattr(entry, name) for name in entry.__slots__ if isinstance(getattr(entry, name), str)]
        words += [source(entry)]
        assert not [c for c in itertools.chain(*words) if c in "\x1b\x07\r\x9b\u202e"]
    keys = [entry.key for entry in found.entries]
    assert len(keys) == len(set(keys))


@given(st.lists(bodies, max_size=40))
def test_queued_messages_are_always_last(told_bodies: list[Body]) -> None:
    queued = [isinstance(e, OperatorEntry) and e.queued for e in told(*told_bodies).entries]
    assert queued == sorted(queued)
