"""Names offered above the composer's words, one of them chosen."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import Static

from store.lines import one_line
from store.text import clean

MOST_SHOWN = 8


class Offers(Static):
    """Shows a window of the names around the chosen one; hidden while there is none."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self._names: tuple[str, ...] = ()
        self._at = 0

    @property
    def chosen(self) -> str | None:
        """The chosen name."""
        return self._names[self._at] if self._names else None

    def show(self, names: Sequence[str]) -> None:
        """Offer ``names``, the first of them chosen; none hides the offer."""
        self._names, self._at = tuple(names), 0
        self._draw()

    def step(self, step: int) -> None:
        """Choose the next or the one before, around the ends."""
        if self._names:
            self._at = (self._at + step) % len(self._names)
            self._draw()

    def _draw(self) -> None:
        self.display = bool(self._names)
        first = max(0, min(self._at - MOST_SHOWN // 2, len(self._names) - MOST_SHOWN))
        rows = []
        for place, name in enumerate(self._names[first : first + MOST_SHOWN], start=first):
            current = place == self._at
            rows.append(Content.styled(f"{'›' if current else ' '} {one_line(clean(name))}", "bold" if current else ""))
        more = len(self._names) - first - MOST_SHOWN
        if more > 0:
            rows.append(Content.styled(f"  {more} more", "$text-muted"))
        self.update(Content("\n").join(rows))
