"""TinyDB documents that survive crashes, bad values and full disks."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tinydb import TinyDB

from store.documents import CrashSafeStorage, write_whole


def database(path: Path, said: list[str] | None = None) -> TinyDB:
    return TinyDB(path, storage=CrashSafeStorage, on_damage=(said if said is not None else []).append)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(records=st.lists(st.dictionaries(st.text(), JSON, max_size=3), max_size=4))
def test_what_was_inserted_is_there_after_opening_again(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, object]]
) -> None:
    path = tmp_path_factory.mktemp("documents") / "study.json"
    with database(path) as db:
        db.insert_multiple(records)
    with database(path) as db:
        assert [dict(record) for record in db.all()] == records


def test_a_document_is_its_owners_only_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    with database(tmp_path / "study.json") as db:
        db.insert({"a": 1})
    assert [file.name for file in tmp_path.iterdir()] == ["study.json"]
    assert (tmp_path / "study.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("bad", [object(), {1, 2}, float("nan"), b"bytes"])
def test_a_value_that_is_not_json_is_refused_and_spoils_nothing(tmp_path: Path, bad: object) -> None:
    path = tmp_path / "study.json"
    with database(path) as db:
        db.insert({"a": 1})
        before = path.read_bytes()
        with pytest.raises((TypeError, ValueError)):
            db.insert({"b": bad})
        assert path.read_bytes() == before
    with database(path) as db:
        assert db.all() == [{"a": 1}]


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_a_crash_or_a_full_disk_while_writing_leaves_the_old_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "study.json"
    write_whole(path, b"old")

    def refuses(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        if call == "write":
            patched.setattr(os, "fdopen", refuses)
        else:
            patched.setattr(os, call, refuses)
        with pytest.raises(OSError, match="No space"):
            write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["study.json"]
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("content", [b"", b'{"_default": {"1": {"a"', b"[]", b'{"_default": 3}', b"\xff", b"\0" * 90])
def test_a_damaged_document_is_set_aside_and_said_never_silently_emptied(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "study.json"
    said: list[str] = []
    for number in (1, 2):
        path.write_bytes(content)
        with database(path, said) as db:
            assert db.all() == []
            db.insert({"a": number})
        assert (tmp_path / f"study.json.damaged-{number}").read_bytes() == content
        assert len(said) == number and f"kept as study.json.damaged-{number}" in said[-1]


def test_a_read_only_document_is_neither_written_nor_moved(tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    path.write_bytes(b"damaged")
    said: list[str] = []
    storage = CrashSafeStorage(path, said.append, read_only=True)
    assert storage.read() is None and len(said) == 1
    with pytest.raises(OSError, match="read-only"):
        storage.write({})
    assert [file.name for file in tmp_path.iterdir()] == ["study.json"] and path.read_bytes() == b"damaged"
