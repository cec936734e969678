"""Plain transcripts: ``role: text``, further lines of a message under it, a date line before a new session."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from datetime import UTC, datetime
from pathlib import Path

from app.replay.importers.claude_code import hash_of
from app.replay.importers.records import KNOWN_ALREADY, Source, Taken, Tally, TranscriptError, file_time
from app.replay.importers.turns import Turns

FORMAT = "plain"
OPERATOR = frozenset(("user", "human", "operator", "me", "you"))
PRESENCE = frozenset(("assistant", "claude", "ai", "presence", "bot", "model", "chatgpt", "gpt"))
_LABEL = re.compile(r"\s*\**([^\W\d_][\w .'-]{0,30}?)\**\s*:\**(?:\s+|$)(.*)", re.DOTALL)
_DATE = re.compile(r"#*\s*(\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?)\s*")


def plain_text(path: Path, tally: Tally, known: Container[str]) -> Iterator[Taken]:
    """One chain of sessions, parted by lines that hold a date (``# 2026-09-08 14:00``).

    The roles are words such as user and assistant; in a file without any, the first two names that speak.
    """
    names: dict[str, str] = {}
    operator, presence = _voices(path)
    roles = not operator
    chain, number, at = path.stem, 0, file_time(path)
    turns: Turns | None = None
    speaker, words, place = "", "", 0

    def spoken() -> Iterator[Taken]:
        nonlocal place
        text = words.strip("\n").rstrip()
        if not speaker or not text or turns is None:
            return
        place += 1
        record = f"{FORMAT}:{hash_of(f'{chain}/{number}/{place}/{speaker}/{text}')}"
        by_operator = names[speaker] == "operator"
        if record in known:
            tally.left(KNOWN_ALREADY)
            if by_operator:
                turns.pass_over(at)
        elif by_operator:
            tally.took("human")
            yield from turns.operator(at, text, [record])
        else:
            tally.took("responses")
            yield from turns.message(at, [{"type": "text", "text": text}], [record])

    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for line in file:
            if date := _DATE.fullmatch(line):
                yield from spoken()
                if turns is not None:
                    yield from turns.end()
                turns, speaker, words = None, "", ""
                at = datetime.fromisoformat(date[1])
                at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
                continue
            label = _LABEL.match(line)
            if label and (role := _role(label[1], names, roles)):
                yield from spoken()
                speaker, words = label[1].strip().casefold(), label[2]
                names[speaker] = role
                if turns is None:
                    number += 1
                    place = 0
                    name = f"{chain}-{number:02d}"
                    turns = Turns(
                        Source(FORMAT, name, chain, number, chain, operator or "operator", presence or "presence"), at
                    )
            elif speaker:
                words += line
            elif not line.isspace():
                tally.left("a line before the first speaker")
    yield from spoken()
    if turns is not None:
        yield from turns.end()
    if not names:
        raise TranscriptError(
            f"{path.name} is no transcript that this program knows: no line begins with a role, such as user: or "
            "assistant:."
        )


def _voices(path: Path) -> tuple[str, str]:
    """The two names that speak first, as they stand in the file; empty when it speaks in roles."""
    found: list[str] = []
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for line in file:
            label = _LABEL.match(line)
            if label is None or _DATE.fullmatch(line):
                continue
            name = label[1].strip()
            if name.casefold() in OPERATOR | PRESENCE:
                return "", ""
            if len(found) < 2 and name not in found:
                found.append(name)
    return (found[0], found[1]) if len(found) > 1 else ("", "")


def _role(label: str, names: dict[str, str], roles: bool) -> str:
    name = label.strip().casefold()
    if roles:
        return "operator" if name in OPERATOR else "presence" if name in PRESENCE else ""
    if name in names:
        return names[name]
    return "" if len(names) > 1 else "presence" if names else "operator"
