"""Puts the tools' questions to the operator, one after the other, and gives the session the answers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from app.session.policy import command_of, has_prefix, suggested_prefix
from app.session.session import Session
from store.bodies import Json, ToolAnswered, ToolAsked, ToolCalled, ToolEnded
from store.entries import edits_files
from store.events import Event
from widgets.dialogs import Approval, ApprovalDialog


class Asking:
    """Questions in the order in which they came; one dialog at a time.

    ``show`` puts a dialog up and calls back with its answer; it is only asked to when ``free`` says that nothing
    else is in front.
    """

    def __init__(
        self,
        session: Session,
        show: Callable[[ApprovalDialog, Callable[[Approval | None], None]], None],
        free: Callable[[], bool],
    ) -> None:
        self._session = session
        self._show = show
        self._free = free
        self._inputs: dict[str, Json] = {}
        self._waiting: deque[ToolAsked] = deque()
        self._up: tuple[str, ApprovalDialog] | None = None

    def apply(self, event: Event) -> None:
        """Take one event in: a call, a question, or what makes a question moot."""
        body = event.body
        match body:
            case ToolCalled():
                self._inputs[body.tool_use_id] = body.input
            case ToolAsked():
                self._waiting.append(body)
                self.next()
            case ToolAnswered() | ToolEnded():
                self._inputs.pop(body.tool_use_id, None)
                self._withdraw(body.tool_use_id)
            case _:
                pass

    def next(self) -> None:
        """Put the next question up, if the screen is free for it."""
        if self._up is not None or not self._waiting or not self._free():
            return
        asked = self._waiting.popleft()
        called_with = self._inputs.get(asked.tool_use_id)
        command = command_of(asked.name, called_with)
        server, _, tool = asked.name.partition("__")
        dialog = ApprovalDialog(
            asked.name,
            asked.shown,
            prefix=suggested_prefix(command),
            covers=lambda prefix: has_prefix(command, prefix),
            no_prefix="It is more than one plain command, so no prefix of it can be allowed." if command else "",
            where=f"tool {tool} of the MCP server {server}" if tool else f"in {self._session.workspace}",
            diff=edits_files(asked.name, called_with),
        )
        self._up = (asked.tool_use_id, dialog)
        self._show(dialog, lambda answer: self._answered(asked.tool_use_id, answer))

    def _answered(self, tool_use_id: str, answer: Approval | None) -> None:
        self._up = None
        if answer is not None:
            self._session.answer(
                tool_use_id,
                allow=answer.decision == "allow",
                scope=answer.scope,
                prefix=answer.prefix,
                word=answer.word,
            )
        self.next()

    def _withdraw(self, tool_use_id: str) -> None:
        """The call is decided or over: whoever stopped it, its question goes."""
        self._waiting = deque(asked for asked in self._waiting if asked.tool_use_id != tool_use_id)
        if self._up is not None and self._up[0] == tool_use_id and self._up[1].app.screen is self._up[1]:
            self._up[1].dismiss(None)
