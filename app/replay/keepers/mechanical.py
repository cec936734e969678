"""The Keeper without a model: cue phrases, numbers, names and corrections, through the same gate as the twin."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from app.replay.chains import Spoken, Turn
from app.replay.keepers.cues import condensed, corrects, dated, kind_of, sentences, telling, weight
from app.replay.keepers.interface import KeeperSetup, Passed, ReplayKeeper, Scene
from app.session.keeper_tools import Outcome
from store.bodies import Json
from store.decay import packaged_rules
from store.lines import WARM_BUDGET, Line, LineKind, render_line
from store.text import clean
from store.wording import near_duplicate

LEAST = 9.0
"""Weight from which a sentence is worth a line (our choice, looked at on LoCoMo conv-26 and conv-30)."""
LEAST_WITH_ROOM = 6.5
"""The same while warm is emptier than ROOMY: what is not filled serves nobody."""
ROOMY = 0.75
MOST_OF_A_TURN = 4
"""Lines that one turn may add: a turn that says more has said it in its heaviest sentences."""
TOUCH = 0.34
"""Share of a line's rarity that a sentence must hold to be a use of it."""
HEAVY, HEAVIEST = 12.0, 15.0
"""Weights from which a line starts one and two levels higher (our choice, looked at on LoCoMo conv-26 and conv-30)."""
HELD = 0.9
"""Share of warm that the closing pass fills with what weighs most."""
HOT_LINES = 4
CUE_WEIGHT: dict[LineKind, float] = {"decision": 5.0, "way_back": 3.0, "trap": 3.0}
"""What a cue phrase adds to a sentence's weight: a short decision is still one."""
REASONS: dict[LineKind, str] = {
    "decision": "the operator decided",
    "trap": "it cost time",
    "thread": "still open",
    "way_back": "the way back",
    "finding": "a fact",
}
"""A mechanical Keeper knows what, not why: it says no more than the kind of cue that it went by."""


@dataclass(frozen=True, slots=True)
class _Heard:
    """A sentence as it was said, and what it would be as a line."""

    spoken: Spoken
    sentence: str
    text: str
    weight: float


