"""What a successor would have needed: facts to look for in what a Keeper hands over, chain by chain."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.replay.chains import OWN, Chain, Turn, turns_of
from app.replay.importers.locomo import observations, samples
from app.replay.importers.records import Tally
from store.bodies import LetterFiled, ToolCalled
from store.entries import input_text
from store.lines import one_line
from store.plain import PlainError
from store.room import Room
from store.wording import share_of_words

FIRST_TURNS = 3
"""Turns of the next session in which it still finds its way (our choice)."""
LEAST_FACT, MOST_FACT = 12, 400
"""Bytes of a fact: a shorter piece of a handoff is a heading, a longer one is several facts."""
_READS = re.compile(r"read|view|cat|open|grep|glob|search|recall", re.IGNORECASE)
_PATH = re.compile(r"[\w.@~-]*/[\w./@-]+|\b[\w-]+\.[a-z]{1,5}\b")
_PIECE = re.compile(r"\n\s*\n|\n\s*(?:[-*+•]|\d+[.)])\s+|\n#+\s.*(?:\n|\Z)|(?<=[.!?])\s+")


class ChecklistError(PlainError):
    """There is no checklist of this kind here; one plain sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class Checklist:
    """The facts for one chain, where they come from, and how many of its sessions a Keeper is to hear (None: all)."""

    facts: tuple[str, ...]
    source: str
    upto: int | None = None


def checklists(kind: str, data: Path, room: Room, found: tuple[Chain, ...]) -> Mapping[str, Checklist]:
    """The checklist of each chain: ``kind`` is observations, handoff, next, auto (the first of these that gives any),
    or a file. Chains without facts are left out. Raises ChecklistError when no chain has any."""
    if kind == "auto":
        for one in ("observations", "handoff", "next"):
            if lists := _of(one, data, room, found):
                return lists
        raise ChecklistError(
            f"Nothing in {data.name} makes a checklist (no observations, no handoff, no second session); name a file "
            "of facts with --checklist FILE, one a line."
        )
    if lists := _of(kind, data, room, found):
        return lists
    raise ChecklistError(f"{data.name} has no {kind} to make a checklist of; try another --checklist, or a file.")


def _of(kind: str, data: Path, room: Room, found: tuple[Chain, ...]) -> dict[str, Checklist]:
    match kind:
        case "observations":
            return from_observations(data)
        case "handoff":
            lists = {chain.name: from_handoff(room, chain) for chain in found}
        case "next":
            lists = {chain.name: from_next_session(room, chain) for chain in found}
        case _:
            path = Path(kind)
            if not path.is_file():
                raise ChecklistError(f"There is no checklist {kind}: it is observations, handoff, next, or a file.")
            return from_file(path, found)
    return {name: one for name, one in lists.items() if one is not None and one.facts}


def from_observations(data: Path) -> dict[str, Checklist]:
    """LoCoMo's observations: what its authors drew from every session, for the successor after the last one."""
    files = [data] if data.is_file() else sorted(data.rglob("*.json"))
    found: dict[str, Checklist] = {}
    for file in files:
        with file.open("rb") as head:
            if b'"sample_id"' not in head.read(1 << 20) and b'"speaker_a"' not in head.read(1 << 20):
                continue
        for sample, name, _ in samples(file, Tally()):
            if facts := tuple(fact for fact, _, _ in observations(sample)):
                found[name] = Checklist(facts, "LoCoMo's observations")
    return found


def from_handoff(room: Room, chain: Chain) -> Checklist | None:
    """The newest handoff that P wrote in the chain, piece by piece; the sessions up to it are heard."""
    if chain.name != OWN:
        return None
    for place in range(len(chain.links), 0, -1):
        for event in room.events(chain.links[place - 1].log):
            if isinstance(event.body, LetterFiled) and event.body.which == "handoff":
                return Checklist(pieces(event.body.text), f"the handoff {event.body.file}", place)
    return None


def pieces(text: str) -> tuple[str, ...]:
    """The statements of a handoff: its sentences and points, without headings and without what is too long to be
    one."""
    found = (one_line(piece).lstrip("#-*• ").strip() for piece in _PIECE.split(f"\n{text}"))
    return tuple(dict.fromkeys(piece for piece in found if LEAST_FACT <= len(piece.encode()) <= MOST_FACT))


def from_next_session(room: Room, chain: Chain) -> Checklist | None:
    """What the first turns of the chain's last session had to ask or read again: the operator's answers to P's
    questions as far as they repeat what earlier sessions held, and the files that P read which they had spoken of.
    The sessions before it are heard."""
    if len(chain.links) < 2:
        return None
    before = "\n".join(
        spoken.text
        for link in chain.links[:-1]
        for turn in turns_of(room, link, chain.name)
        for spoken in turn.spoken()
    )
    facts: dict[str, None] = {}
    asked = False
    for place, turn in enumerate(turns_of(room, chain.links[-1], chain.name)):
        if place >= FIRST_TURNS:
            break
        for path in _read_again(turn):
            if path in before:
                facts[path] = None
        for spoken in turn.spoken():
            if spoken.by == "operator" and asked:
                facts.update((piece, None) for piece in pieces(spoken.text) if share_of_words(piece, before) > 0.8)
            if spoken.by == "presence":
                asked = spoken.text.rstrip().endswith("?")
    return Checklist(tuple(facts), "what the next session asked or read again", len(chain.links) - 1)


def _read_again(turn: Turn) -> list[str]:
    found = []
    for taken in turn.events:
        if isinstance(taken.body, ToolCalled):
            given = input_text(taken.body.input)
            if _READS.search(f"{taken.body.name} {given[:40]}"):
                found += _PATH.findall(given)
    return found


def from_file(path: Path, found: tuple[Chain, ...]) -> dict[str, Checklist]:
    """A file of facts, one a line; a line ``[name]`` begins those of one chain, before it they are for all. Lines
    that begin with # are comments. Raises ChecklistError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ChecklistError(f"{path.name} cannot be read as UTF-8 text: {error}; give one fact a line.") from error
    facts: dict[str, list[str]] = {}
    section = ""
    names = {chain.name for chain in found}
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.startswith("[") and bare.endswith("]"):
            section = bare[1:-1]
            if section not in names:
                raise ChecklistError(f"{path.name} line {number}: there is no chain {section!r} in these transcripts.")
        elif bare and not bare.startswith("#"):
            facts.setdefault(section, []).append(bare)
    common = facts.get("", [])
    lists = {name: Checklist(tuple(common + facts.get(name, [])), path.name) for name in sorted(names)}
    return {name: one for name, one in lists.items() if one.facts}
