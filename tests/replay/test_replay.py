"""Replaying a chain: the live gate and decay, the transcript's clock, the same events again, taken up anywhere."""

from __future__ import annotations

import asyncio
from datetime import date, timedelta
from pathlib import Path

import pytest
from conftest import Take
from hypothesis import given, settings
from hypothesis import strategies as st
from transcripts import ClaudeCode, small_session

from app.replay import keepers
from app.replay.chains import Chain, chains, turns_of
from app.replay.keepers.cues import condensed, dated, kind_of, sentences, weight
from app.replay.keepers.interface import KeeperSetup, Passed, ReplayKeeper
from app.replay.keepers.transcript import BYTES, Transcript
from app.replay.purse import Purse
from app.replay.run import Replayed, replay
from store.bodies import KeeperPassed, SessionClosed, SessionOpened, TiersChanged
from store.folding import check_room
from store.lines import BUDGETS
from store.room import Room

MONTHS = ("# 2026-09-01 10:00", "# 2026-09-08 10:00", "# 2026-09-15 10:00", "# 2026-09-22 10:00")
TALK = """{0}
Ann: From now on always run the output test before the apply.
Bob: I moved to Lisbon last month with 3 cats and a piano. The weekday check in region_br.py cost me an hour.
Ann: My sister Clara opened a bakery in Porto yesterday.
Bob: Wow, great!
{1}
Ann: Clara's bakery in Porto now sells 40 kinds of bread.
Bob: Nice. I am planning to visit the bakery of Clara in Porto next week.
{2}
Ann: Hello again.
Bob: Actually, I moved to Lisbon with 4 cats and a piano, not 3.
{3}
Ann: What is new?
Bob: Nothing much to tell.
"""


@pytest.fixture
def source(root: Path, take: Take, tmp_path: Path) -> Path:
    """A room with one imported chain of four sessions."""
    path = tmp_path / "talk.txt"
    path.write_text(TALK.format(*MONTHS), encoding="utf-8")
    take(path)
    return root


def played(
    source: Path, root: Path, keeper: ReplayKeeper | str = "mechanical", chain: str = "", **more: object
) -> Replayed:
    made = keepers.make(keeper, KeeperSetup()) if isinstance(keeper, str) else keeper
    with Room.open(source, read_only=True) as room:
        found = [one for one in chains(room) if chain in ("", one.name)]
        return asyncio.run(replay(room, found[0], made, root, Purse(None, None), **more))  # type: ignore[arg-type]


def chain_of(source: Path) -> Chain:
    with Room.open(source, read_only=True) as room:
        return chains(room)[0]


def logs_of(root: Path) -> dict[str, bytes]:
    return {file.parent.name: file.read_bytes() for file in sorted((root / "sessions").glob("*/events.jsonl"))}


# ---------------------------------------------------------------- the same as live


def test_sessions_come_in_the_order_of_their_dates_whatever_order_they_were_taken_in(
    root: Path, take: Take, tmp_path: Path
) -> None:
    late, early = small_session("late"), small_session("early")
    for record in early.records:
        record["timestamp"] = record["timestamp"].replace("2026-09", "2026-03")
    for made in (late, early):
        for record in made.records:
            record["cwd"] = "/project"
    take(late.write(tmp_path / "late.jsonl"), early.write(tmp_path / "early.jsonl"))
    chain = chain_of(root)
    assert chain.name == "/project"
    assert ["early" in link.log for link in chain.links] == [True, False]


def test_each_session_opens_decays_and_closes_on_the_transcripts_clock(source: Path, tmp_path: Path) -> None:
    done = played(source, tmp_path / "replay")
    assert (done.sessions, done.turns) == (4, 5)
    assert check_room(tmp_path / "replay" / "sessions") == ()
    with Room.open(tmp_path / "replay", read_only=True) as room:
        events = list(room.all_events())
        opened = [event for event in events if isinstance(event.body, SessionOpened)]
        assert [event.at[:10] for event in opened] == ["2026-09-01", "2026-09-08", "2026-09-15", "2026-09-22"]
        assert sum(isinstance(event.body, SessionClosed) for event in events) == 4
        assert any(isinstance(event.body, TiersChanged) and event.body.op == "decay" for event in events)
        assert room.tiers.hot() == ()
        assert all(room.tiers.size(tier) <= budget for tier, budget in BUDGETS.items())
        assert {event.at[:7] for event in events} == {"2026-09"}


def test_the_mechanical_keeper_files_decisions_in_the_operators_words_and_dates_by_the_turn(
    source: Path, tmp_path: Path
) -> None:
    loaded = played(source, tmp_path / "replay", upto=1).loaded
    assert "decision p5] From now on always run the output test before the apply." in loaded
    assert "Bob — The weekday check in region_br.py cost me an hour." in loaded
    assert "My sister Clara opened a bakery in Porto yesterday (31 August 2026)" in loaded
    assert "(August 2026)" in loaded
    assert "great" not in loaded


