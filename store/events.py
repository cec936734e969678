"""One event of a log: its envelope, its line of JSON, and the fold of events into tiers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from store.bodies import (
    BODY_BY_KIND,
    Body,
    By,
    Citation,
    Json,
    LogOpened,
    SessionOpened,
    TiersChanged,
    TiersTaken,
    Unknown,
)
from store.lines import Tiers, with_changes

FORMAT = 1
"""Version of the event format; a log's first event carries it."""
NO_HASH = "0" * 64
"""``prev`` of the very first event of a room."""


class EventFormatError(ValueError):
    """A line of a log is not an event of a format that this version reads."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    ``n`` counts in its log, ``seq`` in the room, both from 1; ``at`` is UTC to the millisecond (ISO 8601, ``Z``);
    ``mono`` is the monotonic clock in seconds, for durations within one process; ``turn`` is 0 before the first
    operator message; ``prev`` the SHA-256 of the previous line's bytes.
    """

    n: int
    seq: int
    at: str
    mono: float
    by: By
    turn: int
    body: Body
    prev: str
    log: str = ""

    @property
    def kind(self) -> str:
        return self.body.kind if isinstance(self.body, Unknown) else type(self.body).KIND


def plain(value: object) -> Json:
    """A body (or part of one) as JSON values."""
    if value is None or isinstance(value, str | int | float | bool):  # first: nearly all that is asked
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no place in an event")


def encode(event: Event) -> bytes:
    """The event as one line of UTF-8 JSON without its line end. Lone surrogates, which no UTF-8 can hold, become
    U+FFFD rather than losing the event."""
    body = event.body
    line = {
        "n": event.n,
        "seq": event.seq,
        "at": event.at,
        "mono": round(event.mono, 6),
        "by": event.by,
        "kind": event.kind,
        "turn": event.turn,
        "data": body.raw if isinstance(body, Unknown) else plain(body),
        "prev": event.prev,
    }
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()


@cache
def _checked(kind: str) -> Callable[[Json], Body]:
    """What makes a kind's body of its data: the validator itself, without the adapter's own step around it."""
    return TypeAdapter(BODY_BY_KIND[kind]).validator.validate_python


def decode_body(kind: str, data: Json) -> Body:
    """The typed body of an event; kinds of other versions come back as ``Unknown``.

    Raises EventFormatError when a known kind does not hold what it must.
    """
    if kind not in BODY_BY_KIND:
        return Unknown(kind, data)
    try:
        return _checked(kind)(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise EventFormatError(f"event {kind}: {where}: {first['msg']}") from error


def decode(line: bytes, log: str = "") -> Event:
    """The event that one line holds. Raises EventFormatError with what is wrong."""
    try:
        # Half again as fast as the standard library's reader, and a log of a long life has a million lines.
        raw = from_json(line)
        n, seq, at, mono, by = raw["n"], raw["seq"], raw["at"], raw["mono"], raw["by"]
        kind, turn, prev = raw["kind"], raw["turn"], raw["prev"]
        if not (type(n) is type(seq) is type(turn) is int and type(at) is type(by) is type(kind) is type(prev) is str):
            raise EventFormatError("not an event: its envelope holds values of other types")
        return Event(n, seq, at, float(mono), cast(By, by), turn, decode_body(kind, raw["data"]), prev, log)
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, EventFormatError):
            raise
        raise EventFormatError(f"not an event: {error}") from error


def line_hash(line: bytes) -> str:
    """SHA-256 of a line's bytes without its line end: the next line's ``prev``."""
    return hashlib.sha256(line).hexdigest()


def chained(log: str, events: Iterable[Event], cites: Citation | None, prev: str, seq: int) -> bytes:
    """The lines of a log that holds ``events``, numbered and chained as what follows event ``seq`` of a room, whose
    last line hashes to ``prev``. The first event opens the log, which ``cites`` that line."""
    lines = bytearray()
    for n, event in enumerate(events, 1):
        body = event.body
        if isinstance(body, LogOpened):
            body = replace(body, format=FORMAT, log=log, cites=cites)
        line = encode(replace(event, n=n, seq=seq + n, body=body, prev=prev, log=log))
        prev = line_hash(line)
        lines += line + b"\n"
    return bytes(lines)


FOLDED = frozenset({TiersChanged.KIND, SessionOpened.KIND, TiersTaken.KIND})
"""Kinds that ``fold`` looks at; events of all others may be left out."""


def fold(tiers: Tiers, events: Iterable[Event]) -> Tiers:
    """``tiers`` after ``events``, in the order given (the room's order is that of ``seq``)."""
    for event in events:
        body = event.body
        if isinstance(body, TiersChanged):
            tiers = with_changes(
                tiers, (change.after for change in body.changes), seq=event.seq, session=body.session
            )
        elif isinstance(body, SessionOpened):
            tiers = with_changes(tiers, (), seq=event.seq, session=body.number)
        elif isinstance(body, TiersTaken):
            tiers = Tiers({line.id: line for line in body.lines}, body.next_number, body.session, event.seq)
    return tiers


Subscriber = Callable[[Event], None]
