"""Brings a room's views up to its logs: from `tiers.json` and what is newer, or from nothing."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from store.bodies import LogOpened
from store.events import FORMAT, Event, EventFormatError, decode, line_hash
from store.log import (
    Chain,
    Head,
    RawLine,
    TornTail,
    first_line,
    head,
    last_line,
    raw_lines,
    take_aside_torn_tail,
)
from store.plain import PlainError
from store.standing import LogName, Standing, load_standing

Level = Literal["info", "warning", "error"]
Say = Callable[[Level, str], None]


class NewerFormat(PlainError):
    """A log was written by a newer version of this program; one plain sentence."""


class _OlderEvents(Exception):
    """Events came to light that belong before what is folded already."""


@dataclass(slots=True)
class Folded:
    """A room's views up to its newest event: how many events were newer than `tiers.json`, which tails were torn."""

    standing: Standing
    newer: int = 0
    torn: list[tuple[LogName, TornTail]] = field(default_factory=list)


def fold_room(sessions_dir: Path, view: Path, read_only: bool, say: Say) -> Folded:
    """The room's views. What had to be rebuilt, and every place where a chain breaks, is told to ``say``.

    Torn tails are moved aside first, unless the room is read-only. Raises NewerFormat, LogWriteError.
    """
    paths = log_paths(sessions_dir)
    standing = load_standing(view, lambda text: say("warning", text), read_only)
    stale = ""
    if standing is not None:
        stale = _stale(standing, paths)
    elif paths:
        stale = f"{view.name} was missing or of no use"
    folded = Folded(standing if standing is not None and not stale else Standing())
    if not read_only:
        for log, path in paths.items():
            stand = folded.standing.logs.get(log)
            if path.stat().st_size > (stand.size if stand else 0):
                torn = take_aside_torn_tail(path)
                if torn:
                    folded.torn.append((log, torn))
    try:
        folded.newer = sum(1 for _ in _taken(folded.standing, paths, say))
    except _OlderEvents:
        stale = "a log with older events was added"
        folded.standing = Standing()
        folded.newer = sum(1 for _ in _taken(folded.standing, paths, say))
    if stale:
        say("warning" if standing is not None else "info", f"{stale}; the tiers were folded again from the logs")
    return folded


def follow(sessions_dir: Path, standing: Standing, say: Say, hear: Callable[[Event], None]) -> Standing:
    """``standing`` after what another process appended since, each event told to ``hear``. When a log shrank (its
    writer cut back a failed write), all is folded again and told again: ``hear`` tells new from old by ``seq``."""
    paths = log_paths(sessions_dir)
    if _shrunk(standing, paths):
        standing = Standing()
    try:
        _hear(standing, paths, say, hear)
    except _OlderEvents:
        standing = Standing()
        _hear(standing, paths, say, hear)
    return standing


def check_room(sessions_dir: Path) -> tuple[str, ...]:
    """All that is wrong with the room's logs, a sentence each: the chain of every log and through the whole room,
    numbers that repeat, bodies that cannot be read. Reads everything; changes nothing."""
    wrong: list[str] = []
    for _ in _taken(Standing(), log_paths(sessions_dir), lambda _, text: wrong.append(text)):
        pass
    return tuple(wrong)


def _hear(standing: Standing, paths: Mapping[LogName, Path], say: Say, hear: Callable[[Event], None]) -> None:
    for log, raw, _ in _taken(standing, paths, say):
        try:
            hear(decode(raw.content, log))
        except EventFormatError as error:
            say("error", f"log {log}, byte {raw.offset}: {error}")


def log_paths(sessions_dir: Path) -> dict[LogName, Path]:
    """The room's logs that hold anything, by name."""
    found: dict[LogName, Path] = {}
    with os.scandir(sessions_dir) as entries:
        for entry in entries:
            path = Path(entry.path, "events.jsonl")
            try:
                if path.stat().st_size:
                    found[LogName(entry.name)] = path
            except (FileNotFoundError, NotADirectoryError):
                continue
    return dict(sorted(found.items()))


def _shrunk(standing: Standing, paths: Mapping[LogName, Path]) -> bool:
    return any(log not in paths or paths[log].stat().st_size < stand.size for log, stand in standing.logs.items())


