"""Bundles: what goes in comes out, equal sessions give equal bytes, and nothing changed passes for sound."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.measure.metrics import metrics
from store.bag import BAG_INFO, MANIFEST, TAG_MANIFEST, bag, pack
from store.bodies import (
    Change,
    ConditionRecord,
    FirstAction,
    JournalWritten,
    LetterFiled,
    MessageEnded,
    Notice,
    OperatorSaid,
    SessionClosed,
    SessionOpened,
    TaskRecord,
    TiersChanged,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    Usage,
    WakePacket,
    WorkspaceDiffed,
)
from store.bundle import BUNDLE_FORMAT, BundleError, Metrics, Verdict, verify_bundle, write_bundle
from store.clock import FrozenClock
from store.journals import rebuild_journals, write_journal
from store.lines import Line, LineId
from store.room import DESK, LogName, Room
from store.session_record import SessionRecord, read_session

BRIEF = "You are listening.\n"
HOSTILE = "</pre><script>alert(1)</script>\x1b]0;owned\x07<img src=x onerror=alert(2)>\u202e[red]"


def nothing_measured(record: SessionRecord) -> Metrics:
    return Metrics({"events": len(record.events)})


def line(number: int, text: str) -> Line:
    return Line(
        LineId(f"L{number}"), "warm", "finding", text, "it was seen", "seen", 1, 3, 1, 1, 1, "keeper"
    )  # fmt: skip


def held(root: Path, words: str = "The door says ten.", brief_sha256: str = "") -> LogName:
    """A room with one closed session in it, and a change from the desk while it ran."""
    Room.create(root, "Robin")
    clock = FrozenClock(datetime(2026, 11, 30, tzinfo=UTC))
    with Room.open(root, clock=clock) as room:
        room.append(DESK, "operator", TiersChanged("add_line", (Change(None, line(1, "Old")),), "before", session=0))
        log = room.new_session_id()
        condition = ConditionRecord("B", "silent", True, False, False, False, False, ("letters", "hot"))
        task = TaskRecord("no", words, "brief", FirstAction("bash", r"--region NO", "output_test"))
        briefs = {"keeper.md": brief_sha256 or hashlib.sha256(BRIEF.encode()).hexdigest()}
        room.append(
            log,
            "system",
            SessionOpened(log, 1, condition, task, "Robin", "a-model", "loopback", True, "workspace", briefs),
        )
        room.append(log, "system", WakePacket("B", words, (), hashlib.sha256(words.encode()).hexdigest()))
        for turn in (1, 2):
            clock.advance(2)
            room.append(log, "operator", OperatorSaid(words), turn)
            content = [{"type": "text", "text": words}]
            usage = Usage(10, 5, 1, 7)
            ended = MessageEnded(
                "presence", turn, f"msg_{turn}", "a-model", content, "end_turn", usage, "0.01", 80.0, 900.0
            )
            clock.advance(1)
            room.append(log, "presence", ended, turn)
            room.append(log, "presence", ToolCalled(f"t{turn}", "bash", {"command": f"run --region NO {words}"}), turn)
            room.append(log, "system", ToolEnded(f"t{turn}", "bash", "ok", words, 4.0, len(words)), turn)
            room.append(log, "system", TurnEnded("done"), turn)
            added = Change(None, line(turn + 1, f"{words} {turn}"))
            room.append(log, "keeper", TiersChanged("add_line", (added,), words, session=1), turn)
        moved = Change(line(1, "Old"), line(1, "New from the desk"))
        room.append(DESK, "operator", TiersChanged("edit_line", (moved,), "from the shell", session=1))
        room.append(log, "keeper", JournalWritten("snug", words), 2)
        sha256 = hashlib.sha256(words.encode()).hexdigest()
        room.append(log, "presence", LetterFiled("letter", "2026-11-30T000006Z-letter.md", words, sha256, False), 2)
        room.append(log, "system", WorkspaceDiffed("files", "--- a\n+++ b\n"), 2)
        room.append(log, "operator", SessionClosed("done"), 2)
        room.append(DESK, "system", Notice("info", "behind the session"))
    return log


def unpacked(file: Path, into: Path) -> Path:
    with zipfile.ZipFile(file) as packed:
        packed.extractall(into)
    (top,) = into.iterdir()
    return top


def repacked(folder: Path, file: Path) -> Path:
    """The bag of ``folder`` packed and sealed again with manifests that fit: a careful forger's work."""
    payload = {
        path.relative_to(folder / "data").as_posix(): path.read_bytes()
        for path in (folder / "data").rglob("*")
        if path.is_file()
    }
    tags = {"index.html": (folder / "index.html").read_bytes()}
    pack(file, folder.name, bag(payload, tags, [("External-Identifier", folder.name)]))
    return file


