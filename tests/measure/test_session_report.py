"""The report that ``--json`` prints: its keys, and where each value comes from."""

from __future__ import annotations

import json

import pytest
from builders import RIGHT, Tape

from app.measure.report import session_report
from store.bodies import Change, KeeperState, LetterFiled, TiersChanged, Usage
from store.lines import Line, LineId, Tiers


def line(number: int, tier: str) -> Line:
    return Line(
        id=LineId(f"L{number}"),
        tier=tier,  # type: ignore[arg-type]
        kind="finding",
        text=f"Line {number}",
        reason="it was seen",
        quote="seen",
        quote_turn=1,
        priority=3,
        touched=1,
        made_session=1,
        made_turn=1,
        made_by="keeper",
    )


def a_session() -> Tape:
    tape = Tape().begun()
    tape.answered(usage=Usage(100, 50, 25, 10), usd="0.125")
    tape.after(4).called("t1", RIGHT)
    tape.ended("t1")
    tape.handed_back()
    tape.sent("keeper")
    tape.answered(seat="keeper", usage=Usage(5, 0, 0, 2), usd=None, ttft_ms=300.0)
    changes = (Change(None, line(1, "warm")), Change(None, line(2, "hot")))
    tape.add(TiersChanged("add_line", changes, "kept", session=1), by="keeper")
    tape.add(KeeperState("busy", 2), by="system")
    tape.add(LetterFiled("handoff", "b-handoff.md", "…", "0" * 64, False))
    tape.add(LetterFiled("letter", "a-letter.md", "…", "0" * 64, False))
    tape.add(LetterFiled("handoff", "c-handoff.md", "…", "0" * 64, False))
    return tape


def test_it_has_exactly_the_promised_keys_and_is_json() -> None:
    report = json.loads(json.dumps(session_report(a_session().events, bundle="out.zip").as_json()))
    assert list(report) == [
        "session", "condition", "turns", "ret", "seats", "tiers", "keeper_behind", "letter", "bundle",
    ]  # fmt: skip
    assert set(report["ret"]) == {"seconds", "source", "told"}
    assert set(report["seats"]) == {"presence", "keeper"}
    for seat in report["seats"].values():
        assert set(seat) == {"input", "cache_read", "cache_write", "output", "usd", "ttft_ms"}
    assert set(report["tiers"]) == {"hot_bytes", "warm_bytes", "lines"}


def test_its_values_are_those_of_the_log() -> None:
    tape = a_session()
    report = session_report(tape.events).as_json()
    assert report["condition"] == "B" and report["turns"] == 1 and report["keeper_behind"] == 2
    assert report["letter"] == "a-letter.md" and report["bundle"] is None
    assert report["ret"] == {"seconds": pytest.approx(4), "source": "clock", "told": False}
    assert report["seats"] == {
        "presence": {
            "input": 100, "cache_read": 50, "cache_write": 25, "output": 10, "usd": 0.125, "ttft_ms": [800.0],
        },
        "keeper": {
            "input": 5, "cache_read": 0, "cache_write": 0, "output": 2, "usd": None, "ttft_ms": [300.0],
        },
    }  # fmt: skip


def test_tiers_are_the_rooms_when_given_and_the_sessions_fold_when_not() -> None:
    tape = a_session()
    own = session_report(tape.events).tiers
    assert own.lines == 2
    assert own.hot_bytes == len(b"[L2] Line 2")
    assert own.warm_bytes == len(b"[L1 finding p3] Line 1 (why: it was seen)")
    assert session_report(tape.events, tiers=Tiers()).tiers.lines == 0


def test_a_log_without_a_session_is_refused() -> None:
    with pytest.raises(ValueError, match="no session was opened"):
        session_report([])
