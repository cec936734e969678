"""Rows of the chat: wrapping loses nothing, Markdown streams to the same rows as it reads whole, heights add up."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len, get_character_cell_size

from store.text import clean
from widgets.chat import wrap as wrapping
from widgets.chat.flow import Flow
from widgets.chat.heights import Heights
from widgets.chat.rows import Row, joined, plain_rows
from widgets.chat.wrap import fold, wrap

words = st.text(st.sampled_from("ab  é—日本👩\u200d🔬\u0301🇧🇷c"), max_size=80)
lines = st.sampled_from(
    [
        *(
            "plain words here",
            "",
            "# head",
            "- item **bold** `x`",
            "> quote",
            "```python",
            "```",
            "~~~~",
            "def f(): [/]",
        ),
        *("| a | b |", "|---|---|", "| **x** | 1 |", "---", "1. one", "    deep", "[red]x[/red]", "日本語日本語日本語"),
        *("\tTab", "``", "`", "a" * 90),
    ]
)
markdown = st.lists(st.one_of(lines, st.text("ab`*_[]()#|>~- \t", max_size=12)), max_size=14).map("\n".join)


@given(words, st.integers(1, 30))
def test_wrapping_loses_no_character_and_eats_only_blanks_at_breaks(text: str, width: int) -> None:
    pieces = wrap(text, width)
    assert pieces[0][0] == 0 and pieces[-1][1] == len(text)
    for (_, end), (start, _) in pairwise(pieces):
        assert end <= start and text[end:start].strip(" ") == ""


@given(words, st.integers(2, 30))
def test_no_row_is_wider_than_asked_but_for_blanks_at_the_end(text: str, width: int) -> None:
    for cut in (wrap, fold):
        for start, end in cut(text, width):
            assert cell_len(text[start:end].rstrip(" ") if cut is wrap else text[start:end]) <= width


@given(st.text("ab  c", max_size=60), st.integers(1, 20))
def test_narrow_and_wide_text_wrap_by_the_same_rule(text: str, width: int) -> None:
    assert wrapping._wrap_narrow(text, width) == wrapping._wrap_wide(text, width)


def test_what_counts_as_narrow_takes_one_cell_each() -> None:
    narrow = [c for c in map(chr, range(0x2_0000)) if wrapping._NARROW(c)]
    assert len(narrow) > 500
    assert [hex(ord(c)) for c in narrow if get_character_cell_size(c) != 1] == []


@given(words.map(lambda text: text.replace(" ", "\n", 2)), st.integers(4, 30))
def test_rows_join_to_the_text_they_were_made_of(text: str, width: int) -> None:
    assert joined(plain_rows(text, width)) == text


def whole(text: str, width: int = 40) -> list[Row]:
    flow = Flow(width, "  ")
    flow.update(text, final=True)
    return flow.rows


@settings(max_examples=300)
@given(markdown, st.lists(st.integers(0, 300), max_size=12), st.integers(8, 60))
def test_streamed_in_any_pieces_the_rows_are_those_of_the_whole_text(text: str, cuts: list[int], width: int) -> None:
    flow = Flow(width, "  ")
    for cut in sorted(cuts):
        flow.update(text[:cut])
    flow.update(text, final=True)
    assert flow.rows == whole(text, width)


@given(markdown, st.integers(8, 60))
def test_a_row_is_one_line_without_tabs(text: str, width: int) -> None:
    for row in whole(text, width):
        assert not set("\n\t\r\x1b") & set(row.lead + row.text + row.right)


@given(st.lists(st.text("ab`*_[]()#|> /=@", max_size=60), min_size=1, max_size=12), st.integers(10, 50))
def test_an_open_or_closed_fence_shows_its_code_character_for_character(code: list[str], width: int) -> None:
    source = "\n".join(code)
    if any(line.strip() and set(line.strip()) == {"`"} and len(line.strip()) >= 4 for line in code):
        return
    assert joined(whole(f"````\n{source}\n````", width)) == source
    assert joined(whole(f"````\n{source}", width)) == source.removesuffix("\n")


@pytest.mark.parametrize("language", ["python", "json", "diff", "nonsense", "sh"])
def test_colours_never_change_the_code(language: str) -> None:
    code = 'def f():\n\n    return "[/red]"  # {"a": 1}\n+ added\n- gone\n\n'
    shown = whole(f"```{language}\n{code}```")
    assert joined(shown[1:]) == code.removesuffix("\n")


@given(st.text("ab cd[]/@=.,:;()", max_size=200))
def test_text_without_marks_is_shown_as_typed(text: str) -> None:
    if "](" in text or "://" in text:
        return
    assert joined(whole(text)).strip() == text.strip()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a **bold** and *it* `code **x**`", "a bold and it code **x**"),
        ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        ("[here](http://x.test/a)", "here (http://x.test/a)"),
        (r"\*not\* bold", "*not* bold"),
        ("[/] [red]x[/red] [@click=app.quit]y[/]", "[/] [red]x[/red] [@click=app.quit]y[/]"),
        ("an open **bold", "an open **bold"),
    ],
)
def test_marks_become_looks_and_the_words_stay(text: str, shown: str) -> None:
    assert joined(whole(text, 80)) == shown


def test_a_stop_inside_a_fence_keeps_a_tail_that_looks_like_its_end() -> None:
    assert joined(whole("````\ncode\n``")) == "code\n``"


@pytest.mark.parametrize("text", ["a" + "`" * 9_000, "[" * 9_000, "*a" * 4_500, "_a_" * 3_000, "|" * 9_000])
def test_a_line_too_long_to_be_searched_for_marks_is_shown_as_it_stands(text: str) -> None:
    assert joined(whole(text, 80)) == text


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=60), st.lists(st.tuples(st.integers(0, 59), st.integers(1, 50)))
)
def test_heights_find_the_entry_of_every_row_after_any_changes(
    sizes: list[int], changes: list[tuple[int, int]]
) -> None:
    heights = Heights(sizes)
    for index, size in changes:
        if index < len(sizes):
            sizes[index] = heights[index] = size
        else:
            sizes = [*sizes[: len(sizes) // 2], size]
            heights.cut(len(sizes) - 1)
            heights.append(size)
    ends = list(accumulate(sizes))
    assert heights.total == ends[-1]
    for row in range(ends[-1]):
        index = bisect_right(ends, row)
        assert heights.at(row) == (index, row - (ends[index] - sizes[index]))
        assert heights.before(index) == ends[index] - sizes[index]


@given(st.text(max_size=200))
def test_any_clean_text_can_be_laid_out(text: str) -> None:
    assert isinstance(whole(clean(text), 20), list)
