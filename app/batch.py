"""Commands that run the engine without a screen: the tour, a run, a resumed run, a close."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from typing import cast

from app.demo import Staged
from app.headless import HeadlessRun, measured, run_turns, told
from app.plan import Plan
from app.session.endpoint import Endpoint
from app.session.opening import Opened, open_session, resume_session
from app.session.policy import Approve
from app.session.session import Session
from store.events import Event
from store.room import LogName, Room


def _print(line: str) -> None:
    print(line, flush=True)


def demo_headless(staged: Staged, *, as_json: bool) -> None:
    """The whole tour, line by line, or as one JSON document: the report of its last session, which shows what was
    handed over, with the reports of all under ``sessions``."""
    reports = []
    with Room.open(staged.room) as room:
        for plan in staged.plans:
            run = _run(room, plan, plan.lines, approve="all", as_json=as_json)
            reports.append(run.report)
            if run.failed:
                raise RuntimeError(f"the tour failed: {run.failed}")
    if as_json:
        told_all = [report.as_json() for report in reports]
        print(json.dumps({**told_all[-1], "sessions": told_all}, ensure_ascii=False, indent=1))


def run_headless(room: Room, plan: Plan, turns: Sequence[str], *, approve: str, as_json: bool) -> int:
    """One new session from an input file; exit 1 when a turn failed."""
    return _said(_run(room, plan, turns, approve=cast(Approve, approve), as_json=as_json), as_json=as_json)


def resume_headless(
    room: Room, log: LogName, endpoint: Endpoint, turns: Sequence[str], *, approve: str, as_json: bool
) -> int:
    """A session taken up with more operator messages; exit 1 when a turn failed."""
    opened = resume_session(room, log)
    return _said(_play(opened, endpoint, turns, approve=cast(Approve, approve), as_json=as_json), as_json=as_json)


def close_session(room: Room, log: LogName, endpoint: Endpoint, *, letters: bool) -> None:
    """Close a session that was left open."""

    async def closed() -> None:
        session = Session(resume_session(room, log), endpoint)

        def follow(event: Event) -> None:
            for line in told(event):
                _print(line)

        stop = session.record.subscribe(follow)
        try:
            await session.connect()
            await session.close(letters=letters)
        finally:
            stop()

    asyncio.run(closed())


def _run(room: Room, plan: Plan, turns: Sequence[str], *, approve: Approve, as_json: bool) -> HeadlessRun:
    opened = open_session(room, plan.endpoint, condition=plan.condition, task=plan.task, workspace=plan.workspace)
    return _play(opened, plan.endpoint, turns, approve=approve, as_json=as_json)


def _play(opened: Opened, endpoint: Endpoint, turns: Sequence[str], *, approve: Approve, as_json: bool) -> HeadlessRun:
    run = asyncio.run(run_turns(opened, endpoint, turns, approve=approve, tell=None if as_json else _print))
    if not as_json:
        for line in measured(run.report):
            _print(line)
    return run


def _said(run: HeadlessRun, *, as_json: bool) -> int:
    if as_json:
        print(json.dumps(run.report.as_json(), ensure_ascii=False, indent=1))
    if run.failed:
        print(
            f"twins: a turn failed: {run.failed} The session is kept; go on with: twins resume {run.report.session}",
            file=sys.stderr,
        )
        return 1
    return 0
