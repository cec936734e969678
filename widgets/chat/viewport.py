"""Which rows are in sight: entries laid out lazily around an anchor that no change elsewhere moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.cache import LRUCache

from store.entries import Entry
from store.transcript import Touched, Transcript
from widgets.chat.heights import Heights
from widgets.chat.layout import Laid, Setting, WholeOf, estimate, lay_out
from widgets.chat.rows import Row

KEPT = 400
"""Entries that stay laid out: some ten screens; the others are laid out again when they come into sight."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One row in sight and where it stands: entry and row within the entry."""

    index: int
    at: int
    row: Row


class Viewport:
    """A window of ``height`` rows over a transcript at ``width`` cells; knows nothing of Textual.

    Heights of entries that were never in sight are estimates. The window hangs on an anchor, the entry and row at
    its top, or on the end; so when an estimate gives way to the true height, or an entry above grows, what the
    reader sees stays where it is, and only the scroll bar's numbers change.
    """

    def __init__(self, transcript: Transcript, whole: WholeOf | None = None) -> None:
        self.transcript = transcript
        self.whole = whole
        self.width = 0
        self.height = 0
        self.following = True
        self.window: list[Seen] = []
        self._heights = Heights()
        self._laid: LRUCache[tuple[int, int], Laid] = LRUCache(KEPT)
        self._opened: dict[tuple[int, int], bool] = {}
        self._anchor = (0, 0)

    # ------------------------------------------------------------ changes

    def resize(self, width: int, height: int) -> None:
        """Take a new size. The row at the top stays about where it was within its entry."""
        if width == self.width:
            self.height = height
            return
        index, at = self._anchor
        share = at / self._heights[index] if index < len(self._heights) else 0.0
        self.width, self.height = width, height
        self._heights = Heights(estimate(entry, width) for entry in self.entries)
        if index < len(self.entries) and not self.following:
            self._anchor = (index, int(share * len(self.laid(index))))

    def touch(self, touched: Touched) -> None:
        """Some entries changed or came; their rows are made again when they are in sight."""
        entries = self.entries
        if len(self._heights) != len(entries):
            self._heights.cut(touched.first)
            for index in range(len(self._heights), len(entries)):
                self._heights.append(self._height_of(index))
        else:
            for index in range(touched.first, touched.stop):
                self._heights[index] = self._height_of(index)

    def _height_of(self, index: int) -> int:
        entry = self.entries[index]
        laid = self._laid.get(entry.key)
        if laid is not None and laid.entry is entry and laid.setting.width == self.width:
            return max(1, len(laid))
        return estimate(entry, self.width)

    def toggle(self, index: int) -> bool:
        """Open or close an entry; whether it is open now."""
        opened = not self.opened(index)
        self._opened[self.entries[index].key] = opened
        self.laid(index)
        return opened

    # ------------------------------------------------------------ entries

    @property
    def entries(self) -> Sequence[Entry]:
        return self.transcript.entries

    def opened(self, index: int) -> bool:
        return self._opened.get(self.entries[index].key, False)

    def laid(self, index: int) -> Laid:
        """The entry laid out for now; sets its true height."""
        entry = self.entries[index]
        setting = Setting(
            self.width,
            self._opened.get(entry.key, False),
            self.transcript.operator,
            self.entries[index - 1] if index else None,
        )
        before = self._laid.get(entry.key)
        if before is None or before.entry is not entry or not _same(before.setting, setting):
            before = lay_out(entry, setting, before, self.whole)
            self._laid[entry.key] = before
        if index < len(self._heights):
            self._heights[index] = max(1, len(before))
        return before

    def rows(self, index: int) -> int:
        """How many rows the entry takes; lays it out."""
        return max(1, len(self.laid(index)))

    # ------------------------------------------------------------ the window

    @property
    def total(self) -> int:
        """Rows of the whole transcript, as far as known."""
        return self._heights.total

    @property
    def top(self) -> int:
        """The row of the whole transcript at the window's top."""
        return self._heights.before(self._anchor[0]) + self._anchor[1]

    @property
    def anchor(self) -> tuple[int, int]:
        """The entry and its row at the window's top."""
        return self._anchor

    def settle(self) -> None:
        """Lay out what is in sight and fill ``window``."""
        count = len(self.entries)
        if not count or not self.width or not self.height:
            self.window, self._anchor = [], (0, 0)
            return
        if self.following or not self._fill_down():
            self._hang_on_end()
            self._fill_down()

    def _fill_down(self) -> bool:
        """Fill the window from the anchor on; False when the transcript ends above the window's bottom."""
        index, at = self._anchor
        index = min(index, len(self.entries) - 1)
        at = max(0, min(at, self.rows(index) - 1))
        self._anchor = (index, at)
        window: list[Seen] = []
        while len(window) < self.height and index < len(self.entries):
            laid = self.laid(index)
            take = min(len(laid), at + self.height - len(window))
            window += [Seen(index, row, laid[row]) for row in range(at, take)]
            index, at = index + 1, 0
        self.window = window
        return len(window) == self.height or self._anchor == (0, 0)

    def _hang_on_end(self) -> None:
        index = len(self.entries) - 1
        missing = self.height - self.rows(index)
        while missing > 0 and index > 0:
            index -= 1
            missing -= self.rows(index)
        self._anchor = (index, max(0, -missing))

    @property
    def at_end(self) -> bool:
        """Whether the last row is in sight. All of the window's entries are laid out, so this is exact."""
        if not self.window:
            return True
        last = self.window[-1]
        return last.index == len(self.entries) - 1 and last.at >= self.rows(last.index) - 1

    def move(self, rows: int) -> None:
        """Move the window by rows that are laid out on the way, so that it moves by just as many."""
        index, at = self._anchor
        at += rows
        while at < 0 and index > 0:
            index -= 1
            at += self.rows(index)
        while index < len(self.entries) - 1 and at >= self.rows(index):
            at -= self.rows(index)
            index += 1
        self._anchor = (index, max(0, at))
        self._after_move()

    def jump(self, row: int) -> None:
        """Put the window's top at about this row of the whole transcript."""
        self._anchor = self._heights.at(row)
        self._after_move()

    def show(self, index: int, at: int = 0, above: int = 0) -> None:
        """Put the row ``at`` of an entry into the window, ``above`` rows below its top."""
        self._anchor = (index, at)
        self.following = False
        self.move(-above)

    def follow(self) -> None:
        """Go to the end and stay there."""
        self.following = True
        self.settle()

    def _after_move(self) -> None:
        self.following = False
        self.settle()
        self.following = self.at_end

    def in_sight(self, index: int) -> bool:
        """Whether a row with words of the entry is in the window."""
        return any(seen.index == index and (seen.row.text or seen.row.lead.strip()) for seen in self.window)


def _same(one: Setting, two: Setting) -> bool:
    """Whether two settings lay an entry out alike: of the entry above, only kind, turn and speaker matter."""
    if (one.width, one.opened, one.operator) != (two.width, two.opened, two.operator):
        return False
    above, now = one.previous, two.previous
    if above is now:
        return True
    return above is not None and now is not None and above.key == now.key and type(above) is type(now)
