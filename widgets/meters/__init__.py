"""The meter bar: time, tokens and money of both seats, as they happen."""

from widgets.meters.meters import MeterBar

__all__ = ["MeterBar"]