def test_what_is_spoken_of_again_is_touched_and_what_is_corrected_is_edited(source: Path, tmp_path: Path) -> None:
    played(source, tmp_path / "replay")
    with Room.open(tmp_path / "replay", read_only=True) as room:
        changes = [event.body for event in room.all_events() if isinstance(event.body, TiersChanged)]
        assert any(body.op == "touch_line" and "Clara" in body.changes[0].after.text for body in changes)
        edited = [body for body in changes if body.op == "edit_line"]
        assert ["4 cats" in body.changes[0].after.text for body in edited] == [True]
        assert "3 cats" in (edited[0].changes[0].before or edited[0].changes[0].after).text


def test_turns_that_the_operator_went_back_from_are_not_heard(root: Path, take: Take, tmp_path: Path) -> None:
    made = small_session()
    made.human("again", "No: ship it at once.", after="s1-a3")
    take(made.write(tmp_path / "s.jsonl"))
    with Room.open(root, read_only=True) as room:
        chain = chains(room)[0]
        heard = [turn.number for turn in turns_of(room, chain.links[0], chain.name)]
    assert heard == [1, 3]


def test_a_compaction_summary_is_nobodys_word(root: Path, take: Take, tmp_path: Path) -> None:
    made = small_session()
    made.human("sum", "Clara said in 1999 that the server in /opt/old burns.", isCompactSummary=True)
    made.human("h3", "Go on, please.")
    take(made.write(tmp_path / "s.jsonl"))
    for keeper in ("mechanical", "everything"):
        assert "1999" not in played(root, tmp_path / keeper, keeper).loaded


# ---------------------------------------------------------------- again, and taken up


def test_the_same_transcript_twice_through_the_same_keeper_gives_the_same_events(source: Path, tmp_path: Path) -> None:
    first, second = (played(source, tmp_path / name) for name in ("one", "two"))
    assert logs_of(tmp_path / "one") == logs_of(tmp_path / "two")
    assert (first.loaded, first.accepted) == (second.loaded, second.accepted)


class Killed(Exception):
    pass


class Dies(ReplayKeeper):
    """The mechanical Keeper, until it is killed in the middle of a pass."""

    name = "mechanical"

    def __init__(self, after: int) -> None:
        self._inner = keepers.make("mechanical", KeeperSetup())
        self._left = after

    def overhear(self, turn: object) -> None:
        self._inner.overhear(turn)  # type: ignore[arg-type]

    async def hear(self, scene: object, turn: object) -> Passed | None:
        passed = await self._inner.hear(scene, turn)  # type: ignore[arg-type]
        if not self._left:
            raise Killed
        self._left -= 1
        return passed

    async def closing(self, scene: object) -> Passed | None:
        passed = await self._inner.closing(scene)  # type: ignore[arg-type]
        if not self._left:
            raise Killed
        return passed


@pytest.mark.parametrize("after", range(5))
def test_a_replay_that_was_killed_in_any_turn_goes_on_to_the_same_events(
    source: Path, tmp_path: Path, after: int
) -> None:
    played(source, tmp_path / "whole")
    with pytest.raises(Killed):
        played(source, tmp_path / "cut", Dies(after))
    done = played(source, tmp_path / "cut")
    assert logs_of(tmp_path / "cut") == logs_of(tmp_path / "whole")
    assert done.turns == 5


def test_a_finished_replay_is_not_played_again(source: Path, tmp_path: Path) -> None:
    first = played(source, tmp_path / "replay")
    before = logs_of(tmp_path / "replay")
    again = played(source, tmp_path / "replay")
    assert logs_of(tmp_path / "replay") == before
    assert (again.loaded, again.accepted, again.turns) == (first.loaded, first.accepted, first.turns)


def test_a_replay_leaves_the_room_of_the_transcripts_as_it_was(source: Path, tmp_path: Path) -> None:
    before = logs_of(source)
    played(source, tmp_path / "replay")
    assert logs_of(source) == before


# ---------------------------------------------------------------- baselines


def test_the_baselines_hand_over_just_their_bytes(source: Path, tmp_path: Path) -> None:
    loaded = {name: played(source, tmp_path / "x", name).loaded for name in ("none", "tail", "head", "everything")}
    whole = loaded["everything"]
    assert loaded["none"] == ""
    assert loaded["tail"] == loaded["head"] == whole  # shorter than the budget
    assert whole.startswith("# Tuesday 1 September 2026\nAnn: From now on")
    assert whole.count("# ") == 4 and "Bob: Nothing much to tell." in whole


