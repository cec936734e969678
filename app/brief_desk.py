"""The Keeper's proposal for its own brief, shown as a difference, and the operator's answer to it."""

from __future__ import annotations

import difflib

from app.printing import print_json
from app.session.brief_revision import KEEPER, answer, proposal
from app.session.briefs import brief_sources
from store.room import DESK, Room
from store.text import clean


def show_proposal(room: Room, *, as_json: bool) -> None:
    """The brief as it stands and what K would change, line by line."""
    with room:
        stands, proposed = brief_sources(room.root)[KEEPER], proposal(room.root)
        if as_json:
            print_json({"brief": KEEPER, "text": stands, "proposed": proposed or None})
        elif not proposed.strip():
            print("The Keeper has proposed nothing; it is asked at the first close of a session with a Keeper.")
        else:
            print(proposal_diff(room) or "The proposal is the brief as it stands.")
            print("\nTake it with: twins brief --accept, or leave it with: twins brief --decline")


def proposal_diff(room: Room) -> str:
    """What K would change in its brief, line by line; empty when it proposed nothing, or what stands already."""
    stands, proposed = clean(brief_sources(room.root)[KEEPER]), clean(proposal(room.root))
    if not proposed.strip():
        return ""
    lines = difflib.unified_diff(stands.splitlines(), proposed.splitlines(), "as it stands", "as proposed", lineterm="")
    return "\n".join(lines)


def answer_proposal(room: Room, *, accept: bool, as_json: bool) -> None:
    """Take or leave the proposal, as an event of the desk."""
    with room:
        file = answer(room, DESK, accept=accept)
        if as_json:
            print_json({"brief": KEEPER, "accepted": accept, "file": str(file)})
        elif accept:
            print(f"The Keeper's brief is {file} from the next session on; the one before is beside it.")
        else:
            print("The Keeper's brief stays as it is.")
