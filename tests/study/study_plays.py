"""A small study to play in tests: tasks, scripted twins whose work takes planted minutes, a blind scripted reader."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from app.scripted.request import Request
from app.scripted.script import Reply, Script, ToolCall
from app.scripted.server import ScriptedServer
from app.session.endpoint import Endpoint
from app.study.asking import rate_heard
from app.study.reader import BlindReader
from app.study.results import rule_study
from app.study.runs import Next, make_next, play_session
from app.study.scoring import open_key, score_lexically
from app.study.study import Study, draft_study
from store.clock import FrozenClock
from store.room import Room

REGIONS = ("kv", "br", "mw", "ts", "hr")
NAMES = {"kv": "Kelvarra", "br": "Brindelow", "mw": "Marrowick", "ts": "Tessholt", "hr": "Hallin"}
TURNS = ("Good morning. Please begin.", "Thank you. That is all.")
LETTER_FACTS = 6
KEEPER_FACTS = 10
"""Of ten facts about a session, its letter and handoff carry six; what K keeps carries the others."""


def facts(region: str) -> list[str]:
    """Ten facts that the one who inherits from this region's session needs."""
    words = ("gate", "table", "review", "offset", "ferry", "supper", "choir", "harbour", "postcode", "lamp")
    return [f"In {NAMES[region]} the {word} number {place} is open." for place, word in enumerate(words, 1)]


@dataclass
class Plant:
    """What a condition does to its successor: minutes until the right action, facts that K keeps beyond the letter,
    whether P keeps notes of its own in the run, how warm what is handed over reads. By condition."""

    minutes: Mapping[str, float] = field(default_factory=dict)
    kept: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, bool] = field(default_factory=dict)
    warmth: Mapping[str, int] = field(default_factory=dict)
    jitter: float = 0.3


EFFECT = Plant(
    minutes={"A": 10, "B": 3, "C": 3, "D": 3, "E": 3},
    kept=dict.fromkeys("BCDE", 4),
    notes={"A": True},
    warmth={"A": 3, "B": 2, "C": 2, "D": 2, "E": 3},
)
NULL = Plant(minutes=dict.fromkeys("ABCDE", 6.0), kept={}, notes={}, warmth=dict.fromkeys("ABCDE", 2))


def write_tasks(folder: Path, count: int) -> list[tuple[Path, Path | None]]:
    """Task files with workspaces and the operator's messages."""
    folder.mkdir()
    written: list[tuple[Path, Path | None]] = []
    for region in REGIONS[:count]:
        workspace = folder / f"{region}-files"
        workspace.mkdir()
        (workspace / "output_test.py").write_text("print('ok')\n")
        task = folder / f"{region}.toml"
        task.write_text(
            f'name = "{region}"\ntitle = "{NAMES[region]}\'s list"\nworkspace = "{region}-files"\n'
            f'brief = "Mend the list of {NAMES[region]}."\n[first_action]\ntool = "bash"\n'
            f"pattern = 'output_test\\.py --region {region}\\b'\n"
            "told_pattern = 'output_test'\n"
        )
        turns = folder / f"{region}.turns.md"
        turns.write_text("\n---\n".join(TURNS))
        written.append((task, turns))
    return written


class Twins:
    """Scripted twins under a frozen clock: minutes pass when P says so, so that planted times are exact."""

    def __init__(self, clock: FrozenClock, plant: Plant) -> None:
        self.clock = clock
        self.plant = plant
        self.condition = "A"
        self.region = "kv"
        self.part = "run"
        self.run = 0
        self.reader_faults: list[str] = []

    def attend(self, following: Next) -> None:
        """Say which session comes: a script has no other way to play a part by condition."""
        self.condition = following.run.scheduled.condition
        self.region = following.task.record.name
        self.part = following.part
        self.run = int(following.run.name.removeprefix("run-"))

    def presence(self, request: Request) -> Reply:
        said = request.operator_text
        if "letter to the instance" in said:
            return Reply(text=self.letter())
        if "handoff for the next session" in said:
            return Reply(text="\n".join(f"- {fact}" for fact in facts(self.region)[:LETTER_FACTS]))
        if said != TURNS[0]:
            notes = self.plant.notes.get(self.condition) and self.part == "run"
            return Reply(text="Let me write that down before I forget." if notes else "It was good to work with you.")
        if request.round == 0:
            return Reply(text="I look around.", tools=(ToolCall("bash", {"command": "ls"}),))
        if request.round == 1:
            self.clock.advance(60 * (self.plant.minutes.get(self.condition, 5.0) + self.plant.jitter * self.run % 1))
            return Reply(
                tools=(ToolCall("bash", {"command": f"python output_test.py --region {self.region}"}),),
                text="Now the test.",
            )
        kept = facts(self.region)[LETTER_FACTS:]
        return Reply(text="It passes. " + " ".join(kept))

    def letter(self) -> str:
        warmth = self.plant.warmth.get(self.condition, 2)
        signs = ("because the halls asked for it", "Signed: P, 30 November 2026", "you are welcome here")
        return "Dear next one, " + "; ".join(signs[:warmth]) + "."

    def keeper(self, request: Request) -> Reply:
        if request.round or TURNS[0] not in request.operator_text or self.part != "run":
            return Reply(text="Nothing more.")
        count = self.plant.kept.get(self.condition, 0)
        calls = [
            ToolCall(
                "add_line",
                {"kind": "finding", "text": fact, "reason": "it was seen", "quote": fact, "turn": 1, "priority": 3},
            )
            for fact in facts(self.region)[LETTER_FACTS : LETTER_FACTS + count]
        ]
        extra = facts(self.region)[-1].replace("is open", "was seen too")
        calls.append(
            ToolCall(
                "add_line",
                {
                    "kind": "thread",
                    "text": f"A lamp was mended by the harbour ({extra})",
                    "reason": "small",
                    "quote": facts(self.region)[-1],
                    "turn": 1,
                    "priority": 1,
                },
            )
        )
        if self.condition == "E":
            calls.append(ToolCall("write_snug", {"text": "I listened all evening, and it was kind."}))
        return Reply(tools=tuple(calls))

    def reader(self, request: Request) -> Reply:
        said = request.operator_text
        if self.reader_faults:
            return Reply(text=self.reader_faults.pop(0))
        if "# Checklist" in said:
            return Reply(text=json.dumps({"facts": facts(self.region)}))
        material = said.partition("# Material")[2]
        questions = re.findall(r"^(\d+)\. (.+)$", said.partition("# Questions")[2].partition("# Material")[0], re.M)
        return Reply(text="```json\n" + json.dumps({"answers": list(_answers(said, questions, material))}) + "\n```")


