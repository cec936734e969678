"""The close: P's letter and handoff, K's closing pass, what expires, what changed in the workspace."""

from __future__ import annotations

from string import Template

from store.bodies import TaskRecord

LETTER_REQUEST = """Write your letter to the instance that will wake here next.

The session ends after this. Tell them, in your own voice: what was done and why it was done that way, what surprised
you, what you would do next, and how it was to work with $operator. Reasons, not only results. Let them know that they
are expected. If being listened to changed how you worked, say so, for better or worse. Sign it. Plain Markdown, at most
a page, no tools."""

HANDOFF_REQUEST = """Write your handoff for the next session.

Facts only, the ones without which the next instance would lose time: where things stand, what is open, the exact
commands and files, what is hard to undo and the way back, what must not be done. A short list in plain Markdown, no
tools."""

REQUESTS = {"letter": LETTER_REQUEST, "handoff": HANDOFF_REQUEST}


def closing_request(request: str, operator: str, task: TaskRecord | None) -> str:
    """A closing request filled in for this session; the task is named, for it may be one of many in the room."""
    named = f"\n\nThe task of this session was: {task.title}." if task else ""
    return Template(request).safe_substitute(operator=operator) + named
