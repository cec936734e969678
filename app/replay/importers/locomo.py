"""LoCoMo: long conversations of two people over many sessions, with observations that make checklists.

Source: Maharana et al. 2024, https://github.com/snap-research/locomo (CC BY-NC 4.0).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from datetime import UTC, datetime
from pathlib import Path

from app.replay.importers.json_stream import json_items
from app.replay.importers.records import KNOWN_ALREADY, Source, Taken, Tally, file_time
from app.replay.importers.turns import Turns
from store.bodies import Json

FORMAT = "locomo"
_SESSION = re.compile(r"session_(\d+)")
Sample = dict[str, Json]


def locomo(path: Path, tally: Tally, known: Container[str]) -> Iterator[Taken]:
    """Each sample is a chain of sessions. The first speaker stands for the operator, the second for P; a turn's
    picture is told by its caption."""
    for sample, name, talk in samples(path, tally):
        first, second = str(talk.get("speaker_a") or "A"), str(talk.get("speaker_b") or "B")
        at = file_time(path)
        for number, said in _sessions(talk):
            at = session_time(talk, number, at)
            turns = Turns(Source(FORMAT, f"{name}-{number:02d}", name, number, name, first, second), at)
            for place, item in enumerate(said, 1):
                if not isinstance(item, dict) or not isinstance(item.get("text"), str):
                    tally.left("a foreign record")
                    continue
                record = f"{name}/{item.get('dia_id') or f'{number}:{place}'}"
                if record in known:
                    tally.left(KNOWN_ALREADY)
                    if item.get("speaker") == first:
                        turns.pass_over(at)
                    continue
                tally.took("turns of the conversation")
                if item.get("speaker") == first:
                    yield from turns.operator(at, _words(item), [record])
                else:
                    yield from turns.message(at, [{"type": "text", "text": _words(item)}], [record])
            yield from turns.end()
        del sample


def samples(path: Path, tally: Tally) -> Iterator[tuple[Sample, str, Sample]]:
    """The samples of a file: each whole, its name, its conversation."""
    for place, sample in enumerate(json_items(path, tally), 1):
        talk = sample.get("conversation") if isinstance(sample, dict) else None
        if not isinstance(sample, dict) or not isinstance(talk, dict):
            tally.left("a foreign record")
            continue
        yield sample, str(sample.get("sample_id") or f"sample-{place}"), talk


def observations(sample: Sample) -> tuple[tuple[str, int, str], ...]:
    """The facts that a sample's authors drew from it: each with its session's number and the turn it stands on."""
    found: list[tuple[str, int, str]] = []
    listed = sample.get("observation")
    for key, by_speaker in (listed if isinstance(listed, dict) else {}).items():
        number = _SESSION.match(key)
        if number is None or not isinstance(by_speaker, dict):
            continue
        for facts in by_speaker.values():
            for fact in facts if isinstance(facts, list) else []:
                if isinstance(fact, list) and len(fact) > 1 and isinstance(fact[0], str):
                    found.append((fact[0], int(number[1]), str(fact[1])))
    return tuple(sorted(found, key=lambda fact: fact[1]))


def session_time(talk: Sample, number: int, otherwise: datetime) -> datetime:
    """When a session was held, in UTC: "1:56 pm on 8 May, 2023"."""
    told = talk.get(f"session_{number}_date_time")
    if not isinstance(told, str):
        return otherwise
    for pattern in ("%I:%M %p on %d %B, %Y", "%d %B, %Y", "%I:%M %p on %d %B %Y"):
        try:
            return datetime.strptime(told.strip(), pattern).replace(tzinfo=UTC)
        except ValueError:
            continue
    return otherwise


def _sessions(talk: Sample) -> Iterator[tuple[int, list[Json]]]:
    found = []
    for key, said in talk.items():
        number = _SESSION.fullmatch(key)
        if number and isinstance(said, list) and said:
            found.append((int(number[1]), said))
    yield from sorted(found, key=lambda session: session[0])


def _words(item: Sample) -> str:
    caption = item.get("blip_caption")
    text = str(item["text"])
    return f"{text} [shares {caption}]" if isinstance(caption, str) and caption else text
