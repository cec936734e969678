"""The composer: what the operator writes or pastes is what is sent, whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from panel_samples import HOSTILE, OneWidget, controls_in, text_on_screen
from textual import events
from textual.pilot import Pilot

from widgets.composer import Composer, Submitted
from widgets.composer.pastes import FOLD_CHARACTERS, FOLD_LINES, Pastes, with_line_ends


def composer_app() -> tuple[OneWidget, Composer]:
    composer = Composer()
    return OneWidget(composer, Submitted), composer


def sent(app: OneWidget) -> list[str]:
    return [message.text for message in app.heard if isinstance(message, Submitted)]


async def paste(pilot: Pilot[None], text: str) -> None:
    pilot.app.post_message(events.Paste(text))
    await pilot.pause()


async def test_enter_sends_what_was_typed_and_empties_the_composer() -> None:
    app, composer = composer_app()
    async with app.run_test() as pilot:
        composer.focus_area()
        await pilot.press(*"hello", "enter")
        await pilot.pause()
        assert sent(app) == ["hello"] and composer.text == ""


@pytest.mark.parametrize("key", ["shift+enter", "ctrl+j", "alt+enter"])
async def test_a_new_line_has_more_than_one_key_because_terminals_differ(key: str) -> None:
    app, composer = composer_app()
    async with app.run_test() as pilot:
        composer.focus_area()
        await pilot.press("a", key, "b", "enter")
        await pilot.pause()
        assert sent(app) == ["a\nb"]


async def test_nothing_is_sent_out_of_an_empty_composer() -> None:
    app, composer = composer_app()
    async with app.run_test() as pilot:
        composer.focus_area()
        await pilot.press("enter", "space", "ctrl+j", "enter")
        await pilot.pause()
        assert sent(app) == []


async def test_the_ready_line_stands_there_and_enter_sends_it() -> None:
    app, composer = composer_app()
    async with app.run_test(size=(100, 24)) as pilot:
        composer.ready = "Run the output test.\nThen stop."
        composer.focus_area()
        await pilot.pause()
        assert "un the output test. Then stop." in text_on_screen(app)
        assert "enter sends this line, or write your own" in text_on_screen(app)
        await pilot.press("enter")
        await pilot.pause()
        assert sent(app) == ["Run the output test.\nThen stop."]


async def test_own_words_are_sent_in_place_of_the_ready_line() -> None:
    app, composer = composer_app()
    async with app.run_test() as pilot:
        composer.ready = "Run the output test."
        composer.focus_area()
        await pilot.press(*"no", "enter")
        await pilot.pause()
        assert sent(app) == ["no"]
        assert "output test" in text_on_screen(app), "it still stands ready"


async def test_a_paste_of_a_megabyte_is_one_token_and_is_sent_to_the_last_byte() -> None:
    big = ("".join(chr(0x4E00 + n % 5_000) for n in range(300_000)) + "\n" + "x" * 140_000)[: 1 << 20]
    app, composer = composer_app()
    async with app.run_test(size=(100, 24)) as pilot:
        composer.focus_area()
        await pilot.press(*"see ")
        await paste(pilot, big)
        await pilot.press(*" ok")
        assert len(composer.area.text) < 80
        assert "1 paste of 1.0 MB will be sent whole" in text_on_screen(app)
        await pilot.press("enter")
        await pilot.pause()
        assert sent(app) == [f"see {big} ok"]


@given(st.text(max_size=3_000), st.text("ab[]\n", max_size=20), st.text("ab[]\n", max_size=20))
def test_whatever_is_pasted_between_words_is_what_is_sent(pasted: str, before: str, after: str) -> None:
    pastes = Pastes()
    shown = before + pastes.taken(pasted) + after
    assert pastes.unfolded(shown) == before + with_line_ends(pasted) + after
    assert not controls_in(shown)


@given(st.lists(st.integers(1, 5_000), min_size=1, max_size=6))
def test_several_pastes_keep_their_texts_and_order(lengths: list[int]) -> None:
    pastes = Pastes()
    texts = [chr(97 + n) * length for n, length in enumerate(lengths)]
    shown = " ".join(pastes.taken(text) for text in texts)
    assert pastes.unfolded(shown) == " ".join(texts)
    assert [paste.text for paste in pastes.within(shown)] == [text for text in texts if len(text) > FOLD_CHARACTERS]


def test_a_pasted_text_that_looks_like_a_token_stays_that_text() -> None:
    pastes = Pastes()
    token = pastes.taken("x" * (FOLD_CHARACTERS + 1))
    copied = pastes.taken(f"he wrote {token} to me")
    assert pastes.unfolded(copied) == f"he wrote {token} to me"


def test_many_short_lines_are_folded_too() -> None:
    assert Pastes().taken("\n" * FOLD_LINES).startswith("[paste 1: 20 B, 21 lines")


async def test_a_paste_with_terminal_controls_is_not_drawn_and_yet_sent_as_it_is() -> None:
    app, composer = composer_app()
    async with app.run_test(size=(100, 24)) as pilot:
        composer.focus_area()
        await paste(pilot, HOSTILE)
        assert not controls_in(text_on_screen(app)) and "[paste 1:" in text_on_screen(app)
        await pilot.press("enter")
        await pilot.pause()
        assert sent(app) == [HOSTILE]


@pytest.mark.parametrize("key", ["backspace", "delete"])
async def test_a_token_is_deleted_as_one(key: str) -> None:
    app, composer = composer_app()
    async with app.run_test() as pilot:
        composer.focus_area()
        await pilot.press("a")
        await paste(pilot, "y" * 5_000)
        if key == "delete":
            await pilot.press("home", "right")
        await pilot.press(key)
        assert composer.text == "a"


async def test_carriage_returns_of_a_terminals_paste_become_line_ends() -> None:
    app, composer = composer_app()
    async with app.run_test() as pilot:
        composer.focus_area()
        await paste(pilot, "one\rtwo\r\nthree\n")
        await pilot.press("enter")
        await pilot.pause()
        assert sent(app) == ["one\ntwo\nthree\n"]


async def test_up_walks_to_earlier_words_and_down_back_to_what_was_being_written() -> None:
    app, composer = composer_app()
    async with app.run_test() as pilot:
        composer.set_history(["first", "second\nline"])
        composer.focus_area()
        await pilot.press(*"draft", "up")
        assert composer.text == "second\nline"
        await pilot.press("up")
        assert composer.text == "second\nline", "the cursor goes up inside a text first"
        await pilot.press("up")
        assert composer.text == "first"
        await pilot.press("up")
        assert composer.text == "first", "there is nothing before the first"
        await pilot.press("down", "down")
        assert composer.text == "draft"
        await pilot.press("enter", "up")
        assert composer.text == "draft", "what was sent is the newest"


async def test_a_long_message_out_of_the_history_is_folded_and_sent_whole_again() -> None:
    app, composer = composer_app()
    async with app.run_test() as pilot:
        composer.set_history(["z" * 100_000])
        composer.focus_area()
        await pilot.press("up")
        assert len(composer.area.text) < 80
        await pilot.press("enter")
        await pilot.pause()
        assert sent(app) == ["z" * 100_000]


@pytest.mark.parametrize("mode", ["closed", "read_only"])
async def test_a_closed_composer_says_so_and_takes_nothing(mode: str) -> None:
    app, composer = composer_app()
    async with app.run_test(size=(100, 24)) as pilot:
        composer.ready = "ready line"
        composer.mode = mode  # type: ignore[assignment]
        composer.focus_area()
        await pilot.press("a", "enter", "ctrl+j")
        await paste(pilot, "words")
        assert sent(app) == [] and composer.text == ""
        assert mode.replace("_", " ") in text_on_screen(app)


async def test_while_presence_works_a_message_is_still_taken_and_the_rule_says_that_it_waits() -> None:
    app, composer = composer_app()
    async with app.run_test(size=(100, 24)) as pilot:
        composer.mode = "queue"
        composer.focus_area()
        await pilot.press(*"next", "enter")
        await pilot.pause()
        assert sent(app) == ["next"] and "waits in line" in text_on_screen(app)


async def test_the_composer_grows_with_its_text_up_to_a_bound_and_shrinks_again() -> None:
    app, composer = composer_app()
    async with app.run_test(size=(100, 40)) as pilot:
        composer.focus_area()
        await pilot.pause()
        assert composer.size.height == 1
        await pilot.press("a", "ctrl+j", "b", "ctrl+j", "c")
        await pilot.pause()
        assert composer.size.height == 3
        await pilot.press(*["ctrl+j"] * 30)
        await pilot.pause()
        assert composer.size.height <= 12
        await pilot.press("enter")
        await pilot.pause()
        assert composer.size.height == 1


async def test_a_ready_line_from_outside_is_shown_as_typed_and_without_controls() -> None:
    app, composer = composer_app()
    async with app.run_test(size=(120, 24)) as pilot:
        composer.ready = HOSTILE
        await pilot.pause()
        text = text_on_screen(app)
        assert "[red]x[/] [/nope [@click=app.bell]y[/] red end" in text and not controls_in(text)


async def test_what_was_set_before_the_composer_is_mounted_holds() -> None:
    app, composer = composer_app()
    composer.ready = "Run it."
    composer.mode = "closed"
    async with app.run_test(size=(100, 24)) as pilot:
        composer.focus_area()
        await pilot.press("a", "enter")
        await pilot.pause()
        assert "this session is closed" in text_on_screen(app) and sent(app) == []
