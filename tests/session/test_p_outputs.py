"""What tools print: long, endless or binary, it is bounded for P, kept whole for the operator, and breaks nothing."""

from __future__ import annotations

import hashlib
import os
import resource
from pathlib import Path

import pytest
from session_plays import Stage, Stages, always, bash, bodies, calls, said

from app.scripted.script import Reply
from app.session.outputs import MOST_KEPT, output_path, sent_of
from app.session.sandbox import SandboxError, check_sandbox, sandbox_command, sandbox_works
from app.session.session import Session
from store.bodies import SeatReady, ToolEnded, TurnEnded
from store.settings import ToolSettings


async def ran(stage: Stages, *replies: Reply, **settings: object) -> tuple[Stage, Session, list[ToolEnded]]:
    s = await stage(always(*replies, Reply("So.")), settings={"tools": settings} if settings else None)
    live = await s.open("A")
    await said(live, "go")
    assert bodies(live, TurnEnded) == [TurnEnded("done")]
    return s, live, bodies(live, ToolEnded)


async def test_an_output_of_50_mb_is_kept_whole_cut_with_a_count_and_bounded_in_memory(stage: Stages) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    command = "seq 1 6500000 | head -c 50000000; echo; echo THE END"
    s, live, (ended,) = await one(stage, command)
    assert ended.outcome == "ok" and "THE END" in str(ended.content) and ended.bytes < 110_000
    assert "50,0" in str(ended.content) and "left out" in str(ended.content)
    whole = ended.whole
    assert whole is not None and (whole.bytes, whole.lost) == (50_000_000 + len("\nTHE END\n"), 0)
    file = s.root / "sessions" / live.log / whole.file
    raw = file.read_bytes()
    assert hashlib.sha256(raw).hexdigest() == whole.sha256 and raw.endswith(b"THE END\n") and raw.startswith(b"1\n2\n")
    assert file.stat().st_mode & 0o777 == 0o600
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kb < 120_000, "the test itself reads the 50 MB once"


async def one(stage: Stages, command: str, **settings: object) -> tuple[Stage, Session, list[ToolEnded]]:
    s, live, ended = await ran(stage, bash(command), **settings)
    return s, live, ended


async def test_an_endless_output_is_stopped_at_its_limit_and_its_last_words_are_told(stage: Stages) -> None:
    endless = bash("while :; do for n in $(seq 500); do echo line $n; done; done")
    _, _, (ended, alive) = await ran(stage, endless, bash("echo alive"), bash_timeout_s=1.5)
    assert ended.outcome == "error" and "1.5 s" in str(ended.content) and "line " in str(ended.content)
    assert ended.bytes < 10_000 and ended.whole is not None and ended.whole.bytes <= MOST_KEPT
    assert alive.content == "alive"


async def test_invalid_utf8_escapes_and_nul_in_a_long_output_are_kept_byte_for_byte(stage: Stages) -> None:
    command = r"""for n in $(seq 12000); do printf '\xff\xfe\x00\033]0;x\007\303\050\n'; done"""
    s, live, (ended,) = await one(stage, command)
    assert ended.whole is not None
    raw = (s.root / "sessions" / live.log / ended.whole.file).read_bytes()
    line = b"\xff\xfe\x00\x1b]0;x\x07\xc3\x28\n"
    assert raw == (line * 12_000).rstrip(b"\n") or raw == line * 12_000


async def test_a_short_output_makes_no_file(stage: Stages) -> None:
    s, live, (ended,) = await one(stage, "seq 1000")
    assert ended.whole is None and not (s.root / "sessions" / live.log / "outputs").exists()


async def test_a_tool_that_hangs_is_stopped_at_the_rooms_limit(stage: Stages) -> None:
    hangs = always(calls("grep", pattern="x"), bash("echo alive"), Reply("So."))
    s = await stage(hangs, settings={"tools": {"bash_timeout_s": 0.7}})
    os.mkfifo(s.workspace / "pipe")
    live = await s.open("A")
    await said(live, "go")
    assert bodies(live, TurnEnded) == [TurnEnded("done")]
    assert bodies(live, ToolEnded)[-1].content == "alive"


def test_a_long_text_block_is_cut_in_the_middle_and_a_picture_is_not(tmp_path: Path) -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 400_000}}
    text = "ü" * 400_000
    sent, whole = sent_of([{"type": "text", "text": text}, picture], output_path(tmp_path, 3, "toolu/../x"))
    assert isinstance(sent, list) and sent[1] == picture
    assert isinstance(sent[0], dict) and len(str(sent[0]["text"]).encode()) < 270_000
    assert whole is not None and whole.bytes == 800_000
    assert (tmp_path / whole.file).read_text() == text and (tmp_path / whole.file).parent == tmp_path / "outputs"


def test_a_disk_that_refuses_costs_the_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("no folder")
    sent, whole = sent_of("x" * 400_000, output_path(tmp_path, 1, "call"))
    assert whole is None and "left out" in str(sent)


# ---------------------------------------------------------------- the sandbox


def test_a_room_that_demands_a_sandbox_says_so_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match=r"bubblewrap is not installed.*Nothing was written"):
        check_sandbox(ToolSettings(sandbox="required"), tmp_path, tmp_path / "memory")
    check_sandbox(ToolSettings(sandbox="auto"), tmp_path, tmp_path / "memory")


async def test_in_the_sandbox_the_log_of_a_room_inside_the_workspace_cannot_be_written(
    stage: Stages, tmp_path: Path
) -> None:
    if not sandbox_works(tmp_path, tmp_path, network=True):
        pytest.skip("bubblewrap is not installed here or may not be used")
    room = tmp_path / "room"
    s = await stage(
        always(bash(f"echo x >> {room}/room.toml; echo y > {room}/memory/y.txt; echo z > z.txt"), Reply("So.")),
        settings={"tools": {"sandbox": "auto"}},
    )
    s.workspace = tmp_path
    live = await s.open("A")
    (ready,) = bodies(live, SeatReady)
    before = (room / "room.toml").read_bytes()
    await said(live, "go")
    assert ready.sandbox == "bwrap"
    assert (room / "room.toml").read_bytes() == before
    assert (room / "memory" / "y.txt").exists() and (tmp_path / "z.txt").exists()


def test_without_network_the_sandbox_has_a_network_of_its_own(tmp_path: Path) -> None:
    assert "--unshare-net" in sandbox_command(tmp_path, tmp_path / "memory", network=False)
    assert "--unshare-net" not in sandbox_command(tmp_path, tmp_path / "memory", network=True)
