"""Every action in the command palette: the screen's, those on the line under the cursor, those of the chat."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.dom import DOMNode
from textual.types import IgnoreReturnCallbackType

from app.screens.actions import APP, Action, chat_actions, every_action, key_words, line_actions, panel_actions
from widgets.chat.view import ChatView
from widgets.tiers import TierPanel
from widgets.tiers.lines import LineList, LineRow

Command = tuple[str, str, IgnoreReturnCallbackType]
"""Title, what it does, what to call."""


class LiveActions(Provider):
    """The live screen's actions. Those of a widget are called on it, wherever the focus is."""

    def _commands(self) -> Iterator[Command]:
        for action in every_action():
            if action.id not in ("palette", "leave"):
                node = self.app if action in APP else self.screen
                yield self._command(action, action.title, node)
        lines = self.screen.query_one(LineList)
        if isinstance(row := lines.current, LineRow):
            for action in line_actions():
                yield self._command(action, f"{action.title} {row.line.id}", lines)
        for action in panel_actions():
            yield self._command(action, f"{action.title} (tiers)", self.screen.query_one(TierPanel))
        view = self.screen.query_one(ChatView)
        for action in chat_actions():
            yield self._command(action, f"{action.title} (chat)", view)

    def _command(self, action: Action, title: str, node: DOMNode) -> Command:
        what = f"{action.what or action.title} · {key_words(action.keys)}"
        return title, what, partial(self.app.run_action, action.call, node)

    async def discover(self) -> Hits:
        for title, what, call in self._commands():
            yield DiscoveryHit(Content(title), call, text=title, help=what)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, what, call in self._commands():
            # The sentence is searched too: who looks for "bundle" means Export.
            score = max(matcher.match(title), matcher.match(what) * 0.9)
            if score > 0:
                yield Hit(score, matcher.highlight(title), call, text=title, help=what)
