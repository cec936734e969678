"""Entries of a transcript: what one place in the chat shows, frozen, with every foreign word already clean."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from store.bodies import Json, Seat, ToolCalled, ToolEnded
from store.events import Event
from store.lines import one_line
from store.text import clean

SUMMARY_CHARS = 200
"""Characters of a tool's input that its one closed row may take."""
HEAD_CHARS = 4_000
"""Characters of a tool's input and output that an entry keeps; the whole is in the event that it names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """``n`` is the event that began it, ``part`` tells entries of one event apart, ``turn`` is the event's."""

    n: int
    turn: int
    part: int = 0

    @property
    def key(self) -> tuple[int, int]:
        """What stays the same while the entry changes."""
        return (self.n, self.part)


@dataclass(frozen=True, slots=True)
class WrongDay:
    """A date in an entry's words whose weekday is not the calendar's: ``said`` as it stands there, clean, and the
    weekday that it is (empty when there is no such date)."""

    said: str
    right: str

    @property
    def sentence(self) -> str:
        """What is wrong with it."""
        right = f"that day is a {self.right}" if self.right else "there is no such date"
        return f"“{self.said}”: {right}"


@dataclass(frozen=True, slots=True)
class Spoken:
    """One text block of an answer with the thinking before it."""

    thinking: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorEntry(_Entry):
    """The operator's message; ``tail`` is what the program added behind it for P. Queued ones have their ``name``."""

    text: str
    tail: str = ""
    queued: bool = False
    name: str = ""


