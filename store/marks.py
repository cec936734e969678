"""The entries of events that stand by themselves in the chat: dividers, notices and what K says aloud."""

from __future__ import annotations

from store.bodies import (
    BreakMarked,
    BundleExported,
    KeeperWords,
    LetterFiled,
    Notice,
    RetMarked,
    SessionClosed,
    SessionOpened,
    SessionResumed,
    TailMoved,
    WakePacket,
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


def _divider(event: Event, what: DividerKind, title: str, text: str = "") -> DividerEntry:
    return DividerEntry(n=event.n, turn=event.turn, what=what, title=one_line(clean(title)), text=clean(text))


def _notice(event: Event, level: Level, text: str) -> NoticeEntry:
    return NoticeEntry(n=event.n, turn=event.turn, level=level, text=clean(text))
