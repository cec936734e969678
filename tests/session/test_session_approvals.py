"""The operator's say over tool calls: asked, allowed once or for good, denied with a word; and the fixed policies."""

from __future__ import annotations

import asyncio

import pytest
from session_plays import PATIENCE_S, Stage, Stages, always, bash, blocks, bodies, calls, said, until

from app.scripted.script import Reply, ToolCall
from app.session.policy import Approve
from app.session.session import Session
from store.bodies import AllowScope, ToolAnswered, ToolAsked, ToolCalled, ToolEnded, TurnEnded


async def asked(live: Session, number: int) -> ToolAsked:
    """The question with this number, once it stands."""
    await until(lambda: len(bodies(live, ToolAsked)) >= number, f"question {number}")
    return bodies(live, ToolAsked)[number - 1]


async def over(live: Session) -> None:
    async with asyncio.timeout(PATIENCE_S):
        await live.turn_over()


async def answered(s: Stage, scope: AllowScope, prefix: str = "") -> Session:
    """A session whose first question was answered so; the turn is over, or asks again."""
    live = await s.open("A", approve="ask")
    live.say("go")
    question = await asked(live, 1)
    assert live.answer(question.tool_use_id, allow=True, scope=scope, prefix=prefix)
    await until(lambda: not live.busy or len(bodies(live, ToolAsked)) > 1)
    return live


THREE = always(bash("touch one"), bash("touch two"), calls("write", file_path="three", content="3"), Reply("ok"))


async def test_a_call_waits_for_the_operator_and_runs_once_allowed(stage: Stages) -> None:
    s = await stage(always(bash("touch one"), Reply("ok")))
    live = await s.open("A", approve="ask")
    live.say("go")
    question = await asked(live, 1)
    assert question.shown == "touch one" and not (s.workspace / "one").exists() and live.busy
    assert live.answer(question.tool_use_id, allow=True)
    await over(live)
    assert (s.workspace / "one").exists()
    assert bodies(live, ToolAnswered) == [ToolAnswered(question.tool_use_id, "bash", "allow", "once")]
    assert [body.outcome for body in bodies(live, ToolEnded)] == ["ok"]


async def test_allowed_once_asks_again(stage: Stages) -> None:
    live = await answered(await stage(THREE), "once")
    assert (await asked(live, 2)).shown == "touch two"


async def test_a_tool_allowed_for_the_session_runs_from_then_on_and_others_still_ask(stage: Stages) -> None:
    live = await answered(await stage(THREE), "tool")
    assert (await asked(live, 2)).name == "write"
    scopes = [(body.decision, body.scope) for body in bodies(live, ToolAnswered)]
    assert scopes == [("allow", "tool"), ("allow", "policy")]


async def test_an_allowed_prefix_covers_only_commands_that_begin_with_its_words(stage: Stages) -> None:
    sneaky = (
        "touch one; touch evil",
        "touchy",
        "touch one && touch evil",
        "touch $(touch evil)",
        "touch one\ntouch evil",
    )
    s = await stage(always(bash("touch one"), bash("touch two words"), *(bash(each) for each in sneaky), Reply("ok")))
    live = await answered(s, "prefix", "touch")
    for number, command in enumerate(sneaky, 2):
        question = await asked(live, number)
        assert question.shown == command
        assert live.answer(question.tool_use_id, allow=False)
    await over(live)
    assert (s.workspace / "words").exists() and not (s.workspace / "evil").exists()


async def test_a_denial_reaches_p_with_the_operators_word(stage: Stages) -> None:
    s = await stage(always(bash("rm -rf ."), Reply("I see.")))
    live = await s.open("A", approve="ask")
    live.say("go")
    question = await asked(live, 1)
    assert live.answer(question.tool_use_id, allow=False, word="use git clean, [please]")
    await over(live)
    _, result = blocks(s.asked()[-1])[-1]
    assert "the operator said no: use git clean, [please]" in result and '"is_error": true' in result
    assert bodies(live, ToolAnswered)[0].word == "use git clean, [please]"
    assert bodies(live, TurnEnded) == [TurnEnded("done")]


async def test_a_question_is_answered_once_and_only_while_it_stands(stage: Stages) -> None:
    s = await stage(always(bash("touch one"), Reply("ok")))
    live = await s.open("A", approve="ask")
    live.say("go")
    question = await asked(live, 1)
    assert not live.answer("toolu_other", allow=True)
    assert live.answer(question.tool_use_id, allow=False)
    assert not live.answer(question.tool_use_id, allow=True)
    await over(live)
    assert not live.answer(question.tool_use_id, allow=True)
    assert not (s.workspace / "one").exists()


async def test_what_the_operator_allowed_for_the_session_holds_after_a_resume(stage: Stages) -> None:
    s = await stage(always(bash("touch one"), Reply("ok")))
    live = await answered(s, "prefix", "touch")
    await live.leave()
    again = await s.resume(live.log, approve="ask")
    await said(again, "go on")
    assert len(bodies(again, ToolAsked)) == 1
    assert [body.scope for body in bodies(again, ToolAnswered)] == ["prefix", "policy"]


EACH = (
    ToolCall("read", {"file_path": "a.txt"}),
    ToolCall("glob", {"pattern": "*"}),
    ToolCall("grep", {"pattern": "x"}),
    ToolCall("memory", {"command": "view", "path": "/memories"}),
    ToolCall("bash", {"command": "touch ran"}),
    ToolCall("write", {"file_path": "written", "content": "x"}),
    ToolCall("edit", {"file_path": "a.txt", "old_string": "x", "new_string": "y"}),
    ToolCall("memory", {"command": "create", "path": "/memories/m.md", "file_text": "x"}),
)


@pytest.mark.parametrize(("approve", "run"), [("none", 0), ("read", 4), ("all", 8)])
async def test_a_policy_without_questions_decides_by_itself_and_says_so(
    stage: Stages, approve: Approve, run: int
) -> None:
    s = await stage(always(Reply(tools=EACH), Reply("ok")))
    (s.workspace / "a.txt").write_text("x\n")
    live = await s.open("A", approve=approve)
    await said(live, "go")
    assert [body.outcome for body in bodies(live, ToolEnded)] == ["ok"] * run + ["denied"] * (8 - run)
    assert [body.decision for body in bodies(live, ToolAnswered)] == ["allow"] * run + ["deny"] * (8 - run)
    assert {body.scope for body in bodies(live, ToolAnswered)} == {"policy"}
    assert bodies(live, ToolAsked) == [] and len(bodies(live, ToolCalled)) == 8
    assert (s.workspace / "ran").exists() == (approve == "all")


async def test_the_question_shows_the_change_that_an_edit_makes(stage: Stages) -> None:
    s = await stage(always(calls("edit", file_path="a.txt", old_string="old [red]", new_string="new"), Reply("ok")))
    (s.workspace / "a.txt").write_text("old [red]\n")
    live = await s.open("A", approve="ask")
    live.say("go")
    shown = (await asked(live, 1)).shown
    assert "-old [red]" in shown and "+new" in shown


async def test_what_the_room_allows_by_name_or_prefix_is_not_asked_about(stage: Stages) -> None:
    s = await stage(
        always(bash("git status"), calls("write", file_path="w", content="x"), bash("git push"), Reply("ok")),
        settings={"tools": {"allow": ["write"], "allow_prefixes": ["git status"]}},
    )
    live = await s.open("A", approve="ask")
    live.say("go")
    assert (await asked(live, 1)).shown == "git push"
