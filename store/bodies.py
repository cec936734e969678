"""What each kind of event says: one frozen dataclass per kind, registered by its name in the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias, TypeVar

from pydantic import JsonValue

from store.lines import Line

Json: TypeAlias = JsonValue
"""Any JSON value. Pydantic's own alias: it checks a recursive one only when the recursion has a name."""
Seat = Literal["presence", "keeper", "reader"]
By = Literal["operator", "presence", "keeper", "reader", "system"]

_BodyT = TypeVar("_BodyT", bound="type[Body]")


@dataclass(frozen=True, slots=True)
class Body:
    """Base of all bodies. ``KIND`` is the name in the log; ``DURABLE`` bodies are fsynced before any effect."""

    KIND: ClassVar[str] = ""
    DURABLE: ClassVar[bool] = True


BODY_BY_KIND: dict[str, type[Body]] = {}


def _registered(cls: _BodyT) -> _BodyT:
    BODY_BY_KIND[cls.KIND] = cls
    return cls


@dataclass(frozen=True, slots=True)
class Unknown(Body):
    """An event kind that this version does not know; kept as it came."""

    KIND: ClassVar[str] = "?"
    kind: str
    raw: Json


# ---------------------------------------------------------------- the log itself


@dataclass(frozen=True, slots=True)
class Citation:
    """Where another log stood: its name, its last event's ``n`` and ``seq``."""

    log: str
    n: int
    seq: int


@_registered
@dataclass(frozen=True, slots=True)
class LogOpened(Body):
    """First event of every log. Its ``prev`` is the hash of the room's last line, which ``cites`` names."""

    KIND: ClassVar[str] = "log.opened"
    format: int
    log: str
    program: str
    cites: Citation | None = None


@_registered
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


@_registered
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


@_registered
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


@_registered
@dataclass(frozen=True, slots=True)
class SessionResumed(Body):
    """The session goes on in a new process. ``found`` says what the crash left: partial text, an open tool."""

    KIND: ClassVar[str] = "session.resumed"
    found: str


@_registered
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


@_registered
@dataclass(frozen=True, slots=True)
class WakePacket(Body):
    """Exactly what a fresh P is given before it acts."""

    KIND: ClassVar[str] = "wake.packet"
    condition: str
    text: str
    parts: tuple[PacketPart, ...]
    sha256: str


# ---------------------------------------------------------------- the operator


@_registered
@dataclass(frozen=True, slots=True)
class OperatorSaid(Body):
    """The operator's message that opens a turn. ``tail`` is what the program adds behind it for P (hot lines,
    whispers), kept apart so that nobody takes it for the operator's words."""

    KIND: ClassVar[str] = "operator.said"
    text: str
    tail: str = ""


@_registered
@dataclass(frozen=True, slots=True)
class OperatorQueued(Body):
    """A message typed while P works. ``key`` names it so that it can be taken back."""

    KIND: ClassVar[str] = "operator.queued"
    key: str
    text: str


@_registered
@dataclass(frozen=True, slots=True)
class OperatorUnqueued(Body):
    KIND: ClassVar[str] = "operator.unqueued"
    key: str


TurnEnd = Literal["done", "stopped", "failed", "interrupted"]


@_registered
@dataclass(frozen=True, slots=True)
class TurnEnded(Body):
    """P handed back. ``detail`` is one plain sentence when the end was not ``done``."""

    KIND: ClassVar[str] = "turn.ended"
    end: TurnEnd
    detail: str = ""


@_registered
@dataclass(frozen=True, slots=True)
class BreakMarked(Body):
    """A natural break: a pattern of the task (``output_test``, ``apply``, ``ship``) or the operator's key."""

    KIND: ClassVar[str] = "break.marked"
    which: str


@_registered
@dataclass(frozen=True, slots=True)
class RetMarked(Body):
    """The operator set or voided the RET by hand. ``seconds`` only with ``set``."""

    KIND: ClassVar[str] = "ret.marked"
    action: Literal["set", "void", "restore"]
    reason: str
    seconds: float | None = None


# ---------------------------------------------------------------- requests, streams, messages


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one response as the API reports them. ``input`` is what was neither read from nor written to the
    prompt cache, so the whole prompt is ``input + cache_read + cache_write``."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.output + other.output,
        )

    @property
    def prompt(self) -> int:
        """All tokens of the prompt, cached or not."""
        return self.input + self.cache_read + self.cache_write


