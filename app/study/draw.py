"""The draw: a shuffle of our own from SHA-256 in counter mode, so that a seed gives one schedule on every platform."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TypeVar

from store.study_bodies import ScheduledRun

T = TypeVar("T")

_WORD = 1 << 64
METHOD = (
    "Numbers: the first 8 bytes, big-endian, of SHA-256 over `two-twins draw 1|<seed>|<counter>`, counter from 0; a "
    "number below n is taken modulo n after those at or above the largest multiple of n are passed over. Shuffle: "
    "Fisher-Yates from the end. Rounds: tasks and conditions are shuffled once; in round r the task at place i gets "
    "the condition at place (i + r) mod the number of conditions; the tasks of each round are then shuffled again."
)
"""How the schedule is drawn, in words from which anyone can draw it again."""


class Draw:
    """Uniform numbers from a seed. Python's own generator is not used: its shuffle is no part of its promises."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._words = self._stream()

    def _stream(self) -> Iterator[int]:
        counter = 0
        while True:
            digest = hashlib.sha256(f"two-twins draw 1|{self._seed}|{counter}".encode()).digest()
            yield int.from_bytes(digest[:8], "big")
            counter += 1

    def below(self, n: int) -> int:
        """A number from 0 to ``n`` - 1, each as likely as any other."""
        if n < 1:
            raise ValueError("nothing can be drawn below 1")
        limit = _WORD - _WORD % n
        return next(word for word in self._words if word < limit) % n

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """``items`` in a new order, each order as likely as any other."""
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            other = self.below(last + 1)
            order[last], order[other] = order[other], order[last]
        return order


def schedule(seed: str, tasks: Sequence[str], conditions: Sequence[str]) -> tuple[ScheduledRun, ...]:
    """Every task with every condition, once each, balanced over time: a task comes once in every round, and with as
    many tasks as conditions a condition does too. The successor's task is the next one in the order of ``tasks``.

    Raises ValueError for fewer than two tasks or conditions, or a name twice.
    """
    if len(set(tasks)) != len(tasks) or len(set(conditions)) != len(conditions):
        raise ValueError("a task or condition is named twice")
    if len(tasks) < 2 or len(conditions) < 2:
        raise ValueError("a study needs at least two tasks and two conditions")
    draw = Draw(seed)
    rows, columns = draw.shuffled(tasks), draw.shuffled(conditions)
    follows = {task: tasks[(place + 1) % len(tasks)] for place, task in enumerate(tasks)}
    cells = [
        (task, columns[(rows.index(task) + round_) % len(columns)])
        for round_ in range(len(columns))
        for task in draw.shuffled(rows)
    ]
    return tuple(
        ScheduledRun(f"run-{number:02d}", task, follows[task], condition)
        for number, (task, condition) in enumerate(cells, 1)
    )
