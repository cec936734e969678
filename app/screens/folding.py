"""Brings the live screen's widgets in line with the session's events, one event after another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from app.measure.live import LiveMeter
from app.screens.panes import Panes
from store.bodies import (
    ChunkGiven,
    DateFlagged,
    JournalWritten,
    KeeperPassed,
    LetterFiled,
    OperatorSaid,
    RequestSent,
    SessionClosed,
    TiersChanged,
    TurnEnded,
    WorkspaceDiffed,
)
from store.decay import Fading, packaged_rules, will_decay
from store.entries import WrongDay
from store.events import Event
from store.journals import entries, read_journal
from store.lines import LineId, one_line
from store.readings import LiveReading
from store.room import Room
from store.text import clean
from widgets.snug import SnugEntry


class Folding:
    """Takes events in and changes the widgets. ``before`` is what the log held when the screen came up. The screen
    sets ``connected`` and ``closing``, which no event tells."""

    def __init__(self, room: Room, panes: Panes, meter: LiveMeter, number: int, before: Iterable[Event]) -> None:
        self._room = room
        self._panes = panes
        self._meter = meter
        self.connected = self.closing = False
        self._progress: dict[str, str] = {}
        events = list(before)
        for event in events:
            meter.apply(event)
        history = [event.body.text for event in events if isinstance(event.body, OperatorSaid)]
        panes.composer.set_history(history)
        panes.tiers.show(room.tiers, self._fading())
        for event in events:
            if isinstance(event.body, DateFlagged):
                self._flag(event.body)
        self._snug = [
            SnugEntry(entry.by, entry.at, entry.text, new=entry.session == number)
            for entry in entries(read_journal(room, "snug"))
        ]
        self._show_snug()
        self.tell()

    def apply(self, event: Event) -> None:
        """Take one new event in."""
        self._meter.apply(event)
        self._panes.chat.apply(event)
        composer, tiers = self._panes.composer, self._panes.tiers
        body = event.body
        match body:
            case OperatorSaid():
                tiers.turn_began()
                composer.mode = "queue"
                composer.note = ""
            case TurnEnded():
                if not self.closing:
                    composer.mode = "send"
                if body.end != "done" and not self.closing:
                    composer.note = "ctrl+g lets Presence go on"
            case RequestSent(seat="presence", purpose="turn"):
                composer.mode = "queue"
                composer.note = ""
            case SessionClosed():
                composer.mode = "closed"
                composer.note = "ctrl+q goes on"
            case TiersChanged():
                tiers.show(self._room.tiers, self._fading())
                tiers.changed(body.changes)
            case DateFlagged():
                self._flag(body)
            case JournalWritten(journal="snug"):
                self._snug.append(SnugEntry(event.by, event.at, body.text, new=True))
                self._show_snug()
            case _:
                self._closing(event)

    def _flag(self, body: DateFlagged) -> None:
        """A wrong date in a line is marked there; the chat has the rest."""
        if body.where.startswith("line "):
            words = f"! {WrongDay(body.said, body.right).sentence}"
            self._panes.tiers.wrong_day(LineId(body.where.removeprefix("line ")), one_line(clean(words)))

    def _closing(self, event: Event) -> None:
        """How far a close is: P's letters and K's last pass go on beside each other."""
        body = event.body
        match body:
            case RequestSent(seat="presence"):
                self._progress["presence"] = f"Presence writes its {body.purpose}"
            case LetterFiled():
                self._progress["presence"] = f"the {body.which} is filed"
            case ChunkGiven(purpose="closing"):
                self._progress["keeper"] = "the Keeper makes its closing pass"
            case KeeperPassed(purpose="closing"):
                self._progress["keeper"] = "the Keeper is done"
            case WorkspaceDiffed():
                self._progress = {"workspace": "the workspace's changes are noted"}
            case _:
                return
        self._panes.composer.note = ", ".join(self._progress.values())

    def tell(self) -> None:
        """Bring header and meter bar up to this moment."""
        reading = self.reading()
        self._panes.header.reading = reading
        self._panes.meters.reading = reading

    def reading(self) -> LiveReading:
        """The reading at this moment. Until the seats are ready nothing is: no event says so."""
        clock = self._room.clock
        reading = self._meter.read(clock.mono(), clock.now())
        if not self.connected and reading.state == "ready":
            return replace(reading, state="waking")
        return reading

    def _fading(self) -> tuple[Fading, ...]:
        tiers = self._room.tiers
        return will_decay(tiers, packaged_rules(), tiers.session + 1)

    def _show_snug(self) -> None:
        self._panes.snug.set_class(not self._snug, "-empty")
        self._panes.snug.show_entries(self._snug)
