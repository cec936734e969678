"""What the chat tells about the words in it: wrong dates, edits as a diff, what was cut, what has no words."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from store.bodies import (
    Body,
    BriefProposed,
    ContextCompacted,
    DateFlagged,
    Json,
    KeeperWords,
    LetterDrafted,
    MessageEnded,
    RequestRetried,
    ToolCalled,
    ToolEnded,
    Usage,
    WholeOutput,
    WorkspaceDiffed,
)
from store.entries import HEAD_CHARS, DividerEntry, NoticeEntry, SpeechEntry, ToolEntry
from store.transcript import Transcript
from tests.widgets.chat_plays import Numbered
from widgets.chat.layout import Setting, lay_out, row_texts
from widgets.chat.rows import Row

SAID = "Monday 29 November 2026"


def told(*bodies: Body) -> Transcript:
    """The transcript of these bodies, one event each, counted from 1."""
    found, numbered = Transcript(), Numbered()
    for body in bodies:
        found.apply(numbered(body))
    return found


def answer(*texts: str, purpose: str = "turn") -> MessageEnded:
    content: Json = [{"type": "text", "text": text} for text in texts]
    return MessageEnded("presence", 1, "m1", "m", content, "end_turn", Usage(), None, 1.0, 2.0, purpose)


def flag(of: int, where: str = "your answer", block: int = 0) -> DateFlagged:
    return DateFlagged(of, "presence", where, SAID, "Sunday", 0, len(SAID), block)


def rows(transcript: Transcript, index: int, *, opened: bool = False) -> list[Row]:
    laid = lay_out(transcript.entries[index], Setting(80, opened, "Ada", None), None, None)
    return list(laid)


def marks(found: Iterable[Row], look: str) -> list[str]:
    return [row.text[start:end] for row in found for start, end, name in row.spans if name == look]


def test_a_wrong_date_is_marked_in_the_answer_that_holds_it_and_told_below() -> None:
    transcript = told(answer("All right so far.", f"See you on **{SAID}**, then."), flag(1, block=1))
    first, second = rows(transcript, 0), rows(transcript, 1)
    assert marks(first, "wrong") == [] and marks(second, "wrong") == [SAID]
    assert f"  ! “{SAID}”: that day is a Sunday" in row_texts(second)
    assert not any(isinstance(entry, NoticeEntry) for entry in transcript.entries)


def test_a_letters_date_is_flagged_as_draft_and_as_filed_and_told_once() -> None:
    transcript = told(
        answer(f"Until {SAID}.", purpose="letter"),
        LetterDrafted("letter", f"Until {SAID}."),
        flag(2, "the letter"),
        flag(9, "the letter"),
    )
    (entry,) = transcript.entries
    assert isinstance(entry, SpeechEntry) and len(entry.wrong) == 1


def test_a_wrong_date_in_the_keepers_words_is_marked_there() -> None:
    transcript = told(KeeperWords("both", f"Not {SAID}?"), flag(1, "the Keeper's words"))
    assert marks(rows(transcript, 0), "wrong") == [SAID]


def test_a_wrong_date_that_stands_nowhere_in_the_chat_is_said_by_itself() -> None:
    transcript = told(answer("Nothing here."), flag(7, "line L3"))
    last = transcript.entries[-1]
    assert isinstance(last, NoticeEntry) and last.text == f"line L3: “{SAID}”: that day is a Sunday"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("edit", {"file_path": "a.py", "old_string": "x = 1\n", "new_string": "x = 2\n"}),
        ("memory", {"command": "str_replace", "path": "a.py", "old_str": "x = 1", "new_str": "x = 2"}),
    ],
)
def test_an_edit_opens_to_a_diff_by_signs_and_by_look(name: str, given: Json) -> None:
    transcript = told(ToolCalled("t", name, given), ToolEnded("t", name, "ok", "edited a.py", 3.0, 11))
    shown = rows(transcript, 0, opened=True)
    assert marks(shown, "deleted") == ["-x = 1"] and marks(shown, "inserted") == ["+x = 2"]
    assert any(row.lead.strip() == "change" for row in shown)


def test_a_written_file_reads_as_lines_that_came() -> None:
    transcript = told(ToolCalled("t", "write", {"file_path": "a.py", "content": "one\ntwo"}))
    assert marks(rows(transcript, 0, opened=True), "inserted") == ["+one", "+two"]


def test_an_edit_of_every_place_says_so() -> None:
    given: Json = {"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": True}
    entry = told(ToolCalled("t", "edit", given)).entries[0]
    assert isinstance(entry, ToolEntry) and entry.input.startswith("every place")


@pytest.mark.parametrize(
    ("block", "named"),
    [
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}},
         "[picture: image/png, 3 bytes]"),
        ({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "QQ=="}},
         "[PDF: 1 bytes]"),
        ({"type": "image", "source": {"type": "url", "url": "https://host.invalid/p.png"}},
         "[picture: https://host.invalid/p.png]"),
        ({"type": "image"}, "[image]"),
    ],
)  # fmt: skip
def test_what_has_no_words_is_named_and_its_bytes_are_never_shown(block: Json, named: str) -> None:
    transcript = told(ToolCalled("t", "read", {"file_path": "p"}), ToolEnded("t", "read", "ok", [block], 1.0, 9_999))
    entry = transcript.entries[0]
    assert isinstance(entry, ToolEntry) and entry.head == named


def test_an_output_that_was_cut_for_p_says_how_much_is_kept_and_where() -> None:
    whole = WholeOutput("outputs/0001-t.txt", 64_000_000, "", 1_000)
    ended = ToolEnded("t", "bash", "ok", "the beginning …", 1.0, 15, whole=whole)
    shown = row_texts(rows(told(ToolCalled("t", "bash", {"command": "cat big"}), ended), 0, opened=True))
    words = " ".join(" ".join(shown).split())
    assert "64,000,000 bytes of it are kept" in words and "1,000 bytes more were not kept" in words


def test_the_rest_of_a_long_output_is_read_when_the_row_is_opened() -> None:
    ended = ToolEnded("t", "bash", "ok", "a" * (HEAD_CHARS + 1), 1.0, HEAD_CHARS + 1)
    entry = told(ToolCalled("t", "bash", {"command": "cat big"}), ended).entries[0]
    laid = lay_out(entry, Setting(80, True, "Ada", None), None, lambda _: ("given", "the whole of it"))
    assert any("the whole of it" in row.text for row in laid)


def test_a_compaction_is_a_mark_that_opens_to_the_summary() -> None:
    transcript = told(ContextCompacted("The clocks are mended.", None, 180_000, 200_000))
    (entry,) = transcript.entries
    assert isinstance(entry, DividerEntry) and "180,000 of 200,000 tokens" in entry.title
    assert "┊ The clocks are mended." in row_texts(rows(transcript, 0, opened=True))


def test_changes_in_the_workspace_open_to_their_diff() -> None:
    shown = rows(told(WorkspaceDiffed("git", "--- a\n+++ a\n-one\n+two")), 0, opened=True)
    assert marks(shown, "inserted") == ["+two"] and "4 lines" in shown[0].text


def test_a_proposed_brief_opens_to_its_words_and_none_is_one_sentence() -> None:
    proposed, kept = told(BriefProposed("keeper", "Listen.")), told(BriefProposed("keeper", ""))
    assert "┊ Listen." in row_texts(rows(proposed, 0, opened=True))
    assert isinstance(kept.entries[0], NoticeEntry)


def test_retries_tell_reason_and_wait_and_the_newest_takes_the_place_of_the_last() -> None:
    transcript = told(
        RequestRetried("presence", 1, 1, 529, "the API is overloaded", 2.0),
        RequestRetried("presence", 1, 2, 529, "the API is overloaded", 4.0),
    )
    (entry,) = transcript.entries
    assert isinstance(entry, NoticeEntry) and "overloaded; trying again in 4 s (attempt 3)" in entry.text


def test_diffs_and_flags_of_hostile_words_stay_words() -> None:
    hostile = "\x1b[31m[red]x[/]\u202e"
    transcript = told(
        ToolCalled("t", "edit", {"file_path": hostile, "old_string": hostile, "new_string": "y"}),
        DateFlagged(1, "keeper", hostile, hostile, hostile, 0, 1),
    )
    for index in range(len(transcript.entries)):
        text = "\n".join(row_texts(rows(transcript, index, opened=True)))
        assert "[red]x[/]" in text and not {"\x1b", "\u202e"} & set(text)


def test_every_event_stays_where_it_was_when_a_flag_is_added() -> None:
    transcript = told(answer(f"On {SAID}."), ToolCalled("t", "bash", {"command": "ls"}), flag(1))
    assert [type(entry) for entry in transcript.entries] == [SpeechEntry, ToolEntry]
