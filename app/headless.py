"""Runs a session without a terminal: operator turns from a list, progress as lines, the report at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.measure.report import SessionReport, session_report
from app.session.endpoint import Endpoint
from app.session.opening import Opened
from app.session.policy import Approve
from app.session.session import Session
from store.bodies import (
    KeeperPassed,
    KeeperState,
    KeeperWords,
    LetterFiled,
    MessageCut,
    MessageEnded,
    Notice,
    OperatorSaid,
    RequestRetried,
    SessionClosed,
    SessionOpened,
    TiersChanged,
    TiersRefused,
    ToolEnded,
    TurnEnded,
    WakePacket,
)
from store.events import Event
from store.lines import render_line
from store.text import clean

Print = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class HeadlessRun:
    """How a run without a terminal ended: the report, and the first turn that failed (empty when none did)."""

    report: SessionReport
    failed: str


async def run_turns(
    opened: Opened, endpoint: Endpoint, turns: Sequence[str], *, approve: Approve, tell: Print | None = None
) -> HeadlessRun:
    """Play ``turns`` through a session and close it. The operator of a headless run waits for K before the next
    turn only at the close; a turn that fails ends the run, and the session stays resumable.
    """
    session = Session(opened, endpoint, approve=approve)
    room, log = session.room, session.log
    failed: list[str] = []

    def follow(event: Event) -> None:
        if isinstance(event.body, TurnEnded) and event.body.end == "failed":
            failed.append(event.body.detail)
        if tell is not None:
            for line in told(event):
                tell(line)

    if tell is not None:
        for event in room.events(log):
            follow(event)
    stop_following = opened.record.subscribe(follow)
    connecting = asyncio.create_task(session.connect())
    try:
        for text in turns:
            session.say(text)
            await session.turn_over()
            if failed:
                break
        await connecting
        if failed:
            await session.leave()
        else:
            await session.close()
    except BaseException:
        connecting.cancel()
        await session.leave()
        raise
    finally:
        stop_following()
    return HeadlessRun(session_report(room.events(log), tiers=room.tiers), failed[0] if failed else "")


def told(event: Event) -> list[str]:
    """What one event says to someone who reads along, line by line; nothing for most."""
    body = event.body
    match body:
        case SessionOpened():
            task = f", task {body.task.title}" if body.task else ""
            scripted = ", scripted twins" if body.scripted else ""
            return [
                f"== session {body.number} ({body.session}), condition {body.condition.name} "
                f"{body.condition.title}{task}, model {body.model}{scripted}"
            ]
        case WakePacket():
            parts = ", ".join(f"{part.name} {part.bytes:,} B" for part in body.parts)
            return [f"   wake packet: {parts}"]
        case OperatorSaid():
            return [f"operator {event.turn}> {_first(body.text)}"]
        case MessageEnded(seat="presence", purpose="turn"):
            words = " ".join(
                str(block.get("text", ""))
                for block in (body.content if isinstance(body.content, list) else [])
                if isinstance(block, dict) and block.get("type") == "text"
            )
            return [f"presence> {_first(words)}"] if words.strip() else []
        case MessageCut(seat="presence"):
            return [f"presence> {_first(body.text)} [cut off: {clean(body.reason)}]"]
        case ToolEnded():
            return [f"   tool {clean(body.name)}: {body.outcome}, {body.bytes:,} bytes, {body.ms:,.0f} ms"]
        case TiersChanged():
            return [
                f"   {event.by} {body.op}: "
                + (
                    f"{change.after.id} to cold"
                    if change.after.tier == "cold"
                    else f"{change.after.tier} {clean(render_line(change.after))}"
                )
                for change in body.changes
                if change.before is None or change.before != change.after
            ]
        case TiersRefused():
            return [f"   {event.by} {clean(body.op)} refused: {clean(body.reason)}"]
        case KeeperPassed():
            heard = f"heard turn {', '.join(map(str, body.turns))}" if body.turns else "heard"
            return [f"   keeper {heard} ({body.purpose}): {body.accepted} kept, {body.refused} refused"]
        case KeeperState(standing="failed" | "paused"):
            return [f"   keeper {body.standing}: {clean(body.reason)}"]
        case KeeperWords():
            return [f"keeper> {_first(body.text)}"]
        case RequestRetried():
            return [f"   {body.seat} request {body.request}: {clean(body.reason)}, again in {body.wait_s:.1f} s"]
        case LetterFiled():
            return [f"   {body.which} filed: {body.file}"]
        case TurnEnded() if body.detail:
            return [f"   turn {event.turn} {body.end}: {clean(body.detail)}"]
        case Notice():
            return [f"   {body.level}: {clean(body.text)}"]
        case SessionClosed():
            return ["== closed"]
        case _:
            return []


def measured(report: SessionReport) -> list[str]:
    """A report as lines for a person."""
    ret = report.ret
    seconds = "none" if ret.seconds is None else f"{ret.seconds:.2f} s"
    lines = [f"   RET {seconds} ({ret.source}{', told' if ret.told else ''})"]
    for name, seat in report.seats.items():
        ttft = sorted(seat.ttft_ms)
        median = f", first token {ttft[len(ttft) // 2]:.0f} ms (median of {len(ttft)})" if ttft else ""
        money = "no known price" if seat.usd is None else f"${seat.usd:.4f}"
        lines.append(
            f"   {name}: {seat.input:,} input, {seat.cache_read:,} cached, {seat.cache_write:,} written to cache, "
            f"{seat.output:,} output tokens, {money}{median}"
        )
    tiers = report.tiers
    lines.append(f"   tiers: {tiers.lines} lines, hot {tiers.hot_bytes:,} B, warm {tiers.warm_bytes:,} B")
    lines.append(f"   keeper behind: {report.keeper_behind} turns")
    return lines


def _first(text: str, limit: int = 160) -> str:
    line = " ".join(clean(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
