"""Builds the events of one session turn by turn, for every importer alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from app.replay.importers.records import Source, Taken
from store.bodies import (
    Body,
    By,
    Json,
    MessageEnded,
    OperatorSaid,
    ToolCalled,
    ToolEnded,
    ToolOutcome,
    TurnEnded,
    Usage,
)


class Turns:
    """Counts the turns and requests of one session and gives its events in the order of a live one.

    Words of P before the operator's first belong to turn 1. A turn that an import closed because its file ended
    gets its end once only.
    """

    def __init__(self, source: Source, at: datetime) -> None:
        self.source = source
        self.turn = 0
        self.at = at
        self._requests = 0
        self._open = False

    def operator(self, at: datetime, text: str, records: Iterable[str]) -> Iterator[Taken]:
        """The operator speaks: the turn before is over and the next one begins."""
        yield from self.end()
        self.turn += 1
        yield self._taken(at, "operator", OperatorSaid(text), records)

    def pass_over(self, at: datetime) -> None:
        """The operator speaks in a record that was taken before: the turn counts, nothing is given."""
        self._open = False
        self.turn += 1
        self.at = at

    def message(
        self,
        at: datetime,
        content: list[Json],
        records: Iterable[str] = (),
        *,
        message_id: str = "",
        model: str = "",
        stop_reason: str = "",
        usage: Usage = Usage(),  # noqa: B008 - frozen
    ) -> Iterator[Taken]:
        """An answer of P with the tools that it calls."""
        self._requests += 1
        body = MessageEnded("presence", self._requests, message_id, model, content, stop_reason, usage, None, None, 0.0)
        yield self._taken(at, "presence", body, records)
        for block in content:
            if isinstance(block, dict) and block.get("type") == "tool_use":
                called = ToolCalled(str(block.get("id") or ""), str(block.get("name") or "?"), block.get("input"))
                yield self._taken(at, "presence", called, ())

    def result(
        self, at: datetime, call: str, name: str, outcome: ToolOutcome, content: Json, size: int, records: Iterable[str]
    ) -> Taken:
        """What a tool gave back; ``size`` in bytes. How long it ran is not known (0)."""
        return self._taken(at, "presence", ToolEnded(call, name, outcome, content, 0.0, size), records)

    def note(self, at: datetime, by: By, body: Body, records: Iterable[str]) -> Taken:
        """Any other event of the turn."""
        return self._taken(at, by, body, records)

    def stopped(self, at: datetime, records: Iterable[str]) -> Taken:
        """The operator interrupted P: that ends the turn."""
        taken = self._taken(at, "system", TurnEnded("stopped", "The operator interrupted."), records)
        self._open = False
        return taken

    def end(self) -> Iterator[Taken]:
        """The turn is over, if one is open."""
        if self._open and self.turn:
            yield self._taken(self.at, "system", TurnEnded("done"), ())
        self._open = False

    def _taken(self, at: datetime, by: By, body: Body, records: Iterable[str]) -> Taken:
        self._open = True
        self.at = at
        return Taken(self.source, at, by, max(self.turn, 1), body, tuple(records))
