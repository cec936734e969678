"""A screen of panes that the operator arranges: the keys that show, resize, hide and zoom them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from textual import on
from textual.screen import Screen, ScreenResultType
from textual.widget import Widget

from app.screens.arranging import Arranging
from app.screens.panes import Panes
from app.screens.tabs import PaneName, PaneTabs
from store.layout import SidePane
from widgets.tiers.lines import LineList

if TYPE_CHECKING:
    from app.tui import TwinsApp


class ArrangedScreen(Screen[ScreenResultType]):
    """Has ``panes`` once it is composed. The layout is the program's, which keeps it for the room."""

    panes: Panes

    @property
    def _app(self) -> TwinsApp:
        from app.tui import TwinsApp

        assert isinstance(self.app, TwinsApp)
        return self.app

    @cached_property
    def _arranging(self) -> Arranging:
        return Arranging(self, self._app.layout)

    def _arranged(self) -> None:
        self._app.keep_layout(self._arranging.layout)

    def on_resize(self) -> None:
        # Behind the classes of the breakpoints.
        self.call_after_refresh(self._arranging.apply)

    def action_pane(self, name: PaneName) -> None:
        """Show a pane (where only one fits) and give it the keys."""
        self._arranging.show(name)
        self._arranged()
        for other in ("chat", "tiers", "snug"):
            self.set_class(other == name, f"-pane-{other}")
        tabs = self.query_one(PaneTabs)
        tabs.shown = name
        if name == "tiers":
            tabs.news = 0
        targets = {"chat": self.panes.chat.view, "tiers": self.query_one(LineList), "snug": self.panes.snug}
        self.call_after_refresh(targets[name].focus)

    @on(PaneTabs.Chosen)
    def _tab_chosen(self, event: PaneTabs.Chosen) -> None:
        self.action_pane(event.pane)

    def action_widen(self, step: int) -> None:
        """Give the side more of the width, or less."""
        self._arranging.widen(step)
        self._arranged()

    def action_raise_snug(self, step: int) -> None:
        """Give the snug more of the side's height, or less."""
        self._arranging.raise_snug(step)
        self._arranged()

    def action_hide(self, pane: SidePane) -> None:
        """Hide a pane of the side, or show it again. Keys that it had go to the composer."""
        had = self.focused is not None and self._pane_of(self.focused) == pane
        self._arranging.hide(pane)
        self._arranged()
        if had:
            self.panes.composer.focus_area()

    def action_reset_panes(self) -> None:
        """The panes as they usually are."""
        self._arranging.reset()
        self._arranged()

    def action_zoom(self) -> None:
        """Give the pane with the keys all the room, or put the others back."""
        self._arranging.zoom(self._pane_of(self.focused) if self.focused is not None else "chat")

    def _pane_of(self, widget: Widget) -> PaneName:
        around = widget.ancestors_with_self
        return "tiers" if self.panes.tiers in around else "snug" if self.panes.snug in around else "chat"