class Mechanical(ReplayKeeper):
    """Files the sentences of a turn that weigh most, touches the lines that a turn speaks of again, and puts a line
    right when someone corrects it. What it knows of rarity is what it has heard."""

    name = "mechanical"

    def __init__(self) -> None:
        self._turns = 0
        self._heard_in: Counter[str] = Counter()

    def overhear(self, turn: Turn) -> None:
        self._turns += 1
        stems = {stem for spoken in turn.spoken() if spoken.by != "tool" for stem in telling(spoken.text)}
        self._heard_in.update(stems)

    async def hear(self, scene: Scene, turn: Turn) -> Passed:
        work = _Pass(scene, turn.number)
        heard = [one for spoken in turn.spoken() if spoken.by != "tool" for one in self._sentences(spoken, turn)]
        for one in heard:
            self._touch(work, one)
        left = [one for one in heard if not self._put_right(work, one)]
        roomy = scene.record.room.tiers.size("warm") < WARM_BUDGET * ROOMY
        least = LEAST_WITH_ROOM if roomy else LEAST
        worth = sorted((one for one in left if one.weight >= least), key=lambda one: -one.weight)[:MOST_OF_A_TURN]
        for one in (one for one in left if one in worth):
            self._file(work, one)
        self._hot(work, turn)
        return work.passed()

    async def closing(self, scene: Scene) -> Passed:
        """Fading makes room: what weighs most is held up as far as warm has room for it, the rest may fade."""
        work = _Pass(scene, scene.record.turn)
        room = WARM_BUDGET * HELD
        for line in sorted(scene.record.room.tiers.warm(), key=lambda line: -self._worth(line)):
            room -= len(render_line(line).encode()) + 1
            if room < 0:
                break
            level = _level(self._worth(line), line.kind)
            if line.priority < level:
                work.call("reprioritise", id=line.id, priority=level, reason="it weighs much, and there is room")
        return work.passed()

    def _worth(self, line: Line) -> float:
        return weight(line.text.partition(" — ")[2] or line.text)

    # ------------------------------------------------------------ what a sentence is worth

    def _sentences(self, spoken: Spoken, turn: Turn) -> list[_Heard]:
        found = []
        for sentence in sentences(clean(spoken.text)):
            text = f"{spoken.name} — {condensed(sentence)}"
            if when := dated(sentence, turn.at.date()):
                text = f"{text.rstrip('.!')} ({when})"
            told = weight(condensed(sentence)) + CUE_WEIGHT.get(kind_of(sentence, spoken.by), 0.0)
            found.append(_Heard(spoken, sentence, text, told))
        return found

    def _rarity(self, stem: str) -> float:
        return math.log(1 + (1 + self._turns) / (1 + self._heard_in[stem]))

    # ------------------------------------------------------------ what is done with it

    def _touch(self, work: _Pass, one: _Heard) -> None:
        said = telling(one.sentence)
        for line in work.untouched():
            about = telling(line.quote or line.text)
            shared = about & said
            if len(shared) < 2:
                continue
            whole = sum(self._rarity(stem) for stem in about)
            if whole and sum(self._rarity(stem) for stem in shared) / whole >= TOUCH:
                work.call("touch_line", id=line.id, reason="spoken of again", quote=one.sentence, turn=work.turn)

    def _put_right(self, work: _Pass, one: _Heard) -> bool:
        line = self._corrected(work, one) if corrects(one.sentence) else None
        if line is None:
            return False
        told: dict[str, Json] = {"quote": one.sentence, "turn": work.turn, "reason": "corrected"}
        return not work.call("edit_line", id=line.id, text=one.text, **told).refused

    def _file(self, work: _Pass, one: _Heard) -> None:
        kind = kind_of(one.sentence, one.spoken.by)
        fields: dict[str, Json] = {"quote": one.sentence, "turn": work.turn, "reason": REASONS[kind]}
        if kind == "decision":
            # In the operator's words: the sentence as it is, without a name before it.
            if not work.call("add_line", kind=kind, text=one.sentence, **fields).refused:
                return
            kind = "finding"
            fields["reason"] = REASONS[kind]
        work.call("add_line", kind=kind, text=one.text, priority=_level(one.weight, kind), **fields)

    def _corrected(self, work: _Pass, one: _Heard) -> Line | None:
        said = telling(one.sentence)
        best, nearest = 0.5, None
        for line in work.lines():
            about = telling(line.text)
            near = len(about & said) / max(3, min(len(about), len(said)))
            if line.tier == "warm" and line.kind != "decision" and near > best:
                best, nearest = near, line
        return nearest

    def _hot(self, work: _Pass, turn: Turn) -> None:
        """Hot is where the talk stands: the last words of each voice."""
        last = {spoken.by: spoken for spoken in turn.spoken() if spoken.by != "tool"}
        texts: list[Json] = []
        for spoken in last.values():
            said = [*sentences(clean(spoken.text))][-HOT_LINES // 2 :]
            texts += [f"{spoken.name} just said: {condensed(sentence)}"[:300] for sentence in said]
        # What warm holds already needs no second place: the gate would refuse the whole note for it.
        warm = [line.text for line in work.lines() if line.tier == "warm"]
        texts = [text for text in texts if not any(near_duplicate(str(text), line) for line in warm)]
        if texts:
            work.call("rewrite_hot", lines=texts, reason="the talk went on")


def _level(weight: float, kind: LineKind) -> int:
    """The priority of a line: its kind's own, one or two more when it weighs much."""
    return min(5, packaged_rules().start[kind] + (weight >= HEAVY) + (weight >= HEAVIEST))


class _Pass:
    """The calls of one pass, and what became of them."""

    def __init__(self, scene: Scene, turn: int) -> None:
        self._scene = scene
        self.turn = turn
        self._accepted = self._refused = 0

    def call(self, name: str, /, **fields: Json) -> Outcome:
        outcome = self._scene.desk.call(name, fields, self.turn)
        self._accepted += not outcome.refused
        self._refused += outcome.refused
        return outcome

    def lines(self) -> tuple[Line, ...]:
        return tuple(self._scene.record.room.tiers)

    def untouched(self) -> tuple[Line, ...]:
        session = self._scene.record.number
        return tuple(line for line in self.lines() if line.tier == "warm" and line.touched < session)

    def passed(self) -> Passed:
        return Passed(self._accepted, self._refused, "" if self._accepted else "nothing to keep")


def make(setup: KeeperSetup) -> ReplayKeeper:
    """A new one for one chain."""
    return Mechanical()
