"""The scoring desk on screen: keys, notes, back and skip, progress, hostile material, small terminals."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from textual.widgets import Input, Static

from app.screens.scoring import ScoringApp
from app.study.errors import StudyError
from app.study.scoring import Asked
from store.study_bodies import Answer

HOSTILE = (
    "[red]not markup[/] [@click=app.quit]no link[/]\n- The row stands twice. (why: it cost an hour)\n" + "word " * 900
)


class Pad:
    """A desk without a study behind it: what the screen needs of one, kept in memory."""

    def __init__(self, found: Sequence[Asked]) -> None:
        self.found = list(found)
        self.given: dict[str, tuple[Answer, str]] = {}
        self.at = 0

    @property
    def progress(self) -> tuple[int, int]:
        return len(self.given), len(self.found)

    @property
    def done(self) -> bool:
        return len(self.given) == len(self.found)

    @property
    def place(self) -> int:
        return self.at + 1

    def asked(self) -> Asked:
        one = self.found[self.at]
        answer, note = self.given.get(one.id, (None, ""))
        return Asked(one.id, one.kind, one.question, one.material, one.answers, answer, note)

    def answer(self, answer: Answer, note: str = "") -> bool:
        one = self.found[self.at]
        if answer not in one.answers:
            raise StudyError("no answer here")
        self.given[one.id] = (answer, note)
        self.at = min(self.at + 1, len(self.found) - 1)
        return self.done

    def skip(self) -> None:
        self.at = (self.at + 1) % len(self.found)

    def back(self) -> None:
        self.at = (self.at - 1) % len(self.found)


def pad() -> Pad:
    return Pad(
        [
            Asked("a1b2c3d4e5", "present", "Does the material say this?\n\n[b]The row[/b] stands twice.", HOSTILE,
                  ("y", "n", "u"), None, ""),
            Asked("f6a7b8c9d0", "warmth", "How warm?", "Dear next one.", ("0", "1", "2", "3"), None, ""),
            Asked("0a1b2c3d4e", "needed", "Still needed?", "The next task.", ("y", "n", "u"), None, ""),
        ]
    )  # fmt: skip


def app_on(desk: Pad, fired: tuple[str, ...] = ()) -> ScoringApp:
    return ScoringApp(desk, lambda: fired)  # type: ignore[arg-type]


def shown(app: ScoringApp, part: str) -> str:
    return str(app.query_one(part, Static).render())


async def test_a_key_answers_and_goes_on_and_a_key_of_another_kind_does_nothing() -> None:
    desk = pad()
    app = app_on(desk)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("3")
        assert desk.progress == (0, 3)
        await pilot.press("y")
        assert desk.given == {"a1b2c3d4e5": ("y", "")} and "How warm?" in shown(app, "#question")
        await pilot.press("2", "u")
        assert desk.done and "all answered" in shown(app, "#place")


async def test_skip_and_back_move_without_answering_and_a_given_answer_is_marked() -> None:
    desk = pad()
    app = app_on(desk)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("s")
        assert desk.place == 2 and desk.progress == (0, 3)
        await pilot.press("b", "n", "b")
        assert "● n" in shown(app, "#answers")


async def test_a_note_is_typed_without_its_letters_answering_and_is_kept_with_the_answer() -> None:
    desk = pad()
    app = app_on(desk)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("t", *"any note", "enter")
        assert desk.progress == (0, 3)
        await pilot.press("y")
        assert desk.given["a1b2c3d4e5"] == ("y", "any note")
        assert app.query_one("#note", Input).value == ""


async def test_material_is_text_and_nothing_else() -> None:
    app = app_on(pad())
    async with app.run_test(size=(120, 40)):
        assert "[red]not markup[/] [@click=app.quit]no link[/]" in shown(app, "#material")
        assert "[b]The row[/b]" in shown(app, "#question")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (40, 12)])
async def test_question_answers_and_material_are_on_screen_at_every_size(size: tuple[int, int]) -> None:
    app = app_on(pad())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        for part in ("#question", "#material-side", "#place"):
            region = app.query_one(part).region
            assert region.width > 0 and region.height > 0
            assert region.x >= 0 and region.y < size[1]


async def test_a_stop_rule_that_fires_is_shown_at_once() -> None:
    app = app_on(pad(), ("Stop rule fidelity has fired: on 2 of 3 tasks",))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.press("y", "2", "y")
        await pilot.pause()
        assert any("fidelity has fired" in note.message for note in app._notifications)


async def test_leaving_keeps_what_was_answered() -> None:
    desk = pad()
    app = app_on(desk)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("y", "q")
    assert desk.progress == (1, 3)