@pytest.fixture
def exported(tmp_path: Path) -> Iterator[tuple[Path, Path, LogName]]:
    root = tmp_path / "room"
    log = held(root)
    file = tmp_path / "out.zip"
    write_bundle(root, log, file, metrics, {"keeper.md": BRIEF})
    yield root, file, log


def test_a_bundle_verifies_and_says_what_was_checked(exported: tuple[Path, Path, LogName]) -> None:
    _, file, log = exported
    verdict = verify_bundle(file, metrics)
    assert verdict.ok, verdict.findings
    assert verdict.session == log and verdict.events > 10
    assert verdict.checked == ("manifests", "chain", "tiers", "files", "metrics")


def test_it_holds_the_log_byte_for_byte_and_all_that_follows_from_it(
    exported: tuple[Path, Path, LogName], tmp_path: Path
) -> None:
    root, file, log = exported
    top = unpacked(file, tmp_path / "u")
    assert top.name == log
    data = top / "data"
    assert (data / "events.jsonl").read_bytes() == (root / "sessions" / log / "events.jsonl").read_bytes()
    names = {path.relative_to(data).as_posix() for path in data.rglob("*") if path.is_file()}
    assert names == {
        "events.jsonl", "bundle.json", "metrics.json", "condition.json", "task.json", "settings.json",
        "versions.json", "wake-packet.md", "workspace.diff", "snug.md", "tiers/before.json", "tiers/after.json",
        "letters/2026-11-30T000006Z-letter.md", "briefs/keeper.md", "meanwhile/desk.jsonl",
    }  # fmt: skip
    assert (data / "briefs/keeper.md").read_text() == BRIEF
    before, after = (json.loads((data / f"tiers/{name}.json").read_text()) for name in ("before", "after"))
    assert list(before["lines"]) == ["L1"] and before["lines"]["L1"]["text"] == "Old"
    assert list(after["lines"]) == ["L1", "L2", "L3"] and after["lines"]["L1"]["text"] == "New from the desk"


def test_its_journals_read_like_the_rooms_own(tmp_path: Path) -> None:
    log = held(tmp_path / "room")
    with Room.open(tmp_path / "room") as room:
        write_journal(room, log, "keeper", "snug", "One more.\n## Not a heading", 3)
        rebuild_journals(room)
    write_bundle(tmp_path / "room", log, tmp_path / "o.zip", metrics)
    assert (unpacked(tmp_path / "o.zip", tmp_path / "u") / "data/snug.md").read_text() == (
        tmp_path / "room" / "snug.md"
    ).read_text()


def test_its_metrics_are_the_sessions(exported: tuple[Path, Path, LogName], tmp_path: Path) -> None:
    document = json.loads((unpacked(exported[1], tmp_path / "u") / "data/metrics.json").read_text())
    assert document["report"]["turns"] == 2
    assert document["report"]["ret"]["source"] == "clock"
    assert document["report"]["tiers"]["lines"] == 3
    for one in document["measures"]:
        assert one["unit"] and one["method"] and isinstance(one["n"], int)
    usd = next(one for one in document["measures"] if one["name"] == "presence_usd")
    assert usd["value"] == pytest.approx(0.02) and len(usd["events"]) == 2


def test_the_unpacked_bag_passes_sha256sum(exported: tuple[Path, Path, LogName], tmp_path: Path) -> None:
    if shutil.which("sha256sum") is None:
        pytest.skip("this machine has no sha256sum")
    top = unpacked(exported[1], tmp_path / "u")
    for manifest in (MANIFEST, TAG_MANIFEST):
        subprocess.run(["sha256sum", "--strict", "--quiet", "-c", manifest], cwd=top, check=True)


