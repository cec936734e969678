"""Transcripts for the tests of replay: made-up ones in every format, and where the real ones stand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).parents[3] / "shared" / "transcripts"
USAGE = {"input_tokens": 3, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 100, "output_tokens": 7}

Record = dict[str, Any]


def real(name: str) -> Path:
    """A real transcript beside the project; the test is skipped where there is none."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"the real transcript {name} is not beside this checkout")
    return path


class ClaudeCode:
    """Builds the records of one Claude Code session; each follows the one before unless ``after`` names another."""

    def __init__(self, session: str = "s1") -> None:
        self.session = session
        self.records: list[Record] = []

    def add(self, kind: str, uuid: str, *, after: str | None = None, **more: Any) -> Record:
        parent = after if after is not None else self.records[-1]["uuid"] if self.records else None
        minute = len(self.records)
        record = {
            "type": kind,
            "uuid": uuid,
            "parentUuid": parent,
            "sessionId": self.session,
            "timestamp": f"2026-09-08T14:{minute % 60:02d}:00.000Z",
            **more,
        }
        self.records.append(record)
        return record

    def human(self, uuid: str, text: Any, **more: Any) -> Record:
        return self.add("user", uuid, message={"role": "user", "content": text}, **more)

    def answer(self, uuid: str, text: str, message_id: str, usage: Record | None = None, **more: Any) -> Record:
        return self.block(uuid, {"type": "text", "text": text}, message_id, usage, **more)

    def block(self, uuid: str, block: Record, message_id: str, usage: Record | None = None, **more: Any) -> Record:
        message = {"id": message_id, "model": "claude-x", "role": "assistant", "content": [block]}
        return self.add("assistant", uuid, message={**message, "usage": usage or USAGE}, **more)

    def result(self, uuid: str, call: str, text: str, **more: Any) -> Record:
        block = {"type": "tool_result", "tool_use_id": call, "content": text}
        return self.add("user", uuid, message={"role": "user", "content": [block]}, toolUseResult={}, **more)

    def write(self, path: Path, *more: str) -> Path:
        path.write_text("\n".join([*(json.dumps(record) for record in self.records), *more]) + "\n", encoding="utf-8")
        return path


def small_session(session: str = "s1") -> ClaudeCode:
    """Two turns, a tool in the first."""
    made = ClaudeCode(session)
    made.human(f"{session}-h1", "Run the output test for region BR.")
    made.answer(f"{session}-a1", "I run it now.", f"{session}-m1")
    call = {"type": "tool_use", "id": f"{session}-t1", "name": "Bash", "input": {"command": "output_test --region BR"}}
    made.block(f"{session}-a2", call, f"{session}-m1")
    made.result(f"{session}-r1", f"{session}-t1", "3 of 40 meetings fail: wrong weekday")
    made.answer(f"{session}-a3", "Three meetings fail because the weekday is wrong.", f"{session}-m2")
    made.human(f"{session}-h2", "From now on always run the output test before the apply.")
    made.answer(f"{session}-a4", "I will.", f"{session}-m3")
    return made