SpeechState = Literal["streaming", "done", "cut"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechEntry(_Entry):
    """One text block of a seat's answer, with the thinking before it. ``reason`` says why it was cut; ``purpose``
    is that of its request."""

    seat: Seat
    text: str
    state: SpeechState
    reason: str = ""
    thinking: str = ""
    purpose: str = "turn"
    wrong: tuple[WrongDay, ...] = ()


ToolState = Literal["running", "asked", "ok", "error", "denied", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEntry(_Entry):
    """A tool call. ``shown`` is what the operator was asked about, ``word`` their word to P; ``input`` and ``head``
    hold at most HEAD_CHARS; ``bytes`` is the size of what P was sent. ``edits`` tells that the input reads as a diff.
    The whole input is in event ``n``, the whole output in event ``ended_n`` (0 while it runs) or, when it was cut for
    P, in the session's ``kept`` file, which ``left_out`` says in a sentence."""

    tool_use_id: str
    name: str
    summary: str
    input: str
    state: ToolState
    shown: str = ""
    word: str = ""
    ms: float | None = None
    head: str = ""
    bytes: int = 0
    whole: bool = True
    ended_n: int = 0
    edits: bool = False
    kept: str = ""
    left_out: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeeperEntry(_Entry):
    """K's words to P or to both."""

    to: Literal["presence", "both"]
    text: str
    wrong: tuple[WrongDay, ...] = ()


Level = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeEntry(_Entry):
    """A plain sentence of the program. A later one with the same ``about`` takes its place while it stands last."""

    level: Level
    text: str
    about: str = ""


DividerKind = Literal["opened", "resumed", "closed", "wake", "break", "ret", "compacted", "changes", "brief"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DividerEntry(_Entry):
    """A mark across the transcript. ``text`` is what it opens to (the wake packet, a summary), often nothing;
    ``diff`` tells that it reads as one."""

    what: DividerKind
    title: str
    text: str = ""
    diff: bool = False


Entry: TypeAlias = OperatorEntry | SpeechEntry | ToolEntry | KeeperEntry | NoticeEntry | DividerEntry


def source(entry: Entry) -> str:
    """The entry's own words as they are copied and searched: no marks, no wrapping."""
    match entry:
        case OperatorEntry() | SpeechEntry() | KeeperEntry() | NoticeEntry():
            return entry.text
        case ToolEntry():
            return "\n".join(part for part in (f"{entry.name} {entry.summary}".rstrip(), entry.head) if part)
        case DividerEntry():
            return "\n".join(part for part in (entry.title, entry.text) if part)


_TELLING = ("command", "path", "file_path", "pattern", "query", "url", "id")


def input_summary(value: Json) -> str:
    """One line that tells a tool call's input: its telling values when it has some, or else its JSON."""
    if isinstance(value, dict):
        told = [item for name in _TELLING if isinstance(item := value.get(name), str) and item]
        text = " ".join(told) if told else (json.dumps(value, ensure_ascii=False) if value else "")
    else:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = one_line(clean(text))
    return text if len(text) <= SUMMARY_CHARS else text[: SUMMARY_CHARS - 1] + "…"


def input_text(value: Json) -> str:
    """A tool call's whole input to be read: a value a line, texts as they are, the rest as JSON."""
    if isinstance(value, dict):
        rows = []
        for name, item in value.items():
            text = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
            rows.append(f"{name}:\n{text}" if "\n" in text else f"{name}: {text}")
        return clean("\n".join(rows))
    return clean(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2))


def edits_files(name: str, value: Json) -> bool:
    """Whether a tool call changes words of a file, so that its input reads best as a diff."""
    return isinstance(value, dict) and _edit_in(name, value) is not None


def call_text(name: str, value: Json) -> str:
    """A tool call's whole input to be read: a change of a file as a diff, all else as ``input_text`` has it."""
    edit = _edit_in(name, value) if isinstance(value, dict) else None
    if edit is None or not isinstance(value, dict):
        return input_text(value)
    return clean(edit_diff(*edit, every=value.get("replace_all") is True))


def edit_diff(path: str, before: str, after: str, *, every: bool = False) -> str:
    """A change of a file as a unified diff, nothing taken out: ``every`` place that holds the words changes. Only the
    path is kept to one line, so that it cannot pass for lines of the diff."""
    named = " ".join(path.splitlines()) if len(path.splitlines()) > 1 else path
    rows = list(difflib.unified_diff(before.split("\n"), after.split("\n"), named, named, lineterm="", n=3))
    head = ["every place that holds these words:"] if every else []
    return "\n".join([*head, *(rows or [f"{named}: no change"])])


def _edit_in(name: str, value: Mapping[str, Json]) -> tuple[str, str, str] | None:
    """The path, the words before and the words after of a call of P's file or memory tools."""
    for path_key, before_key, after_key in _EDITS.get(name, ()):
        path, before, after = value.get(path_key), value.get(before_key, ""), value.get(after_key)
        if isinstance(path, str) and isinstance(before, str) and isinstance(after, str):
            return path, before, after
    return None


_EDITS: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "edit": (("file_path", "old_string", "new_string"),),
    "write": (("file_path", "", "content"),),
    "memory": (("path", "old_str", "new_str"), ("path", "", "file_text")),
}


def content_text(content: Json) -> str:
    """A tool result's text: its text blocks joined; a picture, a PDF or any other block is named in brackets."""
    if isinstance(content, str):
        return clean(content)
    if not isinstance(content, list):
        return "" if content is None else clean(json.dumps(content, ensure_ascii=False))
    parts: list[str] = []
    for block in content:
        if isinstance(block, dict) and isinstance(text := block.get("text"), str):
            parts.append(text)
        elif isinstance(block, dict):
            parts.append(f"[{_named(block)}]")
        else:
            parts.append(json.dumps(block, ensure_ascii=False))
    return clean("\n".join(parts))


def _named(block: Mapping[str, Json]) -> str:
    """What a block is that has no words: a picture or a PDF by its type and size, never its bytes."""
    kind, source = str(block.get("type", "block")), block.get("source")
    if not isinstance(source, dict):
        return kind
    media, encoded, url = source.get("media_type"), source.get("data"), source.get("url")
    name = "picture" if kind == "image" else "PDF" if media == "application/pdf" else kind
    facts = [str(media)] if isinstance(media, str) and name != "PDF" else []
    if source.get("type") == "base64" and isinstance(encoded, str):
        facts.append(f"{len(encoded) * 3 // 4 - encoded[-2:].count('='):,} bytes")
    elif isinstance(url, str):
        facts.append(url)
    return f"{name}: {', '.join(facts)}" if facts else name


def whole_tool(entry: ToolEntry, events: Iterable[Event]) -> tuple[str, str] | None:
    """The whole input and output of a tool call, clean, out of its session's events; None when the call is not
    among them. The output is empty while the tool runs."""
    given: str | None = None
    got = ""
    for event in events:
        match event.body:
            case ToolCalled(tool_use_id=entry.tool_use_id, name=name, input=value) if event.n == entry.n:
                given = call_text(name, value)
            case ToolEnded(content=content) if event.n == entry.ended_n:
                got = content_text(content)
            case _:
                pass
    return None if given is None else (given, got)


def spoken_in(content: Json) -> list[Spoken]:
    """What an answer's content blocks say: each text with the thinking before it."""
    found: list[Spoken] = []
    thinking: list[str] = []
    for block in content if isinstance(content, list) else []:
        if not isinstance(block, dict):
            continue
        text, thought = block.get("text"), block.get("thinking")
        if block.get("type") == "thinking" and isinstance(thought, str):
            thinking.append(clean(thought))
        elif block.get("type") == "text" and isinstance(text, str):
            if text or thinking:
                found.append(Spoken("\n\n".join(thinking), clean(text)))
            thinking = []
    if any(thinking):
        found.append(Spoken("\n\n".join(thinking), ""))
    return found
