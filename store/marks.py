"""The entries of events that stand by themselves in the chat: dividers, notices and what K says aloud."""

from __future__ import annotations

from store.bodies import (
    BreakMarked,
    BriefAnswered,
    BriefProposed,
    BundleExported,
    ContextCompacted,
    KeeperWords,
    LetterFiled,
    Notice,
    RetMarked,
    SessionClosed,
    SessionOpened,
    SessionResumed,
    TailMoved,
    WakePacket,
    WorkspaceDiffed,
)
from store.entries import DividerEntry, DividerKind, Entry, KeeperEntry, Level, NoticeEntry
from store.events import Event
from store.lines import one_line
from store.text import clean


def mark_of(event: Event) -> Entry | None:
    """The entry that ``event`` comes to all by itself; None when it has none."""
    body = event.body
    match body:
        case SessionOpened():
            task = f" · {body.task.title}" if body.task else ""
            return _divider(
                event,
                "opened",
                f"session {body.number} · condition {body.condition.name} · {body.model}{task}",
            )
        case SessionResumed():
            return _divider(event, "resumed", _with("resumed", body.found))
        case SessionClosed():
            return _divider(event, "closed", _with("session closed", body.reason))
        case WakePacket():
            size = len(body.text.encode("utf-8", "replace"))
            title = " · ".join(["wake packet", *(part.title for part in body.parts), f"{size:,} bytes"])
            return _divider(event, "wake", title, body.text)
        case BreakMarked():
            return _divider(event, "break", f"break · {body.which}")
        case RetMarked():
            seconds = "" if body.seconds is None else f" to {body.seconds:.1f} s"
            return _divider(event, "ret", _with(f"RET {body.action}{seconds}", body.reason))
        case KeeperWords():
            return KeeperEntry(n=event.n, turn=event.turn, to=body.to, text=clean(body.text))
        case LetterFiled():
            return _notice(event, "info", f"{body.which} filed: {body.file}")
        case ContextCompacted():
            full = f" at {body.tokens:,}" + (f" of {body.window:,}" if body.window else "") + " tokens"
            title = f"context compacted{full if body.tokens else ''} · for P a summary stands for what is above"
            return _divider(event, "compacted", title, body.text)
        case BriefProposed():
            if not body.text.strip():
                return _notice(event, "info", f"the Keeper keeps its brief ({body.brief}) as it is")
            return _divider(event, "brief", f"the Keeper proposes another brief for itself ({body.brief})", body.text)
        case BriefAnswered():
            what = "the proposed brief holds from the next session on" if body.accepted else "the brief stays as it is"
            return _notice(event, "info", f"{body.brief}: {what}")
        case WorkspaceDiffed():
            if not body.diff.strip():
                return _notice(event, "info", "nothing changed in the workspace")
            rows = body.diff.count("\n") + 1
            title = f"changes in the workspace ({body.how}) · {rows:,} lines"
            return _divider(event, "changes", title, body.diff, diff=True)
        case BundleExported():
            return _notice(event, "info", f"bundle written: {body.file}")
        case TailMoved():
            text = f"{body.bytes} bytes of a torn last line were moved aside to {body.file}"
            return _notice(event, "warning", text)
        case Notice():
            return _notice(event, body.level, body.text)
        case _:
            return None


def _with(what: str, detail: str) -> str:
    return f"{what} · {detail}" if detail else what


def _divider(event: Event, what: DividerKind, title: str, text: str = "", diff: bool = False) -> DividerEntry:
    title, text = one_line(clean(title)), clean(text)
    return DividerEntry(n=event.n, turn=event.turn, what=what, title=title, text=text, diff=diff)


def _notice(event: Event, level: Level, text: str) -> NoticeEntry:
    return NoticeEntry(n=event.n, turn=event.turn, level=level, text=clean(text))
