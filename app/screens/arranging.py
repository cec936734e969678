"""The panes of the live screen as the operator wants them: resized, hidden, one alone; remembered for the room."""

from __future__ import annotations

from typing import Any

from textual.css.scalar import Scalar, Unit
from textual.screen import Screen
from textual.widget import Widget

from app.screens.tabs import PaneName
from store.layout import Layout, SidePane
from widgets.snug import SnugPane

LEAST, MOST = 20, 80
"""Bounds of a share in percent: a pane that would vanish is hidden by its own key instead."""


class Arranging:
    """Holds the layout of ``screen`` and puts it into effect. Where panes are tabs, each has all the room anyway."""

    def __init__(self, screen: Screen[Any], layout: Layout) -> None:
        self._screen = screen
        self.layout = layout
        self.zoomed: PaneName | None = None

    def apply(self) -> None:
        """Bring the screen in line with the layout and with its width."""
        screen, layout = self._screen, self.layout
        tabs = screen.has_class("-narrow")
        for pane in ("tiers", "snug"):
            screen.set_class(pane in layout.hidden and not tabs, f"-no-{pane}")
        for name in ("chat", "tiers", "snug"):
            screen.set_class(self.zoomed == name and not tabs, f"-zoom-{name}")
        alone = tabs or self.zoomed in ("tiers", "snug")
        side, snug = screen.query_one("#live-side"), screen.query_one(SnugPane)
        _share(side, "width", 0 if alone else layout.side)
        both_seen = "tiers" not in layout.hidden and not alone
        _share(snug, "height", layout.snug if both_seen and layout.snug != Layout().snug else 0)

    def widen(self, step: int) -> None:
        """Give the side more of the width, or less."""
        now = self.layout.side
        if not now:
            side = self._screen.query_one("#live-side")
            now = round(100 * side.outer_size.width / max(1, self._screen.size.width) / 5) * 5
        self._change(side=max(LEAST, min(MOST, now + step)))

    def raise_snug(self, step: int) -> None:
        """Give the snug more of the side's height, or less."""
        self._change(snug=max(10, min(MOST, self.layout.snug + step)))

    def hide(self, pane: SidePane) -> None:
        """Hide a pane of the side, or show it again."""
        self._change(hidden=self.layout.hidden ^ {pane})

    def show(self, pane: PaneName) -> None:
        """A pane that is gone to must be in sight."""
        if self.zoomed is not None:
            self.zoomed = pane
        if pane in self.layout.hidden:
            self._change(hidden=self.layout.hidden - {pane})
        self.apply()

    def zoom(self, pane: PaneName) -> None:
        """Give a pane all the room, or put the others back."""
        self.zoomed = None if self.zoomed is not None else pane
        self.apply()

    def reset(self) -> None:
        """The panes as they usually are."""
        self.zoomed = None
        self.layout = Layout(theme=self.layout.theme)
        self.apply()

    def _change(self, **changed: object) -> None:
        self.layout = self.layout.model_copy(update=changed)
        self.apply()


def _share(widget: Widget, side: str, percent: int) -> None:
    """Set a share in percent; 0 leaves it to the stylesheet."""
    value = Scalar(float(percent), Unit.PERCENT, Unit.PERCENT) if percent else None
    setattr(widget.styles, side, value)
