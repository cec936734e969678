"""The close: letters written blind and reviewed by the operator, and a close that a crash ended done only once."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from app.scripted.request import Request
from app.scripted.script import Reply, ToolCall
from app.session.session import Session
from store.bodies import (
    BriefProposed,
    KeeperPassed,
    LetterDrafted,
    LetterFiled,
    SessionClosed,
    TiersChanged,
    WorkspaceDiffed,
)
from store.letters import letters
from store.log import LogWriteError
from tests.keeper.room_check import wrong_with
from tests.session.session_plays import PATIENCE_S, Stage, Stages, bodies, keeping, said, until

FOUND = {"kind": "finding", "text": "TIER-WORDS", "reason": "so", "quote": "one is said", "turn": 1}
KEEPS = keeping(Reply(tools=(ToolCall("add_line", FOUND), ToolCall("rewrite_hot", {"lines": ["HOT-WORDS"]}))))


def presence(request: Request) -> Reply:
    for which in ("letter", "handoff"):
        if f"Write your {which}" in request.operator_text:
            return Reply(f"# The {which}\n\nAs P wrote it.")
    return Reply("Well.")


async def reviewing(s: Stage, session: Session) -> Session:
    """The same session as the screen opens it: each draft waits for the operator."""
    await session.leave()
    from app.session.opening import resume_session

    again = Session(resume_session(s.room, session.log), s.endpoint, approve="all", review_letters=True)
    s.live.append(again)
    await again.connect()
    return again


REVIEWS = {
    "as it is": ("# The {which}\n\nAs P wrote it.", "", False),
    "edited": ("# The {which}\n\nAs Ada mended it.", "", True),
    "answered": ("# The {which}\n\nAs P wrote it.", "Thank you.\nGood night.", False),
    "emptied": ("  \n", "", False),
}


@pytest.mark.parametrize("review", REVIEWS)
async def test_the_operator_files_a_draft_as_it_is_edited_or_answered(stage: Stages, review: str) -> None:
    text, answer, edited = REVIEWS[review]
    s = await stage(presence, KEEPS)
    live = await s.open("B")
    await said(live, "one is said")
    live = await reviewing(s, live)
    closing = asyncio.create_task(live.close())
    for which in ("letter", "handoff"):
        await until(lambda which=which: [b for b in bodies(live, LetterDrafted) if b.which == which], which)
        assert bodies(live, LetterFiled, which=which) == [], "nothing is filed before the operator says so"
        assert live.file_draft(which, text.format(which=which), answer)
        assert not live.file_draft(which, "again"), "a draft is filed once"
    async with asyncio.timeout(PATIENCE_S):
        await closing
    for body in bodies(live, LetterFiled):
        assert body.edited_by_operator == edited
        expected = "As Ada mended it." if edited else "As P wrote it."
        assert f"# The {body.which}" in body.text and expected in body.text
        assert ("Ada answers:\n\n> Thank you.\n> Good night." in body.text) == bool(answer)
    assert [letter.which for letter in letters(s.room)] == ["letter", "handoff"]


async def test_no_request_for_a_letter_holds_tier_text_where_p_is_not_shown_it(stage: Stages) -> None:
    s = await stage(presence, KEEPS)
    live = await s.open("B")
    await said(live, "one is said", "two")
    await live.close()
    assert len([request for request in s.asked() if "Write your" in request.operator_text]) == 2
    assert all(word not in request.raw.decode() for request in s.asked() for word in ("TIER-WORDS", "HOT-WORDS"))
    assert [body.tiers_seen for body in bodies(live, LetterFiled)] == [False, False]


async def test_a_draft_that_nobody_filed_is_taken_up_by_the_next_close_as_it_was_and_not_written_again(
    stage: Stages,
) -> None:
    s = await stage(presence, KEEPS)
    live = await s.open("B")
    await said(live, "one is said")
    live = await reviewing(s, live)
    closing = asyncio.create_task(live.close())
    await until(lambda: bodies(live, LetterDrafted), "the draft")
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    again = await reviewing(s, live)
    closing = asyncio.create_task(again.close())
    await until(lambda: len(bodies(again, LetterDrafted)) == 2, "the same draft, to be reviewed")
    assert len({body.text for body in bodies(again, LetterDrafted)}) == 1
    assert again.file_draft("letter", bodies(again, LetterDrafted)[-1].text)
    await until(lambda: again.file_draft("handoff", "Handed over."), "the handoff")
    async with asyncio.timeout(PATIENCE_S):
        await closing
    assert [body.which for body in bodies(again, LetterFiled)] == ["letter", "handoff"]
    assert len([request for request in s.asked() if "Write your letter" in request.operator_text]) == 1


ONCE = (LetterFiled, WorkspaceDiffed, BriefProposed, SessionClosed)


def step(body: object) -> str:
    return f"{type(body).__name__} {getattr(body, 'which', '')}".strip()


def filed(live: Session) -> Counter[str]:
    found = Counter(step(body) for kind in ONCE for body in bodies(live, kind))
    found["closing pass"] = len(bodies(live, KeeperPassed, purpose="closing"))
    found["expire"] = len([body for body in bodies(live, TiersChanged) if body.op == "expire"])
    return found


WHOLE = {
    "LetterFiled letter": 1,
    "LetterFiled handoff": 1,
    "WorkspaceDiffed": 1,
    "BriefProposed": 1,
    "SessionClosed": 1,
    "closing pass": 1,
    "expire": 1,
}


STEPS = ["LetterDrafted letter", "LetterFiled letter", "LetterDrafted handoff", "LetterFiled handoff"]
STEPS += ["KeeperPassed", "BriefProposed", "TiersChanged", "WorkspaceDiffed"]


@pytest.mark.parametrize("last", STEPS)
async def test_a_close_that_ended_behind_any_of_its_steps_is_finished_without_doing_it_twice(
    stage: Stages, last: str
) -> None:
    """The program ends right after one step is in the log; the session is taken up again and closed."""
    s = await stage(presence, KEEPS)
    live = await s.open("B")
    await said(live, "one is said")
    dead = False

    def ends(event: object) -> None:
        nonlocal dead
        dead = dead or step(event.body) == last  # type: ignore[attr-defined]

    stop = live.room.subscribe(ends)
    append = live.room.append

    def appended(*what: object, **more: object) -> object:
        if dead:
            raise LogWriteError("the program is gone")
        return append(*what, **more)  # type: ignore[arg-type]

    live.room.append = appended  # type: ignore[method-assign,assignment]
    with pytest.raises((LogWriteError, ExceptionGroup, RuntimeError)):
        async with asyncio.timeout(PATIENCE_S):
            await live.close()
    live.room.append = append  # type: ignore[method-assign]
    stop()
    assert not bodies(live, SessionClosed)
    await live.leave()
    again = await s.resume(live.log)
    async with asyncio.timeout(PATIENCE_S):
        await again.close()
    assert filed(again) == WHOLE
    assert wrong_with(s.room) == []


async def test_a_close_after_more_turns_is_a_whole_one_again(stage: Stages) -> None:
    s = await stage(presence, KEEPS)
    live = await s.open("B")
    await said(live, "one is said")
    live.record.append("system", WorkspaceDiffed("files", ""))
    live.record.append("keeper", KeeperPassed((), "closing", 0, 0))
    await said(live, "but wait")
    await live.close()
    assert (filed(live)["closing pass"], filed(live)["WorkspaceDiffed"]) == (2, 2)


async def test_a_hot_line_that_the_closing_pass_adds_to_warm_moves_there_and_does_not_expire(stage: Stages) -> None:
    def keeper(request: Request) -> Reply:
        if request.round:
            return Reply("Done.")
        if "The session closes" in request.operator_text:
            return Reply(tools=(ToolCall("add_line", {**FOUND, "text": "one is open, the other is not"}),))
        return Reply(tools=(ToolCall("rewrite_hot", {"lines": ["One is open, the other is not", "HOT-WORDS"]}),))

    s = await stage(presence, keeper)
    live = await s.open("B")
    await said(live, "one is said")
    await live.close()
    (line,) = s.room.tiers
    assert (line.id, line.tier, line.kind, line.quote) == ("L1", "warm", "finding", "one is said")
    expired = [change.after.id for b in bodies(live, TiersChanged) if b.op == "expire" for change in b.changes]
    assert expired == ["L2"]
    assert wrong_with(s.room) == []
