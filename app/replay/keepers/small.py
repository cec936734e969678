"""The paper's small-model Keeper (§5.4): steps a to c are short prompts with plain-text answers, step d is code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.replay.chains import Chain, Spoken, Turn, turns_of
from app.replay.keepers.cues import condensed, dated, sentences
from app.replay.keepers.interface import KeeperSetup, KeeperStopped, Passed, ReplayKeeper, Scene
from app.replay.questions import Asker, Book, Question
from store.bodies import Json
from store.lines import LINE_KINDS, LineKind
from store.room import Room
from store.text import clean

if TYPE_CHECKING:
    from app.session.keeper_tools import Outcome

NEEDS_MODEL = True
MOST_SENTENCES = 24
"""Sentences of a turn that are put to the model: more than a small context follows well (our choice)."""
MOST_PROMOTED = 6

WORTH = (
    "You keep notes of a conversation between {operator} and {presence}. Answer with one word, yes or no: does the "
    "following turn hold a fact, a decision, a plan or a problem that somebody who takes over later should know?\n\n"
    "{turn}"
)
HOT = (
    "You keep a short note of where a conversation between {operator} and {presence} stands. The note now says:\n"
    "{hot}\n\nThe newest turn:\n{turn}\n\nWrite the note anew: at most six short lines, each one sentence, only what "
    "the next turn needs. No headings."
)
PROMOTE = (
    "You keep the lasting notes of a conversation between {operator} and {presence}. Below are the numbered sentences "
    "of one turn. Name those that somebody who takes over next week should still know, one a line, as: number kind "
    "priority. Kinds: decision ({operator} says how they want it), trap (cost time), thread (still open), way_back "
    "(how to undo something), finding (any other fact). Priority 1 to 5, 5 is the most important. If there are none, "
    "answer: none.\n\n{sentences}"
)
_ANSWER = re.compile(r"(?m)^\W*(\d{1,2})\b[\s.:),-]*(.*)$")
_PRIORITY = re.compile(r"\b([1-5])\b")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s*")


@dataclass(frozen=True, slots=True)
class Promoted:
    """One sentence that the model named: its place (from 0), the kind and the priority it gave."""

    place: int
    kind: LineKind
    priority: int | None


def promoted(answer: str, count: int) -> Iterator[Promoted]:
    """The sentences that an answer to PROMOTE names, each once; what names none is passed over."""
    seen: set[int] = set()
    for number, rest in _ANSWER.findall(answer):
        place = int(number) - 1
        if not 0 <= place < count or place in seen:
            continue
        seen.add(place)
        words = rest.casefold().replace("way back", "way_back").replace("-", "_")
        kind: LineKind = next((kind for kind in LINE_KINDS if kind in words), "finding")
        told = _PRIORITY.search(rest)
        yield Promoted(place, kind, int(told[1]) if told else None)


def worth_a_line(answer: str) -> bool:
    """Whether an answer to WORTH is a yes. What is neither yes nor no counts as yes: hearing once more is cheaper than
    losing."""
    first = re.search(r"[a-z]+", answer.casefold())
    return first is None or first[0] not in ("no", "none", "nothing", "not")


class Small(ReplayKeeper):
    """Asks a small model three plain questions a turn; the words of every line are the turn's own."""

    name = "small"

    def __init__(self, setup: KeeperSetup) -> None:
        self.model = setup.model
        self._asker = Asker(setup)

    def overhear(self, turn: Turn) -> None:
        """The tiers are all that this Keeper knows of what was before."""

    async def open(self, scene: Scene) -> None:
        await self._asker.open(scene)

    async def hear(self, scene: Scene, turn: Turn) -> Passed:
        if not worth_a_line(await self._asker.answer(worth(turn))):
            return Passed(note="nothing to keep")
        made = _Made(scene, turn)
        found = told(turn)
        named = list(promoted(await self._asker.answer(promote(turn, found)), len(found)))
        for one in sorted(named, key=lambda one: -(one.priority or 3))[:MOST_PROMOTED]:
            made.line(found[one.place], one)
        hot = [line.text for line in scene.record.room.tiers.hot()]
        made.hot(await self._asker.answer(_hot(turn, hot)))
        return Passed(made.accepted, made.refused, "" if made.accepted else "nothing to keep")

    async def end(self) -> None:
        await self._asker.close()


