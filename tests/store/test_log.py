"""One log on disk: what is acknowledged stands, what is torn is set aside, what was changed is told."""

from __future__ import annotations

import errno
import os
import resource
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.bodies import Notice, OperatorSaid, Partial, RequestSent, ToolCalled
from store.events import NO_HASH, Event, EventFormatError, encode, line_hash
from store.log import (
    DamagedLine,
    LogWriteError,
    LogWriter,
    SystemDisk,
    check_chain,
    good_length,
    head,
    last_line,
    raw_lines,
    read_events,
    take_aside_torn_tail,
)

AT = "2026-11-30T00:05:12.000Z"


def event(n: int, text: str = "hello", prev: str = NO_HASH, durable: bool = True) -> Event:
    body = OperatorSaid(text) if durable else Partial("presence", 1, 0, "text", text)
    return Event(n=n, seq=n, at=AT, mono=1.5, by="operator", turn=n, body=body, prev=prev, log="s")


def write(path: Path, *texts: str) -> list[Event]:
    writer = LogWriter(path)
    prev, written = NO_HASH, []
    for n, text in enumerate(texts, 1):
        written.append(event(n, text, prev))
        prev = writer.append(written[-1]).sha256
    writer.close()
    return written


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "s").mkdir()
    return tmp_path / "s" / "events.jsonl"


# ---------------------------------------------------------------- writing and reading back


