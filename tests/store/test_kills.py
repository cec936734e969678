"""A process killed at any point loses nothing that it had been told was kept."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from room_samples import begin, changed, holds_together, line
from tinydb import TinyDB

from store import room as room_module
from store.bodies import JournalWritten, LetterFiled, OperatorSaid, Partial
from store.documents import CrashSafeStorage
from store.journals import entries, read_journal, rebuild_journals, write_journal
from store.letters import file_letter, letters, rebuild_letters
from store.room import Room
from store.search import Index


def works(room: Room, dice: random.Random) -> Iterator[tuple[str, int]]:
    """A session without end that writes all that a room holds, and gives what it was told is kept."""
    log = begin(room)
    study = TinyDB(room.root / "study.json", storage=CrashSafeStorage, on_damage=lambda text: None)
    index = Index.open(room)
    for turn in range(1, 10_000):
        yield "event", room.append(log, "operator", OperatorSaid(f"word{turn} " * dice.randrange(1, 400)), turn).seq
        for _ in range(dice.randrange(4)):
            yield "event", room.append(log, "presence", Partial("presence", turn, 0, "text", "and on "), turn).seq
        number = room.tiers.next_number
        tier = dice.choice(["hot", "warm", "cold"])
        body = changed(line(number, "warm"), session=room.tiers.session)
        yield "event", room.append(log, "keeper", body, turn).seq
        yield "event", room.append(log, "keeper", changed(line(number, tier)), turn).seq
        yield "snug", write_journal(room, log, "keeper", "snug", f"entry {turn}\n## and more", turn).seq
        if turn % 3 == 0:
            yield "letter", file_letter(room, log, "letter", f"letter {turn}", tiers_seen=False).seq
        yield "study", study.insert({"turn": turn})
        index.catch_up()


def child(root: Path, seed: int, told: int) -> None:
    """Works until it is killed. Each kept thing is told through a pipe, after it was kept."""
    dice = random.Random(seed)
    room_module.SAVE_EVERY_EVENTS = 3
    room_module.SAVE_EVERY_S = 0.0
    room = Room.open(root)
    rebuild_journals(room)
    rebuild_letters(room)
    for what, number in works(room, dice):
        os.write(told, f"{what} {number}\n".encode())


def run_until_killed(root: Path, seed: int) -> list[tuple[str, int]]:
    """What a killed process had been told was kept. It is killed some time after some of it, wherever it then is."""
    dice = random.Random(seed)
    read, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        with suppress(BaseException):
            os.close(read)
            child(root, seed, told)
        os._exit(1)
    os.close(told)
    wanted = dice.randrange(60)
    said = b""
    while said.count(b"\n") < wanted:
        more = os.read(read, 4096)
        assert more, "the child ended by itself"
        said += more
    time.sleep(dice.random() * 0.01)
    os.kill(pid, signal.SIGKILL)
    while more := os.read(read, 4096):
        said += more
    os.close(read)
    _, status = os.waitpid(pid, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    whole = said.decode().split("\n")[:-1]
    return [(what, int(number)) for what, number in (word.split() for word in whole)]


def killed_again_and_again(root: Path, seeds: range) -> None:
    kept_study = 0
    for seed in seeds:
        told = run_until_killed(root, seed)
        with Room.open(root) as room:
            rebuild_journals(room)
            rebuild_letters(room)
            holds_together(room)
            events = {event.seq: event for event in room.all_events()}
            assert {number for what, number in told if what != "study"} <= events.keys()
            bodies = [events[seq].body for seq in sorted(events)]
            written = [body.text for body in bodies if isinstance(body, JournalWritten)]
            assert [entry.text for entry in entries(read_journal(room, "snug"))] == written
            filed = [body for body in bodies if isinstance(body, LetterFiled)]
            assert [letter.file for letter in letters(room)] == [body.file for body in filed]
            for body in filed:
                assert (room.letters_dir / body.file).read_text().startswith(body.text + "\n")
            with Index.open(room) as index:
                index.catch_up()
                assert index.check() == ""
                said = [event for event in events.values() if isinstance(event.body, OperatorSaid)]
                assert len(index.search("", kind="operator.said", limit=len(said) + 9)) == len(said)
                cold = {one.id for one in index.cold_lines(limit=10_000)}
                assert cold.isdisjoint(room.tiers.lines)
                assert len(cold) + len(room.tiers) == room.tiers.next_number - 1
            with TinyDB(root / "study.json", storage=CrashSafeStorage, on_damage=pytest.fail) as study:
                kept_study = max([kept_study, *(number for what, number in told if what == "study")])
                assert len(study) >= kept_study
                kept_study = len(study)


def test_thirty_kills_lose_nothing_that_was_kept(room_path: Path) -> None:
    killed_again_and_again(room_path, range(30))


@pytest.mark.long
def test_three_hundred_kills_lose_nothing_that_was_kept(tmp_path: Path) -> None:
    for first in range(100, 400, 30):
        killed_again_and_again(Room.create(tmp_path / f"room{first}", "Derick"), range(first, first + 30))
