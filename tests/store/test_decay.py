"""Warm lines fade by DESIGN §9: a level a session once untouched, to cold at nothing, decisions down to three."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers_desk import Desk, ids, line, tiers_of

from store.decay import (
    DecayRules,
    DecayRulesError,
    decayed,
    expired,
    load_rules,
    packaged_rules,
    promotions_spent,
    will_decay,
)
from store.lines import LINE_KINDS, LineId, LineKind, Tiers
from store.operations import Promote, RewriteHot, TouchLine

RULES = packaged_rules()


def test_the_packaged_rules_are_the_papers() -> None:
    assert RULES.start == {"decision": 5, "trap": 4, "thread": 3, "way_back": 3, "finding": 3}
    assert RULES.untouched_sessions == 1
    assert [RULES.floor_of(kind) for kind in LINE_KINDS] == [3, 0, 0, 0, 0]


def priorities_over(sessions: int, kind: LineKind, priority: int, touched_in: set[int]) -> list[int | None]:
    """A line's priority after each opening from session 2 on; None once it is in cold. It is made in session 1."""
    desk = Desk(line(1, kind=kind, priority=priority, touched=1))
    found: list[int | None] = []
    for session in range(2, sessions + 1):
        desk.session = session
        if body := decayed(desk.tiers, RULES, session):
            desk.append("system", body)
        stands = desk.tiers.lines.get(LineId("L1"))
        found.append(stands.priority if stands else None)
        if session in touched_in and stands:
            desk.do(TouchLine(id="L1"), by="operator")
    return found


@pytest.mark.parametrize(
    ("kind", "priority", "touched_in", "then"),
    [
        ("finding", 3, set(), [3, 2, 1, None, None]),
        ("trap", 4, set(), [4, 3, 2, 1, None]),
        ("decision", 5, set(), [5, 4, 3, 3, 3]),
        ("decision", 2, set(), [2, 2, 2, 2, 2]),
        ("finding", 3, {2, 3, 4, 5}, [3, 3, 3, 3, 3]),
        ("finding", 1, {2}, [1, 1, None, None, None]),
        ("thread", 3, {3}, [3, 2, 2, 1, None]),
    ],
)
def test_over_six_sessions_each_priority_is_what_the_paper_says(kind, priority, touched_in, then) -> None:
    assert priorities_over(6, kind, priority, touched_in) == then


def test_rules_with_a_longer_patience_wait_that_many_sessions() -> None:
    patient = RULES.model_copy(update={"untouched_sessions": 3})
    tiers = tiers_of(line(1, touched=1))
    assert [decayed(tiers, patient, session) is None for session in (2, 3, 4, 5)] == [True, True, True, False]


@st.composite
def rooms(draw: st.DrawFn) -> Tiers:
    lines = [
        line(
            number,
            tier=draw(st.sampled_from(["hot", "warm"])),
            kind=draw(st.sampled_from(LINE_KINDS)),
            priority=draw(st.integers(1, 5)),
            touched=draw(st.integers(0, 12)),
            promoted=False,
        )
        for number in range(1, draw(st.integers(0, 12)) + 1)
    ]
    return tiers_of(*(replace(one, promoted=one.tier == "hot" and draw(st.booleans())) for one in lines), session=12)


rules = st.builds(
    DecayRules,
    untouched_sessions=st.integers(1, 4),
    start=st.just(dict(RULES.start)),
    floor=st.dictionaries(st.sampled_from(LINE_KINDS), st.integers(0, 5), max_size=3),
)


@given(rooms(), rules, st.integers(1, 20))
def test_fading_takes_one_level_of_untouched_warm_lines_and_changes_nothing_else(
    tiers: Tiers, rules: DecayRules, session: int
) -> None:
    body = decayed(tiers, rules, session)
    changed = {change.after.id: change for change in body.changes} if body else {}
    assert body is None or body.changes
    for one in tiers:
        change = changed.get(one.id)
        idle = session - 1 - one.touched >= rules.untouched_sessions
        fades = one.tier == "warm" and idle and one.priority > rules.floor.get(one.kind, 0)
        assert (change is not None) == fades
        if change is not None:
            tier = "cold" if one.priority == 1 else "warm"
            assert change.before == one
            assert change.after == replace(one, priority=one.priority - 1, tier=tier)


@given(rooms(), rules, st.integers(1, 20))
def test_what_will_fade_is_what_then_fades(tiers: Tiers, rules: DecayRules, session: int) -> None:
    body = decayed(tiers, rules, session)
    told = [(fading.line, fading.priority, fading.to_cold) for fading in will_decay(tiers, rules, session)]
    assert told == [
        (change.before, change.after.priority, change.after.tier == "cold") for change in (body.changes if body else ())
    ]


@given(rooms(), st.integers(1, 20))
def test_at_the_close_hot_keeps_what_is_promoted_and_warm_stays(tiers: Tiers, session: int) -> None:
    body = expired(tiers, session)
    gone = [change.after for change in body.changes] if body else []
    assert ids(gone) == [one.id for one in tiers.hot() if not one.promoted]
    assert all(one.tier == "cold" for one in gone)


def test_a_promotion_lasts_for_one_wake_packet() -> None:
    desk = Desk()
    desk.do(RewriteHot(lines=("mend the table", "apply")))
    desk.do(Promote(LineId("L1")), by="operator")
    desk.append("system", expired(desk.tiers, 1))
    assert ids(desk.tiers.hot()) == ["L1"], "it outlives the close of its session"
    desk.session = 2
    desk.append("system", promotions_spent(desk.tiers, 2))
    assert ids(desk.tiers.hot()) == ["L1"], "it stands in hot when the next one wakes"
    assert promotions_spent(desk.tiers, 2) is None
    again = Desk(*desk.tiers, session=2)
    desk.append("system", expired(desk.tiers, 2))
    assert len(desk.tiers) == 0, "it expires at the next close"
    again.session = 2
    again.do(Promote(LineId("L1")), by="operator")
    assert expired(again.tiers, 2) is None, "unless it is promoted again"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[start]\ndecision = 5", "trap, thread, way_back, finding"),
        ("[start]\ndecision = 9", "start.decision"),
        ("[start]\nrule = 3", "start.rule"),
        ("untouched_sessions = 0\n[start]", "untouched_sessions"),
        ("untouched_sessions = true\n[start]", "untouched_sessions"),
        ("half_life = 3\n[start]", "half_life"),
        ("[start]\n[floor]\ndecision = -1", "floor.decision"),
        ("", "start"),
        ("[start", "not a TOML file"),
        ("\udcff", "not a TOML file"),
    ],
)
def test_a_broken_file_of_rules_is_one_sentence_with_its_key(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "decay.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DecayRulesError, match=says) as caught:
        load_rules(path)
    assert str(caught.value).startswith("decay.toml: ") and "\n" not in str(caught.value)


def test_a_missing_file_of_rules_is_said(tmp_path: Path) -> None:
    with pytest.raises(DecayRulesError, match="can not be read"):
        load_rules(tmp_path / "none.toml")
