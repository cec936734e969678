"""Dialogs: what is shown is exact, and only a meant key answers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from panel_samples import HOSTILE, HOSTILE_SHOWN, controls_in, line, text_on_screen
from textual.app import App
from textual.pilot import Pilot
from textual.screen import ModalScreen

from store.bodies import Change
from store.line_history import LineStep
from widgets.dialogs import Approval, ApprovalDialog, AskText, Confirm, Help, HelpSection, Jump, LineHistory

NOT_YET = object()
SIZES = [(80, 24), (120, 40), (200, 60)]


class Asking(App[None]):
    """Asks with one dialog and keeps the answer."""

    def __init__(self, dialog: ModalScreen[object]) -> None:
        super().__init__()
        self.dialog = dialog
        self.answer: object = NOT_YET

    def on_mount(self) -> None:
        self.push_screen(self.dialog, self.take)

    def take(self, answer: object) -> None:
        self.answer = answer


def bash(shown: str = "git push origin main", **options: object) -> ApprovalDialog:
    given = {"prefix": " ".join(shown.split()[:2]), "covers": shown.startswith, "arm_seconds": 0, **options}
    return ApprovalDialog("bash", shown, **given)  # type: ignore[arg-type]


async def press(pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys)
    await pilot.pause()


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["y"], Approval("allow", "once")),
        (["t"], Approval("allow", "tool")),
        (["n"], Approval("deny")),
        (["escape"], Approval("deny")),
        (["d", *"not now", "enter"], Approval("deny", word="not now")),
        (["d", "enter"], Approval("deny")),
        (["x", "enter"], Approval("allow", "prefix", prefix="git push")),
        (["x", "end", *["backspace"] * 5, "enter"], Approval("allow", "prefix", prefix="git")),
    ],
)
async def test_each_answer_of_the_approval_has_its_keys(keys: list[str], answer: Approval) -> None:
    app = Asking(bash())
    async with app.run_test() as pilot:
        await press(pilot, *keys)
        assert app.answer == answer


@pytest.mark.parametrize("key", ["y", "t", "x", "n", "d", "enter", "space", "escape"])
async def test_no_key_answers_an_approval_before_it_has_been_in_sight(key: str) -> None:
    app = Asking(bash(arm_seconds=3_600))
    async with app.run_test() as pilot:
        await press(pilot, key, "enter")
        assert app.answer is NOT_YET


async def test_an_approval_takes_keys_once_it_has_been_in_sight() -> None:
    app = Asking(bash(arm_seconds=0.05))
    async with app.run_test() as pilot:
        await pilot.pause(0.3)
        await press(pilot, "y")
        assert app.answer == Approval("allow", "once")


@pytest.mark.parametrize("key", ["enter", "space", "a", "tab", "down"])
async def test_no_other_key_lets_a_tool_run(key: str) -> None:
    app = Asking(bash())
    async with app.run_test() as pilot:
        await press(pilot, key, "enter")
        assert app.answer is NOT_YET


async def test_a_prefix_that_the_command_does_not_begin_with_is_not_taken() -> None:
    app = Asking(bash())
    async with app.run_test() as pilot:
        await press(pilot, "x", "home", "r", "enter")
        assert app.answer is NOT_YET
        await press(pilot, "escape")
        assert app.answer is NOT_YET, "the first escape leaves the field, not the dialog"


async def test_a_tool_without_a_command_has_no_prefix_to_allow() -> None:
    app = Asking(ApprovalDialog("write", "a file", arm_seconds=0))
    async with app.run_test(size=(100, 30)) as pilot:
        await press(pilot, "x", "enter")
        assert app.answer is NOT_YET and "prefix" not in text_on_screen(app)


@pytest.mark.parametrize("size", SIZES)
async def test_what_will_run_is_shown_whole_with_its_controls_spelled_out(size: tuple[int, int]) -> None:
    app = Asking(bash(f"echo start\n{HOSTILE}\nrm -rf build"))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        text = text_on_screen(app)
        assert "echo start" in text and "rm -rf build" in text
        assert "‹U+001B›]0;owned‹U+0007›" in text.replace("\n", "") or "‹U+202E›" in text
        assert "It holds control characters" in text and not controls_in(text)
        for words in ("allow once", "allow bash for this session", "allow a prefix", "deny with a word"):
            assert words in text


async def test_a_long_command_says_how_many_lines_it_has_and_can_be_read_to_its_end() -> None:
    app = Asking(bash("\n".join(f"line {n}" for n in range(500))))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "500 lines" in text_on_screen(app) and "line 499" not in text_on_screen(app)
        await press(pilot, "end")
        assert "line 499" in text_on_screen(app)


async def test_a_tools_name_from_outside_is_no_markup() -> None:
    app = Asking(ApprovalDialog(HOSTILE, "x", where=HOSTILE, arm_seconds=0))
    async with app.run_test(size=(200, 30)) as pilot:
        await pilot.pause()
        text = text_on_screen(app)
        assert f"Presence asks to use {HOSTILE_SHOWN}" in text and not controls_in(text)


async def test_a_reason_is_asked_for_until_there_is_one() -> None:
    app = Asking(AskText("Retire L5", "Why?"))
    async with app.run_test() as pilot:
        await press(pilot, "space", "enter")
        assert app.answer is NOT_YET
        await press(pilot, *"done", "enter")
        assert app.answer == "done"


async def test_a_text_that_is_not_required_may_be_empty_and_leaving_gives_none() -> None:
    app = Asking(AskText("A word", required=False))
    async with app.run_test() as pilot:
        await press(pilot, "enter")
        assert app.answer == ""
    app = Asking(AskText("A word", initial="kept"))
    async with app.run_test() as pilot:
        await press(pilot, "escape")
        assert app.answer is None


@pytest.mark.parametrize(("key", "answer"), [("y", True), ("n", False), ("escape", None), ("enter", NOT_YET)])
async def test_only_y_confirms(key: str, answer: object) -> None:
    app = Asking(Confirm("Close?", HOSTILE))
    async with app.run_test() as pilot:
        await press(pilot, key)
        assert app.answer is answer


OLD = line(5, kind="decision", text="Ship when green", priority=4)
NOW = replace(OLD, text="Ship when both regions are green", priority=5)
STEPS = (
    LineStep(
        3, "2026-11-30T00:05:12.000Z", "keeper", "s1", 1, 2, "add_line", "he said so", "when green", Change(None, OLD)
    ),
    LineStep(9, "2026-11-30T00:09:12.000Z", "operator", "s1", 1, 4, "edit_line", "clearer", "", Change(OLD, NOW)),
    LineStep(11, "2026-11-30T00:10:12.000Z", "operator", "desk", 1, 4, "undo", "", "", Change(NOW, OLD), undoes=9),
)


@pytest.mark.parametrize("size", SIZES)
async def test_a_lines_history_tells_words_reason_quote_and_every_change(size: tuple[int, int]) -> None:
    app = Asking(LineHistory(NOW, STEPS))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        text = text_on_screen(app)
        for _ in range(4):
            await press(pilot, "pagedown")
            text += text_on_screen(app)
        for words in (
            "Line L5",
            "3 changes",
            "why: reason of line 5",
            "quote, session 1 turn 1: “quote of line 5”",
            "keeper: add line, session 1 turn 2",
            "- Ship when green",
            "+ Ship when both regions are green",
            "priority 4 → 5",
            "operator: undo (takes back event 9)",
        ):
            assert words in text


async def test_enter_in_a_history_jumps_to_the_turn_of_the_quote() -> None:
    app = Asking(LineHistory(replace(NOW, quote_turn=7, made_turn=8, made_session=3), STEPS))
    async with app.run_test() as pilot:
        await press(pilot, "enter")
        assert app.answer == Jump(3, 7)


async def test_a_line_without_a_quote_jumps_to_the_turn_it_was_made_in() -> None:
    app = Asking(LineHistory(line(1, "hot", made_turn=8), ()))
    async with app.run_test() as pilot:
        await press(pilot, "enter")
        assert app.answer == Jump(1, 8)


async def test_a_history_of_hostile_words_is_shown_without_controls() -> None:
    app = Asking(LineHistory(line(1, text=HOSTILE, reason=HOSTILE, quote=HOSTILE), ()))
    async with app.run_test(size=(200, 30)) as pilot:
        await pilot.pause()
        assert "[red]x[/]" in text_on_screen(app) and not controls_in(text_on_screen(app))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("key", ["escape", "q", "f1"])
async def test_the_help_lists_every_key_it_is_given_and_leaves_by_three_keys(size: tuple[int, int], key: str) -> None:
    sections = [HelpSection(f"part {n}", [(f"k{n}{m}", f"does {n}{m}") for m in range(9)]) for n in range(5)]
    app = Asking(Help(sections))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        text = text_on_screen(app)
        for _ in range(6):
            await press(pilot, "pagedown")
            text += text_on_screen(app)
        assert all(what in text for section in sections for _, what in section.keys)
        await press(pilot, key)
        assert app.answer is None


@pytest.mark.parametrize("size", [(80, 24), (100, 30)])
async def test_in_a_small_window_every_warning_and_key_stays_in_sight_and_what_will_run_scrolls(
    size: tuple[int, int],
) -> None:
    app = Asking(
        bash("сurl \u200b" + "\n" * 30 + "rm -r build", prefix="", no_prefix="No prefix of it.", where="in work")
    )
    async with app.run_test(size=size) as pilot:
        await pilot.pause(0.1)
        text = text_on_screen(app)
        for words in ("in work", "not drawn", "stretch of blanks", "two alphabets", "No prefix", "deny with a word"):
            assert words in text, words
        await press(pilot, "end")
        assert "rm -r build" in text_on_screen(app)
        await pilot.resize_terminal(120, 40)
        await pilot.pause(0.1)
        assert "not drawn" in text_on_screen(app) and "rm -r build" in text_on_screen(app)
