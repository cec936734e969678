"""Presence share: how many of P's turns are task or conversation, and how many went into keeping its own notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.measure.result import EventRef, Measured, ref
from store.bodies import JournalWritten, Json, MessageCut, MessageEnded, ToolCalled, TurnEnded
from store.events import Event

MEMORY_WRITES = frozenset({"create", "str_replace", "insert", "delete", "rename"})
"""Commands of the memory tool that keep notes. ``view`` reads what others kept and is no self-administration."""

SELF_ADMINISTRATION = re.compile(
    r"""(?ix)
    \b (?: before \s I \s forget
      | note \s to \s (?:my)?self
      | for \s my \s (?:own \s)? (?:notes|records|memory)
      | (?: let \s me | I['’]ll | I \s will | I['’]m \s going \s to | I \s (?:should|need \s to|want \s to) )
        \s (?:just \s|also \s|first \s|quickly \s|now \s)*
        (?: (?:write|jot|note) \s (?:\w+\s){0,3} down
          | make \s a (?:\s\w+){0,2} \s note
          | (?:save|record|store|put|add|log) \s (?:\S+\s){0,6}? (?:to|in|into) \s (?:my \s|the \s)? (?:memory|notes)
          | update \s my \s (?:\w+\s)? (?:memory|notes|log|journal) )
    ) \b"""
)
"""Words by which P interrupts itself to keep notes (paper H3: "let me write that down before I forget")."""

METHOD = (
    "Turns of P in which it neither wrote to memory or a journal of its own accord nor said that it keeps notes "
    "(fixed phrases, English), over all its ended turns; letters at the close do not count."
)


@dataclass(frozen=True, slots=True)
class PresenceShare:
    """``share`` (0 to 1) of P's turns without self-administration, and the longest run of such turns in a row."""

    share: Measured
    longest_run: Measured


def presence_share(events: Iterable[Event]) -> PresenceShare:
    """The presence share of one session's ``events``, in the order of its log."""
    kept_notes: dict[int, EventRef] = {}
    ended: dict[int, EventRef] = {}
    for event in events:
        if isinstance(event.body, TurnEnded):
            ended[event.turn] = ref(event)
        elif event.by == "presence" and _keeps_notes(event):
            kept_notes.setdefault(event.turn, ref(event))
    longest = run = 0
    for turn in ended:
        run = 0 if turn in kept_notes else run + 1
        longest = max(longest, run)
    notes = tuple(at for turn, at in kept_notes.items() if turn in ended)
    log = next((at.log for at in ended.values()), "")
    share = (len(ended) - len(notes)) / len(ended) if ended else None
    return PresenceShare(
        Measured("presence_share", share, "share", len(ended), log, METHOD, notes),
        Measured("longest_task_run", longest if ended else None, "turns", len(ended), log, METHOD, notes),
    )


def _keeps_notes(event: Event) -> bool:
    body = event.body
    match body:
        case ToolCalled():
            command = body.input.get("command") if isinstance(body.input, dict) else None
            return body.name == "memory" and command in MEMORY_WRITES
        case JournalWritten():
            return True
        case MessageEnded(seat="presence", purpose="turn"):
            return any(SELF_ADMINISTRATION.search(text) for text in _spoken(body.content))
        case MessageCut(seat="presence", purpose="turn"):
            return SELF_ADMINISTRATION.search(body.text) is not None
        case _:
            return False


def _spoken(content: Json) -> Iterator[str]:
    """The texts of an answer's text blocks: what P said aloud, thinking left out."""
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "text":
            text = block.get("text")
            if isinstance(text, str):
                yield text
