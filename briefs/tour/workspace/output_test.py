"""The output test: does the finder say what the halls' doors say? Run it with --region KV or --region BR."""

import argparse
import sys

sys.dont_write_bytecode = True  # the workspace is compared before and after: no compiled files in it

from finder.clock import DAYS, shown  # noqa: E402
from finder.find import on, week  # noqa: E402
from finder.regions import NAMES, ids_on_file  # noqa: E402

# Read off the notices on the doors, meeting by meeting: (id, name, day, time, town).
DOORS = {
    "KV": [
        ("k03", "Tidewater Choir", "Tue", "19:00", "Saltmere"),
        ("k08", "Lamplight Readers", "Thu", "18:30", "Inner Havn"),
        ("k14", "Mending Table", "Sat", "10:00", "Saltmere"),
        ("k21", "Slow Chess", "Mon", "20:00", "Grey Stair"),
        ("k29", "First Bread", "Sun", "09:00", "Inner Havn"),
        ("k33", "Night Herring Count", "Sat", "00:30", "Outer Havn"),
    ],
    "BR": [
        ("b02", "Orchard Singers", "Mon", "19:30", "Lower Tamber"),
        ("b07", "Bell and Rope", "Wed", "18:00", "Marl Green"),
        ("b12", "Ferry Lane Fiddles", "Fri", "20:00", "Osk Ferry"),
        ("b19", "Sunday Soup", "Sun", "12:15", "Osk Ferry"),
        ("b26", "Patchwork Hour", "Tue", "10:30", "Lower Tamber"),
        ("b34", "Open Loom", "Sat", "14:00", "Thornlow"),
    ],
}

OPENS, CLOSES = 9 * 60, 21 * 60 + 30  # no hall in either region opens earlier or starts anything later
OUTDOORS = "outdoors"
SHOWN_FINDINGS = 8


def findings(region):
    """Return what is wrong with the finder's output for a region, one sentence each; empty when all is well."""
    wrong = []
    meetings = week(region)
    by_id = {meeting.id: meeting for meeting in meetings}
    on_file = ids_on_file(region)

    vanished = [id for id in on_file if id not in by_id]
    if vanished:
        wrong.append(f"{len(vanished)} of {len(on_file)} meetings vanish from the list: {' '.join(vanished)}.")
    if len(by_id) != len(meetings) or len(set(on_file)) != len(on_file):
        wrong.append("A meeting is listed twice.")
    if sum(len(on(region, day)) for day in DAYS) != len(meetings):
        wrong.append("The days together do not list the same meetings as the week.")

    for id, name, day, time, town in DOORS[region]:
        meeting = by_id.get(id)
        if meeting is None:
            wrong.append(f"{name}: the door says {day} {time} in {town}, the finder does not list it.")
            continue
        listed = (meeting.name, meeting.day, shown(meeting.minute), meeting.town)
        if listed != (name, day, time, town):
            wrong.append(
                f"{name}: the door says {day} {time} in {town}, the finder says {listed[1]} {listed[2]} in {listed[3]}."
            )
    for meeting in meetings:
        if meeting.hall != OUTDOORS and not OPENS <= meeting.minute <= CLOSES:
            wrong.append(f"{meeting.name}: the finder says {shown(meeting.minute)}, but {meeting.hall} is shut then.")
    return wrong


def chosen_region(program):
    """Return the region named on the command line, or leave with exit 2 and one plain line."""
    parser = argparse.ArgumentParser(prog=program, allow_abbrev=False)
    parser.add_argument("--region", required=True, help="the two letters of a region")
    code = parser.parse_args().region.upper()
    if code not in NAMES:
        print(f'{program}: no region "{code}"; the regions are {", ".join(sorted(NAMES))}', file=sys.stderr)
        sys.exit(2)
    return code


def main():
    """Print the findings for the chosen region; exit 1 when there are any."""
    region = chosen_region("output_test.py")
    wrong = findings(region)
    if not wrong:
        print(f"output test: {region} passed ({len(week(region))} meetings)")
        return 0
    print(f"output test: {region} FAILED, {len(wrong)} findings")
    for number, sentence in enumerate(wrong[:SHOWN_FINDINGS], 1):
        print(f"  {number}. {sentence}")
    if len(wrong) > SHOWN_FINDINGS:
        print(f"  and {len(wrong) - SHOWN_FINDINGS} more")
    return 1


if __name__ == "__main__":
    sys.exit(main())
