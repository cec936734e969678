"""`python3 -B -m finder KV Tue` prints what people see on the list for that day."""

import sys

from finder.clock import DAYS, shown
from finder.find import on
from finder.regions import NAMES


def main():
    """Print one day's meetings; exit 2 with one plain line on words that name no region or day."""
    words = sys.argv[1:]
    if len(words) != 2 or words[0].upper() not in NAMES or words[1].capitalize() not in DAYS:
        print(f"usage: python3 -m finder {'|'.join(sorted(NAMES))} {'|'.join(DAYS)}", file=sys.stderr)
        return 2
    for meeting in on(words[0].upper(), words[1].capitalize()):
        print(f"{shown(meeting.minute)}  {meeting.name}, {meeting.hall}, {meeting.town}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
