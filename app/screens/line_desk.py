"""What the operator does to a line: asks for what is missing, hands the operation to the session, says what came."""

from __future__ import annotations

import asyncio

from textual.app import App

from app.screens.changes import Changes
from app.screens.cold import ColdSearch
from app.screens.places import Place
from app.session.session import Session
from store.gate import Accepted
from store.line_history import line_history
from store.lines import Line, LineId
from store.operations import EditLine, Operation, Promote, Restore, Retire, TouchLine, Undo
from store.undo import last_change, standing_changes
from widgets.dialogs import AskText, Jump, LineHistory
from widgets.tiers import LineActionName


class LineDesk:
    """Carries out what the operator asks of a line. To be awaited in a worker: it may wait for an answer."""

    def __init__(self, app: App[None], session: Session) -> None:
        self._app = app
        self._session = session

    async def act(self, action: LineActionName, line_id: LineId) -> Jump | None:
        """Do one thing to one line; the place to go to when the operator asked for its turn."""
        line = self._session.room.tiers.lines.get(line_id)
        if line is None:
            self._say(f"{line_id} stands in neither hot nor warm any more.", "warning")
            return None
        match action:
            case "promote":
                self._operate(Promote(line_id))
            case "touch":
                self._operate(TouchLine(id=line_id, reason="touched by the operator"))
            case "retire":
                await self._retire(line)
            case "edit":
                await self._edit(line)
            case "undo":
                await self.undo(line_id)
            case "history":
                return await self._history(line)
        return None

    async def undo(self, line_id: LineId | None = None) -> None:
        """Take back the operator's last change, of one line or of any."""
        room = self._session.room
        event = await asyncio.to_thread(lambda: last_change(room.all_events(), line_id))
        if event is None:
            whose = f"of {line_id} " if line_id else ""
            self._say(f"There is no change {whose}by your own hand to take back.", "warning")
        else:
            self._operate(Undo(event))

    async def choose_undo(self) -> None:
        """Let the operator choose which of their changes is taken back."""
        room = self._session.room
        standing = await asyncio.to_thread(lambda: standing_changes(room.all_events()))
        chosen = await self._app.push_screen_wait(Changes(standing))
        if chosen is not None:
            self._operate(Undo(chosen))

    async def search_cold(self) -> Place | None:
        """Search in cold; the place to go to, when the operator chose one. A line they chose is restored."""
        found = await self._app.push_screen_wait(ColdSearch(self._session.room))
        if isinstance(found, Line):
            self._operate(Restore(found))
            return None
        return found

    async def _retire(self, line: Line) -> None:
        words = f"{line.text}\n\nIt moves to cold with your reason. Why?"
        reason = await self._app.push_screen_wait(AskText(f"Retire {line.id}", words))
        if reason is not None:
            self._operate(Retire(line.id, reason))

    async def _edit(self, line: Line) -> None:
        text = await self._app.push_screen_wait(AskText(f"Edit {line.id}", "The line's words:", initial=line.text))
        if text is not None and text != line.text:
            self._operate(EditLine(id=line.id, text=text, reason="edited by the operator"))

    async def _history(self, line: Line) -> Jump | None:
        room = self._session.room
        steps = await asyncio.to_thread(lambda: line_history(room.all_events(), line.id))
        return await self._app.push_screen_wait(LineHistory(line, steps))

    def _operate(self, operation: Operation) -> None:
        judged = self._session.operate(operation)
        if isinstance(judged, Accepted):
            if judged.note:
                self._say(judged.note)
        else:
            self._say(judged.reason, "warning")

    def _say(self, words: str, severity: str = "information") -> None:
        self._app.notify(words, severity="warning" if severity == "warning" else "information", markup=False)
