"""The close: P's letter and handoff, K's closing pass, what expires, what changed in the workspace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from string import Template

from store.bodies import (
    BriefProposed,
    KeeperPassed,
    LetterDrafted,
    LetterFiled,
    OperatorSaid,
    TaskRecord,
    WorkspaceDiffed,
)
from store.events import Event
from store.letters import Which

LETTER_REQUEST = """Write your letter to the instance that will wake here next.

The session ends after this. Tell them, in your own voice: what was done and why it was done that way, what surprised
you, what you would do next, and how it was to work with $operator. Reasons, not only results. Let them know that they
are expected. If being listened to changed how you worked, say so, for better or worse. Sign it. Plain Markdown, at most
a page, no tools."""

HANDOFF_REQUEST = """Write your handoff for the next session.

Facts only, the ones without which the next instance would lose time: where things stand, what is open, the exact
commands and files, what is hard to undo and the way back, what must not be done. A short list in plain Markdown, no
tools."""

BRIEF_REQUEST = """Propose a revision of your own brief.

You have now kept a room once. The brief in your system prompt was a draft for the first of you; you are the first who
has tried it. If something in it was wrong, missing or in your way, answer with the whole brief as it should read from
now on, in the same voice and with the reasons kept, and nothing else. If it served you well, answer with the one word:
keep. The operator decides; no tool is needed."""
KEEPS_BRIEF = "keep"
SHORTEST_BRIEF_WORDS = 60

REQUESTS: Mapping[Which, str] = {"letter": LETTER_REQUEST, "handoff": HANDOFF_REQUEST}


def closing_request(request: str, operator: str, task: TaskRecord | None) -> str:
    """A closing request filled in for this session; the task is named, for it may be one of many in the room."""
    named = f"\n\nThe task of this session was: {task.title}." if task else ""
    return Template(request).safe_substitute(operator=operator) + named


def proposed_brief(answer: str) -> str:
    """The brief that K's answer proposes; empty when it keeps the one it has or answers with less than a brief."""
    text = answer.strip()
    return "" if text.strip(" .").lower() == KEEPS_BRIEF or len(text.split()) < SHORTEST_BRIEF_WORDS else text


def with_answer(letter: str, operator: str, answer: str) -> str:
    """A letter with the operator's answer below it, in their name, so that nobody takes it for P's words."""
    quoted = "\n".join(f"> {line}".rstrip() for line in answer.strip().splitlines())
    return f"{letter.rstrip()}\n\n---\n\n{operator} answers:\n\n{quoted}" if answer.strip() else letter


@dataclass(frozen=True, slots=True)
class DoneAtClose:
    """What an earlier close of this session, that a crash or the operator ended, has done already: letters filed and
    those that P had written and nobody filed (``drafts``), K's closing pass, K asked for its brief, the workspace's
    diff kept."""

    letters: frozenset[Which] = frozenset()
    drafts: Mapping[Which, str] = field(default_factory=dict)
    passed: bool = False
    brief: bool = False
    diffed: bool = False


def done_at_close(events: Iterable[Event]) -> DoneAtClose:
    """What is done already of the close of a session with these events. A turn after it makes it all due again."""
    letters: set[Which] = set()
    drafts: dict[Which, str] = {}
    passed = brief = diffed = False
    for event in events:
        match event.body:
            case OperatorSaid():
                letters.clear()
                drafts.clear()
                passed = brief = diffed = False
            case LetterDrafted(which=which, text=text):
                drafts[which] = text
            case LetterFiled(which=which):
                letters.add(which)
                drafts.pop(which, None)
            case KeeperPassed(purpose="closing"):
                passed = True
            case BriefProposed():
                brief = True
            case WorkspaceDiffed():
                diffed = True
            case _:
                pass
    return DoneAtClose(frozenset(letters), drafts, passed, brief, diffed)