@given(st.lists(st.text(alphabet="aé字 ", min_size=1, max_size=40), min_size=1, max_size=12), st.integers(0, 200))
@settings(max_examples=60, deadline=None)
def test_tail_and_head_never_exceed_their_bytes_and_are_ends_of_the_whole(texts: list[str], most: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        made = ClaudeCode()
        for place, text in enumerate(texts):
            made.human(f"h{place}", text)
        root = Room.create(Path(folder) / "room", "Ann")
        from app.replay.taking import Library

        with Library(root) as library:
            library.take(made.write(Path(folder) / "s.jsonl"))
        whole = played(root, Path(folder) / "x", "everything").loaded
        tail = Transcript("tail", most, from_end=True)
        head = Transcript("head", most, from_end=False)
        for keeper, end in ((tail, whole.endswith), (head, whole.startswith)):
            text = played(root, Path(folder) / "x", keeper).loaded
            assert len(text.encode()) <= most
            assert not text or end(text)
            assert len(text.encode()) >= min(most, len(whole.encode())) - 3  # a character is never cut in two
    assert BYTES == 22_528


def test_the_controls_name_the_speaker_before_every_sentence_and_lose_none(source: Path, tmp_path: Path) -> None:
    whole = played(source, tmp_path / "x", "everything_named").loaded
    assert "Bob — I moved to Lisbon last month with 3 cats and a piano.\nBob — The weekday check" in whole
    bare = [line.partition(" — ")[2] for line in whole.splitlines() if " — " in line]
    said = [line.partition(": ")[2] for line in TALK.splitlines() if ": " in line]
    assert " ".join(bare) == " ".join(said)


# ---------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("sentence", "day"),
    [
        ("I went there yesterday.", "7 May 2023"),
        ("We meet tomorrow.", "9 May 2023"),
        ("It was last Friday.", "5 May 2023"),
        ("It was last Monday.", "1 May 2023"),
        ("It is next Monday.", "15 May 2023"),
        ("It happened last week.", "the week of 1 May 2023"),
        ("Two weeks ago I left.", "the week of 24 April 2023"),
        ("I left 3 days ago.", "5 May 2023"),
        ("I painted it last year.", "2022"),
        ("Next month I go.", "June 2023"),
        ("I lived there two months ago.", "March 2023"),
        ("Nothing of the kind.", ""),
    ],
)
def test_relative_dates_are_those_of_the_day_they_were_said(sentence: str, day: str) -> None:
    assert dated(sentence, date(2023, 5, 8)) == day


@given(st.dates(date(1990, 1, 1), date(2100, 1, 1)), st.sampled_from(["monday", "thursday", "sunday"]))
def test_last_weekday_lies_within_the_week_before_and_next_within_the_week_after(said: date, name: str) -> None:
    from datetime import datetime

    for which, nearest, farthest in (("last", -7, -1), ("next", 1, 7)):
        found = datetime.strptime(dated(f"It was {which} {name}.", said), "%d %B %Y").date()
        assert f"{found:%A}".lower() == name
        assert said + timedelta(days=nearest) <= found <= said + timedelta(days=farthest)


def test_openers_and_questions_weigh_little_and_facts_much() -> None:
    assert condensed("Oh wow, Mel! I ran 10 miles.") == "I ran 10 miles."
    assert condensed("Great ideas come late.") == "Great ideas come late."
    fact, question, praise = "I moved to Lisbon with 3 cats in 2019.", "What did you do then?", "You are so kind!"
    assert weight(fact) > 8 > 2 > max(weight(question), weight(praise))


def test_code_is_no_sentence() -> None:
    text = "The cause is the region.\n```python\nx = open('a.txt')\n```\n- **Fix**: read it twice each time."
    assert [*sentences(text)] == ["The cause is the region.", "- **Fix**: read it twice each time."]


@pytest.mark.parametrize(
    ("sentence", "by", "kind"),
    [
        ("Never push to main on a Friday.", "operator", "decision"),
        ("Never push to main on a Friday.", "presence", "finding"),
        ("Sharing isn't always easy for me.", "operator", "finding"),
        ("To undo it, git revert the merge.", "presence", "way_back"),
        ("It turned out that the linter rewrote the file.", "presence", "trap"),
        ("We still need to check region KV.", "presence", "thread"),
        ("The file holds 40 rows.", "presence", "finding"),
    ],
)
def test_cue_phrases_tell_the_kind_and_only_the_operator_decides(sentence: str, by: str, kind: str) -> None:
    assert kind_of(sentence, by) == kind


def test_a_new_keeper_is_one_module_and_every_one_says_its_name() -> None:
    assert set(keepers.names()) >= {"none", "tail", "head", "everything", "mechanical", "small", "twin"}
    for name in keepers.names():
        made = keepers.make(name, KeeperSetup(base_url="http://127.0.0.1:9", key="x", model="m"))
        assert made.name == name
    with pytest.raises(keepers.KeeperError, match="There is no Keeper 'gpt'"):
        keepers.make("gpt", KeeperSetup())


def test_a_pass_is_logged_for_every_turn(source: Path, tmp_path: Path) -> None:
    played(source, tmp_path / "replay")
    with Room.open(tmp_path / "replay", read_only=True) as room:
        passes = [event.body for event in room.all_events() if isinstance(event.body, KeeperPassed)]
    assert [body.turns for body in passes if body.purpose == "turn"] == [(1,), (2,), (1,), (1,), (1,)]
    assert sum(body.purpose == "closing" for body in passes) == 4