def test_the_unpacked_bag_is_a_bag_by_the_standards_own_words(
    exported: tuple[Path, Path, LogName], tmp_path: Path
) -> None:
    top = unpacked(exported[1], tmp_path / "u")
    assert (top / "bagit.txt").read_bytes() == b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
    payload = [path for path in (top / "data").rglob("*") if path.is_file()]
    oxum = f"Payload-Oxum: {sum(path.stat().st_size for path in payload)}.{len(payload)}"
    assert oxum in (top / BAG_INFO).read_text().splitlines()
    listed = {row.split("  ", 1)[1] for row in (top / MANIFEST).read_text().splitlines()}
    assert listed == {path.relative_to(top).as_posix() for path in payload}
    tags = {row.split("  ", 1)[1] for row in (top / TAG_MANIFEST).read_text().splitlines()}
    assert tags == {"bagit.txt", BAG_INFO, MANIFEST, "index.html"}


def test_the_standards_own_library_finds_the_unpacked_bag_valid(
    exported: tuple[Path, Path, LogName], tmp_path: Path
) -> None:
    top = unpacked(exported[1], tmp_path / "u")
    done = subprocess.run([sys.executable, "-m", "bagit", "--validate", str(top)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (top / "data/snug.md").write_text("Another word.")
    done = subprocess.run([sys.executable, "-m", "bagit", "--validate", str(top)], capture_output=True, text=True)
    assert done.returncode != 0


def test_the_unpacked_folder_verifies_like_the_zip(exported: tuple[Path, Path, LogName], tmp_path: Path) -> None:
    top = unpacked(exported[1], tmp_path / "u")
    assert verify_bundle(top, metrics).ok and verify_bundle(top.parent, metrics).ok


def test_the_same_session_gives_the_same_bytes(exported: tuple[Path, Path, LogName], tmp_path: Path) -> None:
    root, file, log = exported
    again = write_bundle(root, log, tmp_path / "again.zip", metrics, {"keeper.md": BRIEF})
    assert again.file.read_bytes() == file.read_bytes()
    assert again.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_session_that_still_runs_can_be_exported(tmp_path: Path) -> None:
    root = tmp_path / "room"
    log = held(root)
    with Room.open(root) as room:
        room.append(log, "operator", OperatorSaid("One more."), 3)
        write_bundle(root, log, tmp_path / "live.zip", metrics)
    assert verify_bundle(tmp_path / "live.zip", metrics).ok


def test_a_brief_whose_words_changed_since_is_left_out_and_named(tmp_path: Path) -> None:
    root = tmp_path / "room"
    log = held(root)
    made = write_bundle(root, log, tmp_path / "o.zip", nothing_measured, {"keeper.md": "Other words.\n"})
    assert made.left_out == ("keeper.md",)
    assert "briefs" not in {path.name for path in (unpacked(made.file, tmp_path / "u") / "data").iterdir()}


def test_files_of_a_bundle_are_the_owners_alone(exported: tuple[Path, Path, LogName]) -> None:
    assert os.stat(exported[1]).st_mode & 0o777 == 0o600


def test_an_existing_file_is_never_overwritten(exported: tuple[Path, Path, LogName]) -> None:
    root, file, log = exported
    before = file.read_bytes()
    with pytest.raises(BundleError, match="is there already"):
        write_bundle(root, log, file, metrics)
    assert file.read_bytes() == before
    assert {path.name for path in file.parent.iterdir()} == {"room", "out.zip"}


@pytest.mark.parametrize("log", ["desk", "20261130T000000Z-z9"])
def test_what_is_no_session_is_refused_in_one_line(tmp_path: Path, log: str) -> None:
    held(tmp_path / "room")
    with pytest.raises(BundleError, match="session") as caught:
        write_bundle(tmp_path / "room", LogName(log), tmp_path / "o.zip", metrics)
    assert "\n" not in str(caught.value) and not (tmp_path / "o.zip").exists()


def test_a_folder_that_is_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    log = held(tmp_path / "room")
    with pytest.raises(BundleError, match="choose another place"):
        write_bundle(tmp_path / "room", log, tmp_path / "no" / "o.zip", metrics)
    with pytest.raises(BundleError, match="cannot read"):
        verify_bundle(tmp_path / "no.zip")


# ---------------------------------------------------------------- nothing changed passes


def test_no_byte_of_a_zip_can_change_unseen(tmp_path: Path) -> None:
    root, file = tmp_path / "room", tmp_path / "o.zip"
    write_bundle(root, held(root, "x"), file, nothing_measured)
    whole = file.read_bytes()
    changed = tmp_path / "changed.zip"
    for at in range(len(whole)):
        changed.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert not verify_bundle(changed).ok, f"byte {at} of {len(whole)} changed unseen"


def test_a_zip_cut_short_or_longer_anywhere_is_refused(exported: tuple[Path, Path, LogName], tmp_path: Path) -> None:
    whole, cut = exported[1].read_bytes(), tmp_path / "cut.zip"
    for length in (0, 1, 100, len(whole) // 2, len(whole) - 1):
        cut.write_bytes(whole[:length])
        assert not verify_bundle(cut).ok
    cut.write_bytes(whole + b"\0")
    assert not verify_bundle(cut).ok


@settings(deadline=None, max_examples=60)
@given(where=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_no_byte_of_an_unpacked_bag_can_change_unseen(
    tmp_path_factory: pytest.TempPathFactory, where: float, flip: int
) -> None:
    tmp_path = tmp_path_factory.mktemp("flip")
    root = tmp_path / "room"
    made = write_bundle(root, held(root), tmp_path / "o.zip", metrics)
    top = unpacked(made.file, tmp_path / "u")
    files = sorted(path for path in top.rglob("*") if path.is_file())
    at = int(where * sum(path.stat().st_size for path in files))
    for path in files:
        if at < path.stat().st_size:
            content = bytearray(path.read_bytes())
            content[at] ^= flip
            path.write_bytes(content)
            break
        at -= path.stat().st_size
    assert not verify_bundle(top, metrics).ok


def forged(exported: tuple[Path, Path, LogName], tmp_path: Path, name: str, content: bytes | None) -> Verdict:
    top = unpacked(exported[1], tmp_path / "u")
    target = top / "data" / name
    if content is None:
        target.unlink()
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return verify_bundle(repacked(top, tmp_path / "forged.zip"), metrics)


@pytest.mark.parametrize(
    "name",
    [
        "bundle.json", "metrics.json", "condition.json", "task.json", "settings.json", "versions.json",
        "wake-packet.md", "workspace.diff", "snug.md", "tiers/before.json", "tiers/after.json",
        "letters/2026-11-30T000006Z-letter.md", "briefs/keeper.md", "meanwhile/desk.jsonl", "events.jsonl",
    ],
)  # fmt: skip
def test_a_file_forged_with_manifests_that_fit_is_found(
    exported: tuple[Path, Path, LogName], tmp_path: Path, name: str
) -> None:
    top = unpacked(exported[1], tmp_path / "look")
    content = (top / "data" / name).read_bytes()
    digit = re.search(rb"\d(?=[^\d]*\Z)", content)
    if digit:  # another number where one stood, so that JSON stays JSON
        at = digit.start()
        content = content[:at] + (b"7" if content[at : at + 1] != b"7" else b"3") + content[at + 1 :]
    else:
        content = content.replace(b"a", b"b", 1) if b"a" in content else b'{"a": 1}\n'
    verdict = forged(exported, tmp_path, name, content)
    assert not verdict.ok


@pytest.mark.parametrize("name", ["metrics.json", "tiers/after.json", "tiers/before.json", "snug.md", "events.jsonl"])
def test_a_file_that_is_missing_is_named(exported: tuple[Path, Path, LogName], tmp_path: Path, name: str) -> None:
    verdict = forged(exported, tmp_path, name, None)
    assert f"data/{name} is missing" in verdict.findings


def test_a_file_that_nobody_wrote_is_found(exported: tuple[Path, Path, LogName], tmp_path: Path) -> None:
    verdict = forged(exported, tmp_path, "letters/another.md", b"Dear next")
    assert verdict.findings == ("data/letters/another.md does not follow from the log",)


def test_events_in_another_order_are_found_with_their_place(
    exported: tuple[Path, Path, LogName], tmp_path: Path
) -> None:
    top = unpacked(exported[1], tmp_path / "look")
    lines = (top / "data/events.jsonl").read_bytes().splitlines(keepends=True)
    lines[5], lines[6] = lines[6], lines[5]
    verdict = forged(exported, tmp_path, "events.jsonl", b"".join(lines))
    assert "line 6" in verdict.findings[0]


def test_an_event_left_out_is_found(exported: tuple[Path, Path, LogName], tmp_path: Path) -> None:
    top = unpacked(exported[1], tmp_path / "look")
    lines = (top / "data/events.jsonl").read_bytes().splitlines(keepends=True)
    for at in (0, 4, len(lines) - 1):
        folder = tmp_path / f"without-{at}"
        folder.mkdir()
        assert not forged(exported, folder, "events.jsonl", b"".join(lines[:at] + lines[at + 1 :])).ok


def test_a_bundle_of_a_newer_format_is_refused_and_says_so(
    exported: tuple[Path, Path, LogName], tmp_path: Path
) -> None:
    verdict = forged(exported, tmp_path, "bundle.json", b'{"format": %d}' % (BUNDLE_FORMAT + 1))
    assert "update two-twins" in verdict.findings[0]


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"null", b"[" * 100_000, b"\xff\xfe"])
@pytest.mark.parametrize("name", ["bundle.json", "tiers/before.json", "events.jsonl", "meanwhile/desk.jsonl"])
def test_a_file_that_is_nonsense_is_a_finding_and_no_crash(
    exported: tuple[Path, Path, LogName], tmp_path: Path, name: str, content: bytes
) -> None:
    assert not forged(exported, tmp_path, name, content).ok


# ---------------------------------------------------------------- hostile zips


def hostile(file: Path, entries: list[tuple[zipfile.ZipInfo | str, bytes]]) -> Path:
    """A zip of any entries with a seal that fits."""
    plain = file.with_suffix(".plain")
    with zipfile.ZipFile(plain, "w", zipfile.ZIP_DEFLATED) as out:
        for entry, content in entries:
            out.writestr(entry, content)
    sealed = bytearray(plain.read_bytes())
    words = b"two-twins bundle, sha256 of all bytes before these words: "
    sealed[-2:] = (len(words) + 64).to_bytes(2, "little")
    file.write_bytes(bytes(sealed) + words + hashlib.sha256(sealed).hexdigest().encode())
    return file


def named(name: str) -> zipfile.ZipInfo:
    """An entry of any name; a new ZipInfo would cut it at a NUL."""
    entry = zipfile.ZipInfo("s/a")
    entry.filename = name
    return entry


def link(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.create_system, entry.external_attr = 3, 0o120777 << 16
    return entry


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ([("s/../../evil", b"x")], "no name"),
        ([("../evil", b"x")], "no name"),
        ([("/evil", b"x")], "no name"),
        ([("s\\evil", b"x")], "no name"),
        ([("C:/evil", b"x")], "no name"),
        ([("s/.hidden", b"x")], "no name"),
        ([(named("s/a\x00b"), b"x")], "no name"),
        ([("s/é", b"x")], "no name"),
        ([("evil", b"x")], "no name"),
        ([("s/", b"")], "no name"),
        ([("s/a", b"x"), ("s/a", b"y")], "twice"),
        ([("s/a", b"x"), ("s/A", b"y")], "twice"),
        ([("s/a", b"x"), ("t/b", b"y")], "one folder"),
        ([(link("s/a"), b"/etc/passwd")], "no plain file"),
        ([("s/bomb", b"\0" * (70 << 20))], "unpack to"),
        ([], "0 files"),
        ([("s/a", b"x"), ("s/a/b", b"y")], "name of a folder"),
        ([("s/data/events.jsonl", b"x")], "this is no bundle"),
    ],
)
def test_a_hostile_zip_is_refused_and_nothing_is_written_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: list[tuple[zipfile.ZipInfo | str, bytes]], says: str
) -> None:
    work = tmp_path / "work" / "deep"
    work.mkdir(parents=True)
    monkeypatch.setattr("tempfile.tempdir", str(work))
    file = hostile(tmp_path / "h.zip", entries)
    verdict = verify_bundle(file)
    assert not verdict.ok and says in verdict.findings[0]
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["deep", "h.plain", "h.zip", "work"]


