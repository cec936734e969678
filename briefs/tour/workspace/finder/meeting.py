"""One weekly meeting, on local time."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Meeting:
    """A weekly meeting: `minute` counts from local midnight of the weekday `day`."""

    id: str
    name: str
    day: str
    minute: int
    hall: str
    town: str
