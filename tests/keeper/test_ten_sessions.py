"""Ten sessions in one room: what fades, what stays, what falls to cold and is found there (DESIGN §9)."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from app.scripted.request import Request
from app.scripted.script import Reply, ToolCall
from store.bodies import TiersChanged, WakePacket
from store.decay import decayed, packaged_rules
from store.lines import LINE_KINDS, Line, LineId, Tiers, with_changes
from store.search import Index
from tests.keeper.room_check import wrong_with
from tests.session.session_plays import PATIENCE_S, Stages, bodies, said
from tests.store.tiers_desk import line

RULE = "Always show me the diff before you apply."
SAID = {
    1: f"{RULE} The pump of the harbour sticks in frost. The bridge was painted green. The dam leaks at noon.",
    3: "What was it with the bridge again?",
    4: "Mind the pump, it sticks again today.",
    6: "And a new one: the mill wheel turns backwards.",
}


def add(kind: str, text: str, quote: str, **more: object) -> ToolCall:
    return ToolCall(
        "add_line", {"kind": kind, "text": text, "reason": "it will be asked for", "quote": quote, "turn": 1, **more}
    )


KEPT: dict[int, tuple[ToolCall, ...]] = {
    1: (
        add("decision", RULE, RULE),
        add("trap", "the harbour's pump sticks in frost", "The pump of the harbour sticks in frost."),
        add("finding", "the bridge is green", "The bridge was painted green."),
        add("finding", "the dam leaks at noon", "The dam leaks at noon.", priority=2),
        ToolCall("rewrite_hot", {"lines": ["we are at the dam"]}),
    ),
    4: (
        ToolCall("touch_line", {"id": "L2", "reason": "it came up", "quote": "Mind the pump, it sticks again today."}),
    ),
    6: (add("thread", "the mill wheel turns backwards", "the mill wheel turns backwards"),),
}
MADE = {  # id: kind, first priority, and the sessions that use it; L3 is recalled by P in session 3
    "L1": ("decision", 5, {1}),
    "L2": ("trap", 4, {1, 4}),
    "L3": ("finding", 3, {1, 3}),
    "L4": ("finding", 2, {1}),
    "L6": ("thread", 3, {6}),
}


def keeper(request: Request) -> Reply:
    number = re.search(r"Session (\d+) of Ada's room", request.raw.decode())
    if request.round or number is None or "The session closes" in request.operator_text:
        return Reply("Nothing to keep.")
    return Reply(tools=KEPT.get(int(number[1]), ()), text="" if int(number[1]) in KEPT else "Nothing to keep.")


def presence(request: Request) -> Reply:
    if "bridge again" in request.operator_text and request.round == 0:
        return Reply(tools=(ToolCall("recall", {"query": "bridge green"}),))
    return Reply("Well.")


def expected(session: int) -> dict[str, int]:
    """Priorities once ``session`` has opened, counted session by session by the paper's words; 0: in cold."""
    levels: dict[str, int] = {}
    for line_id, (kind, level, used) in MADE.items():
        made = min(used)
        if made >= session:
            continue
        for opening in range(made + 1, session + 1):
            if level and opening - 1 not in used:
                level = max(level - 1, 3 if kind == "decision" else 0)
        levels[line_id] = level
    return levels


async def test_over_ten_sessions_every_line_stands_where_the_rules_say(stage: Stages) -> None:
    s = await stage(presence, keeper)
    for number in range(1, 11):
        live = await s.open()
        levels = expected(number)
        stand = {line.id: line.priority for line in s.room.tiers.warm()}
        assert stand == {line_id: level for line_id, level in levels.items() if level}, f"session {number}"
        (packet,) = bodies(live, WakePacket)
        for line_id, level in levels.items():
            assert (f"[{line_id} {MADE[line_id][0]} p{level}]" in packet.text) == bool(level)
        with Index.open(s.room) as index:
            for line_id, level in levels.items():
                cold = index.cold_line(LineId(line_id))
                assert (cold is None) == bool(level)
                if cold is not None:
                    assert cold in index.cold_lines(cold.text) and index.search(cold.text)
        await said(live, SAID.get(number, f"Nothing new in session {number}."))
        async with asyncio.timeout(PATIENCE_S):
            await live.close()
        assert not s.room.tiers.hot()
    assert wrong_with(s.room) == []
    assert expected(10) == {"L1": 3, "L2": 0, "L3": 0, "L4": 0, "L6": 0}, "the play reaches every end there is"
    assert {line.id for line in s.room.tiers} == {"L1"}
    fell = [change.after.id for body in all_changes(s) for change in body.changes if change.after.tier == "cold"]
    assert sorted(fell) == ["L2", "L3", "L4", "L5", "L6"], "each line went to cold once, by an event that holds it"


def all_changes(s: object) -> list[TiersChanged]:
    return [event.body for event in s.room.all_events() if isinstance(event.body, TiersChanged)]  # type: ignore[attr-defined]


async def test_where_the_wake_packet_counts_as_a_use_nothing_that_it_hands_over_fades(stage: Stages) -> None:
    s = await stage(presence, keeper, settings={"session": {"wake_packet_touches": True}})
    for condition in ("B", "B", "B", "A", "B", "B"):
        live = await s.open(condition)
        await said(live, SAID[1])
        await live.close(letters=False)
    touched = {line.id: (line.priority, line.touched) for line in s.room.tiers.warm()}
    assert touched["L3"] == (2, 6), "only session 4, whose packet held no lines, was no use of it"


histories = st.lists(
    st.tuples(st.sampled_from(LINE_KINDS), st.integers(1, 5), st.sets(st.integers(2, 9), max_size=5)), max_size=6
)


@settings(deadline=None)
@given(histories, st.integers(1, 9))
def test_over_any_history_a_level_is_what_counting_session_by_session_gives(
    history: list[tuple[str, int, set[int]]], last: int
) -> None:
    rules = packaged_rules()
    made: dict[LineId, tuple[Line, set[int]]] = {}
    for number, (kind, level, used) in enumerate(history, 1):
        start = max(level, 3) if kind == "decision" else level
        made[LineId(f"L{number}")] = (line(number, kind=kind, priority=start), used)  # type: ignore[arg-type]
    tiers = Tiers({line_id: one for line_id, (one, _) in made.items()}, next_number=99, session=1)
    for session in range(2, last + 1):
        body = decayed(tiers, rules, session)
        tiers = with_changes(tiers, [c.after for c in body.changes] if body else [], seq=session, session=session)
        touched = [replace(one, touched=session) for line_id, one in tiers.lines.items() if session in made[line_id][1]]
        tiers = with_changes(tiers, touched, seq=session, session=session)
    for line_id, (one, used) in made.items():
        floor = 3 if one.kind == "decision" else 0
        level = one.priority
        for before in range(1, last):
            if before not in {1, *used} and level:
                level = max(level - 1, floor)
        stands = tiers.lines.get(line_id)
        assert (stands.priority if stands else 0) == level
