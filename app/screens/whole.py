"""A tool call's whole input and output, read from the log when its row is opened."""

from __future__ import annotations

from store.bodies import ToolCalled, ToolEnded
from store.entries import ToolEntry, content_text, input_text
from store.room import LogName, Room
from widgets.chat.layout import WholeOf


def whole_of(room: Room, log: LogName) -> WholeOf:
    """Reads from one session's log."""

    def read(entry: ToolEntry) -> tuple[str, str] | None:
        called = ended = ""
        for event in room.events(log):
            if event.n == entry.n and isinstance(event.body, ToolCalled):
                called = input_text(event.body.input)
            elif event.n == entry.ended_n and isinstance(event.body, ToolEnded):
                ended = content_text(event.body.content)
            if event.n >= max(entry.n, entry.ended_n):
                break
        return (called, ended) if called or ended else None

    return read
