"""Heights of many entries with their running sum: a change, a sum and a search each in logarithmic time."""

from __future__ import annotations

from collections.abc import Iterable


class Heights:
    """A Fenwick tree over positive heights (P. Fenwick, 1994): 10,000 entries of unlike height, and the place of
    any row among them, without a walk over all."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._own: list[int] = []
        self._tree: list[int] = [0]
        for height in heights:
            self.append(height)

    def __len__(self) -> int:
        return len(self._own)

    def __getitem__(self, index: int) -> int:
        return self._own[index]

    def __setitem__(self, index: int, height: int) -> None:
        change = height - self._own[index]
        if not change:
            return
        self._own[index] = height
        at = index + 1
        while at < len(self._tree):
            self._tree[at] += change
            at += at & -at

    def append(self, height: int) -> None:
        """One more at the end."""
        self._own.append(height)
        at = len(self._own)
        total, step = height, 1
        while step < at & -at:
            total += self._tree[at - step]
            step <<= 1
        self._tree.append(total)

    def cut(self, length: int) -> None:
        """Forget all from ``length`` on."""
        del self._own[length:]
        del self._tree[length + 1 :]

    def before(self, index: int) -> int:
        """The sum of the heights before ``index``."""
        total, at = 0, index
        while at > 0:
            total += self._tree[at]
            at -= at & -at
        return total

    @property
    def total(self) -> int:
        return self.before(len(self._own))

    def at(self, row: int) -> tuple[int, int]:
        """Which entry holds ``row``, and how many of its rows are above; the last row's place beyond the end."""
        if not self._own:
            return 0, 0
        row = max(0, min(row, self.total - 1))
        index, step = 0, 1 << (len(self._own).bit_length() - 1)
        while step:
            if index + step < len(self._tree) and self._tree[index + step] <= row:
                index += step
                row -= self._tree[index]
            step >>= 1
        return index, row
