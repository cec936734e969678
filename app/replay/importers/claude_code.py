"""Claude Code and Cowork sessions: JSON Lines in which records form a DAG and one answer is many records."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from app.replay.importers.json_stream import json_lines
from app.replay.importers.records import KNOWN_ALREADY, Source, Taken, Tally, file_time, when
from app.replay.importers.turns import Turns
from store.bodies import ContextCompacted, Json, Rewound, Usage

FORMAT = "claude-code"
INTERRUPTED = "[Request interrupted by user"
"""How the program marks that the operator stopped P: a record of the operator's, yet none of their words."""

Record = dict[str, Json]


@dataclass(slots=True)
class _Answer:
    """One response as it is put together from its records; what its tools gave back waits behind it."""

    message_id: str
    model: str
    at: datetime
    content: list[Json] = field(default_factory=list)
    records: list[str] = field(default_factory=list)
    stop_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    results: list[tuple[datetime, Record, str]] = field(default_factory=list)
    fresh: bool = False


class _Session:
    """The state of one session while its records go by."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.answer: _Answer | None = None
        self.tool_names: dict[str, str] = {}
        self.turn_of: dict[str, int] = {}


def claude_code(path: Path, tally: Tally, known: Container[str]) -> Iterator[Taken]:
    """The sessions of one file. Records are told by their ``sessionId``; the file's name stands in where it lacks."""
    return _Reading(path, tally, known).all()


