"""What is kept: changes of the tiers, the Keeper, journals, letters, bundles, notices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from store.body import Body, By, Json, registered
from store.lines import Line

# ---------------------------------------------------------------- tiers


@dataclass(frozen=True, slots=True)
class Change:
    """One line before and after. None before: it is new. After in tier "cold": it left hot or warm."""

    before: Line | None
    after: Line


@registered
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


@registered
@dataclass(frozen=True, slots=True)
class TiersRefused(Body):
    """An operation that the gate refused; ``reason`` says what would be accepted."""

    KIND: ClassVar[str] = "tiers.refused"
    op: str
    input: Json
    reason: str


# ---------------------------------------------------------------- the Keeper


@registered
@dataclass(frozen=True, slots=True)
class ChunkGiven(Body):
    """What K was given to hear: the turns it covers, which pass it is, the text."""

    KIND: ClassVar[str] = "keeper.chunk"
    turns: tuple[int, ...]
    purpose: Literal["turn", "warm", "closing"]
    text: str


KeeperStanding = Literal["idle", "busy", "paused", "failed", "ended", "absent"]


@registered
@dataclass(frozen=True, slots=True)
class KeeperState(Body):
    """How K stands and how many turns it is behind; ``reason`` when it is paused or failed."""

    KIND: ClassVar[str] = "keeper.state"
    DURABLE: ClassVar[bool] = False
    standing: KeeperStanding
    behind: int
    reason: str = ""


@registered
@dataclass(frozen=True, slots=True)
class KeeperPassed(Body):
    """A pass of K is over: what its operations came to."""

    KIND: ClassVar[str] = "keeper.passed"
    turns: tuple[int, ...]
    purpose: Literal["turn", "warm", "closing"]
    accepted: int
    refused: int
    note: str = ""


@registered
@dataclass(frozen=True, slots=True)
class KeeperWords(Body):
    """K's words to P (whisper) or to the operator and P (speak), where the condition allows them."""

    KIND: ClassVar[str] = "keeper.words"
    to: Literal["presence", "both"]
    text: str


# ---------------------------------------------------------------- journals, letters, the close


Journal = Literal["snug", "improvements", "recall"]


@registered
@dataclass(frozen=True, slots=True)
class JournalWritten(Body):
    """An entry of an append-only journal, signed and dated in its file by the event's ``by`` and ``at``."""

    KIND: ClassVar[str] = "journal.written"
    journal: Journal
    text: str


@registered
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


@registered
@dataclass(frozen=True, slots=True)
class LetterDrafted(Body):
    """P's letter or handoff as it came, before it is filed: the operator may read, edit or answer it."""

    KIND: ClassVar[str] = "letter.drafted"
    which: Literal["letter", "handoff"]
    text: str


@registered
@dataclass(frozen=True, slots=True)
class BriefProposed(Body):
    """K's revision of its own brief, asked for once, at the first close of a room (paper §5.1). Empty: none."""

    KIND: ClassVar[str] = "brief.proposed"
    brief: str
    text: str


@registered
@dataclass(frozen=True, slots=True)
class BriefAnswered(Body):
    """The operator's answer to a proposed brief. ``sha256`` is of the brief that holds from now on."""

    KIND: ClassVar[str] = "brief.answered"
    brief: str
    accepted: bool
    sha256: str


@registered
@dataclass(frozen=True, slots=True)
class WorkspaceDiffed(Body):
    """What the session changed in the workspace, as a unified diff. ``how`` is "git" or "files"."""

    KIND: ClassVar[str] = "workspace.diff"
    how: str
    diff: str


@registered
@dataclass(frozen=True, slots=True)
class BundleExported(Body):
    KIND: ClassVar[str] = "bundle.exported"
    file: str
    sha256: str


@registered
@dataclass(frozen=True, slots=True)
class BundleImported(Body):
    """A bundle's session is being taken in: ``session`` is its log, ``events`` how many events follow from it here,
    ``log_sha256`` the hash of its log's last line in the room that it is from."""

    KIND: ClassVar[str] = "bundle.imported"
    session: str
    file: str
    events: int
    log_sha256: str


@registered
@dataclass(frozen=True, slots=True)
class TiersTaken(Body):
    """The tiers that an imported session began with, taken into a room that had none of its own. ``next_number`` and
    ``session`` go on from where they stood there."""

    KIND: ClassVar[str] = "tiers.taken"
    lines: tuple[Line, ...]
    next_number: int
    session: int


@registered
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


@registered
@dataclass(frozen=True, slots=True)
class Notice(Body):
    """A plain sentence for the operator: something missing at the endpoint, a file set aside, a wrong date."""

    KIND: ClassVar[str] = "notice"
    level: Literal["info", "warning", "error"]
    text: str
