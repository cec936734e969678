"""What people ask the finder for: the meetings of a region, by day."""

from finder.clock import DAYS
from finder.regions import READERS


def week(region):
    """Return all meetings of a region, from Monday's first to Sunday's last."""
    return sorted(READERS[region](), key=lambda m: (DAYS.index(m.day), m.minute, m.name))


def on(region, day):
    """Return the meetings of one weekday ("Mon" to "Sun"), first to last."""
    if day not in DAYS:
        raise ValueError(f'no day "{day}": use one of {", ".join(DAYS)}')
    return [meeting for meeting in week(region) if meeting.day == day]