@given(texts=st.lists(st.text(max_size=40), max_size=8))
def test_what_was_appended_is_read_back_in_order_and_chained(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "events.jsonl"
        written = write(log, *texts)
        assert list(read_events(log, "s")) == written
        assert check_chain(log, NO_HASH) is None
        assert good_length(log) == log.stat().st_size


def test_an_event_reports_where_it_stands(log: Path) -> None:
    writer = LogWriter(log)
    first = writer.append(event(1))
    second = writer.append(event(2, "Grüße 会議"))
    writer.close()
    assert (first.offset, second.offset, second.size) == (0, first.size, log.stat().st_size)
    assert last_line(log, second.size).content == encode(event(2, "Grüße 会議"))
    assert second.sha256 == line_hash(encode(event(2, "Grüße 会議")))
    assert log.stat().st_mode & 0o777 == 0o600


def test_lines_longer_than_a_block_and_lines_that_end_on_its_edge_are_read_whole(log: Path) -> None:
    around = (1 << 20) - len(encode(event(1, ""))) - 1
    texts = ["x" * (around + more) for more in (-1, 0, 1)] + ["y" * (3 << 20), "end"]
    written = write(log, *texts)
    assert list(read_events(log, "s")) == written
    third = list(raw_lines(log))[2]
    assert next(raw_lines(log, third.offset)) == third


@pytest.mark.parametrize(
    "body",
    [
        OperatorSaid('a "quoted" text with ,"prev":"' + "0" * 64 + '"}', tail='{"n":9,"seq":9'),
        ToolCalled("t1", "bash", {"kind": "tiers.changed", "prev": "x", "n": 7, "data": None}),
        RequestSent("keeper", 1, "m", "h", 3),
        Notice("info", "\\\n\x00 "),
    ],
)
def test_the_head_of_a_line_is_the_events_whatever_its_body_says(body: object) -> None:
    made = Event(n=3, seq=4, at=AT, mono=-0.25, by="keeper", turn=2, body=body, prev="a" * 64)
    found = head(encode(made))
    assert found == (3, 4, AT, "keeper", type(body).KIND, 2, "a" * 64)


def test_a_line_spelled_otherwise_is_read_all_the_same() -> None:
    spaced = encode(event(1)).replace(b'","', b'", "').replace(b'":', b'": ')
    assert head(spaced) == head(encode(event(1)))


def test_a_damaged_line_is_told_with_its_place_or_left_out(log: Path) -> None:
    written = write(log, "one", "two", "three")
    content = log.read_bytes()
    log.write_bytes(content.replace(b'"n":2', b'"n":x'))
    with pytest.raises(EventFormatError, match="log s, line 2 "):
        list(read_events(log, "s"))
    told: list[DamagedLine] = []
    assert list(read_events(log, "s", on_damage=told.append)) == [written[0], written[2]]
    assert [damage.line for damage in told] == [2]


# ---------------------------------------------------------------- torn tails


def test_a_log_cut_at_any_byte_keeps_every_whole_event_and_loses_no_byte(log: Path) -> None:
    written = write(log, "one", "zwei ü", "会議")
    whole = log.read_bytes()
    ends = [raw.end for raw in raw_lines(log)]
    for cut in range(len(whole) + 1):
        log.write_bytes(whole[:cut])
        torn = take_aside_torn_tail(log)
        kept = sum(end <= cut for end in ends)
        assert list(read_events(log, "s")) == written[:kept]
        aside = torn.file.read_bytes() if torn else b""
        assert log.read_bytes() + aside == whole[:cut]
        assert (torn.bytes if torn else 0) == len(aside)
        if torn:
            torn.file.unlink()


@pytest.mark.parametrize("rest", [b"\0" * 700, b"\0\0\n", b"{}\n", b"[1]\n\n\n", b"\xff\xfe\n{", b'"n"\n'])
def test_what_a_power_cut_leaves_behind_the_last_event_is_set_aside(log: Path, rest: bytes) -> None:
    written = write(log, "one", "two")
    with open(log, "ab") as file:
        file.write(rest)
    torn = take_aside_torn_tail(log)
    assert torn is not None and torn.file.read_bytes() == rest
    assert list(read_events(log, "s")) == written
    assert take_aside_torn_tail(log) is None


def test_each_torn_tail_has_a_file_of_its_own(log: Path) -> None:
    write(log, "one")
    names = []
    for rest in (b"{a", b"{b"):
        with open(log, "ab") as file:
            file.write(rest)
        torn = take_aside_torn_tail(log)
        assert torn is not None
        names.append((torn.file.name, torn.file.read_bytes()))
    assert names == [("events.torn-1.jsonl", b"{a"), ("events.torn-2.jsonl", b"{b")]


# ---------------------------------------------------------------- a disk that refuses


class FailingDisk(SystemDisk):
    """Refuses one kind of call from the n-th on, as a full or broken disk does."""

    def __init__(self, call: str, error: int, after: int = 0, partly: int = 0) -> None:
        self.call, self.error, self.left, self.partly = call, error, after, partly

    def _refuses(self, call: str) -> bool:
        if call != self.call:
            return False
        self.left -= 1
        return self.left < 0

    def write(self, fd: int, content: bytes) -> int:
        if self._refuses("write"):
            if self.partly:
                return super().write(fd, content[: self.partly])
            raise OSError(self.error, os.strerror(self.error))
        return super().write(fd, content)

    def fsync(self, fd: int) -> None:
        if self._refuses("fsync"):
            raise OSError(self.error, os.strerror(self.error))
        super().fsync(fd)

    def truncate(self, fd: int, length: int) -> None:
        if self._refuses("truncate"):
            raise OSError(self.error, os.strerror(self.error))
        super().truncate(fd, length)


@pytest.mark.parametrize("call", ["write", "fsync"])
@pytest.mark.parametrize(
    ("error", "says"),
    [
        (errno.ENOSPC, "disk is full"),
        (errno.EIO, "input/output error"),
        (errno.EROFS, "read-only"),
        (errno.EDQUOT, "quota"),
    ],
)
def test_a_disk_that_refuses_leaves_the_log_as_it_stood(log: Path, call: str, error: int, says: str) -> None:
    disk = FailingDisk(call, error, after=1)
    writer = LogWriter(log, disk)
    writer.append(event(1))
    before = log.read_bytes()
    with pytest.raises(LogWriteError, match=says) as raised:
        writer.append(event(2))
    assert "\n" not in str(raised.value)
    assert log.read_bytes() == before
    disk.left = 99
    writer.append(event(2))
    assert [read.n for read in read_events(log, "s")] == [1, 2]
    writer.close()


@pytest.mark.parametrize("partly", [1, 40, 100])
def test_a_write_that_only_half_succeeds_leaves_no_half_event(log: Path, partly: int) -> None:
    writer = LogWriter(log, FailingDisk("write", errno.ENOSPC, after=1, partly=partly))
    writer.append(event(1))
    before = log.read_bytes()
    with pytest.raises(LogWriteError, match="disk is full"):
        writer.append(event(2))
    assert log.read_bytes() == before
    writer.close()


def test_a_log_that_cannot_be_cut_back_takes_nothing_more_until_its_torn_end_is_set_aside(log: Path) -> None:
    class Worn(FailingDisk):
        def truncate(self, fd: int, length: int) -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    disk = Worn("write", errno.EIO, after=1, partly=30)
    writer = LogWriter(log, disk)
    writer.append(event(1))
    with pytest.raises(LogWriteError):
        writer.append(event(2))
    disk.left = 99
    with pytest.raises(LogWriteError, match="open it again"):
        writer.append(event(2))
    writer.close()
    assert take_aside_torn_tail(log) is not None
    assert [read.n for read in read_events(log, "s")] == [1]


def test_the_systems_own_refusal_leaves_no_half_event(log: Path) -> None:
    """A real limit of the operating system: it writes what fits and refuses the rest."""
    writer = LogWriter(log)
    writer.append(event(1, "x" * 300))
    before = log.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 50, limits[1]))
    try:
        with pytest.raises(LogWriteError):
            writer.append(event(2, "y" * 300))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert log.read_bytes() == before
    writer.append(event(2))
    writer.close()