def _stale(standing: Standing, paths: Mapping[LogName, Path]) -> str:
    """Why the saved views do not belong to these logs; empty when they do."""
    for log, stand in standing.logs.items():
        path = paths.get(log)
        if path is None:
            return f"log {log} is gone"
        stat = path.stat()
        if stat.st_size < stand.size:
            return f"log {log} is shorter than it was"
        if stat.st_size == stand.size and stat.st_mtime_ns == stand.mtime_ns:
            continue
        last = last_line(path, stand.size)
        if last is None or line_hash(last.content) != stand.sha256:
            return f"log {log} is not what it was"
    return ""


def merged(
    paths: Mapping[LogName, Path], offsets: Mapping[LogName, int]
) -> Iterator[tuple[LogName, RawLine, Head | None]]:
    """The lines of several logs from their ``offsets`` (else from the beginning) in order of ``seq``.

    A line that is no event (None) comes right behind the one before it. Logs are read only from where their turn
    comes, so that thousands of them take little memory.
    """
    waiting: list[tuple[int, int, LogName, RawLine, Head | None, Iterator[RawLine] | None]] = []
    for order, (log, path) in enumerate(paths.items()):
        first = first_line(path, offsets.get(log, 0))
        if first is not None:
            found = head(first.content)
            waiting.append((found.seq if found else 0, order, log, first, found, None))
    heapq.heapify(waiting)
    while waiting:
        seq, order, log, raw, found, lines = waiting[0]
        # Until another log's turn comes (the root's children hold the next smallest) the heap need not be asked.
        other = min((entry[0] for entry in waiting[1:3]), default=None)
        yield log, raw, found
        if lines is None:
            lines = raw_lines(paths[log], raw.end)
        for raw in lines:
            found = head(raw.content)
            seq = found.seq if found else seq
            if other is not None and seq > other:
                heapq.heapreplace(waiting, (seq, order, log, raw, found, lines))
                break
            yield log, raw, found
        else:
            heapq.heappop(waiting)


def _taken(standing: Standing, paths: Mapping[LogName, Path], say: Say) -> Iterator[tuple[LogName, RawLine, Head]]:
    """Folds what is newer than ``standing`` into it, line by line, and gives each line.

    Raises _OlderEvents when the fold began after events that now turn up.
    """
    from_nothing = standing.seq == 0
    chains: dict[LogName, Chain] = {}
    sizes = {log: stand.size for log, stand in standing.logs.items()}
    newer = {log: path for log, path in paths.items() if path.stat().st_size > sizes.get(log, 0)}
    for log, raw, found in merged(newer, sizes):
        chain = chains.get(log)
        if chain is None:
            chain = chains[log] = _chain(log, standing)
        broken = chain.take(raw, found)
        if broken:
            say("error", str(broken))
        if found is None:
            standing.skip(log, raw, chain.n, chain.prev or "")
            continue
        if found.seq <= standing.seq and not broken:
            if not from_nothing:
                raise _OlderEvents
            say("error", f"log {log}, event {found.n}: seq {found.seq} stands in another log too")
        if found.kind == LogOpened.KIND:
            _refuse_newer(log, raw)
        try:
            standing.take(log, raw, found, chain.prev or "")
        except ValueError as error:
            say("error", f"log {log}, event {found.n}: {error}; it is left out of the tiers")
        yield log, raw, found


def _chain(log: LogName, standing: Standing) -> Chain:
    stand = standing.logs.get(log)
    if stand is not None:
        return Chain(log, stand.sha256, stand.n, stand.seq)
    # A new log cites the room's last line, which in the order of seq is the one folded just before.
    return Chain(log, standing.cited()[1])


def _refuse_newer(log: LogName, raw: RawLine) -> None:
    try:
        body = decode(raw.content, log).body
    except EventFormatError:
        return  # said by whoever reads the log; the views do not need this body
    if isinstance(body, LogOpened) and body.format > FORMAT:
        raise NewerFormat(
            f"log {log} has format {body.format}, and this program reads formats up to {FORMAT}; "
            "update two-twins to open this room"
        )