@_registered
@dataclass(frozen=True, slots=True)
class RequestSent(Body):
    """A request is about to leave. ``request`` counts the session's requests from 1; ``sha256`` is of the body's
    bytes, ``bytes`` its length."""

    KIND: ClassVar[str] = "request.sent"
    DURABLE: ClassVar[bool] = False
    seat: Seat
    request: int
    model: str
    sha256: str
    bytes: int
    purpose: str = "turn"


@_registered
@dataclass(frozen=True, slots=True)
class RequestRetried(Body):
    """An attempt (counted from 1) failed and another follows. ``status`` 0 means that no answer came; ``wait_s`` in
    seconds."""

    KIND: ClassVar[str] = "request.retried"
    DURABLE: ClassVar[bool] = False
    seat: Seat
    request: int
    attempt: int
    status: int
    reason: str
    wait_s: float


@_registered
@dataclass(frozen=True, slots=True)
class RequestFailed(Body):
    """A request ended without a message. ``error`` is the API's error type or the exception's name."""

    KIND: ClassVar[str] = "request.failed"
    seat: Seat
    request: int
    error: str
    reason: str
    status: int = 0


@_registered
@dataclass(frozen=True, slots=True)
class FirstToken(Body):
    """The first token of an answer came ``ms`` milliseconds after its request left."""

    KIND: ClassVar[str] = "stream.first_token"
    DURABLE: ClassVar[bool] = False
    seat: Seat
    request: int
    ms: float


@_registered
@dataclass(frozen=True, slots=True)
class Partial(Body):
    """Words of an answer since the last such event (at least every 250 ms while it streams)."""

    KIND: ClassVar[str] = "stream.partial"
    DURABLE: ClassVar[bool] = False
    seat: Seat
    request: int
    block: int
    what: Literal["text", "thinking", "tool_input"]
    text: str


@_registered
@dataclass(frozen=True, slots=True)
class MessageEnded(Body):
    """A whole answer. ``content`` is the list of content blocks as they go into the next request; ``usd`` is a
    decimal in text, None when the model has no known price; times in milliseconds since the request left."""

    KIND: ClassVar[str] = "message.ended"
    seat: Seat
    request: int
    message_id: str
    model: str
    content: Json
    stop_reason: str
    usage: Usage
    usd: str | None
    ttft_ms: float | None
    total_ms: float
    purpose: str = "turn"


@_registered
@dataclass(frozen=True, slots=True)
class MessageCut(Body):
    """An answer that did not come to its end; ``text`` is what had come. Kept, shown as interrupted."""

    KIND: ClassVar[str] = "message.cut"
    seat: Seat
    request: int
    text: str
    reason: str
    usage: Usage = Usage()
    usd: str | None = None
    purpose: str = "turn"


@_registered
@dataclass(frozen=True, slots=True)
class ContextCompacted(Body):
    """P's conversation so far was replaced by a summary, ``text``, which is nobody's word in the conversation; the full
    text stays in this log. ``content`` is the list of content blocks that stands in its place, signed, as it came (None
    in a log taken from elsewhere); ``tokens`` and ``window`` say how full the context was."""

    KIND: ClassVar[str] = "context.compacted"
    text: str
    content: Json = None
    tokens: int = 0
    window: int = 0


# ---------------------------------------------------------------- tools


@_registered
@dataclass(frozen=True, slots=True)
class ToolCalled(Body):
    """P asked for a tool. Logged before anything runs; ``tool_use_id`` is the API's."""

    KIND: ClassVar[str] = "tool.called"
    tool_use_id: str
    name: str
    input: Json


@_registered
@dataclass(frozen=True, slots=True)
class ToolAsked(Body):
    """The operator is asked. ``shown`` is exactly what they see: the command, the diff, the arguments."""

    KIND: ClassVar[str] = "tool.asked"
    tool_use_id: str
    name: str
    shown: str


AllowScope = Literal["once", "tool", "prefix", "policy"]


@_registered
@dataclass(frozen=True, slots=True)
class ToolAnswered(Body):
    """The decision on a tool call and how far it reaches. ``word`` is the operator's word to P with a denial."""

    KIND: ClassVar[str] = "tool.answered"
    tool_use_id: str
    name: str
    decision: Literal["allow", "deny"]
    scope: AllowScope
    prefix: str = ""
    word: str = ""


