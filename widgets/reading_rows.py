"""What header and meter bar share: two rows drawn from one reading, painted again only when a row differs."""

from __future__ import annotations

from abc import abstractmethod

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from store.readings import LiveReading


class ReadingRows(Widget):
    """Two rows of a ``LiveReading``. It may be set as often as is handy: most readings differ in nothing seen."""

    reading: reactive[LiveReading] = reactive(LiveReading, init=False, repaint=False)

    _painted: tuple[Content, Content] | None = None

    @staticmethod
    @abstractmethod
    def rows(reading: LiveReading, width: int) -> tuple[Content, Content]:
        """Both rows for ``reading`` at ``width`` cells."""

    def watch_reading(self) -> None:
        if self.rows(self.reading, self.content_size.width) != self._painted:
            self.refresh()

    def render(self) -> Content:
        self._painted = self.rows(self.reading, self.content_size.width)
        return Content("\n").join(self._painted)
