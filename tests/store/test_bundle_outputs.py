"""Whole outputs in bundles: they go along, are checked against their events, and lose their secrets too."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from room_samples import begin
from test_bundle import repacked, unpacked
from test_redaction import DUMP, OTHERS, PLANTED

from app.listings import import_file
from app.measure.metrics import metrics
from store import room as room_module
from store import whole_outputs as carried
from store.bag import RATIO_FROM_BYTES
from store.bodies import SessionClosed, ToolEnded, WholeOutput
from store.bundle import Exported, read_bundle, verify_bundle, write_bundle
from store.bundle_import import take_in
from store.log import LogWriteError
from store.room import LogName, Room
from store.session_record import read_session

TEXT = "".join(f"row {number}\n" for number in range(20_000)).encode()
BINARY = bytes(range(256)) * 40
NAME = "outputs/0001-t1.txt"


def kept(root: Path, *outputs: tuple[str, bytes]) -> LogName:
    """A room with one closed session whose tools gave back ``outputs``, whole in files beside its log."""
    Room.create(root, "Robin")
    with Room.open(root) as room:
        log = begin(room)
        for number, (name, content) in enumerate(outputs, 1):
            whole = WholeOutput(name, len(content), hashlib.sha256(content).hexdigest(), 3)
            room.append(log, "system", ToolEnded(f"t{number}", "bash", "ok", "cut", 1.0, 3, whole=whole), number)
            path = root / "sessions" / log / name
            if path.is_relative_to(root) and ".." not in name:
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(content)
        room.append(log, "operator", SessionClosed("done"), len(outputs))
    return log


def export(root: Path, log: LogName, redact: dict[str, str] | None = None) -> Exported:
    return write_bundle(root, log, root.with_name(f"{root.name}.zip"), metrics, {}, redact)


def test_whole_outputs_go_along_byte_for_byte_and_are_checked(tmp_path: Path) -> None:
    log = kept(tmp_path / "room", (NAME, TEXT), ("outputs/0002-t2.txt", BINARY))
    made = export(tmp_path / "room", log)
    with zipfile.ZipFile(made.file) as packed:
        assert packed.read(f"{log}/data/{NAME}") == TEXT
        assert packed.read(f"{log}/data/outputs/0002-t2.txt") == BINARY
    verdict = verify_bundle(made.file, metrics)
    assert verdict.ok and "outputs" in verdict.checked and made.outputs_left_out == ()


@pytest.mark.parametrize(
    ("forge", "finding"),
    [
        (lambda top: (top / "data" / NAME).write_bytes(TEXT[:-2] + b"x\n"), "not the output that the log tells of"),
        (lambda top: (top / "data" / NAME).write_bytes(TEXT + b"x"), "not the output that the log tells of"),
        (lambda top: (top / "data" / NAME).unlink(), f"data/{NAME} is missing"),
        (lambda top: (top / "data/outputs/more.txt").write_bytes(b"x"), "more.txt does not follow from the log"),
        (lambda top: _list(top, [NAME, "outputs/more.txt"]), "no event of the log tells of 'outputs/more.txt'"),
        (lambda top: _list(top, ["../../../room/room.toml"]), "no event of the log tells of"),
        (lambda top: _list(top, []), "does not follow from the log"),
        (lambda top: _list(top, {"a": 1}), "no event of the log tells of"),
    ],
    ids=["a byte", "longer", "gone", "one more", "one more listed", "way up", "hidden", "no list"],
)
def test_an_output_that_is_not_as_its_event_tells_is_found_and_nothing_is_taken_in(
    tmp_path: Path, forge: Callable[[Path], object], finding: str
) -> None:
    log = kept(tmp_path / "room", (NAME, TEXT))
    top = unpacked(export(tmp_path / "room", log).file, tmp_path / "u")
    forge(top)
    file = repacked(top, tmp_path / "forged.zip")
    verdict, record = read_bundle(file, metrics)
    assert record is None and any(finding in one for one in verdict.findings), verdict.findings

    def opened() -> Room:
        raise AssertionError("the room was opened")

    assert import_file(opened, file, as_json=False) == 1


def _list(top: Path, names: object) -> None:
    about = top / "data/bundle.json"
    about.write_text(json.dumps({**json.loads(about.read_text()), "outputs": names}, indent=1) + "\n")


def test_an_import_brings_the_outputs_and_the_session_exports_again_whole(tmp_path: Path) -> None:
    log = kept(tmp_path / "room", (NAME, TEXT), ("outputs/0002-t2.txt", BINARY))
    made = export(tmp_path / "room", log)
    _, record = read_bundle(made.file, metrics)
    assert record is not None
    with Room.open(Room.create(tmp_path / "other", "Somebody")) as room:
        take_in(room, record, made.file)
        assert (room.sessions_dir / log / NAME).read_bytes() == TEXT
        assert (room.sessions_dir / log / "outputs/0002-t2.txt").read_bytes() == BINARY
        assert (room.sessions_dir / log / NAME).stat().st_mode & 0o077 == 0
    again = export(tmp_path / "other", log)
    assert again.outputs_left_out == () and verify_bundle(again.file, metrics).ok


def test_a_disk_that_refuses_the_last_output_leaves_no_part_of_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = kept(tmp_path / "room", (NAME, TEXT), ("outputs/0002-t2.txt", BINARY))
    made = export(tmp_path / "room", log)
    _, record = read_bundle(made.file, metrics)
    assert record is not None
    write = room_module.write_whole

    def full(path: Path, content: bytes) -> None:
        if content == BINARY:
            raise OSError(28, "No space left on device")
        write(path, content)

    other = Room.create(tmp_path / "other", "Somebody")
    with Room.open(other) as room:
        with monkeypatch.context() as patch:
            patch.setattr(room_module, "write_whole", full)
            with pytest.raises(LogWriteError, match="No space left"):
                take_in(room, record, made.file)
        assert log not in room.logs() and not list(other.rglob("*.txt"))
        take_in(room, record, made.file)
        assert len(list((other / "sessions" / log / "outputs").iterdir())) == 2


@pytest.mark.parametrize("how", ["gone", "changed", "link", "pipe", "folder"])
def test_what_is_no_longer_the_output_is_left_out_and_named(tmp_path: Path, how: str) -> None:
    log = kept(tmp_path / "room", (NAME, TEXT), ("outputs/0002-t2.txt", BINARY))
    path = tmp_path / "room/sessions" / log / NAME
    path.unlink()
    if how == "changed":
        path.write_bytes(TEXT[:-2] + b"x\n")
    elif how == "link":
        (tmp_path / "elsewhere").write_bytes(TEXT)
        path.symlink_to(tmp_path / "elsewhere")
    elif how == "pipe":
        os.mkfifo(path)
    elif how == "folder":
        path.mkdir()
    made = export(tmp_path / "room", log)
    assert made.outputs_left_out == (NAME,)
    verdict = verify_bundle(made.file, metrics)
    assert verdict.ok and "outputs" in verdict.checked, verdict.findings
    shutil.rmtree(path.parent)
    made.file.unlink()
    assert len(export(tmp_path / "room", log).outputs_left_out) == 2
    assert verify_bundle(made.file, metrics).ok


@pytest.mark.parametrize(
    "name", ["outputs/../events.jsonl", "/etc/hostname", "events.jsonl", "outputs/a/b", "outputs/"]
)
def test_a_log_that_names_another_file_as_an_output_takes_none_along(tmp_path: Path, name: str) -> None:
    root = tmp_path / "room"
    log = kept(root, ("outputs/fine.txt", b"fine"))
    with Room.open(root) as room:
        content = (root / "sessions" / log / "events.jsonl").read_bytes()
        whole = WholeOutput(name, len(content), hashlib.sha256(content).hexdigest())
        room.append(log, "system", ToolEnded("t9", "bash", "ok", "cut", 1.0, 3, whole=whole), 1)
    made = export(root, log)
    with zipfile.ZipFile(made.file) as packed:
        assert [one for one in packed.namelist() if "/outputs/" in one] == [f"{log}/data/outputs/fine.txt"]
    assert verify_bundle(made.file, metrics).ok


def test_what_a_bundle_carries_is_bounded_and_the_rest_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs = [(f"outputs/{number}.txt", bytes([number]) * 100) for number in range(6)]
    log = kept(tmp_path / "room", *outputs, ("outputs/A.txt", b"A"), ("outputs/a.txt", b"a"))
    monkeypatch.setattr(carried, "MAX_OUTPUT_BYTES", 402)
    made = export(tmp_path / "room", log)
    assert made.outputs_left_out == ("outputs/4.txt", "outputs/5.txt", "outputs/a.txt")
    assert verify_bundle(made.file, metrics).ok
    monkeypatch.setattr(carried, "MAX_OUTPUTS", 2)
    made.file.unlink()
    assert len(export(tmp_path / "room", log).outputs_left_out) == 6
    assert verify_bundle(made.file, metrics).ok


def test_an_output_that_packs_like_a_bomb_still_makes_a_bundle_that_verifies(tmp_path: Path) -> None:
    log = kept(tmp_path / "room", (NAME, b"y\n" * (RATIO_FROM_BYTES // 2 + 1)))
    made = export(tmp_path / "room", log)
    assert made.outputs_left_out == () and verify_bundle(made.file).ok


def test_secrets_leave_outputs_too_and_every_place_is_named(tmp_path: Path) -> None:
    root = tmp_path / "room"
    hidden = b"\xff\x00 first\n" + DUMP.encode() + b"known-only-here and \xfe\n"
    log = kept(root, (NAME, hidden), ("outputs/known-only-here.txt", b"nothing"), ("outputs/plain.bin", BINARY))
    made = export(root, log, {"known-only-here": "MY_KEY"})
    with zipfile.ZipFile(made.file) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    for name, content in files.items():
        for secret in (PLANTED, *OTHERS.values(), "known-only-here"):
            assert secret.encode() not in content, f"{name} holds {secret[:12]}…"
    without = files[f"{log}/data/{NAME}"]
    assert without.startswith(b"\xff\x00 first\n") and b"[redacted: MY_KEY] and \xfe\n" in without
    assert files[f"{log}/data/outputs/plain.bin"] == BINARY
    assert made.outputs_left_out == ("outputs/known-only-here.txt",)
    places = {(one.where, one.what) for one in made.redactions if one.kind == "tool.ended"}
    lines = without.split(b"\n")
    expected = next(number for number, line in enumerate(lines, 1) if b"[redacted: MY_KEY]" in line)
    assert (f"{NAME}, line {expected}", "MY_KEY") in places and (f"{NAME}, line 3", "Anthropic Key") in places
    verdict = verify_bundle(made.file, metrics)
    assert verdict.ok and "outputs" in verdict.checked, verdict.findings
    assert (root / "sessions" / log / NAME).read_bytes() == hidden


def test_a_secret_found_in_an_output_is_taken_out_of_the_log_as_well(tmp_path: Path) -> None:
    root = tmp_path / "room"
    value = "correct-horse-7-battery"
    log = kept(root, (NAME, f"MY_SERVICE_PASSWORD={value}\n".encode()))
    with Room.open(root) as room:
        room.append(log, "operator", SessionClosed(f"it was {value} then"), 1)
    made = export(root, log, {})
    with zipfile.ZipFile(made.file) as packed:
        assert not [name for name in packed.namelist() if value.encode() in packed.read(name)]
    assert verify_bundle(made.file, metrics).ok


def test_a_file_written_twice_is_checked_against_the_later_event(tmp_path: Path) -> None:
    log = kept(tmp_path / "room", (NAME, b"first"), (NAME, b"second"))
    for redact in (None, {"second": "WORD"}):
        made = export(tmp_path / "room", log, redact)
        assert made.outputs_left_out == () and verify_bundle(made.file, metrics).ok
        record = read_session(tmp_path / "room", log)
        assert carried.whole_outputs(record.events)[NAME].bytes == 6
        made.file.unlink()
