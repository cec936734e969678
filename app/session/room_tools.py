"""P's tools of the room: recall over warm and cold, the clock, letters, the snug, and a word on what to improve."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from pathlib import PurePath

from anthropic.lib.tools import ToolError

from app.session.keeper_tools import READS
from app.session.off_loop import off_loop
from app.session.record import SessionLog
from store.bodies import Json
from store.clock import weekday_line
from store.defused import defused
from store.gate import Accepted, judge
from store.journals import read_journal, write_journal
from store.letters import Letter, letters
from store.lines import Line, LineId, render_line
from store.operations import ToolSpec, TouchLine
from store.search import Hit
from store.text import clean
from store.wording import words_of

Run = Callable[[dict[str, Json]], Awaitable[str]]

LINE_ID = re.compile(r"(?<![\w-])L([1-9]\d{0,8})(?![\w-])")
"""A line's id as P writes it in its text."""
MOST_LINES = 12
MOST_HITS = 8
SNUG_BYTES = 16_384
IMPROVEMENT_BYTES = 2_000

_BY_NAME = {spec.name: spec for spec in READS}
RECALL = ToolSpec(
    "recall",
    "Look something up in what this room kept: lines of warm and cold by words or by a line id such as L12, and all "
    "that was ever said in earlier sessions. A line that you recall counts as used and is kept longer.",
    {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "words to find, or a line id such as L12"}},
        "required": ["query"],
    },
)
READ_LETTER = ToolSpec(
    "read_letter",
    "Read a letter or handoff of an earlier session whole. Without a file the newest letter.",
    {
        "type": "object",
        "properties": {"file": {"type": "string", "description": "its file name, as the wake packet lists it"}},
    },
)
NOTE_IMPROVEMENT = ToolSpec(
    "note_improvement",
    "Note what would make this room or the way you work here better; the operator reads these notes.",
    {"type": "object", "properties": {"text": {"type": "string", "description": "the note"}}, "required": ["text"]},
)


def room_tools(record: SessionLog) -> Iterator[tuple[ToolSpec, Run]]:
    """The room's tools for P, each with what it does. What they give back came out of memory (DESIGN §7), but for the
    clock's. ``recall`` is there when the condition gives the cold tier to the next instance (DESIGN §8)."""

    async def recall(given: dict[str, Json]) -> str:
        query = given.get("query", given.get("line"))
        if not isinstance(query, str) or not query.strip():
            raise ToolError("recall: give a query: words to find, or a line id such as L12")
        return await _recalled(record, query.strip())

    async def read_clock(given: dict[str, Json]) -> str:
        return weekday_line(record.room.clock.now())

    async def read_letter(given: dict[str, Json]) -> str:
        file = given.get("file")
        return _letter(letters(record.room), file if isinstance(file, str) else "")

    async def read_snug(given: dict[str, Json]) -> str:
        raw = defused(read_journal(record.room, "snug")).encode()
        if len(raw) <= SNUG_BYTES:
            return raw.decode() or "(empty)"
        return f"[the {len(raw) - SNUG_BYTES:,} bytes before this are left out]\n" + raw[-SNUG_BYTES:].decode(
            "utf-8", "ignore"
        )

    async def note_improvement(given: dict[str, Json]) -> str:
        text = given.get("text")
        if not isinstance(text, str) or not clean(text).strip():
            raise ToolError("note_improvement: give text")
        if (size := len(text.encode("utf-8", "replace"))) > IMPROVEMENT_BYTES:
            raise ToolError(f"note_improvement: {size:,} bytes; at most {IMPROVEMENT_BYTES:,}, so say it shorter")
        write_journal(record.room, record.log, "presence", "improvements", text, record.turn)
        return "noted"

    if record.opened is None or "cold" in record.opened.condition.successor:
        yield RECALL, recall
    yield _BY_NAME["read_clock"], read_clock
    yield READ_LETTER, read_letter
    yield _BY_NAME["read_snug"], read_snug
    yield NOTE_IMPROVEMENT, note_improvement