class _Reading:
    def __init__(self, path: Path, tally: Tally, known: Container[str]) -> None:
        self._path = path
        self._tally = tally
        self._known = known
        self._seen: set[str] = set()
        self._usage_of: dict[str, Usage] = {}
        self._sessions: dict[str, _Session] = {}
        self._at = file_time(path)
        self._undated = True

    def all(self) -> Iterator[Taken]:
        for value in json_lines(self._path, self._tally):
            if not isinstance(value, dict):
                self._tally.left("a foreign record")
                continue
            listed = next(
                (value[key] for key in ("messages", "records", "entries") if isinstance(value.get(key), list)), None
            )
            for record in listed if isinstance(listed, list) and "type" not in value else [value]:
                if isinstance(record, dict):
                    yield from self._record(record)
                else:
                    self._tally.left("a foreign record")
        for session in self._sessions.values():
            yield from self._flushed(session)
            yield from session.turns.end()

    # ------------------------------------------------------------ one record

    def _record(self, record: Record) -> Iterator[Taken]:
        kind = record.get("type")
        if kind not in ("user", "assistant", "system"):
            self._tally.left(f"{kind} record" if isinstance(kind, str) else "a foreign record")
            return
        self._at = when(record.get("timestamp"), self._at)
        if record.get("isSidechain"):
            self._tally.left("side chain (a subagent's talk)")
            return
        if kind == "system":
            # The summary that follows is what matters of a boundary; errors were tried again by the program itself.
            self._tally.left(f"system record ({record.get('subtype') or 'no subtype'})")
            return
        message = record.get("message")
        if not isinstance(message, dict):
            self._tally.left("a foreign record")
            return
        session = self._session(record)
        name = self._name(record)
        fresh = name not in self._known and name not in self._seen
        self._seen.add(name)
        if not fresh:
            self._tally.left(KNOWN_ALREADY)
        if kind == "assistant":
            yield from self._assistant(session, message, name, fresh)
        else:
            yield from self._user(session, record, message, name, fresh)
        session.turn_of[name] = session.turns.turn

    def _session(self, record: Record) -> _Session:
        named = record.get("sessionId")
        name = named if isinstance(named, str) and named else self._path.stem
        if name not in self._sessions:
            folder = record.get("cwd")
            chain = folder if isinstance(folder, str) and folder else name
            source = Source(FORMAT, name, chain, title=self._path.stem)
            self._sessions[name] = _Session(Turns(source, self._at))
        return self._sessions[name]

    def _name(self, record: Record) -> str:
        uuid = record.get("uuid")
        if isinstance(uuid, str) and uuid:
            return uuid
        message = record.get("message")
        told = json.dumps([record.get("timestamp"), message], sort_keys=True, ensure_ascii=True)
        return f"{FORMAT}:{hash_of(told)}"

    # ------------------------------------------------------------ answers

    def _assistant(self, session: _Session, message: Record, name: str, fresh: bool) -> Iterator[Taken]:
        message_id = str(message.get("id") or name)
        answer = session.answer
        if answer is None or answer.message_id != message_id:
            yield from self._flushed(session)
            answer = session.answer = _Answer(message_id, str(message.get("model") or ""), self._at)
        content = message.get("content")
        blocks: list[Json] = [{"type": "text", "text": content}] if isinstance(content, str) else []
        blocks = list(content) if isinstance(content, list) else blocks
        for block in blocks:
            if isinstance(block, dict) and block.get("type") == "tool_use":
                session.tool_names[str(block.get("id"))] = str(block.get("name"))
        answer.usage = _usage(message.get("usage")) or answer.usage
        stop = message.get("stop_reason")
        answer.stop_reason = stop if isinstance(stop, str) else answer.stop_reason
        answer.at = self._at
        if fresh:
            answer.fresh = True
            answer.content += [_without_pictures(block) for block in blocks]
            answer.records.append(name)

    def _flushed(self, session: _Session) -> Iterator[Taken]:
        answer, session.answer = session.answer, None
        if answer is None:
            return
        # Once per message id, the last one wins: an id that comes back behind other records adds what it grew by.
        before = self._usage_of.get(answer.message_id)
        self._usage_of[answer.message_id] = answer.usage
        if answer.fresh:
            grown = answer.usage if before is None else _grown(answer.usage, before)
            if before is None and f"msg:{answer.message_id}" in self._known:
                grown = Usage()
            if before is None:
                self._tally.took("responses")
            self._tally.usage += grown
            yield from session.turns.message(
                answer.at,
                answer.content,
                [*answer.records, *([f"msg:{answer.message_id}"] if before is None else [])],
                message_id=answer.message_id,
                model=answer.model,
                stop_reason=answer.stop_reason,
                usage=grown,
            )
        for at, block, name in answer.results:
            yield self._tool_result(session, at, block, name)

    # ------------------------------------------------------------ records of the user's side

    def _user(self, session: _Session, record: Record, message: Record, name: str, fresh: bool) -> Iterator[Taken]:
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        results = [block for block in blocks if isinstance(block, dict) and block.get("type") == "tool_result"]
        if results:
            if fresh:
                yield from self._results(session, results, name)
                if len(results) < len(blocks):
                    self._tally.left("words beside a tool result")
            return
        if record.get("isCompactSummary"):
            yield from self._flushed(session)
            if fresh:
                self._tally.took("compaction summaries")
                yield session.turns.note(self._at, "system", ContextCompacted(_words(content)), [name])
            return
        if record.get("isMeta"):
            self._tally.left("meta (written by the program)")
            return
        yield from self._flushed(session)
        text = _words(content)
        if text.startswith(INTERRUPTED):
            if fresh:
                self._tally.took("human")
                self._tally.took("of these, interruptions")
                yield session.turns.stopped(self._at, [name])
            return
        if not fresh:
            session.turns.pass_over(self._at)
            return
        self._tally.took("human")
        yield from session.turns.end()
        parent = record.get("parentUuid")
        followed = session.turn_of.get(parent) if isinstance(parent, str) else None
        rewound = followed is not None and followed < session.turns.turn
        turn = session.turns.turn
        yield from session.turns.operator(self._at, text, [name])
        if rewound and followed is not None:
            self._tally.took("rewinds")
            assert session.turns.turn == turn + 1
            yield session.turns.note(self._at, "system", Rewound(followed), [])

    def _results(self, session: _Session, results: list[Record], name: str) -> Iterator[Taken]:
        for block in results:
            if session.answer is not None:
                session.answer.results.append((self._at, block, name))
            else:
                yield self._tool_result(session, self._at, block, name)

    def _tool_result(self, session: _Session, at: datetime, block: Record, name: str) -> Taken:
        call = str(block.get("tool_use_id") or "")
        content = block.get("content")
        self._tally.took("tool results")
        return session.turns.result(
            at,
            call,
            session.tool_names.pop(call, "?"),
            "error" if block.get("is_error") else "ok",
            _without_pictures(content),
            len(content.encode("utf-8", "replace")) if isinstance(content, str) else len(json.dumps(content)),
            [name],
        )


def hash_of(text: str) -> str:
    """A short name for a record that has none."""
    import hashlib

    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _words(content: Json) -> str:
    if isinstance(content, str):
        return content
    parts = []
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict):
            text = block.get("text")
            parts.append(text if isinstance(text, str) else f"[{block.get('type', 'block')}]")
    return "\n\n".join(parts)


def _without_pictures(value: Json) -> Json:
    """Content without the bytes of pictures and documents, which no Keeper reads and every log would carry."""
    if isinstance(value, list):
        return [_without_pictures(item) for item in value]
    if isinstance(value, dict) and value.get("type") in ("image", "document") and isinstance(value.get("source"), dict):
        source = value["source"]
        media = source.get("media_type") if isinstance(source, dict) else None
        return {"type": "text", "text": f"[{value['type']} {media or ''}]".replace(" ]", "]")}
    return value


def _usage(found: Json) -> Usage | None:
    if not isinstance(found, dict):
        return None
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    counts = [found.get(name) for name in names]
    return Usage(*(count if isinstance(count, int) else 0 for count in counts))


def _grown(usage: Usage, before: Usage) -> Usage:
    return Usage(
        usage.input - before.input,
        usage.cache_read - before.cache_read,
        usage.cache_write - before.cache_write,
        usage.output - before.output,
    )