def test_an_ordinary_zip_without_a_seal_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "o.zip", "w") as out:
        out.writestr("s/a", "x")
    assert "packed again" in verify_bundle(tmp_path / "o.zip").findings[0]


def test_links_in_an_unpacked_bag_are_refused(exported: tuple[Path, Path, LogName], tmp_path: Path) -> None:
    top = unpacked(exported[1], tmp_path / "u")
    (top / "data/snug.md").unlink()
    (top / "data/snug.md").symlink_to(exported[1])
    assert not verify_bundle(top).ok


# ---------------------------------------------------------------- the page


class Seen(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def the_page(tmp_path: Path, words: str) -> str:
    root = tmp_path / "room"
    made = write_bundle(root, held(root, words), tmp_path / "o.zip", metrics)
    return (unpacked(made.file, tmp_path / "u") / "index.html").read_text("utf-8")


def test_foreign_text_on_the_page_is_text_and_nothing_else(tmp_path: Path) -> None:
    html = the_page(tmp_path, HOSTILE)
    seen = Seen(html)
    assert "alert(1)" in seen.text and "[red]" in seen.text
    assert not {tag for tag, _ in seen.tags} & {"script", "img", "iframe", "link", "object", "form", "base"}
    assert not [name for _, attrs in seen.tags for name in attrs if name.startswith("on")]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", html)


def test_the_page_needs_no_network(tmp_path: Path) -> None:
    seen = Seen(the_page(tmp_path, "See https://example.org/ and src=x."))
    assert not [attrs for _, attrs in seen.tags if "src" in attrs]
    assert all((attrs.get("href") or "#").startswith("#") for _, attrs in seen.tags)
    assert any("default-src 'none'" in (attrs.get("content") or "") for _, attrs in seen.tags)


def test_every_turn_of_the_timeline_leads_to_its_words(tmp_path: Path) -> None:
    seen = Seen(the_page(tmp_path, "The door says ten."))
    ids = {attrs["id"] for _, attrs in seen.tags if attrs.get("id")}
    targets = {href[1:] for _, attrs in seen.tags if (href := attrs.get("href"))}
    assert targets == {"turn-1", "turn-2"} and targets <= ids and "timeline" in ids
    assert any(tag == "details" and attrs.get("id") == "timeline" for tag, attrs in seen.tags)


@settings(deadline=None, max_examples=25)
@given(words=st.text(min_size=1, max_size=60))
def test_whatever_is_said_the_bundle_verifies_and_its_page_stays_text(
    tmp_path_factory: pytest.TempPathFactory, words: str
) -> None:
    tmp_path = tmp_path_factory.mktemp("words")
    root = tmp_path / "room"
    log = held(root, words)
    write_bundle(root, log, tmp_path / "o.zip", metrics)
    verdict = verify_bundle(tmp_path / "o.zip", metrics)
    assert verdict.ok, verdict.findings
    html = (unpacked(tmp_path / "o.zip", tmp_path / "u") / "index.html").read_text("utf-8")
    known = {tag for tag, _ in Seen(html).tags}
    assert known <= {
        "html", "meta", "title", "style", "main", "h1", "h2", "h3", "h4", "dl", "dt", "dd", "details", "summary",
        "figure", "figcaption", "svg", "a", "rect", "table", "thead", "tbody", "tr", "th", "td", "section",
        "article", "pre", "p", "ul", "li", "b", "i", "q",
    }  # fmt: skip


def test_reading_a_session_leaves_the_rooms_own_tiers_alone(exported: tuple[Path, Path, LogName]) -> None:
    root, _, log = exported
    with Room.open(root, read_only=True) as room:
        assert dict(read_session(root, log).after.lines) == dict(room.tiers.lines)
