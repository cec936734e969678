"""The tier panel: lines, budgets, changes, filter and keys, however many lines there are."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from panel_samples import HOSTILE, HOSTILE_SHOWN, OneWidget, controls_in, line, rows_on_screen, text_on_screen, tiers_of
from textual.pilot import Pilot
from textual.widgets import Input

from store.bodies import Change
from store.decay import Fading
from store.lines import LINE_KINDS, LineId, Tiers
from widgets.tiers import LineAction, LineFilter, TierPanel, TurnChanges
from widgets.tiers.lines import LineList, LineRow, rows_of

HOT = [line(1, "hot"), line(2, "hot", "thread", promoted=True)]
WARM = [line(n, kind=LINE_KINDS[n % 5], priority=5 - n % 4) for n in range(3, 30)]
TIERS = tiers_of([*HOT, *WARM])


def panel_app(tiers: Tiers = TIERS) -> tuple[OneWidget, TierPanel]:
    panel = TierPanel()
    panel.show(tiers)
    return OneWidget(panel, LineAction), panel


async def focus_lines(pilot: Pilot[None], panel: TierPanel) -> LineList:
    lines = panel.query_one(LineList)
    lines.focus()
    await pilot.pause()
    return lines


def current_id(lines: LineList) -> str:
    row = lines.current
    assert isinstance(row, LineRow)
    return row.line.id


async def test_hot_stands_before_warm_promoted_first_and_warm_by_priority() -> None:
    rows = rows_of(TIERS, LineFilter(), {}, TurnChanges(), frozenset())
    lines = [row.line for row in rows if isinstance(row, LineRow)]
    assert [item.id for item in lines[:2]] == ["L2", "L1"]
    priorities = [item.priority for item in lines[2:]]
    assert priorities == sorted(priorities, reverse=True) and len(lines) == 29


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_bytes_against_budget_stand_above_the_lines_at_every_size(size: tuple[int, int]) -> None:
    app, _ = panel_app()
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        top = rows_on_screen(app)[:3]
        assert top[0].split()[0] == "hot" and f"{TIERS.size('hot'):,}" in top[0] and "2,048" in top[0]
        assert top[1].split()[0] == "warm" and f"{TIERS.size('warm'):,}" in top[1] and "20,480" in top[1]
        assert "nothing changed" in top[2]


async def test_a_tier_over_its_budget_says_by_how_many_bytes() -> None:
    app, _ = panel_app(tiers_of([line(1, "hot", text="x" * 3_000)]))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert f"{3_000 + len('[L1] ') - 2_048:,} over" in rows_on_screen(app)[0]


@pytest.mark.parametrize(
    ("key", "action"),
    [("p", "promote"), ("r", "retire"), ("u", "undo"), ("e", "edit"), ("t", "touch"), ("enter", "history")],
)
async def test_a_key_on_a_line_asks_for_its_action_and_changes_nothing_itself(key: str, action: str) -> None:
    app, panel = panel_app()
    async with app.run_test() as pilot:
        lines = await focus_lines(pilot, panel)
        before = lines.items
        await pilot.press("down", "down", key)
        asked = [(m.action, m.line_id) for m in app.heard if isinstance(m, LineAction)]
        assert asked == [(action, current_id(lines))]
        assert lines.items == before


async def test_keys_without_any_line_do_nothing() -> None:
    app, panel = panel_app(Tiers())
    async with app.run_test() as pilot:
        await focus_lines(pilot, panel)
        await pilot.press("down", "p", "enter", "end", "pagedown", "up")
        assert not app.heard
        assert "No line yet" in text_on_screen(app)


async def test_the_cursor_walks_over_lines_only_and_reaches_both_ends() -> None:
    app, panel = panel_app()
    async with app.run_test(size=(60, 20)) as pilot:
        lines = await focus_lines(pilot, panel)
        await pilot.press("home")
        seen = [current_id(lines)]
        for _ in range(len(TIERS) + 3):
            await pilot.press("j")
            seen.append(current_id(lines))
        assert list(dict.fromkeys(seen)) == [item.id for item in (*TIERS.hot(), *TIERS.warm())]
        await pilot.press("g")
        assert current_id(lines) == "L2"
        await pilot.press("G")
        assert current_id(lines) == TIERS.warm()[-1].id
        await pilot.press("pageup", "pageup", "pagedown", "end")
        assert current_id(lines) == TIERS.warm()[-1].id


async def test_the_line_under_the_cursor_is_always_wholly_in_sight_with_its_reason() -> None:
    long = [line(n, text=f"start{n} " + "word " * 60 + f"stop{n}", reason=f"why{n}") for n in range(1, 12)]
    app, panel = panel_app(tiers_of(long))
    async with app.run_test(size=(60, 24)) as pilot:
        await focus_lines(pilot, panel)
        for number in (*range(2, 12), *range(10, 0, -1)):
            await pilot.press("down" if number > 1 and f"start{number - 1} " in text_on_screen(app) else "up")
            lines = panel.query_one(LineList)
            text = text_on_screen(app)
            mine = current_id(lines)[1:]
            assert f"start{mine} " in text and f"stop{mine}" in text and f"why{mine}" in text


async def test_the_cursor_stays_on_its_line_when_lines_come_and_go_above_it() -> None:
    app, panel = panel_app()
    async with app.run_test(size=(60, 20)) as pilot:
        lines = await focus_lines(pilot, panel)
        await pilot.press(*["down"] * 6)
        chosen = current_id(lines)
        panel.show(tiers_of([*HOT, line(40, "hot"), line(41, priority=5), *WARM]))
        assert current_id(lines) == chosen
        panel.show(tiers_of([item for item in (*HOT, *WARM) if item.id != chosen]))
        assert current_id(lines) != chosen, "its line is gone: the cursor stands on a neighbour"


async def test_a_reader_who_scrolled_keeps_the_place_when_lines_come_above_it() -> None:
    app, panel = panel_app()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        lines = panel.query_one(LineList)
        lines.scroll_to(y=30, animate=False)
        await pilot.pause()
        before = rows_on_screen(app)[3:10]
        panel.show(tiers_of([*HOT, line(40, "hot"), line(41, "hot"), *WARM]))
        await pilot.pause()
        assert rows_on_screen(app)[3:10] == before


async def test_what_a_turn_changed_is_marked_in_words_and_counted_until_the_next_turn() -> None:
    added, edited, cold = line(50), replace(WARM[0], text="other words"), replace(WARM[1], tier="cold")
    kept = [edited if item.id == edited.id else item for item in WARM if item.id != cold.id]
    app, panel = panel_app()
    async with app.run_test(size=(80, 200)) as pilot:
        panel.show(tiers_of([*HOT, *kept, added]))
        panel.changed([Change(None, added), Change(WARM[0], edited), Change(WARM[1], cold)])
        await pilot.pause()
        text = text_on_screen(app)
        assert "+1 added  ~1 edited  ↓1 demoted" in text
        assert any("L50" in row and row.endswith("+ added") for row in rows_on_screen(app))
        assert any(f"{edited.id} " in row and row.endswith("~ edited") for row in rows_on_screen(app))
        panel.turn_began()
        await pilot.pause()
        assert "nothing changed" in text_on_screen(app) and "+ added" not in text_on_screen(app)


async def test_a_changed_line_is_lit_only_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("widgets.tiers.panel.LIT_SECONDS", 0.3)
    app, panel = panel_app()
    async with app.run_test(size=(80, 60)) as pilot:
        panel.changed([Change(None, WARM[3])])
        lines = panel.query_one(LineList)
        lit = lambda: [row.line.id for row in lines.items if isinstance(row, LineRow) and row.lit]  # noqa: E731
        assert lit() == [WARM[3].id]
        # Waits for the end of the moment, not for a time: on a busy machine two timers that are due together come in
        # one go, and the panel's callback is then still in its queue when the test's own wait is over.
        async with asyncio.timeout(20):
            while lit():
                await pilot.pause(0.05)
        await pilot.pause()
        assert "+ added" in text_on_screen(app)


async def test_what_will_fade_says_to_where() -> None:
    app, panel = panel_app()
    async with app.run_test(size=(80, 120)) as pilot:
        panel.show(TIERS, [Fading(WARM[0], 1), Fading(WARM[1], 0)])
        await pilot.pause()
        rows = rows_on_screen(app)
        assert any(f"{WARM[0].id} " in row and row.endswith("fades → 1") for row in rows)
        assert any(f"{WARM[1].id} " in row and row.endswith("fades → cold") for row in rows)
        assert "2 will fade" in rows[2]


async def test_the_filter_shows_lines_with_all_words_and_escape_shows_all_again() -> None:
    app, panel = panel_app()
    async with app.run_test(size=(80, 40)) as pilot:
        lines = await focus_lines(pilot, panel)
        await pilot.press("f", *"line 17")
        await pilot.pause()
        assert [row.line.id for row in lines.items if isinstance(row, LineRow)] == ["L17"]
        assert "1 of 27 lines" in text_on_screen(app)
        await pilot.press("enter", "p")
        assert [m.line_id for m in app.heard if isinstance(m, LineAction)] == ["L17"]
        await pilot.press("escape")
        assert len(lines.items) == len(TIERS) + 2 and not panel.query_one("#tier-filter", Input).has_class("-open")


async def test_the_kind_key_goes_through_all_kinds_and_back_to_all_lines() -> None:
    app, panel = panel_app()
    async with app.run_test(size=(80, 40)) as pilot:
        lines = await focus_lines(pilot, panel)
        for kind in LINE_KINDS:
            await pilot.press("o")
            assert {row.line.kind for row in lines.items if isinstance(row, LineRow)} == {kind}
        await pilot.press("o")
        assert len(lines.items) == len(TIERS) + 2


@given(st.text(max_size=30), st.sampled_from([None, *LINE_KINDS]))
def test_a_filter_keeps_a_line_exactly_when_every_word_stands_in_it(words: str, kind: object) -> None:
    chosen = LineFilter(kind, words)  # type: ignore[arg-type]
    for item in WARM[:5]:
        hay = f"{item.id} {item.text} {item.reason}".casefold()
        fits = all(word in hay for word in words.casefold().split())
        assert chosen(item) == (fits and kind in (None, item.kind))


@given(st.lists(st.tuples(st.sampled_from("LMN"), st.sampled_from(["add", "edit", "sink", "touch"])), max_size=12))
def test_a_line_counts_once_a_turn_however_often_it_changed(steps: list[tuple[str, str]]) -> None:
    changes = TurnChanges()
    base = {name: line(number) for number, name in enumerate("LMN", 1)}
    for name, what in steps:
        old = base[name]
        new = {
            "add": old,
            "edit": replace(old, text=old.text + "!"),
            "sink": replace(old, priority=max(0, old.priority - 1)),
            "touch": replace(old, touched=old.touched + 1),
        }[what]
        changes = changes.plus([Change(None if what == "add" else old, new)])
    total = sum(changes.count(name) for name in ("added", "edited", "demoted", "touched"))  # type: ignore[arg-type]
    assert total == len({name for name, _ in steps})


async def test_text_of_a_line_is_shown_as_typed_and_without_controls() -> None:
    app, panel = panel_app(tiers_of([line(1, text=HOSTILE, reason=HOSTILE)]))
    async with app.run_test(size=(120, 20)) as pilot:
        await focus_lines(pilot, panel)
        text = text_on_screen(app)
        assert text.count(HOSTILE_SHOWN) == 2 and not controls_in(text)


async def test_lines_wrap_again_after_a_resize_and_wide_characters_stay_inside() -> None:
    app, panel = panel_app(tiers_of([line(1, text="漢字" * 60), line(2, text="word " * 40)]))
    async with app.run_test(size=(120, 30)) as pilot:
        lines = await focus_lines(pilot, panel)
        wide = lines.virtual_size.height
        await pilot.resize_terminal(50, 30)
        await pilot.pause()
        assert lines.virtual_size.height > wide
        assert all(lines.render_line(y).cell_length == lines.size.width for y in range(lines.size.height))
        await pilot.resize_terminal(120, 30)
        await pilot.pause()
        assert lines.virtual_size.height == wide


async def test_five_hundred_lines_cost_no_widget_each_and_a_change_lays_out_one() -> None:
    many = [line(n, kind=LINE_KINDS[n % 5]) for n in range(1, 501)]
    app, panel = panel_app(tiers_of(many))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert len(panel.query("*")) == 3
        laid_out = []
        lines = panel.query_one(LineList)
        rows = lines.rows
        lines.rows = lambda *given: laid_out.append(given[0]) or rows(*given)  # type: ignore[method-assign]
        many[250] = replace(many[250], text="other words")
        panel.show(tiers_of(many))
        assert [row.line.id for row in laid_out if isinstance(row, LineRow)] == [many[250].id]


async def test_a_click_puts_the_cursor_on_a_line_and_a_double_click_opens_its_history() -> None:
    app, panel = panel_app()
    async with app.run_test(size=(60, 30)) as pilot:
        lines = await focus_lines(pilot, panel)
        await pilot.click(LineList, offset=(5, 10))
        chosen = current_id(lines)
        assert f" {chosen} " in rows_on_screen(app)[lines.region.y + lines._starts[lines.cursor]]
        await pilot.click(LineList, offset=(5, lines._starts[lines.cursor]), times=2)
        assert [(m.action, m.line_id) for m in app.heard if isinstance(m, LineAction)] == [("history", LineId(chosen))]


async def test_the_lines_take_the_colours_of_a_new_theme_at_once() -> None:
    app, panel = panel_app()
    async with app.run_test(size=(60, 30)) as pilot:
        lines = await focus_lines(pilot, panel)

        def colours() -> set[str]:
            return {str(segment.style) for y in range(8) for segment in lines.render_line(y)}

        app.theme = "textual-dark"
        await pilot.pause()
        dark = colours()
        app.theme = "textual-light"
        await pilot.pause()
        assert not dark & colours()
