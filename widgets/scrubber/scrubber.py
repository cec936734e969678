"""One bar over all steps of a session: a mark where each changed the tiers, a handle where the reader stands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from textual.content import Content
from textual.events import Click, MouseMove
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from widgets.figures import fitted, piece

_HEIGHTS = " ▁▂▃▄▅▆▇█"


class Scrubber(Widget):
    """Shows ``step`` of ``weights`` (how much each step changed). A click or a drag posts ``Moved``; the keys are the
    screen's."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    step: reactive[int] = reactive(0)
    weights: reactive[tuple[int, ...]] = reactive[tuple[int, ...]](())
    name_of_step: reactive[str] = reactive("")
    pace: reactive[str] = reactive("")

    class Moved(Message):
        """The operator took the handle to a step."""

        def __init__(self, step: int) -> None:
            self.step = step
            super().__init__()

    def render(self) -> Content:
        width = self.content_size.width
        return Content("\n").join([self._bar(width), self._words(width)])

    def _bar(self, width: int) -> Content:
        cells = heights(self.weights, width)
        handle = self._cell_of(self.step, width)
        return Content.assemble(
            (cells[:handle], "$primary"), ("┃", "bold $text-accent"), (cells[handle + 1 :], "$foreground 50%")
        )

    def _words(self, width: int) -> Content:
        last = max(0, len(self.weights) - 1)
        left = [piece(100, (self.name_of_step, "bold")), piece(60, (f"step {self.step} of {last}", "$text-muted"))]
        return fitted(left, [piece(80, (self.pace, "$text-muted"))], width)

    def _cell_of(self, step: int, width: int) -> int:
        last = max(1, len(self.weights) - 1)
        return min(max(0, width - 1), round(step / last * (width - 1))) if width > 0 else 0

    def on_click(self, event: Click) -> None:
        self._take(event)

    def on_mouse_move(self, event: MouseMove) -> None:
        if event.button:
            self._take(event)

    def _take(self, event: Click | MouseMove) -> None:
        place = event.get_content_offset(self)
        width = self.content_size.width
        if place is None or width < 2 or not self.weights:
            return
        event.stop()
        self.post_message(self.Moved(round(place.x / (width - 1) * (len(self.weights) - 1))))


def heights(weights: Sequence[int], width: int) -> str:
    """One character for each cell: as high as the most that a step under it changed."""
    if not weights or width <= 0:
        return "─" * max(0, width)
    most = max(weights) or 1
    cells = []
    for cell in range(width):
        first = cell * len(weights) // width
        last = max(first + 1, (cell + 1) * len(weights) // width)
        height = max(weights[first:last])
        cells.append("─" if not height else _HEIGHTS[1 + round(7 * height / most)])
    return "".join(cells)