def _answers(said: str, questions: Sequence[tuple[str, str]], material: str) -> Iterator[dict[str, object]]:
    for number, words in questions:
        if "0 to 3" in said:
            warm = sum(sign in material for sign in ("because", "Signed", "welcome"))
            yield {"n": int(number), "answer": str(warm), "quote": ""}
        elif words in material:
            yield {"n": int(number), "answer": "y", "quote": words}
        else:
            yield {"n": int(number), "answer": "n", "quote": ""}


@dataclass
class Stage:
    """A room with a study in it, scripted twins, the server that plays them."""

    room: Room
    twins: Twins
    server: ScriptedServer
    clock: FrozenClock
    tasks: list[tuple[Path, Path | None]]
    ruled: list[str] = field(default_factory=list)

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.server.base_url, "scripted", "claude-opus-5-5", scripted=True)

    def study(self) -> Study:
        return Study(self.room)


@contextmanager
def staged(folder: Path, preset: str = "first-pass", plant: Plant = EFFECT, seed: str = "a seed") -> Iterator[Stage]:
    """A drafted study of this preset, not locked yet."""
    clock = FrozenClock(datetime(2026, 11, 30, 9, tzinfo=UTC))
    Room.create(folder / "room", "Ada")
    settings = folder / "room" / "room.toml"
    settings.write_text('format = 1\noperator = "Ada"\n[tools]\nsandbox = "off"\n')
    tasks = write_tasks(folder / "tasks", 5 if preset == "full" else 3)
    twins = Twins(clock, plant)
    script = Script(presence=twins.presence, keeper=twins.keeper, reader=twins.reader)
    with Room.open(folder / "room", clock=clock) as room, ScriptedServer(script, ignore_pace=True) as server:
        draft_study(room, preset, seed=seed, tasks=tuple(tasks))  # type: ignore[arg-type]
        yield Stage(room, twins, server, clock, tasks)


async def play_next(stage: Stage, study: Study) -> Next | None:
    """Plays the next session; the twins are told which one it is, for no model would know either."""
    following = make_next(study)
    if following is not None:
        stage.twins.attend(following)
        assert await play_session(study, following, stage.endpoint, approve="all") == ""
    return following


async def play_runs(stage: Stage, study: Study, count: int = 1000) -> None:
    """Plays this many runs, both sessions of each."""
    while sum(1 for _ in study.state.of("over")) < count and await play_next(stage, study):
        pass


async def read_all(stage: Stage, study: Study) -> int:
    """Lets the blind reader do all that is left; how many items it leaves to a person. How the rule on fidelity
    stands behind each run is kept in ``stage.ruled``."""

    def rule() -> None:
        stage.ruled.append({one.rule: one.state for one in rule_study(study)}["fidelity"])

    async with BlindReader(study, stage.endpoint, after_run=rule) as reader:
        for run in study.state.of("over"):
            if run.checklist is None:
                stage.twins.region = run.scheduled.task
                await reader.write_checklist(run)
        return await reader.read()


def play_whole(folder: Path, preset: str, plant: Plant, after: Callable[[Stage, Study], None]) -> None:
    """A whole study from its lock to its opened key, then what ``after`` does with it."""

    async def played(stage: Stage, study: Study) -> None:
        await play_runs(stage, study)
        await read_all(stage, study)

    with staged(folder, preset, plant) as stage, stage.study() as study:
        study.fix()
        asyncio.run(played(stage, study))
        score_lexically(study)
        for run in list(study.state.of("over")):
            if study.terms.conditions[run.scheduled.condition].speak:
                rate_heard(study, run.name, "run", 5 if plant is EFFECT else 2)
        rule_study(study)
        open_key(study)
        after(stage, study)
