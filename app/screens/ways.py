"""The questions with a few answers: how a session is to end, and what the RET's mark shall be."""

from __future__ import annotations

from typing import Literal

from textual.app import App

from app.measure.report import session_report
from app.screens.choice import Choice, Way
from store.bodies import RetMarked
from store.readings import RetReading
from store.room import LogName, Room
from widgets.dialogs import AskText
from widgets.figures import clock, money

End = Literal["letters", "close", "leave", "go_on"]
_ENDS: dict[str, End] = {"letters": "letters", "close": "close", "leave": "leave", "go_on": "go_on"}


async def ask_the_end(
    app: App[None], *, closing: bool = False, turns: int = 1, closed: str = "", go_on: str = ""
) -> End | None:
    """How the session is to end; None to stay. With ``closed`` it has ended, and ``go_on`` says what comes next."""
    if closed:
        ways = [Way("enter", "go_on", go_on)]
        chosen = await app.push_screen_wait(Choice("The session is closed", closed, ways, stay="look around first"))
    elif closing:
        words = "The session is being closed. What is written so far is kept either way."
        ways = [Way("l", "leave", "stop that and leave now; it can be resumed and closed later")]
        chosen = await app.push_screen_wait(Choice("Closing", words, ways, stay="wait for the close"))
    else:
        ways = [Way("l", "leave", "leave now; it can be resumed")]
        if turns:
            ways = [
                Way(
                    "c",
                    "letters",
                    "close: Presence writes letter and handoff for you to see, the Keeper makes its last pass",
                ),
                Way("n", "close", "close without letters"),
                *ways,
            ]
        else:
            ways = [Way("n", "close", "close: nothing was said, so there is nothing to write"), *ways]
        chosen = await app.push_screen_wait(Choice("Close this session?", "", ways, stay="stay"))
    return _ENDS.get(chosen or "")


async def ask_ret(app: App[None], ret: RetReading) -> RetMarked | None:
    """The operator's mark on the RET with its reason; None when they leave it as it is."""
    stands = f"It stands at {clock(ret.seconds)} ({ret.state})." if ret.seconds is not None else f"It is {ret.state}."
    ways = [Way("v", "void", "void it: this run says nothing about the RET")]
    if ret.seconds is not None:
        ways = [Way("s", "set", f"set it to {clock(ret.seconds)}: the first right action has just been done"), *ways]
    ways.append(Way("t", "time", "set it to a time of your own, in seconds or minutes:seconds"))
    if ret.state in ("void", "set"):
        ways.append(Way("r", "restore", "restore what the clock itself measured"))
    chosen = await app.push_screen_wait(Choice("The RET", stands, ways, stay="leave it as it is"))
    if chosen is None:
        return None
    seconds = ret.seconds if chosen == "set" else None
    if chosen == "time":
        seconds = await _ask_time(app)
        if seconds is None:
            return None
    reason = await app.push_screen_wait(AskText("The RET", "Why? The reason is kept beside the mark."))
    if reason is None:
        return None
    if chosen in ("set", "time"):
        return RetMarked("set", reason, seconds)
    return RetMarked("void" if chosen == "void" else "restore", reason)


async def _ask_time(app: App[None]) -> float | None:
    words = "Minutes and seconds like 3:12, or seconds like 192."
    while True:
        given = await app.push_screen_wait(AskText("Set the RET to", words))
        if given is None:
            return None
        seconds = seconds_in(given)
        if seconds is not None:
            return seconds
        words = f"{given!r} is no time. Minutes and seconds like 3:12, or seconds like 192."


def seconds_in(text: str) -> float | None:
    """``3:12`` or ``192`` or ``192.5`` in seconds; None for anything else."""
    minutes, colon, rest = text.strip().rpartition(":")
    try:
        found = (int(minutes) * 60 if colon else 0) + float(rest)
    except ValueError:
        return None
    return found if 0 <= found < float("inf") and (not colon or 0 <= float(rest) < 60) else None


def closed_words(room: Room, log: LogName) -> str:
    """What a closed session came to, in a few rows."""
    report = session_report(room.events(log), tiers=room.tiers)
    ret = "none" if report.ret.seconds is None else f"{report.ret.seconds:.1f} s"
    told = ", told" if report.ret.told else ""
    turns = "1 turn" if report.turns == 1 else f"{report.turns} turns"
    presence, keeper = (report.seats[seat].usd for seat in ("presence", "keeper"))
    rows = [
        f"{turns}, RET {ret} ({report.ret.source}{told})",
        f"Presence {money(presence)}, Keeper {money(keeper)}",
        f"{report.tiers.lines} lines stand in hot and warm",
    ]
    if report.letter:
        rows.append(f"letter: {report.letter}")
    return "\n".join(rows)
