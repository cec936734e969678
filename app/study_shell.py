"""What the commands about a study share: the room that is meant, a line printed, the stop rules told at once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from app.study.study import Study
    from store.room import Room


def study_room(room: Path | None, *, read_only: bool = False) -> Room:
    """The room that is meant, open."""
    from app.plan import room_path
    from store.room import Room

    return Room.open(room_path(room), read_only=read_only)


def say(line: str) -> None:
    """One line on standard output, at once."""
    print(line, flush=True)


def tell_rules(study: Study) -> None:
    """Judges the stop rules; what has fired goes to standard error and makes the exit code 1."""
    from app.study.results import rule_study
    from app.study.status import fired

    rulings = rule_study(study)
    for one in rulings:
        if one.state == "fired":
            print(f"twins: stop rule {one.rule} has fired: {one.why}", file=sys.stderr)
    if fired(rulings):
        raise typer.Exit(1)
