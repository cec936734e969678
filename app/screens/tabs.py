"""The row of tabs that a narrow screen has in place of panes beside each other."""

from __future__ import annotations

from typing import Literal, get_args

from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

PaneName = Literal["chat", "tiers", "snug"]
PANES: tuple[PaneName, ...] = get_args(PaneName)


class PaneTabs(Widget):
    """One row; the shown pane's tab is bold and bracketed, so that it is not told by colour alone."""

    DEFAULT_CSS = "PaneTabs { height: 1; padding: 0 1; background: $panel; color: $foreground; }"

    shown: reactive[PaneName] = reactive[PaneName]("chat")
    news: reactive[int] = reactive(0)
    """Changes of the tiers since they were last in sight."""

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, pane: PaneName) -> None:
            self.pane = pane
            super().__init__()

    def _labels(self) -> list[str]:
        news = f" +{self.news}" if self.news else ""
        words = {"chat": "chat F2", "tiers": f"tiers{news} F3", "snug": "snug F4"}
        return [f"[{words[pane]}]" if pane == self.shown else f" {words[pane]} " for pane in PANES]

    def render(self) -> Content:
        parts = [
            (label, "bold $text-accent" if pane == self.shown else "$text-muted")
            for pane, label in zip(PANES, self._labels(), strict=True)
        ]
        return Content(" ").join(Content.styled(*part) for part in parts)

    def on_click(self, event: Click) -> None:
        place = event.get_content_offset(self)
        at = 0
        for pane, label in zip(PANES, self._labels(), strict=True):
            if place is not None and at <= place.x < at + len(label):
                self.post_message(self.Chosen(pane))
            at += len(label) + 1
