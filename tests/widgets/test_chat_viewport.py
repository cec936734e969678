"""The viewport shows exactly the rows it stands on, whatever was in sight before and whatever changes elsewhere."""

from __future__ import annotations

from dataclasses import replace

from chat_plays import OPENED, PARAGRAPH, Numbered, ended, long_session, said
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from store.bodies import (
    KeeperWords,
    MessageCut,
    Notice,
    OperatorQueued,
    OperatorSaid,
    PacketPart,
    RequestSent,
    RetMarked,
    SessionClosed,
    SessionResumed,
    ToolAnswered,
    ToolAsked,
    ToolCalled,
    ToolEnded,
    WakePacket,
)
from store.events import Event
from store.transcript import Transcript, transcript
from widgets.chat.rows import Row
from widgets.chat.viewport import Viewport


def everything(view: Viewport) -> list[tuple[int, int, Row]]:
    """All rows of a fresh viewport, each entry laid out from nothing."""
    fresh = Viewport(view.transcript)
    fresh._opened = dict(view._opened)
    fresh.resize(view.width, view.height)
    return [(i, at, row) for i in range(len(view.entries)) for at, row in enumerate(fresh.laid(i))]


class AReaderAndAStream(RuleBasedStateMachine):
    """A person reads, scrolls, opens and resizes while words come in."""

    def __init__(self) -> None:
        super().__init__()
        self.make = Numbered()
        self.view = Viewport(Transcript(("presence", "keeper")))
        self.view.resize(40, 10)
        self.request = 1000
        for event in long_session(12, self.make):
            self.view.transcript.apply(event)
        self.view.resize(30, 10)
        self.view.settle()

    def tell(self, event: Event) -> None:
        before = None if self.view.following else (self.view.anchor, [seen.row for seen in self.view.window])
        key = self.view.entries[self.view.anchor[0]].key
        touched = self.view.transcript.apply(event)
        if touched is not None:
            self.view.touch(touched)
        self.view.settle()
        if before is not None and self.view.window[0].index < (touched.first if touched else 10**9):
            assert self.view.entries[self.view.anchor[0]].key == key
            assert self.view.anchor == before[0], "text that came in moved the reader"

    @rule(text=st.sampled_from(["word ", "\n", "```\n", "**b** ", "x" * 50, "| a | b |\n"]), seat=st.booleans())
    def words_come(self, text: str, seat: bool) -> None:
        self.tell(self.make(said(text, self.request, seat="keeper" if seat else "presence")))

    @rule()
    def an_answer_ends(self) -> None:
        self.tell(self.make(ended(PARAGRAPH, self.request)))
        self.request += 1

    @rule()
    def a_tool_runs(self) -> None:
        self.tell(self.make(ToolCalled(f"t{self.make.n}", "bash", {"command": "ls"})))

    @rule()
    def the_first_tool_ends_again(self) -> None:
        self.tell(self.make(ToolEnded("t2", "bash", "error", "boom\n" * 9, 1.0, 45)))

    @rule(text=st.sampled_from(["short", "long " * 40]))
    def the_operator_speaks(self, text: str) -> None:
        self.tell(self.make(OperatorSaid(text)))

    @rule()
    def the_operator_queues(self) -> None:
        self.tell(self.make(OperatorQueued(f"q{self.make.n}", "short")))

    @rule(rows=st.integers(-25, 25))
    def the_reader_scrolls(self, rows: int) -> None:
        all_rows = everything(self.view)
        before = next(i for i, row in enumerate(all_rows) if row[:2] == self.view.anchor)
        self.view.move(rows)
        after = next(i for i, row in enumerate(all_rows) if row[:2] == self.view.anchor)
        assert after == max(0, min(before + rows, len(all_rows) - self.view.height))

    @rule(row=st.integers(0, 400))
    def the_reader_drags_the_bar(self, row: int) -> None:
        self.view.jump(row)

    @rule()
    def the_reader_goes_to_the_end(self) -> None:
        self.view.follow()

    @rule(at=st.floats(0, 1))
    def the_reader_opens_an_entry(self, at: float) -> None:
        self.view.toggle(int(at * (len(self.view.entries) - 1)))
        self.view.settle()
        self.view.following = self.view.at_end

    @rule(width=st.integers(12, 70), height=st.integers(3, 24))
    def the_terminal_is_resized(self, width: int, height: int) -> None:
        self.view.resize(width, height)
        self.view.settle()

    @invariant()
    def the_window_is_a_true_piece_of_the_whole(self) -> None:
        all_rows = everything(self.view)
        start = next(i for i, row in enumerate(all_rows) if row[:2] == self.view.anchor)
        shown = [(seen.index, seen.at, seen.row) for seen in self.view.window]
        assert shown == all_rows[start : start + self.view.height]
        assert len(shown) == min(self.view.height, len(all_rows))

    @invariant()
    def who_follows_sees_the_last_row(self) -> None:
        if self.view.following:
            assert self.view.at_end

    @invariant()
    def the_bar_reaches_from_top_to_end(self) -> None:
        assert 0 <= self.view.top <= max(0, self.view.total - self.view.height)
        assert not self.view.at_end or self.view.top == max(0, self.view.total - self.view.height)


TestAReaderAndAStream = AReaderAndAStream.TestCase
TestAReaderAndAStream.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


@given(st.text("a\n\t\r\x1b[/]\u202e日", max_size=12), st.integers(8, 60), st.booleans())
def test_no_row_holds_a_line_end_or_a_tab_wherever_foreign_text_holds_them(text: str, width: int, opened: bool) -> None:
    make = Numbered()
    view = Viewport(Transcript())
    for body in (
        replace(OPENED, operator=text, model=text),
        SessionResumed(text),
        WakePacket(text, text, (PacketPart(text, text, 1, ""),), ""),
        OperatorSaid(text, text),
        RequestSent("presence", 1, "m", "", 1, text),
        said(f"```{text}\n{text}\n"),
        MessageCut("presence", 1, f"```{text}\n{text}\n", text),
        ToolCalled("t", text, {text: text}),
        ToolAsked("t", text, text),
        ToolAnswered("t", text, "deny", "once", word=text),
        ToolCalled("u", text, text),
        ToolEnded("u", text, "error", text, 1.0, 9),
        KeeperWords("both", text),
        RetMarked("void", text),
        SessionClosed(text),
        Notice("error", text),
    ):
        view.transcript.apply(make(body))
    view.resize(width, 20)
    for index in range(len(view.entries)):
        if opened:
            view.toggle(index)
        for row in view.laid(index):
            assert not set(row.lead + row.text + row.right) & set("\n\t\r\x1b\u202e")


@given(st.integers(10, 90), st.integers(5, 40))
@settings(max_examples=20, deadline=None)
def test_scrolling_up_row_by_row_through_what_was_never_seen_skips_and_repeats_nothing(width: int, height: int) -> None:
    view = Viewport(transcript(long_session(30)))
    view.resize(width, height)
    view.settle()
    seen = [view.window[-1]]
    every = everything(view)
    for _ in range(len(every) - height):
        view.move(-1)
        seen.append(view.window[-1])
    walked = [(one.index, one.at) for one in reversed(seen)]
    assert walked == [row[:2] for row in every][max(0, min(height, len(every)) - 1) :]