def test_a_log_that_another_program_changed_is_not_written_on(log: Path) -> None:
    writer = LogWriter(log)
    writer.append(event(1))
    with open(log, "ab") as file:
        file.write(b"x")
    with pytest.raises(LogWriteError, match="another program"):
        writer.append(event(2))
    writer.close()


def test_durable_events_are_synced_before_append_returns_and_others_are_not(log: Path) -> None:
    calls: list[str] = []

    class Listening(SystemDisk):
        def write(self, fd: int, content: bytes) -> int:
            calls.append("write")
            return super().write(fd, content)

        def fsync(self, fd: int) -> None:
            calls.append("fsync")
            super().fsync(fd)

    writer = LogWriter(log, Listening())
    writer.append(event(1))
    writer.append(event(2, durable=False))
    writer.append(event(3))
    writer.close()
    assert calls == ["write", "fsync", "write", "write", "fsync"]


# ---------------------------------------------------------------- the chain


def test_any_changed_byte_breaks_the_chain_or_is_no_event_any_more(log: Path) -> None:
    write(log, "one", "two", "three")
    whole = log.read_bytes()
    last = next(reversed(list(raw_lines(log)))).offset
    for place in range(last):
        changed = bytearray(whole)
        changed[place] ^= 0x01
        log.write_bytes(bytes(changed))
        assert check_chain(log, NO_HASH, "s") is not None, f"byte {place}"


@pytest.mark.parametrize(("order", "line"), [((1, 0, 2), 1), ((0, 2, 1), 2), ((0, 2), 2), ((0, 0, 1, 2), 2)])
def test_lines_moved_dropped_or_repeated_break_the_chain_at_their_place(
    log: Path, order: tuple[int, ...], line: int
) -> None:
    write(log, "one", "two", "three")
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[number] for number in order))
    broken = check_chain(log, NO_HASH, "s")
    assert broken is not None and broken.line == line
    assert f"log s breaks at line {line} " in str(broken)


@settings(max_examples=50)
@given(st.binary(max_size=300))
def test_no_file_whatever_it_holds_upsets_the_reading_of_a_log(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "events.jsonl"
        log.write_bytes(content)
        told: list[DamagedLine] = []
        assert list(read_events(log, "s", on_damage=told.append)) == []
        assert len(told) == content.count(b"\n")
        check_chain(log, NO_HASH)
        assert good_length(log) == 0
