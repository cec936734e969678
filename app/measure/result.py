"""What a measure comes to: a value with its unit, its n, its method and the events it stands on."""

from __future__ import annotations

from dataclasses import dataclass

from store.events import Event


@dataclass(frozen=True, slots=True)
class EventRef:
    """An event by its log's name and its ``n`` there, so that anyone can look it up in a bundle."""

    log: str
    n: int


def ref(event: Event) -> EventRef:
    """Where ``event`` stands."""
    return EventRef(event.log, event.n)


@dataclass(frozen=True, slots=True)
class Measured:
    """A measured value.

    ``value`` is None when there is nothing to measure (``method`` then says why); ``n`` counts what went into it (a
    duration has n 1, a share the size of its denominator); ``source`` is the log or the person it came from;
    ``events`` are those that decide the value, in order.
    """

    name: str
    value: float | None
    unit: str
    n: int
    source: str
    method: str
    events: tuple[EventRef, ...] = ()
