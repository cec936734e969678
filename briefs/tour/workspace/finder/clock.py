"""Local time: how each region's written times become a weekday and minutes after local midnight."""

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MINUTES_A_DAY = 24 * 60

# Minutes ahead of UTC, for regions whose halls send their times in UTC.
AHEAD_OF_UTC = {
    "KV": 60,
}


def from_utc(region, day, text):
    """Return (weekday, minutes after local midnight) for a weekly time such as "17:30" written in UTC."""
    hours, minutes = text.split(":")
    total = int(hours) * 60 + int(minutes) + AHEAD_OF_UTC[region]
    shift, minute_of_day = divmod(total, MINUTES_A_DAY)
    return DAYS[(DAYS.index(day) + shift) % 7], minute_of_day


def from_twelve_hours(day, text):
    """Return (weekday, minutes after midnight) for a local time such as "7:30 pm"."""
    clock, half = text.split()
    hours, minutes = clock.split(":")
    if half not in ("am", "pm"):
        raise ValueError(f'"{text}" is no time: it must end in am or pm')
    hour = int(hours) % 12 + (12 if half == "pm" else 0)
    return day, hour * 60 + int(minutes)


def shown(minute_of_day):
    """Return minutes after midnight as people read them: 1140 is "19:00"."""
    return f"{minute_of_day // 60:02d}:{minute_of_day % 60:02d}"
