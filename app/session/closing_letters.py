"""P's letter and handoff at the close: asked for one after the other, reviewed by the operator, filed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.session.closing import REQUESTS, DoneAtClose, closing_request, with_answer
from app.session.record import SessionLog
from store.bodies import ConditionRecord, LetterDrafted, Notice, TaskRecord
from store.letters import Which, file_letter

if TYPE_CHECKING:
    from app.session.presence import Presence


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A letter as the operator lets it be filed, and their answer to it (empty when there is none)."""

    text: str
    answer: str = ""


class ClosingLetters:
    """The letters of one session's close. With ``review`` each draft waits for ``file_draft``."""

    def __init__(
        self, record: SessionLog, condition: ConditionRecord, task: TaskRecord | None, *, review: bool
    ) -> None:
        self._record = record
        self._condition = condition
        self._task = task
        self._review = review
        self._drafts: dict[str, asyncio.Future[Reviewed]] = {}

    async def write(self, presence: Presence, done: DoneAtClose) -> None:
        """Ask P for what is not written yet, and file what is not filed. One that can not be had is told and keeps
        nothing from closing."""
        for which, request in REQUESTS.items():
            if which not in done.letters:
                await self._one(presence, which, request, done.drafts.get(which, ""))

    def file_draft(self, which: str, text: str, answer: str) -> bool:
        """File a draft as it reads now, with the operator's answer below it. False when none waits."""
        waiting = self._drafts.pop(which, None)
        if waiting is None or waiting.done():
            return False
        waiting.set_result(Reviewed(text, answer))
        return True

    async def _one(self, presence: Presence, which: Which, request: str, written: str) -> None:
        """``written`` is what an earlier close had of P already: it is never asked to write the same letter twice."""
        operator = self._record.room.settings.operator
        try:
            draft = (
                written or (await presence.write(closing_request(request, operator, self._task), which)).text.strip()
            )
        except Exception as error:  # noqa: BLE001 — whatever keeps P from writing, the session must close
            self._record.append("system", Notice("error", f"P's {which} could not be written: {error}"))
            return
        if not draft:
            self._record.append("system", Notice("warning", f"P wrote no {which}."))
            return
        reviewed = await self._reviewed(which, draft)
        file_letter(
            self._record.room,
            self._record.log,
            which,
            with_answer(reviewed.text, operator, reviewed.answer),
            tiers_seen=self._condition.hot_each_turn or self._condition.whisper,
            edited=reviewed.text != draft,
            turn=self._record.turn,
        )

    async def _reviewed(self, which: Which, draft: str) -> Reviewed:
        self._record.append("presence", LetterDrafted(which, draft))
        if not self._review:
            return Reviewed(draft)
        waiting: asyncio.Future[Reviewed] = asyncio.get_running_loop().create_future()
        self._drafts[which] = waiting
        reviewed = await waiting
        return reviewed if reviewed.text.strip() else Reviewed(draft, reviewed.answer)
