"""Numbers for the eye: short, of steady width, never a zero where nothing is known."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from widgets.figures import (
    NOTHING,
    Piece,
    bar,
    clock,
    fitted,
    money,
    percent,
    size,
    span,
    sparkline,
    tokens,
)


@given(st.integers(0, 999_499_999))
def test_a_count_of_tokens_never_takes_more_than_six_cells_and_is_within_five_per_cent(count: int) -> None:
    shown = tokens(count)
    value = float(shown.rstrip("kM")) * {"k": 1_000, "M": 1_000_000}.get(shown[-1], 1)
    assert len(shown) <= 6
    assert abs(value - count) <= 0.05 * count


@given(st.floats(0, 359_000_000))
def test_a_span_of_time_keeps_to_five_cells_below_ten_hours_and_never_shows_sixty_seconds(ms: float) -> None:
    shown = span(ms)
    assert len(shown) <= (5 if ms < 3_600_000 else 8)
    assert not shown.endswith(":60")


def test_what_is_not_known_is_a_dash_and_no_zero() -> None:
    assert money(None) == span(None) == clock(None) == percent(None) == NOTHING
    assert money(Decimal(0)) == "$0.0000"
    assert percent(0.0) == "0%"


def test_a_share_that_is_small_but_not_nothing_does_not_read_as_nothing() -> None:
    assert percent(0.001) == "<1%"


def test_money_shows_small_sums_to_the_hundredth_of_a_cent() -> None:
    assert money(Decimal("0.01344")) == "$0.0134"
    assert money(Decimal("12.345")) == "$12.34"


def test_bytes_are_counted_in_steps_of_1024() -> None:
    assert (size(512), size(2_048), size(1_048_576)) == ("512 B", "2.0 KB", "1.0 MB")


@given(st.floats(-1, 3), st.integers(1, 60))
def test_a_bar_is_exactly_as_wide_as_asked_and_full_only_when_nothing_is_left(share: float, width: int) -> None:
    shown = bar(share, width, "$primary").plain
    assert len(shown) == width
    assert (shown == "━" * width) == (round(min(1.0, max(0.0, share)) * width * 2) == width * 2)
    if share > 0:
        assert shown[0] in "━╸", "what is used shows, however little"


@given(st.lists(st.floats(0, 1e9), max_size=40), st.integers(1, 20))
def test_a_sparkline_has_its_width_and_shows_the_highest_of_the_last_values_full(
    values: list[float], width: int
) -> None:
    shown = sparkline(values, width)
    last = values[-width:]
    assert len(shown) == width
    if last and max(last) > 0:
        assert shown[last.index(max(last))] == "█"


PIECES = st.lists(
    st.builds(Piece, st.text("ab字", max_size=20).map(Content), st.integers(0, 100)), min_size=1, max_size=5
)


@given(PIECES, PIECES, st.integers(0, 120))
def test_a_fitted_row_never_takes_more_than_its_width(left: list[Piece], right: list[Piece], width: int) -> None:
    assert fitted(left, right, width).cell_length <= width


@given(PIECES, PIECES, st.integers(1, 120))
def test_a_piece_leaves_a_row_only_after_all_lighter_ones(left: list[Piece], right: list[Piece], width: int) -> None:
    marked = [Piece(Content(chr(0x2460 + n)) + item.content, item.weight) for n, item in enumerate([*left, *right])]
    row = fitted(marked[: len(left)], marked[len(left) :], width).plain
    loose = marked[1:]
    shown = [item.weight for item in loose if item.content.plain in row]
    gone = [item.weight for item in loose if item.content.plain not in row]
    if shown and gone:
        assert max(gone) <= min(shown)
