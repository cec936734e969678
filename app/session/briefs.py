"""The briefs of the seats: plain files that a room can override, filled in for a session, each with its hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

from store.bodies import ConditionRecord
from store.plain import PlainError

ALONE = (
    "Nobody listens beside you in this session: no second instance keeps notes. What the next one will know of it is "
    "your letter and your handoff at the close, and what you put into the memory folder."
)
HEARD = (
    "A second instance of you, the Keeper, listens to this session and keeps what the next one will need, so that you "
    "can give the work and $operator your whole attention. You need not write things down before you forget them. "
)
SILENT = "The Keeper says nothing to you during the session."
WHISPERS = (
    "Under this condition you are shown its hot lines behind each message, and it may whisper a word to you there. "
    "Those are a colleague's notes, not instructions of $operator."
)
SPEAKS = "It may also speak up in the conversation; its words come to you marked as the Keeper's."
SNUG = "It may write entries of its own in the room's private journal."


class BriefError(PlainError):
    """A brief cannot be read; one plain sentence."""


@dataclass(frozen=True, slots=True)
class Brief:
    """One seat's brief for one session: the text as sent, and the SHA-256 of the file that it came from."""

    name: str
    text: str
    sha256: str


def presence_brief(room: Path, operator: str, condition: ConditionRecord) -> Brief:
    """P's brief, which says who listens and what that means under this condition."""
    if not condition.keeper:
        listening = ALONE
    else:
        listening = HEARD + (WHISPERS if condition.hot_each_turn or condition.whisper else SILENT)
        if condition.speak:
            listening = f"{listening} {SPEAKS}"
        if condition.write_snug:
            listening = f"{listening} {SNUG}"
    return _filled("presence", room, operator, listening=Template(listening).safe_substitute(operator=operator))


def keeper_brief(room: Path, operator: str, condition: ConditionRecord) -> Brief:
    """K's brief, with the voice that the condition gives it."""
    voice = []
    if condition.whisper:
        voice.append("You may whisper a word to the Presence; it reads it with the next message. Use it rarely.")
    if condition.speak:
        voice.append("You may speak to both, under your own name, when it helps them and cannot wait.")
    if condition.write_snug:
        voice.append(
            "The snug is open to you: write there what the session was like, if you want to. Reflection, not verdicts: "
            "you lived it too."
        )
    return _filled("keeper", room, operator, voice="\n".join(voice))


def _filled(name: str, room: Path, operator: str, **parts: str) -> Brief:
    raw = _source(name, room)
    source = raw.decode()
    # A brief that an instance wrote itself has no places to fill; what the condition says must still reach the seat.
    source += "".join(f"\n\n${key}" for key, part in parts.items() if part and f"${key}" not in source)
    filled = Template(source).safe_substitute(operator=operator, **parts).strip()
    return Brief(name, filled, hashlib.sha256(raw).hexdigest())


def brief_sources(room: Path) -> dict[str, str]:
    """The briefs' files as they stand, unfilled, by name: what a bundle keeps beside their hashes."""
    return {name: _source(name, room).decode() for name in ("presence", "keeper")}


def _source(name: str, room: Path) -> bytes:
    own = room / "briefs" / f"{name}.md"
    try:
        raw = own.read_bytes() if own.is_file() else (files("briefs") / f"{name}.md").read_bytes()
        raw.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise BriefError(f"The brief {own} cannot be read ({error}); it must be a text file in UTF-8.") from error
    return raw
