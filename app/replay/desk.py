"""Runs a replay or a bench from what the command line gave, and writes down what came out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.measure.metrics import metrics
from app.replay import keepers
from app.replay.batches import POLL_S, Standing, ask_in_batches
from app.replay.bench import Row, method_of, rows
from app.replay.chains import Chain, chains
from app.replay.checklists import Checklist, checklists
from app.replay.importers.detect import format_of
from app.replay.importers.records import TranscriptError
from app.replay.keepers.interface import KeeperSetup
from app.replay.many import Job, Outcome, run_jobs
from app.replay.progress import bar
from app.replay.tables import markdown, page
from app.replay.taking import Library
from store.bodies import Json
from store.bundle import read_bundle
from store.bundle_import import take_in
from store.documents import write_whole
from store.room import Room

CUT = ("tail", "head", "tail_named", "head_named")
"""Baselines that are also shown with as many bytes as each Keeper of tiers hands over."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be replayed: transcripts (a file, a folder of them, or a room), through which Keepers, into which
    folder; ``checklist`` empty for a replay without a bench."""

    data: Path
    keepers: tuple[str, ...]
    work: Path
    checklist: str = ""
    chain: str = ""
    setup: KeeperSetup = KeeperSetup()  # noqa: RUF009 - frozen
    max_usd: float | None = None
    max_tokens: int | None = None
    workers: int | None = None
    poll_s: float = POLL_S


@dataclass(frozen=True, slots=True)
class Result:
    """What came out: a row for each Keeper, and the files it was written to."""

    rows: tuple[Row, ...]
    outcomes: tuple[Outcome, ...]
    title: str
    method: str
    files: tuple[Path, ...]

    def as_json(self) -> Json:
        """The bench as one document."""
        return {
            "title": self.title,
            "method": self.method,
            "rows": [row.as_json() for row in self.rows],
            "transcripts": [_outcome(one) for one in self.outcomes],
        }


def run(asked: Asked) -> Result:
    """Replays all that was asked for; what an earlier run had begun in the same folder is taken up."""
    for name in asked.keepers:
        keepers.make(name, asked.setup)
    source = gathered(asked.data, asked.work)
    with Room.open(source, read_only=True) as room:
        found = tuple(one for one in chains(room) if asked.chain in ("", one.name))
        if not found:
            raise TranscriptError(
                f"{asked.data.name} holds no {'chain ' + asked.chain if asked.chain else 'sessions'} to replay."
            )
        lists = checklists(asked.checklist, asked.data, room, found) if asked.checklist else {}
    jobs = list(_jobs(asked, source, found, lists))
    if asked.setup.batch:
        _batched(asked, source, jobs)
    outcomes = _played(asked, jobs, "replaying")
    outcomes += _played(asked, list(_cut(outcomes, asked.setup)), "cutting to equal bytes") if asked.checklist else []
    made = rows(outcomes, asked.keepers)
    title = f"{asked.data.name}: {len({job.chain.name for job in jobs})} transcripts" + (
        f", {sum(len(lists[name].facts) for name in {job.chain.name for job in jobs}):,} facts from "
        f"{next(iter(lists.values())).source}"
        if lists
        else ""
    )
    return _written(asked.work, made, tuple(outcomes), title, method_of(outcomes) if lists else "")


def gathered(data: Path, work: Path) -> Path:
    """The room that holds the transcripts: ``data`` itself when it is one, else one in ``work`` that they are imported
    into, once. Raises TranscriptError."""
    if (data / "room.toml").is_file():
        return data
    files = sorted(file for file in data.rglob("*") if file.is_file()) if data.is_dir() else [data]
    root = work / "transcripts"
    if not (root / "room.toml").exists():
        root.parent.mkdir(parents=True, exist_ok=True)
        Room.create(root, "operator")
    taken = 0
    bundles: list[Path] = []
    with Library(root) as library, bar() as progress:
        task = progress.add_task("importing", total=len(files))
        for file in files:
            try:
                if format_of(file) == "bundle":
                    bundles.append(file)
                else:
                    library.take(file)
                    taken += 1
            except TranscriptError:
                if len(files) == 1:
                    raise
            progress.advance(task)
    if bundles:
        with Room.open(root) as room:
            taken += sum(_bundle(room, file) for file in bundles)
    if not taken:
        raise TranscriptError(f"{data} holds no transcript; twins import tells what it can read.")
    return root


def _bundle(room: Room, file: Path) -> bool:
    verdict, record = read_bundle(file, metrics)
    if record is None:
        raise TranscriptError(f"{file.name} does not verify ({'; '.join(verdict.findings[:1])}); see: twins verify.")
    if record.log not in room.logs():
        take_in(room, record, file)
    return True


def _jobs(asked: Asked, source: Path, found: Sequence[Chain], lists: dict[str, Checklist] | object) -> Sequence[Job]:
    known = lists if isinstance(lists, dict) else {}
    jobs = []
    for keeper in asked.keepers:
        for chain in found:
            one = known.get(chain.name)
            if known and one is None:
                continue
            facts, upto = (one.facts, one.upto) if one else ((), None)
            jobs.append(Job(source, chain, keeper, asked.work, facts, upto))
    return jobs


def _batched(asked: Asked, source: Path, jobs: Sequence[Job]) -> None:
    """Asks in batches what can be asked out of order, so that the replays find the answers in the book."""
    (asked.work / "batches").mkdir(parents=True, exist_ok=True)
    found = [(job.keeper, job.chain, job.upto) for job in jobs]
    with bar() as progress:
        task = progress.add_task("batches: answers", total=None)

        def tell(standing: Standing) -> None:
            progress.update(task, completed=standing.answered, total=standing.answered + standing.waiting)

        asyncio.run(
            ask_in_batches(source, found, asked.setup, max_tokens=asked.max_tokens, tell=tell, poll_s=asked.poll_s)
        )


def _cut(outcomes: Sequence[Outcome], setup: KeeperSetup) -> Sequence[Job]:
    """The cut baselines beside each Keeper of tiers that handed something over."""
    from dataclasses import replace

    baselines = [one.job for one in outcomes if one.job.keeper in CUT]
    jobs = []
    for outcome in outcomes:
        if outcome.done is None or not keepers.make(outcome.job.keeper, setup).keeps_tiers:
            continue
        size = len(outcome.done.loaded.encode())
        jobs += [
            replace(job, most=size, beside=outcome.job.keeper)
            for job in baselines
            if job.chain.name == outcome.job.chain.name
        ]
    return jobs


def _played(asked: Asked, jobs: Sequence[Job], what: str) -> list[Outcome]:
    if not jobs:
        return []
    with bar() as progress:
        task = progress.add_task(f"{what}: sessions", total=sum(len(job.chain.links[: job.upto]) for job in jobs))
        return list(
            run_jobs(
                jobs,
                asked.setup,
                max_usd=asked.max_usd,
                max_tokens=asked.max_tokens,
                workers=asked.workers,
                tell=lambda done: progress.update(task, completed=done),
            )
        )


def _written(work: Path, made: tuple[Row, ...], outcomes: tuple[Outcome, ...], title: str, method: str) -> Result:
    work.mkdir(parents=True, exist_ok=True)
    files = (work / "bench.json", work / "bench.md", work / "bench.html")
    result = Result(made, outcomes, title, method, files)
    write_whole(files[0], json.dumps(result.as_json(), ensure_ascii=False, indent=1).encode("utf-8", "replace"))
    write_whole(files[1], f"# {title}\n\n{method}\n\n{markdown(made)}\n".encode("utf-8", "replace"))
    write_whole(files[2], page(made, outcomes, title, method).encode("utf-8", "replace"))
    return result


def _outcome(one: Outcome) -> Json:
    done = one.done
    return {
        "chain": one.job.chain.name,
        "keeper": one.job.keeper,
        "at_bytes_of": one.job.beside or None,
        "stopped": one.stopped or None,
        "sessions": done.sessions if done else 0,
        "turns": done.turns if done else 0,
        "bytes_loaded": len(done.loaded.encode()) if done else 0,
        "found": sum(one.found),
        "facts": [
            {"fact": fact, "found": hit} for fact, hit in zip(one.job.facts, one.found, strict=False)
        ],
    }  # fmt: skip
