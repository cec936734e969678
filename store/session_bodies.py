"""What a log and a session say of themselves, and what the operator says and marks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from store.body import Body, Json, registered

# ---------------------------------------------------------------- the log itself


@dataclass(frozen=True, slots=True)
class Citation:
    """Where another log stood: its name, its last event's ``n`` and ``seq``."""

    log: str
    n: int
    seq: int


@registered
@dataclass(frozen=True, slots=True)
class LogOpened(Body):
    """First event of every log. Its ``prev`` is the hash of the room's last line, which ``cites`` names."""

    KIND: ClassVar[str] = "log.opened"
    format: int
    log: str
    program: str
    cites: Citation | None = None


@registered
@dataclass(frozen=True, slots=True)
class TailMoved(Body):
    """A torn last line was moved aside after a crash. ``bytes`` is how much, ``file`` where it is kept."""

    KIND: ClassVar[str] = "log.tail_moved"
    bytes: int
    file: str


# ---------------------------------------------------------------- the session


@dataclass(frozen=True, slots=True)
class FirstAction:
    """How the task knows its first right action: the tool's name, a pattern on what it is called with (regex,
    searched, case-insensitive), and a pattern on operator messages that give it away."""

    tool: str
    pattern: str
    told_pattern: str = ""


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A task as the log keeps it, so that every measure can be recomputed from the log alone."""

    name: str
    title: str
    brief: str
    first_action: FirstAction
    breaks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConditionRecord:
    """A condition's flags as they held (DESIGN §8)."""

    name: str
    title: str
    keeper: bool
    hot_each_turn: bool
    whisper: bool
    speak: bool
    write_snug: bool
    successor: tuple[str, ...]


@registered
@dataclass(frozen=True, slots=True)
class SessionOpened(Body):
    """A session began. ``number`` counts the room's sessions from 1; ``briefs`` maps a brief's name to its
    SHA-256; ``scripted`` tells that no model is behind the seats; ``settings`` are without secrets."""

    KIND: ClassVar[str] = "session.opened"
    session: str
    number: int
    condition: ConditionRecord
    task: TaskRecord | None
    operator: str
    model: str
    endpoint: str
    scripted: bool
    workspace: str
    briefs: Mapping[str, str]
    settings: Json = None
    versions: Mapping[str, str] = field(default_factory=dict)


@registered
@dataclass(frozen=True, slots=True)
class SeatReady(Body):
    """P can be asked. ``sandbox`` is what holds its bash ("bwrap", "off", "not available"); ``context_window`` in
    tokens, 0 when neither endpoint nor settings tell; ``thinking`` and ``compaction`` tell whether they are asked for;
    ``tools`` are the names of P's tools."""

    KIND: ClassVar[str] = "seat.ready"
    DURABLE: ClassVar[bool] = False
    sandbox: str
    context_window: int
    thinking: bool
    compaction: bool
    tools: tuple[str, ...]


@registered
@dataclass(frozen=True, slots=True)
class SessionResumed(Body):
    """The session goes on in a new process. ``found`` says what the crash left: partial text, an open tool."""

    KIND: ClassVar[str] = "session.resumed"
    found: str


@registered
@dataclass(frozen=True, slots=True)
class SessionClosed(Body):
    KIND: ClassVar[str] = "session.closed"
    reason: str


@dataclass(frozen=True, slots=True)
class PacketPart:
    """One part of a wake packet: what it is, its title, its size in bytes and its hash."""

    name: str
    title: str
    bytes: int
    sha256: str


@registered
@dataclass(frozen=True, slots=True)
class WakePacket(Body):
    """Exactly what a fresh P is given before it acts."""

    KIND: ClassVar[str] = "wake.packet"
    condition: str
    text: str
    parts: tuple[PacketPart, ...]
    sha256: str


# ---------------------------------------------------------------- the operator


@registered
@dataclass(frozen=True, slots=True)
class OperatorSaid(Body):
    """The operator's message that opens a turn. ``tail`` is what the program adds behind it for P (hot lines,
    whispers), kept apart so that nobody takes it for the operator's words."""

    KIND: ClassVar[str] = "operator.said"
    text: str
    tail: str = ""


@registered
@dataclass(frozen=True, slots=True)
class OperatorQueued(Body):
    """A message typed while P works. ``key`` names it so that it can be taken back."""

    KIND: ClassVar[str] = "operator.queued"
    key: str
    text: str


@registered
@dataclass(frozen=True, slots=True)
class OperatorUnqueued(Body):
    KIND: ClassVar[str] = "operator.unqueued"
    key: str


TurnEnd = Literal["done", "stopped", "failed", "interrupted"]


@registered
@dataclass(frozen=True, slots=True)
class TurnEnded(Body):
    """P handed back. ``detail`` is one plain sentence when the end was not ``done``."""

    KIND: ClassVar[str] = "turn.ended"
    end: TurnEnd
    detail: str = ""


@registered
@dataclass(frozen=True, slots=True)
class BreakMarked(Body):
    """A natural break: a pattern of the task (``output_test``, ``apply``, ``ship``) or the operator's key."""

    KIND: ClassVar[str] = "break.marked"
    which: str


@registered
@dataclass(frozen=True, slots=True)
class RetMarked(Body):
    """The operator set or voided the RET by hand. ``seconds`` only with ``set``."""

    KIND: ClassVar[str] = "ret.marked"
    action: Literal["set", "void", "restore"]
    reason: str
    seconds: float | None = None