def touch(record: SessionLog, ids: Iterable[LineId], reason: str) -> None:
    """Let live lines that P has used count as used, through the gate; ids that are not live are passed over."""
    for line_id in dict.fromkeys(ids):
        if line_id not in record.room.tiers.lines:
            continue
        judged = judge(
            record.room.tiers,
            TouchLine(id=line_id, reason=reason),
            by="presence",
            session=record.number,
            turn=record.turn,
            evidence=record.evidence,
        )
        if isinstance(judged, Accepted) and judged.body.changes:
            record.append("presence", judged.body)


def named_lines(text: str) -> tuple[LineId, ...]:
    """The line ids that stand in a text."""
    return tuple(LineId(f"L{found[1]}") for found in LINE_ID.finditer(text))


async def _recalled(record: SessionLog, query: str) -> str:
    tiers = record.room.tiers
    wanted = re.fullmatch(r"\[?[Ll](\d{1,9})(?:\s[^\]]*)?\]?", query)
    if wanted is not None:
        line_id = LineId(f"L{int(wanted[1])}")
        live = tiers.lines.get(line_id)
        line = live or await off_loop(lambda: _cold_line(record, line_id))
        if line is None:
            raise ToolError(f"recall: there is no line {line_id}; search for words instead")
        if live is not None:
            touch(record, [line_id], "recalled by the Presence")
        return defused(_whole(line))
    words = set(words_of(query))
    found = [line for line in (*tiers.warm(), *tiers.hot()) if words and words <= set(words_of(_said(line)))]
    shown = found[:MOST_LINES]
    cold, hits = await off_loop(lambda: _searched(record, query))
    parts = []
    if shown:
        touch(record, (line.id for line in shown), "recalled by the Presence")
        parts.append("\n".join(["Kept now:", *(_whole(line) for line in shown)]))
        if len(found) > len(shown):
            parts.append(f"({len(found) - len(shown)} more kept lines; use more words)")
    if cold:
        parts.append("\n".join(["In cold:", *(_whole(line) for line in cold)]))
    if hits:
        said = (f"- [{hit.log} turn {hit.turn}, {hit.by}] {hit.snippet}" for hit in hits)
        parts.append("\n".join(["Said earlier:", *said]))
    return defused(clean("\n\n".join(parts))) or "nothing found; try fewer or other words"


async def _cold_line(record: SessionLog, line_id: LineId) -> Line | None:
    return record.index.cold_line(line_id)


async def _searched(record: SessionLog, query: str) -> tuple[tuple[Line, ...], list[Hit]]:
    index = record.index
    # What this turn holds stands before P anyway, and the search itself is in it.
    hits = [
        hit
        for hit in index.search(query, limit=MOST_HITS * 4)
        if not (hit.log == record.log and hit.turn == record.turn) and hit.kind not in ("wake.packet", "tiers.changed")
    ]
    return index.cold_lines(query, limit=MOST_LINES), hits[:MOST_HITS]


def _said(line: Line) -> str:
    return f"{line.text} {line.reason} {line.quote}"


def _whole(line: Line) -> str:
    made = f"session {line.made_session}, turn {line.quote_turn}"
    quote = f"\n  quote ({made}): “{line.quote}”" if line.quote else ""
    why = f"\n  why: {line.reason}" if line.tier == "hot" else ""
    return f"{render_line(line)} ({line.tier}){why}{quote}"


def _letter(known: tuple[Letter, ...], file: str) -> str:
    if not known:
        raise ToolError("read_letter: there is no letter in this room yet")
    if file.strip():
        name = PurePath(file.strip()).name
        found = next((letter for letter in known if letter.file == name), None)
        if found is None:
            newest = ", ".join(letter.file for letter in known[-5:])
            raise ToolError(f"read_letter: there is no letter {clean(name)[:80]}; the newest are {newest}")
    else:
        found = next((letter for letter in reversed(known) if letter.which == "letter"), known[-1])
    return f"{found.file}, {found.which} of session {found.session}, {found.at[:10]}\n\n{defused(found.text)}"
