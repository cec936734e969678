"""A session's log as the engine writes it: the turn, the request count and the views that follow each event."""

from __future__ import annotations

from collections.abc import Callable

from store.bodies import Body, By, Notice, OperatorSaid, RequestSent, SessionOpened
from store.conversation import Conversation
from store.events import Event
from store.evidence import Evidence
from store.room import LogName, Room
from store.search import Index


class SessionLog:
    """Appends to one session's log and keeps what the engine needs in step with it: P's conversation, the evidence
    for quotes, the number of the turn and of the last request."""

    def __init__(self, room: Room, log: LogName) -> None:
        self.room = room
        self.log = log
        self.turn = 0
        self.requests = 0
        self.opened: SessionOpened | None = None
        self.conversation = Conversation()
        self.evidence = Evidence()
        self._noticed: set[str] = set()
        self._index: Index | None = None
        # First in line, so that whoever else follows the room finds these views up to date.
        room.subscribe(lambda event: self._take(event) if event.log == log else None)

    def replay(self) -> list[Event]:
        """Take in what the log already holds; gives the events back for whoever else needs them."""
        events = list(self.room.events(self.log))
        for event in events:
            self._take(event)
        return events

    def append(self, by: By, body: Body, turn: int | None = None) -> Event:
        """Write one event (durably when it must be) before anything else happens."""
        if turn is None:
            turn = self.turn + 1 if isinstance(body, OperatorSaid) else self.turn
        return self.room.append(self.log, by, body, turn)

    def notice_once(self, text: str) -> None:
        """Tell the operator one plain sentence, once in the life of the session however often it is resumed."""
        if text not in self._noticed:
            self.append("system", Notice("info", text))

    @property
    def index(self) -> Index:
        """The search index of the room, opened when it is first asked for; closed by ``close``."""
        if self._index is None:
            self._index = Index.open(self.room)
        return self._index

    def close(self) -> None:
        """Close what this record opened; the room and its log stay as they are."""
        if self._index is not None:
            self._index.close()
            self._index = None

    @property
    def number(self) -> int:
        """The session's number in the room, from 1."""
        return self.opened.number if self.opened else 0

    def next_request(self) -> int:
        """The number that the next request gets."""
        return self.requests + 1

    def subscribe(self, follow: Callable[[Event], None]) -> Callable[[], None]:
        """Call ``follow`` for every event of this session from now on; gives back how to stop."""
        return self.room.subscribe(lambda event: follow(event) if event.log == self.log else None)

    def _take(self, event: Event) -> None:
        body = event.body
        if isinstance(body, SessionOpened):
            self.opened = body
        elif isinstance(body, OperatorSaid):
            self.turn = event.turn
        elif isinstance(body, RequestSent):
            self.requests = max(self.requests, body.request)
        elif isinstance(body, Notice):
            self._noticed.add(body.text)
        self.conversation.apply(event)
        self.evidence.add(event)
