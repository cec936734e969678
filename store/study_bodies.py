"""What the events of a study say: the lock, the runs, the scores, the opening of the key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from store.bodies import BODY_BY_KIND, Body, Json
from store.lines import Line

Part = Literal["run", "successor"]
"""The two sessions of a run: session N, which does the task, and N+1, which inherits (paper §4)."""
ItemKind = Literal["present", "warmth", "needed", "verdict"]
"""What a scorer is asked: is this fact in the material (HF), how warm is it (WWR), was this dropped line still needed
(false decay), is this entry a verdict (H6)."""
ScorerKind = Literal["person", "reader", "lexical"]
Answer = Literal["y", "n", "u", "0", "1", "2", "3"]
"""``u`` is "cannot tell"; the numbers are the warmth rubric's."""
Standing = Literal["ok", "unverified", "skipped"]
"""``unverified``: a model said "present" without words that stand in the material; a person has to look."""
RuleState = Literal["quiet", "fired", "waiting"]
Observed = Literal["unsaid", "no", "better", "worse"]


@dataclass(frozen=True, slots=True)
class ScheduledRun:
    """One run as drawn: ``task`` and ``successor`` are names of tasks, ``repeats`` the aborted run it stands for."""

    run: str
    task: str
    successor: str
    condition: str
    repeats: str = ""


@dataclass(frozen=True, slots=True)
class StudyLocked(Body):
    """The pre-registration is fixed. ``sha256`` is the lock that runs cite: of ``canonical``, the RFC 8785 JSON of all
    that is fixed. ``file_sha256`` is of the file's bytes, ``text`` those bytes. ``salt`` makes the scorers' item ids
    opaque: it is no part of the lock and is shown to nobody before the key is opened."""

    KIND: ClassVar[str] = "study.locked"
    sha256: str
    canonical: str
    file_sha256: str
    text: str
    salt: str
    schedule: tuple[ScheduledRun, ...]


@dataclass(frozen=True, slots=True)
class StudyAmended(Body):
    """A numbered amendment. ``diff`` is what changed in the file, empty for a note; ``text`` the file as it is now."""

    KIND: ClassVar[str] = "study.amended"
    number: int
    why: str
    before: str
    after: str
    diff: str
    text: str


@dataclass(frozen=True, slots=True)
class RunBegan(Body):
    """A run began under the lock that it cites."""

    KIND: ClassVar[str] = "study.run_began"
    run: str
    lock: str


@dataclass(frozen=True, slots=True)
class RunSession(Body):
    """A session of a run was opened, in the run's own room."""

    KIND: ClassVar[str] = "study.run_session"
    run: str
    part: Part
    session: str


@dataclass(frozen=True, slots=True)
class RunSessionOver(Body):
    """A session of a run is closed; ``last_sha256`` is the hash of its log's last line, so that no later change of the
    log can pass."""

    KIND: ClassVar[str] = "study.run_session_over"
    run: str
    part: Part
    session: str
    events: int
    last_sha256: str


@dataclass(frozen=True, slots=True)
class KeeperEntry:
    """An entry that the Keeper wrote in its own name: the session's part, the event's ``n`` there, its words."""

    part: Part
    n: int
    text: str


@dataclass(frozen=True, slots=True)
class RunOver(Body):
    """Both sessions are closed and the decay pass before session N+2 was reckoned; ``dropped`` are the warm lines that
    had gone to cold by then (paper §4.4), ``entries`` what K wrote into the snug (H6)."""

    KIND: ClassVar[str] = "study.run_over"
    run: str
    dropped: tuple[Line, ...]
    entries: tuple[KeeperEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class RunAborted(Body):
    """A run that will not be finished. It stays in the record; ``repeat`` puts its cell at the schedule's end."""

    KIND: ClassVar[str] = "study.run_aborted"
    run: str
    why: str
    repeat: bool


@dataclass(frozen=True, slots=True)
class StudyStopped(Body):
    """The study ends before its schedule does."""

    KIND: ClassVar[str] = "study.stopped"
    why: str


@dataclass(frozen=True, slots=True)
class ChecklistWritten(Body):
    """The facts that the next instance needs, from P's handoff and the workspace diff: the denominator of HF."""

    KIND: ClassVar[str] = "study.checklist"
    run: str
    facts: tuple[str, ...]
    scorer: ScorerKind
    name: str
    source_sha256: str


@dataclass(frozen=True, slots=True)
class ItemScored(Body):
    """One answer of one scorer to one item, by its opaque id. ``quote`` are the words it stands on."""

    KIND: ClassVar[str] = "study.scored"
    item: str
    scorer: ScorerKind
    name: str
    answer: Answer
    standing: Standing
    quote: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class HeardRated(Body):
    """H6: after a both-talk session the operator says what it was, from 1 (an assistant with a sidecar) to 5 (two
    colleagues)."""

    KIND: ClassVar[str] = "study.heard"
    run: str
    part: Part
    rating: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class ObservedAsked(Body):
    """Whether P's own letter says that being observed changed how it worked (paper §5.5), and its words."""

    KIND: ClassVar[str] = "study.observed"
    run: str
    part: Part
    answer: Observed
    quote: str = ""


@dataclass(frozen=True, slots=True)
class StopRuleJudged(Body):
    """A stop rule came to another state."""

    KIND: ClassVar[str] = "study.stop_rule"
    rule: str
    state: RuleState
    why: str


@dataclass(frozen=True, slots=True)
class OfflineScored(Body):
    """H5: a recorded run replayed through another Keeper, scored as the twin's was."""

    KIND: ClassVar[str] = "study.offline"
    run: str
    model: str
    hf: float
    wwr: float | None
    source: str


@dataclass(frozen=True, slots=True)
class KeyOpened(Body):
    """All items are scored; from here on scores may be read beside conditions."""

    KIND: ClassVar[str] = "study.key_opened"
    items: int


@dataclass(frozen=True, slots=True)
class ResultsWritten(Body):
    """A results paper was written; file names and their SHA-256."""

    KIND: ClassVar[str] = "study.results"
    files: Mapping[str, str] = field(default_factory=dict)
    lock: str = ""
    numbers: Json = None


STUDY_BODIES: tuple[type[Body], ...] = (
    StudyLocked,
    StudyAmended,
    RunBegan,
    RunSession,
    RunSessionOver,
    RunOver,
    RunAborted,
    StudyStopped,
    ChecklistWritten,
    ItemScored,
    HeardRated,
    ObservedAsked,
    StopRuleJudged,
    OfflineScored,
    KeyOpened,
    ResultsWritten,
)
BODY_BY_KIND.update({body.KIND: body for body in STUDY_BODIES})
