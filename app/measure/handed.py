"""What a successor loaded before its first right action, and the same as blind scorers see it (DESIGN §10, HF)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from app.measure.result import EventRef, ref
from app.measure.ret import ret
from store.bodies import Json, OperatorSaid, PacketPart, RetMarked, ToolEnded, WakePacket
from store.events import Event
from store.evidence import folded
from store.text import clean

FRAME = frozenset({"room", "cold", "task"})
"""Parts of a wake packet that are the program's own words or the task's: the same whatever was handed over."""
MASK = "▒▒▒"
_GIVES_AWAY = re.compile(
    r"(?i)\b(?:keepers?(?:['’]s)?|whisper\w*|second instance|twins?|listen(?:er|ers|s|ed|ing)?|tiers?"
    r"|condition [A-E]\b)"
)
_LINE_HEAD = re.compile(r"^\s*\[L\d+\b[^\]\n]*\]\s*", re.MULTILINE)
_LINE_NAME = re.compile(r"\bL\d+\b")
METHOD = (
    "The wake packet, what the program showed behind the operator's messages, and the results of P's tools on memory, "
    "letters, snug, recall and cold, up to P's first right action (to the session's end where it never came)."
)


@dataclass(frozen=True, slots=True)
class Passage:
    """One thing that was loaded: a part of the wake packet by its name, "tail", or a tool's name; its words."""

    source: str
    text: str
    event: EventRef


@dataclass(frozen=True, slots=True)
class Handed:
    """All that was loaded, in order; ``until`` is the first right action, None where it never came."""

    passages: tuple[Passage, ...]
    until: EventRef | None

    def blind(self, *, frame: bool = False) -> str:
        """The words as scorers see them: without ids, kinds and titles, with words masked that name who kept them, so
        that what is read tells as little as can be of the condition. ``frame`` keeps the program's own words."""
        kept = [neutral(one.text) for one in self.passages if frame or one.source not in FRAME]
        return "\n\n".join(text for text in kept if text)


def first_right_action(events: Sequence[Event]) -> EventRef | None:
    """The call that was the first right action, whatever the operator's hand made of the RET."""
    found = ret(event for event in events if not isinstance(event.body, RetMarked))
    return found.seconds.events[-1] if found.source == "clock" else None


def handed(events: Sequence[Event]) -> Handed:
    """What the session of ``events`` loaded before it acted. See METHOD."""
    until = first_right_action(events)
    last = until.n if until else None
    passages: list[Passage] = []
    for event in events:
        if last is not None and event.n >= last:
            break
        body = event.body
        match body:
            case WakePacket():
                passages += [Passage(name, text, ref(event)) for name, text in packet_parts(body)]
            case OperatorSaid() if body.tail:
                passages.append(Passage("tail", body.tail, ref(event)))
            case ToolEnded(source="memory", outcome="ok") if event.by != "keeper":
                passages += [Passage(body.name, text, ref(event)) for text in _texts(body.content)]
            case _:
                pass
    return Handed(tuple(passages), until)


def packet_parts(packet: WakePacket) -> Iterator[tuple[str, str]]:
    """The parts of a wake packet by name, each without its title. Raises ValueError when the text does not hold the
    parts that the packet names."""
    raw = packet.text.encode()
    at = 0
    for part in packet.parts:
        at = _start_of(part, raw, at)
        whole = raw[at : at + part.bytes].decode()
        at += part.bytes
        title, _, text = whole.partition("\n")
        yield part.name, text if title.startswith("# ") else whole


def _start_of(part: PacketPart, raw: bytes, at: int) -> int:
    begins = raw.find(f"# {part.title}".encode(), at)
    if begins < 0:
        raise ValueError(f"the wake packet does not hold its part {part.name}")
    return begins


def neutral(text: str) -> str:
    """``text`` without what would tell who kept it or how: line ids and kinds off, telling words masked."""
    bare = _LINE_HEAD.sub("- ", clean(text))
    return _GIVES_AWAY.sub(MASK, _LINE_NAME.sub("", bare)).strip()


def stands_in(quote: str, material: str) -> bool:
    """Whether a scorer's quote stands verbatim in the material, white space folded. Eight bytes at the least: fewer
    stand anywhere."""
    wanted = folded(quote)
    return len(wanted.encode()) >= 8 and wanted in folded(material)


def _texts(content: Json) -> Iterable[str]:
    if isinstance(content, str):
        return (content,)
    blocks = content if isinstance(content, list) else []
    return tuple(str(block["text"]) for block in blocks if isinstance(block, dict) and "text" in block)
