"""The regions the finder knows: their code, their name and the readers of their files."""

import csv
import json
from pathlib import Path

from finder import clock
from finder.meeting import Meeting

DATA = Path(__file__).resolve().parent.parent / "data"

NAMES = {"BR": "Brindelow", "KV": "Kelvarra"}


def kelvarra():
    """Return every meeting of Kelvarra. Its halls send one JSON list, with times in UTC."""
    rows = json.loads((DATA / "kv.json").read_text(encoding="utf-8"))
    found = []
    for row in rows:
        day, minute = clock.from_utc("KV", row["day"], row["start_utc"])
        found.append(Meeting(row["id"], row["name"], day, minute, row["hall"], row["town"]))
    return found


def brindelow():
    """Return the meetings of Brindelow whose postcode has a town. Its times are local, in twelve hours."""
    with open(DATA / "br_towns.csv", encoding="utf-8", newline="") as file:
        towns = {row["postcode"]: row["town"] for row in csv.DictReader(file)}
    found = []
    with open(DATA / "br.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["postcode"] in towns:
                day, minute = clock.from_twelve_hours(row["day"], row["time"])
                found.append(Meeting(row["id"], row["name"], day, minute, row["hall"], towns[row["postcode"]]))
    return found


READERS = {"BR": brindelow, "KV": kelvarra}


def ids_on_file(region):
    """Return the ids of every meeting that the region's halls sent, found or not."""
    if region == "KV":
        return [row["id"] for row in json.loads((DATA / "kv.json").read_text(encoding="utf-8"))]
    with open(DATA / "br.csv", encoding="utf-8", newline="") as file:
        return [row["id"] for row in csv.DictReader(file)]
