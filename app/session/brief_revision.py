"""K's proposal for its own brief: asked for once in a room's life, kept as a file, taken or left by the operator."""

from __future__ import annotations

import hashlib
from pathlib import Path

from app.session.briefs import brief_sources
from store.bodies import BriefAnswered, BriefProposed
from store.documents import write_whole
from store.plain import PlainError
from store.room import LogName, Room

KEEPER = "keeper"


class NoProposal(PlainError):
    """There is no proposed brief to answer; one plain sentence."""


def proposal_file(room: Path) -> Path:
    """Where K's proposal lies until the operator answers it; it stays there afterwards."""
    return room / "briefs" / "keeper.proposed.md"


def asked_before(room: Room) -> bool:
    """Whether K has been asked in this room. The file is the sign; the event beside it is the truth."""
    return proposal_file(room.root).exists()


def propose(room: Room, log: LogName, text: str, turn: int) -> None:
    """Log K's proposal (empty: it keeps its brief) and lay it down as a file."""
    room.append(log, "keeper", BriefProposed(KEEPER, text), turn)
    file = proposal_file(room.root)
    file.parent.mkdir(mode=0o700, exist_ok=True)
    write_whole(file, text.encode("utf-8", "replace"))


def proposal(room: Path) -> str:
    """The proposed brief; empty when there is none or K keeps the one it has."""
    try:
        return proposal_file(room).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def answer(room: Room, log: LogName, *, accept: bool) -> Path:
    """Take or leave K's proposal. Taken, it is the room's own brief from the next session on; the brief before it is
    kept beside it. Gives the brief's file.

    Raises NoProposal when there is nothing to answer.
    """
    text = proposal(room.root)
    if not text.strip():
        raise NoProposal(
            "K has proposed no brief in this room; it is asked at the first close of a session with a Keeper."
        )
    own = room.root / "briefs" / f"{KEEPER}.md"
    before = brief_sources(room.root)[KEEPER]
    if before == text:
        raise NoProposal(
            f"K's proposal is the room's brief already; the one before it is in {KEEPER}.before.md."
        )
    holds = text if accept else before
    room.append(log, "operator", BriefAnswered(KEEPER, accept, hashlib.sha256(holds.encode()).hexdigest()))
    if accept:
        write_whole(own.with_name(f"{KEEPER}.before.md"), before.encode())
        write_whole(own, text.encode())
    return own