# ---------------------------------------------------------------- the questions


def worth(turn: Turn) -> Question:
    """Step a: is this turn worth a line?"""
    return Question("worth", WORTH.format(**_names(turn), turn=_text(turn)), 8)


def promote(turn: Turn, found: Sequence[tuple[Spoken, str]]) -> Question:
    """Step c: what of it belongs into warm, at what priority?"""
    numbered = "\n".join(
        f"{place}. {spoken.name}: {condensed(sentence)}" for place, (spoken, sentence) in enumerate(found, 1)
    )
    return Question("promote", PROMOTE.format(**_names(turn), sentences=numbered), 160)


def _hot(turn: Turn, hot: Sequence[str]) -> Question:
    """Step b: hot rewritten. It needs what hot held before, so it is asked in order."""
    note = "\n".join(f"- {text}" for text in hot) or "(nothing yet)"
    return Question("hot", HOT.format(**_names(turn), hot=note, turn=_text(turn)), 200)


def told(turn: Turn) -> list[tuple[Spoken, str]]:
    """The sentences of a turn with who said them, as they are numbered for the model."""
    found = [
        (spoken, sentence)
        for spoken in turn.spoken()
        if spoken.by != "tool"
        for sentence in sentences(clean(spoken.text))
    ]
    return found[:MOST_SENTENCES]


def _names(turn: Turn) -> dict[str, str]:
    return {"operator": turn.source.operator, "presence": turn.source.presence}


def _text(turn: Turn) -> str:
    return "\n".join(f"{spoken.name}: {condensed(sentence)}" for spoken, sentence in told(turn)) or "(no words)"


# ---------------------------------------------------------------- what is made of the answers


class _Made:
    def __init__(self, scene: Scene, turn: Turn) -> None:
        self._scene = scene
        self._turn = turn
        self.accepted = self.refused = 0

    def line(self, sentence: tuple[Spoken, str], one: Promoted) -> None:
        spoken, words = sentence
        text = f"{spoken.name} — {condensed(words)}"
        if when := dated(words, self._turn.at.date()):
            text = f"{text.rstrip('.!')} ({when})"
        kind: LineKind = one.kind
        if kind == "decision" and spoken.by == "operator":
            text = words
        elif kind == "decision":
            kind = "finding"
        fields: dict[str, Json] = {"priority": one.priority} if one.priority and kind != "decision" else {}
        self._call(
            "add_line",
            kind=kind,
            text=text,
            reason="worth knowing later",
            quote=words,
            turn=self._turn.number,
            **fields,
        )

    def hot(self, answer: str) -> None:
        lines = [_BULLET.sub("", line).strip()[:300] for line in clean(answer).splitlines() if line.strip()]
        if lines:
            self._call("rewrite_hot", lines=[*lines[:6]], reason="rewritten after the turn")

    def _call(self, name: str, /, **fields: Json) -> Outcome:
        outcome = self._scene.desk.call(name, fields, self._turn.number)
        self.accepted += not outcome.refused
        self.refused += outcome.refused
        return outcome


def questions(room: Room, chain: Chain, upto: int | None, setup: KeeperSetup, book: Book) -> Iterator[Question]:
    """Steps a and c of every turn: they need no tiers, so they can be asked out of order. Step b waits for its turn."""
    for link in chain.links[:upto]:
        for turn in turns_of(room, link, chain.name):
            first = worth(turn)
            yield first
            answer = book.find(first.key(setup.model))
            if answer is not None and worth_a_line(answer.text):
                yield promote(turn, told(turn))


def make(setup: KeeperSetup) -> ReplayKeeper:
    """A new one for one chain. Raises KeeperStopped without an endpoint."""
    if not setup.model:
        raise KeeperStopped("The small Keeper needs a model: set ANTHROPIC_BASE_URL and name it with --model.")
    return Small(setup)
