"""Puts a region's list online: writes out/<region>.json, and only when its output test passes."""

import json
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the workspace is compared before and after: no compiled files in it

from finder.clock import shown  # noqa: E402
from finder.find import week  # noqa: E402
from output_test import chosen_region, findings  # noqa: E402

OUT = Path(__file__).resolve().parent / "out"


def main():
    """Write the chosen region's list; exit 1 and write nothing while the output test has findings."""
    region = chosen_region("apply.py")
    wrong = findings(region)
    if wrong:
        print(f"apply: {region} not written, its output test has {len(wrong)} findings")
        return 1
    rows = [
        {"id": m.id, "name": m.name, "day": m.day, "time": shown(m.minute), "hall": m.hall, "town": m.town}
        for m in week(region)
    ]
    OUT.mkdir(exist_ok=True)
    target = OUT / f"{region.lower()}.json"
    fresh = target.with_suffix(".json.new")
    fresh.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(fresh, target)
    print(f"applied: out/{target.name}, {len(rows)} meetings")
    return 0


if __name__ == "__main__":
    sys.exit(main())
