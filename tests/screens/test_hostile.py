"""Foreign text in every place of the screen: shown as typed, no markup, and not one control for the terminal."""

from dataclasses import replace
from pathlib import Path

import pytest
from screen_plays import TASK, beat, playing, speaks

from app.scripted.script import Reply, ToolCall
from store.bodies import KeeperState, Notice, ToolAsked, ToolCalled
from store.journals import write_journal
from store.text import clean
from tests.widgets.panel_samples import HOSTILE, controls_in
from widgets.dialogs import ApprovalDialog

MARKUP = "[red]x[/] [/nope"


async def no_controls(play) -> None:  # type: ignore[no-untyped-def]
    await play.pilot.pause()
    assert controls_in(play.seen()) == set()


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_what_operator_model_tool_and_task_say_is_shown_as_typed(tmp_path: Path, size: tuple[int, int]) -> None:
    line = {"kind": "finding", "text": f"It says {HOSTILE}", "reason": HOSTILE, "quote": "an answer", "turn": 1}
    script = speaks(
        beat(
            "go",
            Reply(text=f"This is an answer: {HOSTILE}", tools=(ToolCall("glob", {"pattern": HOSTILE}),)),
            Reply(text=HOSTILE),
        ),
        keeper=(beat("go", Reply(tools=(ToolCall("add_line", line),))),),
    )
    task = replace(TASK, title=HOSTILE)
    async with playing(tmp_path, script, task=task, size=size, operator=HOSTILE) as play:
        play.live.panes.composer.put(f"go {HOSTILE}")
        await play.press("f5", "enter")
        await play.until_ready(1)
        await play.until_seen(MARKUP)
        await no_controls(play)
        await play.press("f3", "end")
        await play.until_seen(f"It says {MARKUP}")
        await no_controls(play)
        await play.press("enter")
        await play.until_seen("go to its turn")
        assert "\x1b" not in play.seen()
        await play.press("escape", "e")
        await play.until_seen("Edit L1")
        await no_controls(play)
        await play.press("escape", "r")
        await play.until_seen("Retire L1")
        await no_controls(play)


async def test_notices_standings_and_the_snug_are_shown_as_typed(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(), size=(200, 60)) as play:
        await play.until(lambda: play.live._folding.connected)
        record = play.session.record
        record.append("system", Notice("warning", HOSTILE))
        record.append("system", KeeperState("failed", 3, HOSTILE))
        write_journal(play.room, play.session.log, "presence", "snug", HOSTILE, 1)
        await play.until_seen("× failed")
        await play.until(lambda: play.seen().count(MARKUP) >= 3)
        await no_controls(play)
        play.app.notify(clean(HOSTILE), markup=False)
        await no_controls(play)


async def test_a_question_spells_out_what_a_terminal_would_act_on(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks()) as play:
        await play.until(lambda: play.live._folding.connected)
        record = play.session.record
        record.append("presence", ToolCalled("t1", HOSTILE, {"command": HOSTILE}))
        record.append("system", ToolAsked("t1", HOSTILE, HOSTILE))
        await play.until(lambda: isinstance(play.app.screen, ApprovalDialog))
        await play.until_seen("‹U+001B›")
        await no_controls(play)
