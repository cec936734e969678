"""A session with everything in it, written by hand with a clock that stands still: for pictures that never differ."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from app.screens.live import LiveScreen
from app.session.endpoint import Endpoint
from app.session.opening import open_session
from app.session.record import SessionLog
from app.tui import PlanApp
from store.bodies import (
    Change,
    FirstAction,
    FirstToken,
    KeeperPassed,
    KeeperState,
    MessageEnded,
    OperatorSaid,
    Partial,
    RequestSent,
    SeatReady,
    TaskRecord,
    TiersChanged,
    ToolAnswered,
    ToolAsked,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    Usage,
)
from store.clock import FrozenClock
from store.conditions import load_conditions
from store.journals import write_journal
from store.room import Room
from tests.widgets.panel_samples import line

MODEL = "claude-opus-5-5"
TASK = TaskRecord("kv", "Kelvarra's clocks", "Mend them.", FirstAction("bash", "output_test"), {})
ANSWER = """\
The fault is in one place that all of them pass through:

```python
OFFSETS = {"KV": 60, "BR": 0}
```

Kelvarra is **120** minutes ahead, so

- the list puts the choir at 18:00
- the doors say 19:00

Before I change it I would like to know *why* it is 120."""


class StillScreen(LiveScreen):
    """A live screen that loads no SDK and asks nobody: what it shows is in the log."""

    def _connect(self) -> None:  # type: ignore[override]
        self._folding.connected = True
        self.panes.composer.area.cursor_blink = False
        self._folding.tell()


def still_room(folder: Path) -> tuple[Room, FrozenClock]:
    """A room whose clock stands at the end of November."""
    clock = FrozenClock(datetime(2026, 11, 30, 20, 15, tzinfo=UTC))
    return Room.open(Room.create(folder / "room", "Ada"), clock=clock), clock


class StillApp(PlanApp):
    """A session on screen without an engine behind it."""

    def begin(self) -> None:
        opened, endpoint, lines = self._session
        self._live = StillScreen(opened, endpoint, bundles=self.bundles, lines=lines)
        self.push_screen(self._live)


def sample_app(room: Room, clock: FrozenClock, workspace: Path, *, asking: bool = False) -> StillApp:
    """A session in its second turn; with ``asking`` a tool waits for a word."""
    workspace.mkdir(exist_ok=True)
    endpoint = Endpoint("http://127.0.0.1:1", "none", MODEL, scripted=True)
    opened = open_session(room, endpoint, condition=load_conditions()["B"], task=TASK, workspace=workspace)
    record = opened.record
    record.append("system", SeatReady("bwrap", 200_000, False, False, ()))
    _first_turn(record, clock)
    _second_turn(record, clock, asking)
    return StillApp(room, opened, endpoint, ("That is it. Kelvarra voted to keep summer time for good.",))


def _answer(record: SessionLog, clock: FrozenClock, text: str, usage: Usage, usd: str) -> None:
    request = record.next_request()
    record.append("presence", RequestSent("presence", request, MODEL, "", 0))
    clock.advance(0.8)
    record.append("presence", FirstToken("presence", request, 820.0))
    clock.advance(3.2)
    content = [{"type": "text", "text": text}]
    ended = MessageEnded("presence", request, f"m{request}", MODEL, content, "end_turn", usage, usd, 820.0, 4_000.0)
    record.append("presence", ended)


def _tool(record: SessionLog, clock: FrozenClock, key: str, command: str, output: str, outcome: str = "ok") -> None:
    record.append("presence", ToolCalled(key, "bash", {"command": command}))
    record.append("operator", ToolAnswered(key, "bash", "allow", "once"))
    clock.advance(0.26)
    ended = ToolEnded(key, "bash", outcome, output, 260.0, len(output))  # type: ignore[arg-type]
    record.append("system", ended)


def _first_turn(record: SessionLog, clock: FrozenClock) -> None:
    record.append("operator", OperatorSaid("Kelvarra is first: people come an hour early. Have a look around, please."))
    _answer(record, clock, "Good evening. I will look first and change nothing.", Usage(310, 0, 1_600, 40), "0.0114")
    _tool(
        record,
        clock,
        "t1",
        "python3 output_test.py --region KV",
        "KV: 36 of 36 times are short\n[exit code 1]",
        "error",
    )
    _answer(record, clock, "Every time is short by the same hour.", Usage(120, 1_900, 240, 60), "0.0061")
    record.append("system", TurnEnded("done"))
    decision = line(
        1, kind="decision", priority=5, text="Always show me the diff before you apply.", reason="Ada asked"
    )
    trap = line(2, kind="trap", priority=4, text="The times in data/ are UTC and right.", reason="the halls sent them")
    finding = line(3, kind="finding", text="finder/clock.py has Kelvarra 60 minutes ahead; the doors say 120.")
    hot = line(4, "hot", "thread", text="Output test of KV fails: all times short by an hour.")
    for made in (decision, trap, finding, hot):
        record.append("keeper", TiersChanged("add_line", (Change(None, made),), made.reason, session=1))
    _keeper(record, Usage(900, 2_100, 300, 210), "0.0052")


def _keeper(record: SessionLog, usage: Usage, usd: str) -> None:
    request = record.next_request()
    record.append("keeper", RequestSent("keeper", request, MODEL, "", 0))
    content = [{"type": "text", "text": ""}]
    record.append(
        "keeper",
        MessageEnded("keeper", request, f"k{request}", MODEL, content, "end_turn", usage, usd, 400.0, 900.0),
    )
    record.append("keeper", KeeperPassed((record.turn,), "turn", 4, 0))
    record.append("system", KeeperState("idle", 0))


def _second_turn(record: SessionLog, clock: FrozenClock, asking: bool) -> None:
    clock.advance(31)
    record.append("operator", OperatorSaid("No, what stands in data/ is right. Look at how we read it."))
    _tool(record, clock, "t2", "cat finder/clock.py", 'OFFSETS = {"KV": 60}\n' * 12)
    write_journal(record.room, record.log, "presence", "snug", "A good evening to be woken into.", 2)
    if asking:
        diff = '--- finder/clock.py\n+++ finder/clock.py\n@@ -1 +1 @@\n-OFFSETS = {"KV": 60}\n+OFFSETS = {"KV": 120}'
        record.append("presence", ToolCalled("t3", "edit", {"file_path": "finder/clock.py"}))
        record.append("system", ToolAsked("t3", "edit", diff))
        return
    _answer(record, clock, ANSWER, Usage(140, 2_300, 380, 160), "0.0102")
    record.append("system", TurnEnded("done"))
    clock.advance(4)


def stream(record: SessionLog, text: str) -> None:
    """Words of an answer that is on its way."""
    request = record.next_request()
    record.append("presence", RequestSent("presence", request, MODEL, "", 0))
    record.append("presence", Partial("presence", request, 0, "text", text))