ToolOutcome = Literal["ok", "error", "denied", "stopped", "unknown_tool"]


@dataclass(frozen=True, slots=True)
class WholeOutput:
    """Where the whole of a cut output is kept: ``file`` under the session's folder, its ``bytes`` and SHA-256 as far
    as it was kept, and how many bytes more there were (``lost``), past the most that is kept of one output."""

    file: str
    bytes: int
    sha256: str
    lost: int = 0


@_registered
@dataclass(frozen=True, slots=True)
class ToolEnded(Body):
    """What a tool gave back. ``content`` is what P is sent (text or content blocks); ``bytes`` its size; ``source`` is
    "memory" for what came out of the room's own memory, which is no evidence for a line; ``whole`` where the whole
    output is when it was cut for P."""

    KIND: ClassVar[str] = "tool.ended"
    tool_use_id: str
    name: str
    outcome: ToolOutcome
    content: Json
    ms: float
    bytes: int
    source: Literal["world", "memory"] = "world"
    whole: WholeOutput | None = None


# ---------------------------------------------------------------- tiers


@dataclass(frozen=True, slots=True)
class Change:
    """One line before and after. None before: it is new. After in tier "cold": it left hot or warm."""

    before: Line | None
    after: Line


@_registered
@dataclass(frozen=True, slots=True)
class TiersChanged(Body):
    """One operation on the tiers, whole. ``op`` names it (a tool of DESIGN §7, or promote, retire, restore, undo,
    decay, expire); ``undoes`` is the ``seq`` of the event that an undo takes back."""

    KIND: ClassVar[str] = "tiers.changed"
    op: str
    changes: tuple[Change, ...]
    reason: str
    quote: str = ""
    undoes: int | None = None
    session: int = 0


@_registered
@dataclass(frozen=True, slots=True)
class TiersRefused(Body):
    """An operation that the gate refused; ``reason`` says what would be accepted."""

    KIND: ClassVar[str] = "tiers.refused"
    op: str
    input: Json
    reason: str


# ---------------------------------------------------------------- the Keeper


@_registered
@dataclass(frozen=True, slots=True)
class ChunkGiven(Body):
    """What K was given to hear: the turns it covers, which pass it is, the text."""

    KIND: ClassVar[str] = "keeper.chunk"
    turns: tuple[int, ...]
    purpose: Literal["turn", "warm", "closing"]
    text: str


KeeperStanding = Literal["idle", "busy", "paused", "failed", "ended", "absent"]


@_registered
@dataclass(frozen=True, slots=True)
class KeeperState(Body):
    """How K stands and how many turns it is behind; ``reason`` when it is paused or failed."""

    KIND: ClassVar[str] = "keeper.state"
    DURABLE: ClassVar[bool] = False
    standing: KeeperStanding
    behind: int
    reason: str = ""


@_registered
@dataclass(frozen=True, slots=True)
class KeeperPassed(Body):
    """A pass of K is over: what its operations came to."""

    KIND: ClassVar[str] = "keeper.passed"
    turns: tuple[int, ...]
    purpose: Literal["turn", "warm", "closing"]
    accepted: int
    refused: int
    note: str = ""


@_registered
@dataclass(frozen=True, slots=True)
class KeeperWords(Body):
    """K's words to P (whisper) or to the operator and P (speak), where the condition allows them."""

    KIND: ClassVar[str] = "keeper.words"
    to: Literal["presence", "both"]
    text: str


# ---------------------------------------------------------------- journals, letters, the close


Journal = Literal["snug", "improvements", "recall"]


@_registered
@dataclass(frozen=True, slots=True)
class JournalWritten(Body):
    """An entry of an append-only journal, signed and dated in its file by the event's ``by`` and ``at``."""

    KIND: ClassVar[str] = "journal.written"
    journal: Journal
    text: str


@_registered
@dataclass(frozen=True, slots=True)
class LetterFiled(Body):
    """A letter or handoff of P. ``tiers_seen`` tells whether the condition had shown P tier text before."""

    KIND: ClassVar[str] = "letter.filed"
    which: Literal["letter", "handoff"]
    file: str
    text: str
    sha256: str
    tiers_seen: bool
    edited_by_operator: bool = False


