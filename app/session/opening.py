"""Opening a session: decay, the wake packet and the first events; or taking one up again after a crash."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from app.session import workspace as workspaces
from app.session.briefs import Brief, keeper_brief, presence_brief
from app.session.endpoint import Endpoint
from app.session.record import SessionLog
from app.session.wake import wake_packet
from store.bodies import (
    ConditionRecord,
    MessageCut,
    RequestFailed,
    SessionClosed,
    SessionOpened,
    SessionResumed,
    TaskRecord,
    ToolEnded,
    TurnEnded,
    WakePacket,
)
from store.conversation import INTERRUPTED_TOOL, loose_ends
from store.decay import decayed, packaged_rules, promotions_spent, used_by_waking
from store.letters import letters
from store.lines import with_changes
from store.plain import PlainError
from store.room import LogName, Room


class SessionError(PlainError):
    """A session cannot be opened or taken up; one plain sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A session with its log, its condition and what each seat is told."""

    record: SessionLog
    condition: ConditionRecord
    task: TaskRecord | None
    workspace: Path
    presence: Brief
    keeper: Brief


def preview(room: Room, condition: ConditionRecord, task: TaskRecord | None) -> WakePacket:
    """The wake packet that the next session would give, without opening one: decay is reckoned, not applied."""
    number = room.tiers.session + 1
    fading = decayed(room.tiers, packaged_rules(), number)
    tiers = with_changes(
        room.tiers, [change.after for change in fading.changes] if fading else [], seq=room.seq, session=number
    )
    return wake_packet(
        operator=room.settings.operator,
        number=number,
        condition=condition,
        task=task,
        letters=letters(room),
        tiers=tiers,
        now=room.clock.now(),
    )


def open_session(
    room: Room, endpoint: Endpoint, *, condition: ConditionRecord, task: TaskRecord | None, workspace: Path
) -> Opened:
    """A new session: its log begins, decay is applied, the wake packet is made and logged.

    Raises SessionError when the workspace is no folder, and what the room raises when the disk refuses.
    """
    if not workspace.is_dir():
        raise SessionError(f"The workspace {workspace} is no folder; name one that exists.")
    log = room.new_session_id()
    record = SessionLog(room, log)
    number = room.tiers.session + 1
    presence = presence_brief(room.root, room.settings.operator, condition)
    keeper = keeper_brief(room.root, room.settings.operator, condition)
    record.append(
        "system",
        SessionOpened(
            session=log,
            number=number,
            condition=condition,
            task=task,
            operator=room.settings.operator,
            model=endpoint.model,
            endpoint=endpoint.place,
            scripted=endpoint.scripted,
            workspace=str(workspace.resolve()),
            briefs={"presence": presence.sha256, **({"keeper": keeper.sha256} if condition.keeper else {})},
            settings=room.settings.public(),
            versions=versions(),
        ),
    )
    fading = decayed(room.tiers, packaged_rules(), number)
    if fading is not None:
        record.append("system", fading)
    record.append(
        "system",
        wake_packet(
            operator=room.settings.operator,
            number=number,
            condition=condition,
            task=task,
            letters=letters(room),
            tiers=room.tiers,
            now=room.clock.now(),
        ),
    )
    spent = promotions_spent(room.tiers, number)
    if spent is not None:
        record.append("system", spent)
    if room.settings.session.wake_packet_touches and "warm" in condition.successor:
        used = used_by_waking(room.tiers, number)
        if used is not None:
            record.append("system", used)
    workspaces.remember(workspace, snapshot_of(room, log))
    return Opened(record, condition, task, workspace.resolve(), presence, keeper)


def resume_session(room: Room, session: LogName) -> Opened:
    """A session taken up where its log ends: words that had come are kept as cut off, tool calls without a result get
    one that says so.

    Raises SessionError when there is no such session or it is closed.
    """
    known = {row.id: row for row in room.sessions()}
    row = next((found for name, found in known.items() if name == session), None)
    if row is None:
        names = ", ".join(list(known)[-3:]) or "none yet"
        raise SessionError(f"There is no session {session} in this room; the newest are: {names}.")
    record = SessionLog(room, session)
    events = record.replay()
    opened = record.opened
    if opened is None or any(isinstance(event.body, SessionClosed) for event in events):
        raise SessionError(f"The session {session} is closed; open the next one with: twins run")
    workspace = Path(opened.workspace)
    if not workspace.is_dir():
        raise SessionError(f"The workspace {workspace} of this session is gone; put it back, then resume.")
    ends = loose_ends(events)
    found = []
    for call_id, name in ends.calls:
        record.append("system", ToolEnded(call_id, name, "stopped", INTERRUPTED_TOOL, 0.0, 0))
        found.append(f"the tool {name} had no result")
    if ends.request is not None:
        if ends.partial:
            cut = MessageCut(
                "presence", ends.request, ends.partial, "the session was interrupted", purpose=ends.purpose
            )
            record.append("presence", cut)
            found.append(f"{len(ends.partial):,} characters of an answer are kept")
        else:
            record.append("system", RequestFailed("presence", ends.request, "interrupted", "the program ended"))
            found.append("a request had no answer")
    if ends.turn is not None:
        record.append("system", TurnEnded("interrupted", "The session was interrupted in this turn."))
    record.append("system", SessionResumed("; ".join(found) or "nothing was open"))
    return Opened(
        record,
        opened.condition,
        opened.task,
        workspace,
        presence_brief(room.root, opened.operator, opened.condition),
        keeper_brief(room.root, opened.operator, opened.condition),
    )


def snapshot_of(room: Room, log: LogName) -> Path:
    """Where the workspace is remembered as it stood when the session opened."""
    return room.sessions_dir / log / "workspace-before.json"


def versions() -> dict[str, str]:
    """Versions of what a run depends on, for its record."""
    found: dict[str, str] = {}
    for name in ("two-twins", "anthropic", "textual", "genai-prices"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "from source"
    return found
