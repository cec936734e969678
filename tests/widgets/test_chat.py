"""The chat on screen, driven by Pilot: following, reading, opening, searching, selecting, jumping."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from typing import Any

import pytest
from chat_plays import CODE, OPENED, Numbered, ended, long_session, said
from textual.app import App, ComposeResult
from textual.events import MouseScrollDown, MouseScrollUp
from textual.pilot import Pilot
from textual.widgets import Input

from store.bodies import Body, MessageCut, Notice, OperatorSaid, Partial, ToolCalled, ToolEnded, WakePacket
from store.entries import ToolEntry
from store.transcript import Transcript
from widgets.chat import Chat, Copied, EntryOpened, FollowChanged, TurnChosen


class Told(App[None]):
    """Shows one chat and keeps what it posts."""

    def __init__(self, transcript: Transcript | None = None, **options: Any) -> None:
        super().__init__()
        self.chat = Chat(transcript, **options)
        self.make = Numbered()
        self.posted: list[object] = []

    def compose(self) -> ComposeResult:
        yield self.chat

    def on_mount(self) -> None:
        self.chat.view.focus()

    def tell(self, *bodies: Body, turn: int = 1) -> None:
        for body in bodies:
            self.chat.apply(self.make(body, turn))

    def play(self, messages: int) -> None:
        for event in long_session(messages, self.make):
            self.chat.apply(event)
        self.chat.view.flush()

    def shown(self) -> list[str]:
        view = self.chat.view
        view.flush()
        return [view.render_line(y).text.rstrip() for y in range(view.size.height)]

    def keep(self, message: object) -> None:
        self.posted.append(message)

    on_copied = on_entry_opened = on_follow_changed = on_turn_chosen = keep

    def of(self, kind: type) -> list[Any]:
        return [message for message in self.posted if isinstance(message, kind)]


Play = Callable[[Told, Pilot[None]], Coroutine[Any, Any, None]]


def in_terminal(width: int = 60, height: int = 20, **options: Any) -> Callable[[Play], Callable[[], Any]]:
    def decorate(play: Play) -> Callable[[], Any]:
        async def test() -> None:
            app = Told(**options)
            async with app.run_test(size=(width, height)) as pilot:
                await pilot.pause()
                await play(app, pilot)

        test.__name__, test.__doc__ = play.__name__, play.__doc__
        return test

    return decorate


@in_terminal()
async def test_the_view_follows_the_newest_words(app: Told, pilot: Pilot[None]) -> None:
    app.play(40)
    for i in range(30):
        app.tell(said(f"line {i}\n", request=900))
        assert app.chat.view.following
        assert f"line {i}" in "\n".join(app.shown())


@in_terminal()
async def test_a_reader_who_scrolled_up_is_never_moved_and_follows_again_at_the_end(
    app: Told, pilot: Pilot[None]
) -> None:
    app.play(40)
    await pilot.pause()
    for _ in range(7):
        await pilot.press("up")
    before = app.shown()
    for i in range(60):
        app.tell(said(f"line {i}\n", request=900))
        assert app.shown() == before
    assert not app.chat.view.following
    await pilot.press("end")
    await pilot.pause()
    assert app.chat.view.following and "line 59" in app.shown()[-1]
    app.tell(said("the newest", request=900))
    assert "the newest" in app.shown()[-1]
    assert [message.following for message in app.of(FollowChanged)] == [False, True]


@in_terminal()
async def test_keys_move_by_as_many_rows_as_they_say_through_unseen_text(app: Told, pilot: Pilot[None]) -> None:
    app.play(200)
    await pilot.pause()
    for key, rows in (("up", 1), ("up", 1), ("down", 1), ("up", 1)):
        before = app.shown()
        await pilot.press(key)
        after = app.shown()
        assert (after[rows:] == before[:-rows]) if key == "up" else (after[:-rows] == before[rows:])
    for _ in range(20):
        before = app.shown()
        await pilot.press("pageup")
        assert app.shown() != before
    await pilot.press("home")
    assert "session 1" in app.shown()[0]


@in_terminal()
async def test_the_wheel_moves_the_text_and_the_end_follows_again(app: Told, pilot: Pilot[None]) -> None:
    app.play(60)
    await pilot.pause()
    before = app.shown()
    for wheel, following in ((MouseScrollUp, False), (MouseScrollDown, True)):
        step = {"x": 5, "y": 5, "delta_x": 0, "delta_y": 0, "button": 0, "shift": False, "meta": False, "ctrl": False}
        app.chat.view.post_message(wheel(app.chat.view, **step))
        await pilot.pause()
        assert app.chat.view.following is following
        rows = app.shown()
        moved = int(app.scroll_sensitivity_y)
        assert rows == before if following else rows[moved:] == before[:-moved]


@in_terminal()
async def test_reaching_the_end_by_single_steps_follows_again(app: Told, pilot: Pilot[None]) -> None:
    app.play(20)
    await pilot.pause()
    await pilot.press("up", "up", "up", "down", "down")
    assert not app.chat.view.following
    await pilot.press("down")
    assert app.chat.view.following


@in_terminal(80, 24)
async def test_old_text_wraps_anew_after_a_resize_and_the_reader_keeps_the_place(app: Told, pilot: Pilot[None]) -> None:
    app.play(80)
    await pilot.pause()
    app.chat.view.go_to_turn(9)
    top = app.chat.view._view.anchor[0]
    for size in ((40, 12), (130, 40), (20, 8), (80, 24)):
        await pilot.resize_terminal(*size)
        await pilot.pause()
        assert abs(app.chat.view._view.anchor[0] - top) <= 1
        rows = app.shown()
        assert max(len(row) for row in rows) <= size[0]
        assert any(len(row) > size[0] // 2 for row in rows)


@in_terminal(80, 24)
async def test_markup_in_foreign_text_is_shown_as_typed_everywhere(app: Told, pilot: Pilot[None]) -> None:
    hostile = "[red]x[/] [/ [@click=app.quit]y[/] [bold"
    app.tell(
        OPENED,
        WakePacket("B", hostile, (), ""),
        OperatorSaid(hostile),
        ended(hostile),
        Notice("warning", hostile),
        ToolCalled("t", hostile, {"command": hostile}),
        ToolEnded("t", hostile, "error", hostile, 1.0, 9),
    )
    await pilot.pause()
    assert sum(hostile in row for row in app.shown()) >= 4
    app.chat.view.go_to(len(app.chat.transcript.entries) - 1)
    await pilot.press("enter")
    assert sum(hostile in row for row in app.shown()) >= 5


@in_terminal(60, 30)
async def test_a_streamed_fence_is_in_sight_all_the_while_and_ends_as_the_message(
    app: Told, pilot: Pilot[None]
) -> None:
    code = [f"row_{i} = [{i}]" for i in range(12)]
    text = "Look:\n```python\n" + "\n".join(code) + "\n```\nThat is all."
    for i, character in enumerate(text):
        app.tell(said(character))
        if i % 9 == 0 and "row_0 = [0]" in text[:i]:
            assert any("row_0 = [0]" in row for row in app.shown())
    app.tell(ended(text))
    rows = [row.strip("│ ") for row in app.shown()]
    assert [row for row in rows if row.startswith("row_")] == code
    assert app.chat.transcript.entries[-1].text == text  # type: ignore[union-attr]


@in_terminal(60, 30)
async def test_a_stop_inside_a_fence_keeps_the_tail_and_marks_it(app: Told, pilot: Pilot[None]) -> None:
    app.tell(said("```\nfirst\nlast wor"), MessageCut("presence", 1, "```\nfirst\nlast wor", "stopped by you"))
    rows = "\n".join(app.shown())
    assert "last wor" in rows and "cut off: stopped by you" in rows


@in_terminal(70, 20)
async def test_a_tool_opens_and_closes_by_enter_and_by_click(app: Told, pilot: Pilot[None]) -> None:
    app.tell(
        OPENED,
        ToolCalled("t", "bash", {"command": "ls -la"}),
        ToolEnded("t", "bash", "ok", "apply.py\nfinder", 5.0, 15),
    )
    await pilot.pause()
    assert not any("apply.py" in row for row in app.shown())
    await pilot.press("enter")
    assert any("apply.py" in row for row in app.shown())
    row = next(y for y, text in enumerate(app.shown()) if "ls -la" in text)
    await pilot.click(offset=(8, row))
    assert not any("apply.py" in row for row in app.shown())
    assert [message.opened for message in app.of(EntryOpened)] == [True, False]


@pytest.mark.parametrize("found", [("the input", "the whole output"), None])
async def test_an_opened_tool_shows_its_whole_text_or_says_where_it_is(found: tuple[str, str] | None) -> None:
    asked: list[ToolEntry] = []

    def whole(entry: ToolEntry) -> tuple[str, str] | None:
        asked.append(entry)
        return found

    app = Told(whole=whole)
    async with app.run_test(size=(70, 40)) as pilot:
        app.tell(ToolCalled("t", "read", {"path": "x"}), ToolEnded("t", "read", "ok", "x " * 4_000, 5.0, 8_000))
        await pilot.pause()
        assert asked == []
        await pilot.press("enter")
        app.chat.view.action_scroll_end()
        text = "\n".join(app.shown())
        assert ("the whole output" in text) if found else ("in the log, event 2" in text)


@in_terminal(70, 20)
async def test_searching_lights_up_matches_and_steps_through_them(app: Told, pilot: Pilot[None]) -> None:
    app.play(60)
    app.tell(ended("The Needle is here.", request=900))
    app.play(8)
    await pilot.pause()
    await pilot.press("slash", *"needle")
    assert any("The Needle is here." in row for row in app.shown())
    strips = [app.chat.view.render_line(y) for y in range(app.chat.view.size.height)]
    lit = [seg.text for strip in strips for seg in strip if seg.text.casefold() == "needle"]
    assert lit == ["Needle"]
    await pilot.press("enter")
    assert app.focused is app.chat.view
    await pilot.press("slash", "x", "escape")
    assert not app.chat.query_one("#chat-search").has_class("-open")
    assert app.query_one(Input).value == ""


@in_terminal(70, 20)
async def test_next_and_previous_match_go_round(app: Told, pilot: Pilot[None]) -> None:
    for i in range(12):
        app.tell(ended(f"answer {i} " + ("pearl" if i % 4 == 0 else "oyster") + "\n" * 3 + "tail " * 40, request=i))
    await pilot.pause()
    assert app.chat.view.search("PEARL") == 3
    places = [app.chat.view.cursor]
    for key in ("n", "n", "n", "N"):
        await pilot.press(key)
        places.append(app.chat.view.cursor)
    assert places == [8, 0, 4, 8, 4]


@in_terminal(90, 20)
async def test_jumps_lead_to_turns_errors_and_quotes(app: Told, pilot: Pilot[None]) -> None:
    app.play(100)
    await pilot.pause()
    assert app.chat.view.go_to_turn(7)
    assert any("Question 7:" in row for row in app.shown())
    assert app.chat.view.go_to_quote("Answer 20. The **region  table**\nhas")
    assert any("Answer 20." in row for row in app.shown())
    await pilot.press("x")
    assert any("--n 82" in row and "error" in row for row in app.shown())
    assert not app.chat.view.go_to_quote("nobody said this")
    await pilot.press("right_square_bracket")
    assert any("Question 22:" in row for row in app.shown())
    assert app.of(TurnChosen)[-1].turn == 22


@in_terminal(70, 20)
async def test_the_cursor_walks_messages_and_copies_one_as_it_was_written(app: Told, pilot: Pilot[None]) -> None:
    text = "A **bold** answer that is long enough to wrap at this width, more than once in fact it is.\n\n" + CODE
    app.tell(OPENED, OperatorSaid("first"), ended(text), OperatorSaid("last"))
    await pilot.pause()
    await pilot.press("k", "k", "y")
    assert app.of(Copied)[-1].text == text == app.clipboard
    await pilot.press("c")
    assert app.clipboard == 'def find(region: str) -> list[str]:\n    return sorted(row["town"] for row in rows)'


async def drag(pilot: Pilot[None], start: tuple[int, int], end: tuple[int, int], between: Iterable[Any] = ()) -> None:
    await pilot.mouse_down(offset=start)
    for step in between:
        step()
        await pilot.pause()
    await pilot.hover(offset=end)
    await pilot.pause()
    await pilot.mouse_up(offset=end)
    await pilot.pause()


@in_terminal(40, 20)
async def test_a_selection_gives_the_words_without_marks_wrapping_or_leads(app: Told, pilot: Pilot[None]) -> None:
    app.tell(ended("one two three four five six seven eight nine ten eleven twelve\nnext line"))
    await pilot.pause()
    rows = app.shown()
    first = next(y for y, row in enumerate(rows) if "one two" in row)
    last = next(y for y, row in enumerate(rows) if "next line" in row)
    await drag(pilot, (3, first), (3 + len("next") - 1, last))
    assert app.screen.get_selected_text() == ("one two three four five six seven eight nine ten eleven twelve\nnext")


@in_terminal(50, 16)
async def test_a_selection_survives_text_that_comes_in_and_rows_that_move(app: Told, pilot: Pilot[None]) -> None:
    app.tell(said("pick these words\nand more\n", request=1))
    await pilot.pause()
    row = next(y for y, text in enumerate(app.shown()) if "pick these" in text)

    def stream() -> None:
        app.tell(said("more text that streams in while the mouse is down\n" * 2, request=1))

    await drag(pilot, (3, row), (3 + len("pick these") - 1, row), between=[stream] * 2)
    assert app.screen.get_selected_text() == "pick these"
    for _ in range(20):
        stream()
        await pilot.pause()
        app.shown()
    assert app.screen.get_selected_text() == "pick these"


@in_terminal(60, 20)
async def test_messages_between_the_ends_of_a_selection_come_as_they_were_written(
    app: Told, pilot: Pilot[None]
) -> None:
    app.tell(OperatorSaid("top line"), ended("the **middle**\n```\ncode\n```"), OperatorSaid("bottom line"))
    await pilot.pause()
    rows = app.shown()
    first = next(y for y, row in enumerate(rows) if "top line" in row)
    last = next(y for y, row in enumerate(rows) if "bottom line" in row)
    await drag(pilot, (3, first), (3 + len("bottom") - 1, last))
    selected = app.screen.get_selected_text()
    assert selected == "top line\n\nthe **middle**\n```\ncode\n```\n\nAda\nbottom".replace("Ada", "you")


@in_terminal(60, 20)
async def test_two_streams_keep_apart_on_screen(app: Told, pilot: Pilot[None]) -> None:
    app.chat.show_transcript(Transcript(("presence", "keeper")))
    mine, theirs = "alpha beta gamma ", "one two three "
    for i in range(30):
        app.tell(Partial("presence", 1, 0, "text", mine[i % len(mine)]))
        app.tell(Partial("keeper", 2, 0, "text", theirs[i % len(theirs)]))
    text = "\n".join(app.shown())
    assert "alpha beta gamma alpha beta g" in text and "one two three one two three on" in text


@in_terminal(60, 20)
async def test_another_session_can_be_shown_in_the_same_view(app: Told, pilot: Pilot[None]) -> None:
    app.play(40)
    await pilot.pause()
    other = Transcript()
    other.apply(Numbered()(OperatorSaid("of another session")))
    app.chat.show_transcript(other)
    await pilot.pause()
    assert any("of another session" in row for row in app.shown())
    assert not any("Answer" in row for row in app.shown())


@in_terminal(60, 20)
async def test_every_theme_draws_every_look_in_its_own_colours(app: Told, pilot: Pilot[None]) -> None:
    app.play(8)
    colours = {}
    for theme in app.available_themes:
        app.theme = theme
        await pilot.pause()
        assert any("Answer" in row or "find" in row for row in app.shown())
        styles = [seg.style for y in range(20) for seg in app.chat.view.render_line(y) if seg.style]
        colours[theme] = {(style.color, style.bgcolor) for style in styles}
    assert not colours["textual-dark"] & colours["textual-light"]


@in_terminal(60, 20)
async def test_a_hidden_chat_takes_events_and_shows_them_when_it_is_seen_again(app: Told, pilot: Pilot[None]) -> None:
    app.play(20)
    app.chat.display = False
    await pilot.pause()
    app.tell(ended("said while hidden", request=900))
    await pilot.pause()
    app.chat.display = True
    await pilot.pause()
    assert any("said while hidden" in row for row in app.shown())


@in_terminal(60, 20)
async def test_a_long_message_of_the_operator_is_folded_and_opens_whole(app: Told, pilot: Pilot[None]) -> None:
    app.tell(OperatorSaid("first words " + "x" * 1_000_000 + " last words"))
    await pilot.pause()
    assert any("more characters" in row for row in app.shown())
    await pilot.press("enter", "end")
    assert any("last words" in row for row in app.shown())
    assert app.chat.view.search("last words") == 1
