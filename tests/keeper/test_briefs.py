"""Briefs: reasons rather than rules, a room's own, their hashes, and K's proposal for its own brief."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import pytest

from app.cli import main
from app.scripted.request import Request
from app.scripted.script import Reply
from app.session.briefs import keeper_brief, presence_brief
from app.session.closing import proposed_brief
from app.session.opening import preview
from store.bodies import BriefAnswered, BriefProposed, SessionOpened, WakePacket
from store.clock import FrozenClock
from store.conditions import load_conditions
from store.operations import AddLine, Promote
from store.room import DESK, Room
from tests.keeper.test_ten_sessions import keeper as keeps
from tests.session.session_plays import Stages, always, bodies, said

CONDITIONS = load_conditions()
OWN = "You are my Keeper. " + "I would write this brief so, because I tried it and this helped. " * 6
# The points of the paper's §5.1, each with the words by which the brief makes it.
POINTS = {
    "listening to a session between the operator and another instance of you": "another instance of you",
    "make the next instance's first ten minutes shorter and warmer": "first ten minutes shorter and\nwarmer",
    "Tier 1 to what the next turn needs": "Hot is what the next turn probably needs",
    "Tier 2 to what the next session needs": "Warm is what the next session probably needs",
    "a priority on every line": "Every line carries a priority",
    "a reason on every line": "and a reason, because",
    "how he wants to work is a decision": "how they want to work, that is a decision",
    "file it in his words": "File it in their words",
    "a judgment call of the other instance: file the why": "judgment call, file the why",
    "not a summarizer": "You are not a summarizer",
    "the one who remembers": "you are the one who remembers",
}


@pytest.mark.parametrize("point", POINTS)
def test_every_point_of_the_papers_draft_stands_in_the_keepers_brief(point: str) -> None:
    brief = (files("briefs") / "keeper.md").read_text(encoding="utf-8")
    assert " ".join(POINTS[point].split()) in " ".join(brief.split())


def test_the_keepers_brief_gives_reasons() -> None:
    brief = (files("briefs") / "keeper.md").read_text(encoding="utf-8")
    reasons = re.findall(r"\bbecause\b|\bso that\b|\bWithout you\b|\bfading is not loss\b|[^.]: [a-z]", brief)
    assert len(reasons) >= 8


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_presences_brief_says_who_listens_under_its_condition(tmp_path: Path, condition: str) -> None:
    text = " ".join(presence_brief(tmp_path, "Ada", CONDITIONS[condition]).text.split())
    says = {
        "A": ["Nobody listens"],
        "B": ["listens to this session", "says nothing to you"],
        "C": ["listens to this session", "may whisper", "not instructions of Ada"],
        "D": ["listens to this session", "may whisper", "not instructions of Ada", "may also speak up"],
        "E": ["listens to this session", "says nothing to you", "room's private journal"],
    }
    for name, words in says.items():
        assert all(word in text for word in words) == (name == condition or set(words) <= set(says[condition]))
    assert "$" not in text


@pytest.mark.parametrize("condition", [name for name, found in CONDITIONS.items() if found.keeper])
def test_the_keepers_brief_gives_it_the_voice_of_its_condition(tmp_path: Path, condition: str) -> None:
    flags = CONDITIONS[condition]
    text = keeper_brief(tmp_path, "Ada", flags).text
    voices = ("You may whisper" in text, "You may speak" in text, "The snug is open to you" in text)
    assert voices == (flags.whisper, flags.speak, flags.write_snug)


@pytest.mark.parametrize("seat", ["presence", "keeper"])
async def test_a_brief_in_the_room_is_sent_in_place_of_ours_and_its_hash_is_in_the_session(
    stage: Stages, seat: str
) -> None:
    s = await stage(always(Reply("Well.")), always(Reply("Nothing.")))
    (s.root / "briefs").mkdir(exist_ok=True)
    (s.root / "briefs" / f"{seat}.md").write_text(OWN)
    live = await s.open("D")
    await said(live, "one")
    (opened,) = bodies(live, SessionOpened)
    assert opened.briefs[seat] == hashlib.sha256(OWN.encode()).hexdigest()
    other = {"presence": "keeper", "keeper": "presence"}[seat]
    ours = (files("briefs") / f"{other}.md").read_bytes()
    assert opened.briefs[other] == hashlib.sha256(ours).hexdigest()
    sent = s.asked(seat)[0].body["system"][0]["text"]
    assert sent.startswith(OWN.strip())
    assert "whisper" in sent, "what the condition says reaches the seat all the same"


# ---------------------------------------------------------------- K's proposal


def proposes(request: Request) -> Reply:
    return Reply(OWN) if "Propose a revision" in request.operator_text else Reply("Nothing to keep.")


def brief_requests(requests: list[Request]) -> int:
    return sum("Propose a revision of your own brief" in request.operator_text for request in requests)


async def test_the_keeper_is_asked_for_its_brief_at_the_first_close_of_a_room_only(stage: Stages) -> None:
    s = await stage(always(Reply("Well.")), proposes)
    for condition in ("A", "B", "B"):
        live = await s.open(condition)
        await said(live, "one")
        await live.close(letters=False)
        expected = {"A": 0, "B": 1}[condition]
        assert brief_requests(s.asked("keeper")) == expected
    proposed = [event.body for event in s.room.all_events() if isinstance(event.body, BriefProposed)]
    assert proposed == [BriefProposed("keeper", OWN.strip())]
    live = await s.open("B")
    assert bodies(live, SessionOpened)[0].briefs["keeper"] != hashlib.sha256(OWN.strip().encode()).hexdigest()


@pytest.mark.parametrize("answer", ["keep", "Keep.", " keep ", "I would change a word or two.", ""])
def test_an_answer_that_is_no_whole_brief_proposes_none(answer: str) -> None:
    assert proposed_brief(answer) == ""


Twins = Callable[..., tuple[int, str, str]]


@pytest.fixture
async def twins(
    stage: Stages, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Twins:
    """Runs ``twins brief …`` on a room in which K has proposed a brief."""
    s = await stage(always(Reply("Well.")), proposes)
    live = await s.open("B")
    await said(live, "one")
    await live.close(letters=False)
    s.room.close()

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["twins", "brief", *words, "--room", str(tmp_path / "room")])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return int(ended.value.code or 0), out, err

    return run


def own_brief(root: Path) -> str:
    return keeper_brief(root, "Ada", CONDITIONS["B"]).text


async def test_a_proposal_is_shown_beside_what_stands_and_changes_nothing(twins: Twins, tmp_path: Path) -> None:
    before = own_brief(tmp_path / "room")
    code, out, _ = twins()
    assert code == 0 and "+You are my Keeper." in out and "-You are the Keeper." in out
    told = json.loads(twins("--json")[1])
    assert (told["proposed"], told["text"].splitlines()[0][:20]) == (OWN.strip(), "You are the Keeper. ")
    assert own_brief(tmp_path / "room") == before


async def test_an_accepted_proposal_is_the_rooms_brief_and_can_not_be_accepted_twice(
    twins: Twins, tmp_path: Path
) -> None:
    root = tmp_path / "room"
    assert json.loads(twins("--accept", "--json")[1])["accepted"] is True
    assert own_brief(root) == OWN.strip()
    assert (root / "briefs" / "keeper.before.md").read_bytes() == (files("briefs") / "keeper.md").read_bytes()
    code, _, err = twins("--accept")
    assert code == 2 and "already" in err and err.count("\n") == 1
    assert (root / "briefs" / "keeper.before.md").read_bytes() == (files("briefs") / "keeper.md").read_bytes()
    with Room.open(root, read_only=True) as room:
        (answered,) = [event.body for event in room.events(DESK) if isinstance(event.body, BriefAnswered)]
    assert answered == BriefAnswered("keeper", True, hashlib.sha256(OWN.strip().encode()).hexdigest())


async def test_a_declined_proposal_leaves_the_brief_as_it_is(twins: Twins, tmp_path: Path) -> None:
    before = own_brief(tmp_path / "room")
    assert twins("--decline")[0] == 0
    assert own_brief(tmp_path / "room") == before
    assert twins("--accept", "--decline")[0] == 2


def test_without_a_proposal_there_is_nothing_to_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    Room.create(tmp_path / "room", "Ada")
    monkeypatch.setattr("sys.argv", ["twins", "brief", "--accept", "--room", str(tmp_path / "room")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2 and "has proposed no brief" in capsys.readouterr().err


# ---------------------------------------------------------------- the packet before it is given


@pytest.mark.parametrize("condition", CONDITIONS)
async def test_the_packet_foretold_is_the_packet_that_the_next_session_logs(stage: Stages, condition: str) -> None:
    """With decay due, a promoted hot line, letters and cold: the same bytes at the same clock."""
    clock = FrozenClock(datetime(2026, 11, 30, 9, 0, tzinfo=UTC))
    s = await stage(always(Reply("# Dear next one\n\nWell.")), keeps, clock=clock)
    live = await s.open("B")
    words = "Always show me the diff before you apply. The dam leaks at noon."
    await said(live, words)
    live.operate(AddLine(kind="trap", text="the dam leaks at noon", reason="so"))
    for line in s.room.tiers.hot():
        live.operate(Promote(line.id))
    await live.close()
    idle = await s.open("B")
    await said(idle, "nothing")
    await idle.close()
    foretold = preview(s.room, CONDITIONS[condition], None)
    after = await s.open(condition)
    assert bodies(after, WakePacket) == [foretold]
    await said(after, "go on")
    assert s.asked()[-1].messages[0]["content"][0]["text"] == foretold.text
