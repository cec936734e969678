"""Replays many chains through many Keepers at the same time, and looks for the checklist in what each hands over."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

from app.measure.lexical import find_fact
from app.replay import keepers
from app.replay.chains import Chain
from app.replay.importers.claude_code import hash_of
from app.replay.keepers.interface import KeeperSetup, KeeperStopped
from app.replay.keepers.transcript import Transcript
from app.replay.purse import BudgetSpent, Purse, Stopped
from app.replay.run import Replayed, replay
from store.room import Room


@dataclass(frozen=True, slots=True)
class Job:
    """One chain through one Keeper. ``most`` cuts a baseline to that many bytes, those of the Keeper ``beside``."""

    source: Path
    chain: Chain
    keeper: str
    work: Path
    facts: tuple[str, ...] = ()
    upto: int | None = None
    most: int | None = None
    beside: str = ""

    @property
    def root(self) -> Path:
        """Where this replay's own room is."""
        readable = re.sub(r"[^0-9A-Za-z._-]+", "-", self.chain.name)[-40:].strip("-") or "chain"
        return self.work / "rooms" / f"{readable}-{hash_of(self.chain.name)[:6]}" / self.keeper


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a job came to: for each fact whether it was found; ``stopped`` says why it did not come to its end."""

    job: Job
    done: Replayed | None
    found: tuple[bool, ...]
    stopped: str = ""


@dataclass(slots=True)
class _Shared:
    usd: Synchronized[float]
    tokens: Synchronized[int]
    sessions: Synchronized[int]
    stop: Synchronized[int]


_shared: _Shared | None = None


def _begin(shared: _Shared) -> None:
    global _shared
    _shared = shared
    # ctrl+c reaches every process of the terminal: the first one says when to stop, at a whole turn.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def run_jobs(
    jobs: Sequence[Job],
    setup: KeeperSetup,
    *,
    max_usd: float | None = None,
    max_tokens: int | None = None,
    workers: int | None = None,
    tell: Callable[[int], None] = lambda sessions: None,
) -> Iterator[Outcome]:
    """Every job's outcome, in the order in which they end. ``tell`` is called with the sessions done so far.

    What was begun is taken up where it stood; when the iteration is left, what runs is stopped at its next turn.
    """
    context = multiprocessing.get_context("spawn")
    shared = _Shared(context.Value("d", 0.0), *(context.Value("q", 0) for _ in range(3)))
    count = min(workers or os.cpu_count() or 1, max(1, len(jobs)))
    with ProcessPoolExecutor(count, context, _begin, (shared,)) as pool:
        waiting: set[Future[Outcome]] = {pool.submit(run_job, job, setup, max_usd, max_tokens) for job in jobs}
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                tell(shared.sessions.value)
                for future in done:
                    yield future.result()
        finally:
            shared.stop.value = 1
            # Waited for: a worker that is only just starting up would find the shared counters gone.
            pool.shutdown(wait=True, cancel_futures=True)


def run_job(job: Job, setup: KeeperSetup, max_usd: float | None = None, max_tokens: int | None = None) -> Outcome:
    """One job, here and now."""
    shared = _shared
    purse = Purse(max_usd, max_tokens, *((shared.usd, shared.tokens, shared.stop) if shared else ()))

    def heard() -> None:
        if shared is not None:
            with shared.sessions.get_lock():
                shared.sessions.value += 1

    keeper = keepers.make(job.keeper, setup)
    try:
        with Room.open(job.source, read_only=True) as source:
            job.root.parent.mkdir(parents=True, exist_ok=True)
            done = asyncio.run(replay(source, job.chain, keeper, job.root, purse, upto=job.upto, tell=heard))
    except (BudgetSpent, KeeperStopped, Stopped) as spent:
        return Outcome(job, None, (), str(spent))
    if job.most is not None and isinstance(keeper, Transcript):
        done = replace(done, loaded=keeper.at_most(job.most))
    return Outcome(job, done, tuple(find_fact(fact, done.loaded).present for fact in job.facts))