@_registered
@dataclass(frozen=True, slots=True)
class LetterDrafted(Body):
    """P's letter or handoff as it came, before it is filed: the operator may read, edit or answer it."""

    KIND: ClassVar[str] = "letter.drafted"
    which: Literal["letter", "handoff"]
    text: str


@_registered
@dataclass(frozen=True, slots=True)
class BriefProposed(Body):
    """K's revision of its own brief, asked for once, at the first close of a room (paper §5.1). Empty: none."""

    KIND: ClassVar[str] = "brief.proposed"
    brief: str
    text: str


@_registered
@dataclass(frozen=True, slots=True)
class BriefAnswered(Body):
    """The operator's answer to a proposed brief. ``sha256`` is of the brief that holds from now on."""

    KIND: ClassVar[str] = "brief.answered"
    brief: str
    accepted: bool
    sha256: str


@_registered
@dataclass(frozen=True, slots=True)
class WorkspaceDiffed(Body):
    """What the session changed in the workspace, as a unified diff. ``how`` is "git" or "files"."""

    KIND: ClassVar[str] = "workspace.diff"
    how: str
    diff: str


@_registered
@dataclass(frozen=True, slots=True)
class BundleExported(Body):
    KIND: ClassVar[str] = "bundle.exported"
    file: str
    sha256: str


@_registered
@dataclass(frozen=True, slots=True)
class BundleImported(Body):
    """A bundle's session is being taken in: ``session`` is its log, ``events`` how many events follow from it here,
    ``log_sha256`` the hash of its log's last line in the room that it is from."""

    KIND: ClassVar[str] = "bundle.imported"
    session: str
    file: str
    events: int
    log_sha256: str


@_registered
@dataclass(frozen=True, slots=True)
class TiersTaken(Body):
    """The tiers that an imported session began with, taken into a room that had none of its own. ``next_number`` and
    ``session`` go on from where they stood there."""

    KIND: ClassVar[str] = "tiers.taken"
    lines: tuple[Line, ...]
    next_number: int
    session: int


@_registered
@dataclass(frozen=True, slots=True)
class DateFlagged(Body):
    """A date with a weekday that is not the calendar's. It stands at ``start``:``end`` of the text of event ``of`` (its
    ``n`` in this log; ``block`` counts the content blocks of a message or the changed lines); ``where`` names the place
    in a word or two, ``right`` is the weekday that it is, empty when there is no such date."""

    KIND: ClassVar[str] = "date.flagged"
    DURABLE: ClassVar[bool] = False
    of: int
    writer: By
    where: str
    said: str
    right: str
    start: int
    end: int
    block: int = 0


@_registered
@dataclass(frozen=True, slots=True)
class Notice(Body):
    """A plain sentence for the operator: something missing at the endpoint, a file set aside, a wrong date."""

    KIND: ClassVar[str] = "notice"
    level: Literal["info", "warning", "error"]
    text: str


# ---------------------------------------------------------------- transcripts taken from elsewhere


@_registered
@dataclass(frozen=True, slots=True)
class TranscriptBegan(Body):
    """A log holds a session of another program. ``source`` names it there; ``chain`` and ``number`` (from 1) place it
    among sessions that follow each other; ``operator`` and ``presence`` are the two voices' names as they stand
    there."""

    KIND: ClassVar[str] = "transcript.began"
    format: str
    source: str
    chain: str
    number: int
    title: str
    operator: str
    presence: str


@_registered
@dataclass(frozen=True, slots=True)
class RecordsTaken(Body):
    """The records of the source that the events since the last such mark stand on: taken again they add nothing."""

    KIND: ClassVar[str] = "transcript.records"
    DURABLE: ClassVar[bool] = False
    ids: tuple[str, ...]


@_registered
@dataclass(frozen=True, slots=True)
class Rewound(Body):
    """The operator went back: this turn follows ``to_turn`` (0: the beginning), and the turns between are no part of
    what goes on."""

    KIND: ClassVar[str] = "transcript.rewound"
    to_turn: int


@_registered
@dataclass(frozen=True, slots=True)
class TranscriptsImported(Body):
    """What one import took from a file and what it left out, counted by kind and by reason."""

    KIND: ClassVar[str] = "transcript.imported"
    file: str
    format: str
    taken: Mapping[str, int]
    left_out: Mapping[str, int]
