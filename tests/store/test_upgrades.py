"""A room of an older format is upgraded on a copy, and the room as it was is kept whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from room_samples import begin, changed, line

from store import upgrades
from store.room import Room, RoomError
from store.settings import ROOM_FORMAT


def content(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name not in ("room.lock", "room.holder.json")
    }


def rewritten(room: Path) -> None:
    """A step between two formats: a journal has another name."""
    (room / "old.md").rename(room / "snug.md")


@pytest.fixture
def older(room_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A room of format 0, which there never was, with the step from there."""
    with Room.open(room_path) as room:
        log = begin(room)
        room.append(log, "keeper", changed(line(1), line(2, "hot")))
    toml = room_path / "room.toml"
    toml.write_text(toml.read_text().replace(f"format = {ROOM_FORMAT}", "format = 0"))
    (room_path / "old.md").write_text("# Snug\n")
    monkeypatch.setitem(upgrades.STEPS, 0, rewritten)
    return room_path


def test_an_older_room_is_upgraded_and_kept_as_it_was(older: Path) -> None:
    before = content(older)
    with Room.open(older) as room:
        assert [one.id for one in room.tiers] == ["L1", "L2"]
        assert (older / "snug.md").read_text() == "# Snug\n" and not (older / "old.md").exists()
        assert any("as it was it is kept in" in notice.text for notice in room.found)
    backup = older.with_name("room.format-0")
    assert content(backup) == before
    logs = {name: bytes_ for name, bytes_ in content(older).items() if name.startswith("sessions/")}
    assert logs == {name: bytes_ for name, bytes_ in before.items() if name.startswith("sessions/")}
    with Room.open(older) as again:
        assert not again.found


def test_reading_alone_upgrades_nothing(older: Path) -> None:
    before = content(older)
    with pytest.raises(RoomError, match="open it once for writing"):
        Room.open(older, read_only=True)
    assert content(older) == before


def test_a_step_that_fails_or_breaks_a_log_leaves_the_room_as_it_stood(
    older: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(room: Path) -> None:
        (room / "old.md").unlink()
        raise OSError(28, "No space left on device")

    def breaks(room: Path) -> None:
        log = next(room.glob("sessions/*/events.jsonl"))
        log.write_bytes(log.read_bytes().replace(b"stale", b"fresh"))

    before = content(older)
    for step, says in ((fails, "No space left"), (breaks, "would have changed log")):
        monkeypatch.setitem(upgrades.STEPS, 0, step)
        with pytest.raises(RoomError, match=says):
            Room.open(older)
        assert content(older) == before
        assert sorted(path.name for path in older.parent.iterdir()) == ["room"]


def test_a_format_that_no_step_leads_from_is_refused_in_one_line(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(upgrades.STEPS, 0)
    with pytest.raises(RoomError, match="cannot upgrade") as caught:
        Room.open(older)
    assert "\n" not in str(caught.value)


def test_a_crash_between_the_two_renames_loses_no_room(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = content(older)
    rename = upgrades.os.rename

    def killed(source: Path, target: Path) -> None:
        if target == older:
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(upgrades.os, "rename", killed)
    with pytest.raises(KeyboardInterrupt):
        Room.open(older)
    assert not older.exists()
    monkeypatch.undo()
    with Room.open(older) as room:
        assert len(room.tiers) == 2 and (older / "snug.md").exists()
    assert content(older.with_name("room.format-0")) == before


def test_what_a_killed_upgrade_left_behind_does_not_disturb_the_next(older: Path) -> None:
    left = older.with_name(".room.upgraded")
    left.mkdir()
    (left / "half").write_text("copied")
    with Room.open(older):
        assert not (older / "half").exists() and not left.exists()
