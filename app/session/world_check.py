"""The world check: dates whose weekday is not the calendar's, flagged where they stand and named to their writer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

from store.almanac import wrong_dates
from store.bodies import (
    Body,
    By,
    DateFlagged,
    JournalWritten,
    KeeperWords,
    LetterDrafted,
    LetterFiled,
    MessageEnded,
    OperatorSaid,
    TiersChanged,
)
from store.clock import from_stamp
from store.defused import MARK, defused
from store.entries import WrongDay
from store.events import Event

WRITERS = ("presence", "keeper", "operator")


@dataclass(frozen=True, slots=True)
class _Written:
    """One text that somebody wrote: who, where it stands in a word or two, which block or line of its event."""

    writer: By
    where: str
    block: int
    text: str


class WorldCheck:
    """Follows a session's events, flags wrong dates in a ``date.flagged`` event each, and keeps what P must be told.

    K is told in the results of its own calls, where it can mend a line at once.
    """

    def __init__(self, append: Callable[[Body, int], object]) -> None:
        self._append = append
        self._untold: list[str] = []

    def take(self, event: Event, live: bool = True) -> None:
        """Take one event in; flags are written for ``live`` ones only, replayed ones have theirs in the log."""
        match event.body:
            case DateFlagged(writer="presence") as flagged:
                self._untold.append(sentence(flagged))
            case OperatorSaid():
                self._untold.clear()
            case _ if live:
                today = from_stamp(event.at).date()
                for written in _written_in(event):
                    for wrong in wrong_dates(written.text, today):
                        flag = DateFlagged(
                            of=event.n,
                            writer=written.writer,
                            where=written.where,
                            said=wrong.said,
                            right=wrong.right,
                            start=wrong.start,
                            end=wrong.end,
                            block=written.block,
                        )
                        self._append(flag, event.turn)

    def note(self) -> str:
        """What P is told behind the operator's next message; empty when its dates were right."""
        if not self._untold:
            return ""
        listed = "\n".join(f"- {defused(told)}" for told in self._untold)
        return f"{MARK} calendar: dates of yours that are not so>\n{listed}\n</two-twins>"


def sentence(flagged: DateFlagged) -> str:
    """What is wrong with a flagged date, for its writer and for the screen."""
    return f"{flagged.where}: {WrongDay(flagged.said, flagged.right).sentence}."


def calendar_note(text: str, today: date) -> str:
    """What is wrong with the dates of a text, for whoever has just written it; empty when nothing is."""
    return " ".join(wrong.sentence for wrong in wrong_dates(text, today))


def _written_in(event: Event) -> Iterator[_Written]:
    body = event.body
    match body:
        case MessageEnded(seat="presence", purpose="turn"):
            for place, block in enumerate(body.content if isinstance(body.content, list) else []):
                if isinstance(block, dict) and block.get("type") == "text":
                    yield _Written("presence", "your answer", place, str(block.get("text", "")))
        case LetterDrafted() | LetterFiled():
            yield _Written("presence", f"the {body.which}", 0, body.text)
        case KeeperWords():
            yield _Written("keeper", "the Keeper's words", 0, body.text)
        case JournalWritten() if event.by in WRITERS:
            yield _Written(event.by, body.journal, 0, body.text)
        case TiersChanged() if event.by in WRITERS:
            for place, change in enumerate(body.changes):
                if change.before is None or change.before.text != change.after.text:
                    yield _Written(event.by, f"line {change.after.id}", place, change.after.text)
        case _:
            pass
