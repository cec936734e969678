"""Lines from the shell: every view, every change by hand as an event of the desk, and search by facets."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from store.bodies import OperatorSaid, SessionClosed, TiersChanged, TiersRefused, ToolEnded
from store.clock import FrozenClock
from store.room import DESK, Room
from tests.store.room_samples import begin, changed, line

START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
Twins = Callable[..., tuple[int, str, str]]


@pytest.fixture
def twins(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], root: Path) -> Twins:
    """Runs ``twins …`` on the room and gives exit code, standard output and standard error."""

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["twins", *words, "--room", str(root)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A room with two closed sessions: a decision, a trap and a hot line live, one finding in cold."""
    root = tmp_path / "room"
    Room.create(root, "Ada")
    with Room.open(root, clock=FrozenClock(START)) as room:
        first = begin(room)
        room.append(first, "operator", OperatorSaid("always show me the diff, says Ada"), 1)
        decision = replace(line(1, text="always show me the diff"), kind="decision", priority=5)
        trap = replace(line(2, text="the harbour pump sticks"), kind="trap")
        room.append(first, "keeper", changed(decision, trap, line(3, "hot", text="the dam is next")), 1)
        gone = line(4, text="the bridge was painted green")
        room.append(first, "keeper", changed(gone), 1)
        room.append(first, "keeper", changed(replace(gone, tier="cold")), 1)
        room.append(first, "operator", SessionClosed("closed"))
        second = begin(room)
        room.append(second, "system", ToolEnded("t1", "bash", "ok", "pump pressure 4 bar", 1.0, 19), 1)
        room.append(second, "operator", SessionClosed("closed"))
    return root


def ids(out: str) -> list[str]:
    return [found["id"] for found in json.loads(out)]


def desk(root: Path) -> list[Any]:
    with Room.open(root, read_only=True) as room:
        return [event for event in room.events(DESK) if isinstance(event.body, TiersChanged | TiersRefused)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], ["L3", "L1", "L2"]),
        (["--tier", "warm"], ["L1", "L2"]),
        (["--tier", "hot"], ["L3"]),
        (["--kind", "trap"], ["L2"]),
        (["--tier", "cold"], ["L4"]),
        (["--cold", "green bridge"], ["L4"]),
        (["--cold", "harbour"], []),
    ],
    ids=" ".join,
)
def test_every_view_of_the_lines_lists_the_lines_by_their_fields(twins: Twins, words: list, expected: list) -> None:
    code, out, _ = twins("lines", *words, "--json")
    assert (code, ids(out)) == (0, expected)
    _, shown, _ = twins("lines", *words)
    assert all(line_id in shown for line_id in expected)


def test_what_will_fade_is_told_with_the_level_it_falls_to(twins: Twins) -> None:
    _, out, _ = twins("lines", "--fading", "--json")
    assert [(one["line"]["id"], one["priority"], one["to_cold"]) for one in json.loads(out)] == [
        ("L1", 4, False),
        ("L2", 2, False),
    ]


def test_the_history_of_a_line_has_every_change_with_who_and_why(twins: Twins) -> None:
    _, out, _ = twins("lines", "--history", "l4", "--json")
    assert [(step["by"], step["op"], step["change"]["after"]["tier"]) for step in json.loads(out)] == [
        ("keeper", "add_line", "warm"),
        ("keeper", "add_line", "cold"),
    ]
    assert "painted green" in twins("lines", "--history", "4")[1]


@pytest.mark.parametrize(
    ("words", "op", "tier", "having"),
    [
        (["promote", "L3"], "promote", "hot", {"promoted": True}),
        (["promote", "2"], "promote", "warm", {"priority": 4}),
        (["retire", "L1", "--reason", "no longer"], "retire", "cold", {}),
        (["touch", "L2"], "touch_line", "warm", {"touched": 2}),
        (["edit", "L2", "the harbour pump sticks in frost"], "edit_line", "warm", {"touched": 2}),
        (["restore", "L4"], "restore", "warm", {"touched": 2}),
        (
            ["add", "never on a Monday", "--reason", "the market"],
            "add_line",
            "warm",
            {"kind": "decision", "priority": 5},
        ),
    ],
    ids=" ".join,
)
def test_a_change_by_hand_is_an_event_of_the_desk_and_undo_takes_it_back(
    twins: Twins, root: Path, words: list, op: str, tier: str, having: dict
) -> None:
    before = twins("lines", "--json")[1]
    code, out, _ = twins("lines", *words, "--json")
    told = json.loads(out)
    assert (code, told["op"], told["changes"][0]["after"]["tier"]) == (0, op, tier)
    assert {key: told["changes"][0]["after"][key] for key in having} == having
    (event,) = desk(root)
    assert (event.by, event.body.op, event.body.session) == ("operator", op, 2)
    assert twins("lines", "undo", "--json")[0] == 0
    assert twins("lines", "--json")[1] == before
    assert twins("lines", "undo")[0] == 2, "it was taken back already"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["promote", "L9"], "no live line L9"),
        (["touch", "L4"], "no live line L4"),
        (["restore", "L1"], "not in cold"),
        (["undo", "L1"], "no change of L1"),
        (["edit", "pump", "x"], "no line id"),
        (["add", "x", "--reason", "y", "--kind", "gossip"], "kind"),
        (["add", "The harbour pump sticks!", "--reason", "y"], "L2"),
        (["edit", "L2", "x" * 700], "at most 600"),
        (["--tier", "luke"], "--tier takes"),
        (["--kind", "gossip"], "--kind takes"),
        (["--history", "L77"], "never was"),
        (["paint", "L1"], "No such command"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_can_not_be_done_is_one_plain_line_and_exit_two(twins: Twins, words: list, said: str) -> None:
    before = twins("lines", "--json")[1]
    code, out, err = twins("lines", *words)
    assert (code, out) == (2, "")
    assert said in err and err.count("\n") == 1 and err.startswith("twins: ")
    assert twins("lines", "--json")[1] == before


def test_what_the_gate_refuses_is_in_the_log_too(twins: Twins, root: Path) -> None:
    twins("lines", "promote", "L9")
    (event,) = desk(root)
    assert isinstance(event.body, TiersRefused) and event.body.op == "promote"


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        (["diff", "--seat", "operator"], ["operator.said"]),
        (["diff", "--seat", "presence"], []),
        (["pump", "--kind", "tool"], ["tool.ended"]),
        (["pump", "--session", "2"], ["tool.ended"]),
        (["pump", "--session", "1"], ["tiers.changed"]),
        (["pressure", "--until", "2000-01-01"], []),
        (["pressure", "--since", "2000-01-01"], ["tool.ended"]),
        (["pressure", "--until", START.date().isoformat()], ["tool.ended"]),
        (["pressure", "--since", "2099-01-01T00:00"], []),
    ],
    ids=" ".join,
)
def test_search_is_narrowed_down_by_seat_kind_session_and_date(twins: Twins, words: list, kinds: list) -> None:
    code, out, _ = twins("search", *words, "--json")
    assert (code, [hit["kind"] for hit in json.loads(out)]) == (0, kinds)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["x", "--seat", "nobody"], "--seat takes"),
        (["x", "--session", "7"], "no session 7"),
        (["x", "--since", "yesterday"], "--since takes a date"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_search_that_can_not_be_meant_says_what_would_do(twins: Twins, words: list, said: str) -> None:
    code, _, err = twins("search", *words)
    assert code == 2 and said in err and err.count("\n") == 1
