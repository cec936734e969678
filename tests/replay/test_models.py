"""Keepers with a model behind them, on the real SDK against the scripted server: small, twin, batches, budgets."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from conftest import Take
from test_replay import MONTHS, TALK, logs_of

from app.replay import keepers
from app.replay.batches import ask_in_batches
from app.replay.chains import chains
from app.replay.desk import Asked, run
from app.replay.keepers.interface import KeeperSetup, KeeperStopped
from app.replay.keepers.small import promoted, worth_a_line
from app.replay.purse import BudgetSpent, Purse
from app.replay.questions import Book
from app.replay.run import Replayed, replay
from app.scripted.request import Request
from app.scripted.script import Reply, Script, ToolCall
from app.scripted.server import ScriptedServer
from store.bodies import MessageEnded, RequestSent, TiersChanged
from store.room import Room

MODEL = "claude-opus-5-5"


@pytest.fixture
def source(root: Path, take: Take, tmp_path: Path) -> Path:
    path = tmp_path / "talk.txt"
    path.write_text(TALK.format(*MONTHS), encoding="utf-8")
    take(path)
    return root


def small_answers(request: Request) -> Reply:
    """What a small model says: yes to turns of substance, the first and last sentence promoted, in its own dress."""
    text = request.operator_text
    if "yes or no" in text:
        return Reply("**No**, nothing." if "Hello again" in text or "What is new" in text else "Yes.")
    if "numbered sentences" in text:
        return Reply("Sure! Here they are:\n1. decision, priority 5\n2) finding - 4\n99 trap 3\nnone of the rest")
    return Reply("Here is the note:\n- They talk about Lisbon.\n* And about the bakery.")


def setup_of(server: ScriptedServer, **more: object) -> KeeperSetup:
    return KeeperSetup(server.base_url, "scripted", MODEL, max_retries=0, **more)  # type: ignore[arg-type]


def played(source: Path, root: Path, name: str, setup: KeeperSetup, purse: Purse | None = None) -> Replayed:
    with Room.open(source, read_only=True) as room:
        made = keepers.make(name, setup)
        return asyncio.run(replay(room, chains(room)[0], made, root, purse or Purse(None, None)))


# ---------------------------------------------------------------- small


def test_small_makes_lines_of_the_turns_own_words_from_plain_answers(source: Path, tmp_path: Path) -> None:
    with ScriptedServer(Script(keeper=small_answers)) as server:
        done = played(source, tmp_path / "small", "small", setup_of(server))
        asked = server.requests_of("keeper")
    # Five and four when they were made; two sessions without a touch, and decisions stop at three.
    assert "decision p3] From now on always run the output test before the apply." in done.loaded
    assert "finding p1] Bob — I moved to Lisbon last month with 3 cats and a piano (August 2026)" in done.loaded
    assert sum("yes or no" in request.operator_text for request in asked) == 5
    assert sum("numbered sentences" in request.operator_text for request in asked) == 3
    assert "tools" not in asked[0].body and "tool_choice" not in asked[0].body and "temperature" not in asked[0].body
    assert (done.usage.output > 0, done.usd is not None and done.usd > 0) == (True, True)


def test_small_through_the_same_answers_gives_the_same_lines_again(source: Path, tmp_path: Path) -> None:
    with ScriptedServer(Script(keeper=small_answers)) as server:
        one = played(source, tmp_path / "one", "small", setup_of(server))
        two = played(source, tmp_path / "two", "small", setup_of(server))
    assert one.loaded == two.loaded
    assert [*logs_of(tmp_path / "one")] == [*logs_of(tmp_path / "two")]


@pytest.mark.parametrize(
    "answer", ["", "none", "I cannot do that.", "0 finding 3", "1.5e9 lines", "🙂" * 99, "1" * 500]
)
def test_whatever_a_small_model_says_it_breaks_nothing(source: Path, tmp_path: Path, answer: str) -> None:
    with ScriptedServer(Script(keeper=lambda request: Reply(answer or " "))) as server:
        done = played(source, tmp_path / "small", "small", setup_of(server))
    assert done.turns == 5


def test_answers_of_a_small_model_are_read_where_they_are_certain() -> None:
    answer = "1. finding 4\n- 2: Way back, priority 3\n(3) trap\n3 decision 5\n12 finding 2\nfoo 2"
    found = [(one.place, one.kind, one.priority) for one in promoted(answer, 4)]
    assert found == [(0, "finding", 4), (1, "way_back", 3), (2, "trap", None)]
    assert [worth_a_line(text) for text in ("Yes.", "no", "No, not really", "None.", "", "Hm")] == [
        True,
        False,
        False,
        False,
        True,
        True,
    ]


def test_an_endpoint_that_fails_stops_the_replay_and_it_goes_on_from_there(source: Path, tmp_path: Path) -> None:
    with ScriptedServer(Script(keeper=small_answers)) as server:
        whole = played(source, tmp_path / "whole", "small", setup_of(server))
    with ScriptedServer(Script(keeper=small_answers)) as server, pytest.raises(KeeperStopped, match="run the same"):
        setup = setup_of(server)
        server.stop()
        played(source, tmp_path / "cut", "small", setup)
    with ScriptedServer(Script(keeper=small_answers)) as server:
        done = played(source, tmp_path / "cut", "small", setup_of(server))
    assert done.loaded == whole.loaded


def test_a_budget_stops_before_the_next_request_and_a_larger_one_goes_on(source: Path, tmp_path: Path) -> None:
    with ScriptedServer(Script(keeper=small_answers)) as server:
        with pytest.raises(BudgetSpent, match="raise --max-tokens"):
            played(source, tmp_path / "small", "small", setup_of(server), Purse(None, 200))
        first = len(server.requests_of("keeper"))
        done = played(source, tmp_path / "small", "small", setup_of(server), Purse(None, 10**6))
        whole = played(source, tmp_path / "whole", "small", setup_of(server))
    assert 0 < first < 11
    assert done.loaded == whole.loaded


def test_a_bench_sets_models_beside_baselines_and_tells_the_share_of_the_twin(source: Path, tmp_path: Path) -> None:
    facts = tmp_path / "facts.txt"
    facts.write_text("region_br.py checks weekdays.\nBob moved to Lisbon with 3 cats.\n")

    def answers(request: Request) -> Reply:
        return twin_answers(request) if "tools" in request.body else small_answers(request)

    with ScriptedServer(Script(keeper=answers)) as server:
        names = ("small", "twin", "tail")
        asked = Asked(source, names, tmp_path / "w", str(facts), setup=setup_of(server), workers=1)
        first, again = run(asked), run(asked)
    rows = {row.label: row for row in first.rows}
    assert [*rows] == ["small", "twin", "tail", "tail at small's bytes", "tail at twin's bytes"]
    assert rows["twin"].hf and rows["twin"].of_twin == 1.0
    assert rows["small"].of_twin == (rows["small"].hf or 0) / rows["twin"].hf
    assert rows["small"].usage.output > 0 and (rows["twin"].usd or 0) > 0
    assert [row.usage for row in again.rows] == [row.usage for row in first.rows]
    assert [row.seconds for row in again.rows[:2]] == [pytest.approx(row.seconds, abs=0.001) for row in first.rows[:2]]
    assert "1 transcripts, 2 facts from facts.txt" in first.title


# ---------------------------------------------------------------- twin


def twin_answers(request: Request) -> Reply:
    words = request.operator_text
    if request.round or "3 cats" not in words:
        return Reply("Nothing to keep.")
    quote = "The weekday check in region_br.py cost me an hour."
    call = {"kind": "trap", "text": "region_br.py checks weekdays", "reason": "an hour", "quote": quote, "turn": 1}
    return Reply(tools=(ToolCall("add_line", call), ToolCall("add_line", {**call, "quote": "said by nobody at all"})))


def test_the_twin_is_the_live_keeper_with_its_brief_tools_and_gate(source: Path, tmp_path: Path) -> None:
    with ScriptedServer(Script(keeper=twin_answers)) as server:
        done = played(source, tmp_path / "twin", "twin", setup_of(server))
        asked = server.requests_of("keeper")
    assert "trap p" in done.loaded and "region_br.py checks weekdays (why: an hour)" in done.loaded
    assert (done.accepted, done.refused) == (1, 1)
    assert {tool["name"] for tool in asked[0].body["tools"]} >= {"add_line", "rewrite_hot", "read_clock"}
    first = json.dumps(asked[0].body, ensure_ascii=False)
    assert "You are the Keeper" in first and "Tuesday 1 September 2026" in first and "[presence] is Bob" in first
    with Room.open(tmp_path / "twin", read_only=True) as room:
        events = list(room.all_events())
    assert sum(isinstance(e.body, RequestSent) for e in events) == len(asked)
    assert [e.turn for e in events if isinstance(e.body, TiersChanged) and e.body.op == "add_line"] == [1]


# ---------------------------------------------------------------- batches


def test_a_batch_asks_once_at_half_price_and_the_replay_needs_only_what_stands_in_order(
    source: Path, tmp_path: Path
) -> None:
    with ScriptedServer(Script(keeper=small_answers)) as server:
        live = run(Asked(source, ("small",), tmp_path / "live", setup=setup_of(server), workers=1))
        before = len(server.requests_of("keeper"))
        book = str(tmp_path / "batch" / "batches" / "answers.jsonl")
        setup = setup_of(server, batch=True, book=book)
        batched = run(Asked(source, ("small",), tmp_path / "batch", setup=setup, workers=1, poll_s=0.01))
        after = [one for one in server.requests_of("keeper")[before:] if "batches" not in one.path]
    assert batched.outcomes[0].done is not None and live.outcomes[0].done is not None
    assert batched.outcomes[0].done.loaded == live.outcomes[0].done.loaded
    in_order = [one for one in after if "numbered" not in one.operator_text and "yes or no" not in one.operator_text]
    assert len(in_order) == 3
    full, half = live.rows[0].usd, batched.rows[0].usd
    assert full is not None and half is not None and half < full
    with Room.open(batched.outcomes[0].job.root, read_only=True) as room:
        answers = [e.body for e in room.all_events() if isinstance(e.body, MessageEnded) and e.body.seat == "keeper"]
    assert {body.purpose for body in answers} == {"worth", "promote", "hot"}


class Now:
    """A clock moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_batch_under_way_is_picked_up_after_a_restart_and_not_sent_again(source: Path, tmp_path: Path) -> None:
    clock, created = Now(), 0
    book = tmp_path / "batches" / "answers.jsonl"
    book.parent.mkdir()
    with Room.open(source, read_only=True) as room:
        found = [("small", chains(room)[0], None)]

    async def asked(server: ScriptedServer, patience: float) -> Book:
        setup = setup_of(server, batch=True, book=str(book))
        async with asyncio.timeout(patience):
            return await ask_in_batches(source, found, setup, poll_s=0.01)

    with ScriptedServer(Script(keeper=small_answers), clock=clock, batch_seconds=60) as server:
        with pytest.raises(TimeoutError):
            asyncio.run(asked(server, 3.0))
        under_way = json.loads((book.parent / "under-way.json").read_text())
        assert len(under_way) == 1
        clock.now = 61  # it ended while nobody looked
        with pytest.raises(TimeoutError):
            asyncio.run(asked(server, 3.0))  # takes it in, sends the second round
        answers = Book(book)
        assert len(answers) == 5
        clock.now = 200
        whole = asyncio.run(asked(server, 30.0))
        created = len(whole)
        assert json.loads((book.parent / "under-way.json").read_text()) == []
        again = asyncio.run(asked(server, 30.0))
    assert created == 5 + 3 == len(again)


def test_an_endpoint_without_batches_is_said_in_one_sentence(source: Path, tmp_path: Path) -> None:
    with ScriptedServer(Script(keeper=small_answers), without=frozenset({"batches"})) as server:  # type: ignore[arg-type]
        setup = setup_of(server, batch=True, book=str(tmp_path / "b" / "batches" / "answers.jsonl"))
        with pytest.raises(KeeperStopped, match="leave --batch out"):
            run(Asked(source, ("small",), tmp_path / "b", setup=setup, workers=1, poll_s=0.01))
