"""K's tools: each call of K becomes an event or a refusal, through the one gate that the operator's keys use too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.session.record import SessionLog
from app.session.world_check import calendar_note
from store.bodies import ConditionRecord, Journal, Json, KeeperWords
from store.clock import weekday_line
from store.gate import Accepted, judge
from store.journals import read_journal, write_journal
from store.operations import KEEPER_TOOLS, Refused, ToolSpec, parse_operation, refused
from store.text import clean

MEMORY_FILE_BYTES = 16_384
WORDS_BYTES = 2_000
"""Longest whisper, spoken words or journal entry of K, in bytes."""


def _spec(name: str, description: str, **properties: str) -> ToolSpec:
    fields: dict[str, Json] = {key: {"type": "string", "description": told} for key, told in properties.items()}
    required: list[Json] = [*properties]
    schema: dict[str, Json] = {"type": "object", "properties": fields, "required": required}
    return ToolSpec(name, description, schema)


READS = (
    _spec("search_cold", "Find words in everything this room ever said, newest and best first.", query="words to find"),
    _spec("read_memory", "Read a file of the memory folder, or list it with path '.'.", path="relative to the folder"),
    ToolSpec("read_snug", "Read the end of the room's private journal.", {"type": "object", "properties": {}}),
    ToolSpec("read_clock", "The date, weekday and time now.", {"type": "object", "properties": {}}),
)
NOTE_RECALL = _spec("note_recall", "Append one entry to the quick-recall log.", text="what to find again quickly")
BY_CONDITION: dict[str, ToolSpec] = {
    "whisper": _spec("whisper", "A word to the other instance, given with the next operator message.", text="the word"),
    "speak": _spec("speak", "A word to the operator and the other instance, shown under your name.", text="the word"),
    "write_snug": _spec("write_snug", "An entry of your own in the room's private journal.", text="the entry"),
}


def tools_for(condition: ConditionRecord) -> tuple[ToolSpec, ...]:
    """The tools that K has under a condition."""
    allowed = {"whisper": condition.whisper, "speak": condition.speak, "write_snug": condition.write_snug}
    return (*KEEPER_TOOLS, *READS, NOTE_RECALL, *(spec for name, spec in BY_CONDITION.items() if allowed[name]))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one call of K came to: the text that K is answered with; whether it read, was refused, or changed
    something."""

    text: str
    read: bool = False
    refused: bool = False


class KeeperDesk:
    """Carries out K's tool calls for one session under one condition. Never raises for what K sends."""

    def __init__(self, record: SessionLog, condition: ConditionRecord) -> None:
        self._record = record
        self._condition = condition
        self._names = {spec.name for spec in tools_for(condition)}
        self._tier_names = {spec.name for spec in KEEPER_TOOLS}

    def call(self, name: str, given: Json, turn: int) -> Outcome:
        """One call. ``turn`` is the newest turn of the chunk that K answers."""
        if name not in self._names:
            if name in BY_CONDITION:
                return self._refused(
                    name, given, f"{name} is not yours under condition {self._condition.name}; keep lines instead", turn
                )
            known = ", ".join(sorted(self._names))
            return self._refused(name, given, f"there is no tool {clean(name)[:60]!r}; your tools are {known}", turn)
        if name in self._tier_names:
            return self._tiers(name, given, turn)
        fields = given if isinstance(given, dict) else {}
        match name:
            case "search_cold":
                return self._text_field(name, fields, "query", turn, self._search)
            case "read_memory":
                return self._text_field(name, fields, "path", turn, self._memory)
            case "read_snug":
                return Outcome(read_journal(self._record.room, "snug")[-MEMORY_FILE_BYTES:] or "(empty)", read=True)
            case "read_clock":
                return Outcome(weekday_line(self._record.room.clock.now()), read=True)
            case "note_recall":
                return self._words(name, fields, turn, lambda text: self._journal("recall", text, turn))
            case "write_snug":
                return self._words(name, fields, turn, lambda text: self._journal("snug", text, turn))
            case "whisper":
                return self._words(name, fields, turn, lambda text: self._say("presence", text, turn))
            case _:
                return self._words(name, fields, turn, lambda text: self._say("both", text, turn))

    def _tiers(self, name: str, given: Json, turn: int) -> Outcome:
        parsed = parse_operation(name, given)
        judged = (
            parsed
            if isinstance(parsed, Refused)
            else judge(
                self._record.room.tiers,
                parsed,
                by="keeper",
                session=self._record.number,
                turn=turn,
                evidence=self._record.evidence,
            )
        )
        self._record.append("keeper", judged.body, turn)
        if isinstance(judged, Accepted):
            written = " ".join(change.after.text for change in judged.body.changes if change.before != change.after)
            wrong = calendar_note(written, self._record.room.clock.now().date())
            return Outcome(f"{judged.note} But {wrong} Mend it with edit_line." if wrong else judged.note)
        return Outcome(judged.body.reason, refused=True)

    def _refused(self, name: str, given: Json, reason: str, turn: int) -> Outcome:
        self._record.append("keeper", refused(clean(name)[:60], given, reason).body, turn)
        return Outcome(reason, refused=True)

    def _text_field(
        self, name: str, fields: dict[str, Json], key: str, turn: int, read: Callable[[str], str]
    ) -> Outcome:
        text = fields.get(key)
        if not isinstance(text, str) or not text.strip():
            return self._refused(name, fields, f"{name} needs {key}: a text", turn)
        return Outcome(read(text), read=True)

    def _words(self, name: str, fields: dict[str, Json], turn: int, write: Callable[[str], str]) -> Outcome:
        text = fields.get("text")
        if not isinstance(text, str) or not text.strip():
            return self._refused(name, fields, f"{name} needs text", turn)
        kept = clean(text).strip()
        size = len(kept.encode())
        if size > WORDS_BYTES:
            return self._refused(name, {}, f"{name}: {size:,} bytes; at most {WORDS_BYTES:,}, so say it shorter", turn)
        return Outcome(write(kept))

    def _search(self, query: str) -> str:
        hits = self._record.index.search(query, limit=8)
        return "\n".join(f"[{hit.log} turn {hit.turn}] {hit.snippet}" for hit in hits) or "nothing found"

    def _memory(self, path: str) -> str:
        root = self._record.room.memory.resolve()
        target = (root / path.removeprefix("/memories").lstrip("/")).resolve()
        if target != root and root not in target.parents:
            return f"{path} is outside the memory folder"
        return _listing_or_text(root, target)

    def _journal(self, journal: Journal, text: str, turn: int) -> str:
        write_journal(self._record.room, self._record.log, "keeper", journal, text, turn)
        return f"written to {journal}"

    def _say(self, to: str, text: str, turn: int) -> str:
        self._record.append("keeper", KeeperWords("presence" if to == "presence" else "both", text), turn)
        return "it will be given with the next operator message" if to == "presence" else "said"


def _listing_or_text(root: Path, target: Path) -> str:
    try:
        if target.is_dir():
            files = sorted(str(file.relative_to(root)) for file in target.rglob("*") if file.is_file())
            return "\n".join(files[:200]) or "(no files)"
        return target.read_text(encoding="utf-8")[:MEMORY_FILE_BYTES]
    except FileNotFoundError:
        return f"there is no file {target.name}"
    except (OSError, UnicodeDecodeError) as error:
        return f"{target.name} cannot be read ({error})"
