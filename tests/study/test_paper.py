"""The paper's prints: foreign words are text in both, plots draw every point, numbers read the same everywhere."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.study.paper import Paper, Section, Table, number
from app.study.plots import Bar, Point, points, stacked
from app.study.prints import as_html, as_markdown

NASTY = "<script>alert(1)</script> [x](http://a) | `code` **b** \x1b[31mred\x1b[0m \u202eflip"


class Tags(HTMLParser):
    """Every tag of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)


def paper_of(text: str) -> Paper:
    table = Table(("one", "two"), ((text, "x"), ("y", text)))
    return Paper(text, (Section(text, (text,), (table,), (), (text,)),))


@given(st.one_of(st.just(NASTY), st.text(max_size=60)))
def test_foreign_words_make_no_tag_and_no_column(text: str) -> None:
    tags = Tags()
    tags.feed(as_html(paper_of(text)))
    assert set(tags.seen) <= {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "div", "table", "thead", "tbody", "tr",
        "th", "td", "pre",
    }  # fmt: skip
    rows = [line for line in as_markdown(paper_of(text)).splitlines() if line.startswith("| ")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 3 for row in rows[:4])
    assert "\x1b" not in as_markdown(paper_of(text)) + as_html(paper_of(text))


def test_a_diff_with_fences_of_its_own_stays_in_its_fence() -> None:
    text = as_markdown(Paper("t", (Section("s", verbatim=("+```\n+# no heading\n+````",)),)))
    assert "`````diff" in text


VALUES = st.lists(st.tuples(st.sampled_from("ABCDE"), st.floats(0, 1e6), st.booleans()), max_size=25)


@given(VALUES)
def test_every_run_is_drawn_inside_the_picture(values: list[tuple[str, float, bool]]) -> None:
    svg = points("Title <&>", "axis", "ABCDE", [Point(group, value, "<said>", open_) for group, value, open_ in values])
    tree = ElementTree.fromstring(svg)
    marks = [one for one in tree.iter() if one.get("class") in ("run", "open")]
    assert len(marks) == len(values)
    for one in marks:
        if one.get("class") == "run":
            assert 0 <= float(one.get("cx", "-1")) <= 720 and 0 <= float(one.get("cy", "-1")) <= 300


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)), min_size=1, max_size=5))
def test_stacked_parts_stand_on_each_other(values: list[tuple[float, float]]) -> None:
    svg = stacked("t", "a", ("p", "k"), [Bar(str(place), parts) for place, parts in enumerate(values)])
    bars = [one for one in ElementTree.fromstring(svg).iter("rect") if one.get("width") == "48"]
    assert len(bars) == 2 * len(values)
    for low, high in zip(bars[::2], bars[1::2], strict=True):
        top_of_low = float(low.get("y", "0"))
        assert float(high.get("y", "0")) + float(high.get("height", "0")) == pytest.approx(top_of_low, abs=0.2)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.5, "0.5"), (-0.0001, "0"), (math.inf, "open"), (1.0, "1"), (12.3456, "12.346"), (100.0, "100")],
)
def test_numbers_read_plainly(value: float | None, text: str) -> None:
    assert number(value) == text
