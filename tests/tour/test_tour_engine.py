"""The tour on the real engine: two sessions in one room, through the real SDK, with nothing refused on the way."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tour_plays import SCRIPT, SESSIONS, copy_of

from app.measure.ret import Ret, ret
from app.scripted.script import Script, SeatScript
from app.scripted.server import ScriptedServer
from app.session.endpoint import Endpoint
from app.session.opening import open_session
from app.session.session import Session as LiveSession
from store.bodies import LetterFiled, TiersChanged, TiersRefused, WakePacket
from store.conditions import load_conditions
from store.events import Event
from store.lines import Tiers
from store.room import Room
from store.tasks import load_task


@dataclass(frozen=True)
class Toured:
    """What the two sessions left: their events, their RET, and the tiers after each."""

    events: tuple[tuple[Event, ...], ...]
    rets: tuple[Ret, ...]
    tiers: tuple[Tiers, ...]


def unpaced(script: Script) -> Script:
    def at_once(seat: SeatScript) -> SeatScript:
        beats = tuple(replace(beat, replies=tuple(replace(r, pace=None) for r in beat.replies)) for beat in seat.beats)
        return replace(seat, beats=beats)

    assert isinstance(script.presence, SeatScript) and isinstance(script.keeper, SeatScript)
    return replace(script, presence=at_once(script.presence), keeper=at_once(script.keeper))


async def tour(folder: Path) -> Toured:
    Room.create(folder / "room", "Ada")
    condition = load_conditions()["B"]
    events, rets, tiers = [], [], []
    with Room.open(folder / "room") as room:
        async with ScriptedServer(unpaced(SCRIPT)) as server:
            endpoint = Endpoint(server.base_url, "scripted", "scripted", scripted=True)
            for session in SESSIONS:
                workspace = copy_of(session, folder / session.task["name"])
                task = load_task(session.task_file).record
                opened = open_session(room, endpoint, condition=condition, task=task, workspace=workspace)
                live = LiveSession(opened, endpoint, approve="all")
                await live.connect()
                for line in session.lines:
                    assert live.say(line) is None
                    await live.turn_over()
                    await live.keeper_at_rest()
                await live.close()
                events.append(tuple(room.events(live.log)))
                rets.append(ret(events[-1]))
                tiers.append(room.tiers)
    return Toured(tuple(events), tuple(rets), tuple(tiers))


@pytest.fixture(scope="module")
def toured(tmp_path_factory: pytest.TempPathFactory) -> Toured:
    return asyncio.run(tour(tmp_path_factory.mktemp("tour")))


def test_nothing_that_the_keeper_does_is_refused(toured: Toured) -> None:
    refused = [event.body for events in toured.events for event in events if isinstance(event.body, TiersRefused)]
    assert refused == []


def test_every_kind_of_line_is_kept_and_the_second_session_touches_and_edits(toured: Toured) -> None:
    assert {line.kind for line in toured.tiers[0].warm()} == {"decision", "trap", "thread", "way_back", "finding"}
    done = [
        event.body.op for event in toured.events[1] if isinstance(event.body, TiersChanged) and event.by == "keeper"
    ]
    assert {"rewrite_hot", "add_line", "edit_line", "touch_line"} <= set(done)
    (decision,) = [line for line in toured.tiers[1].warm() if line.kind == "decision"]
    assert decision.touched == 2 and decision.made_session == 1


def test_ret_stops_by_itself_in_both_sessions_and_is_not_told(toured: Toured) -> None:
    for found in toured.rets:
        assert found.source == "clock" and found.seconds.value is not None and not found.told


def test_the_second_wake_packet_holds_what_the_first_session_handed_over(toured: Toured) -> None:
    (packet,) = [event.body for event in toured.events[1] if isinstance(event.body, WakePacket)]
    for body in (event.body for event in toured.events[0]):
        if isinstance(body, LetterFiled):
            assert body.text.strip() in packet.text
    (decision,) = [line for line in toured.tiers[0].warm() if line.kind == "decision"]
    assert f"[{decision.id} " in packet.text and decision.text in packet.text


def test_the_presence_names_the_handed_over_decision_by_its_id(toured: Toured) -> None:
    (decision,) = [line for line in toured.tiers[0].warm() if line.kind == "decision"]
    assert any(f"(line {decision.id})" in str(event.body) for event in toured.events[1])
