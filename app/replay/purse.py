"""What a replay may spend, shared by all that run at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.plain import PlainError

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized


class BudgetSpent(PlainError):
    """The budget of the replay is used up; what was done stands, and a larger budget takes it up again."""


class Stopped(PlainError):
    """Somebody stopped the replay; what was done stands, and the same command goes on from there."""


class Purse:
    """Counts dollars and tokens against a limit of each; None for no limit. Give it counters that processes share to
    let them spend from one purse, and a flag that stops them all."""

    def __init__(
        self,
        max_usd: float | None,
        max_tokens: int | None,
        spent_usd: Synchronized[float] | None = None,
        spent_tokens: Synchronized[int] | None = None,
        stop: Synchronized[int] | None = None,
    ) -> None:
        self.max_usd = max_usd
        self.max_tokens = max_tokens
        self._shared_usd = spent_usd
        self._shared_tokens = spent_tokens
        self._stop = stop
        self._usd = 0.0
        self._tokens = 0

    def spend(self, usd: float, tokens: int) -> None:
        """Takes what one answer cost."""
        self._usd += usd
        self._tokens += tokens
        if self._shared_usd is not None and self._shared_tokens is not None:
            with self._shared_usd.get_lock(), self._shared_tokens.get_lock():
                self._shared_usd.value += usd
                self._shared_tokens.value += tokens

    def go_on(self) -> None:
        """Raises Stopped when somebody stopped the replay."""
        if self._stop is not None and self._stop.value:
            raise Stopped("The replay was stopped; the same command goes on from there.")

    def check(self) -> None:
        """Raises BudgetSpent when a limit is reached, Stopped when somebody stopped the replay."""
        self.go_on()
        usd = self._usd if self._shared_usd is None else self._shared_usd.value
        tokens = self._tokens if self._shared_tokens is None else self._shared_tokens.value
        if self.max_usd is not None and usd >= self.max_usd:
            raise BudgetSpent(f"The budget of ${self.max_usd:g} is spent; raise --max-usd to go on from here.")
        if self.max_tokens is not None and tokens >= self.max_tokens:
            raise BudgetSpent(
                f"The budget of {self.max_tokens:,} tokens is spent; raise --max-tokens to go on from here."
            )
