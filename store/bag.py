"""A BagIt bag (RFC 8493) in a zip: packed so that equal contents give equal bytes, unpacked as from a stranger."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

from store.log import sync_folder
from store.plain import PlainError

BAGIT_TXT: Final = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
MANIFEST: Final = "manifest-sha256.txt"
TAG_MANIFEST: Final = "tagmanifest-sha256.txt"
BAG_INFO: Final = "bag-info.txt"

MAX_FILES: Final = 10_000
MAX_BYTES: Final = 2 << 30
"""Bytes that a bag may hold unpacked."""
MAX_RATIO: Final = 100
RATIO_FROM_BYTES: Final = 64 << 20
"""Past this size a bag may not be more than MAX_RATIO times its zip: logs pack about ten times, bombs a thousand."""

_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The first date that a zip can hold: the same for all, since equal contents are to give equal bytes."""
_SEAL: Final = b"two-twins bundle, sha256 of all bytes before these words: "
_SEAL_LENGTH: Final = len(_SEAL) + 64
_END_RECORD: Final = 22
"""Length of a zip's end record without its comment (APPNOTE 4.3.16); its last two bytes are the comment's length."""
_PART = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,99}")
_MANIFEST_LINE = re.compile(r"([0-9a-f]{64})  (\S+)")
_BLOCK: Final = 1 << 20


class BagError(PlainError, ValueError):
    """A zip or folder is no sound bag; one plain sentence."""


def safe_name(name: str) -> bool:
    """Whether ``name`` is a relative path of plain ASCII names: no way up, no root, no drive, nothing hidden."""
    return all(_PART.fullmatch(part) and not part.endswith(".") for part in name.split("/"))


# ---------------------------------------------------------------- packing


def bag(payload: Mapping[str, bytes], tags: Mapping[str, bytes], info: Iterable[tuple[str, str]]) -> dict[str, bytes]:
    """All files of a bag by name: ``payload`` under `data/`, ``tags`` beside it, ``info`` for `bag-info.txt`.

    Raises BagError for a name that could not be unpacked safely everywhere.
    """
    total = sum(len(content) for content in payload.values())
    facts = [*info, ("Payload-Oxum", f"{total}.{len(payload)}")]
    files = {f"data/{name}": content for name, content in sorted(payload.items())}
    beside = {
        "bagit.txt": BAGIT_TXT,
        BAG_INFO: "".join(f"{label}: {' '.join(value.split())}\n" for label, value in facts).encode(),
        MANIFEST: _manifest(files),
        **tags,
    }
    beside[TAG_MANIFEST] = _manifest(beside)
    if odd := next((name for name in (*files, *beside) if not safe_name(name)), None):
        raise BagError(f"{odd!r} is no name for a file in a bundle")
    return {**beside, **files}


def _manifest(files: Mapping[str, bytes]) -> bytes:
    """One line a file, as sha256sum reads it."""
    return "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files)).encode()


def pack(file: Path, folder: str, files: Mapping[str, bytes]) -> str:
    """Writes ``files`` into the zip ``file`` (0600) within one ``folder``; the SHA-256 of the zip.

    The zip ends with a seal, the hash of all its other bytes, so that no byte of it can change unseen: a zip's own
    headers are covered by no checksum. An existing file is never overwritten. Raises FileExistsError, OSError.
    """
    beside = file.with_name(f".{file.name}.{os.getpid()}.new")
    try:
        with os.fdopen(os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as out:
            with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as packed:
                large = sum(map(len, files.values())) > RATIO_FROM_BYTES
                for name in sorted(files):
                    entry = zipfile.ZipInfo(f"{folder}/{name}", _EPOCH)
                    entry.create_system = 3  # Unix, wherever it is written: the mode below is read by it
                    entry.external_attr = (stat.S_IFREG | 0o600) << 16
                    entry.compress_type = _packing(files[name]) if large else zipfile.ZIP_DEFLATED
                    packed.writestr(entry, files[name])
            out.seek(-2, os.SEEK_END)
            out.write(struct.pack("<H", _SEAL_LENGTH))
            out.seek(0)
            seal = _SEAL + _hashed(out).encode()
            out.write(seal)
            out.flush()
            os.fsync(out.fileno())
            out.seek(0)
            sha256 = _hashed(out)
        _put(beside, file)
    finally:
        beside.unlink(missing_ok=True)
    return sha256


def _packing(content: bytes) -> int:
    """How to pack a file: what packs so well that its bag would be taken for a bomb goes in as it is."""
    if len(content) < MAX_RATIO or len(zlib.compress(content, 6)) * MAX_RATIO > len(content):
        return zipfile.ZIP_DEFLATED
    return zipfile.ZIP_STORED


def _put(beside: Path, file: Path) -> None:
    try:
        os.link(beside, file)  # unlike a rename, it fails when the name is taken
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if file.exists():
            raise FileExistsError(file) from None
        os.rename(beside, file)
    sync_folder(file.parent)


def _hashed(file: BinaryIO, length: int | None = None) -> str:
    """SHA-256 of ``file`` from where it stands to its end, or of its next ``length`` bytes."""
    digest = hashlib.sha256()
    left = length
    while block := file.read(_BLOCK if left is None else min(_BLOCK, left)):
        digest.update(block)
        left = None if left is None else left - len(block)
    return digest.hexdigest()


# ---------------------------------------------------------------- unpacking


def unpack(file: Path, into: Path) -> Path:
    """Unpacks the bag in the zip ``file`` into the empty folder ``into``; the bag's own folder.

    Nothing is trusted: the seal first, then every name, kind, size and checksum, and nothing is written outside
    ``into`` or over anything. Raises BagError, and OSError when ``file`` cannot be read.
    """
    _check_seal(file)
    try:
        with zipfile.ZipFile(file) as packed:
            entries = packed.infolist()
            _check_entries(entries, file.stat().st_size)
            for entry in entries:
                _take_out(packed, entry, into)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeError) as error:
        raise BagError(f"{file.name} is damaged: {error}") from error
    return into / entries[0].filename.split("/")[0]


def _check_seal(file: Path) -> None:
    size = file.stat().st_size
    with open(file, "rb") as sealed:
        covered = max(0, size - _SEAL_LENGTH)
        digest = _hashed(sealed, covered)
        if sealed.read() != _SEAL + digest.encode():
            raise BagError(
                f"{file.name} was changed, cut short or packed again by another program; "
                "if you packed it again yourself, unpack it and verify the folder"
            )


def _check_entries(entries: list[zipfile.ZipInfo], packed_bytes: int) -> None:
    if not entries or len(entries) > MAX_FILES:
        raise BagError(f"it holds {len(entries)} files; a bundle holds 1 to {MAX_FILES}")
    seen: set[str] = set()
    for entry in entries:
        name = entry.orig_filename
        if name != entry.filename or not safe_name(name) or "/" not in name:
            raise BagError(f"{name!r} is no name for a file in a bundle")
        if name.casefold() in seen:
            raise BagError(f"{name} is in it twice")
        seen.add(name.casefold())
        mode = entry.external_attr >> 16
        if entry.is_dir() or stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise BagError(f"{name} is no plain file")
        if entry.flag_bits & 0x1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BagError(f"{name} is encrypted or packed in a way that bundles are not")
    if seen & {parent.as_posix() for name in seen for parent in PurePosixPath(name).parents}:
        raise BagError("one of its files has the name of a folder in it")
    if len({name.split("/")[0] for name in seen}) != 1:
        raise BagError("its files are not all in one folder")
    total = sum(entry.file_size for entry in entries)
    if total > MAX_BYTES or (total > RATIO_FROM_BYTES and total > MAX_RATIO * packed_bytes):
        raise BagError(f"it would unpack to {total} bytes, which is more than a bundle may hold")


def _take_out(packed: zipfile.ZipFile, entry: zipfile.ZipInfo, into: Path) -> None:
    target = into / entry.filename
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with packed.open(entry) as content, open(target, "xb", opener=_private) as out:
        left = entry.file_size
        while block := content.read(_BLOCK):
            left -= len(block)
            if left < 0:
                raise BagError(f"{entry.filename} is longer than it says")
            out.write(block)
    if left:
        raise BagError(f"{entry.filename} is shorter than it says")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)


# ---------------------------------------------------------------- checking


def check_bag(folder: Path) -> tuple[str, ...]:
    """All that is wrong with the bag in ``folder`` as a bag, a sentence each: declaration, manifests, sizes."""
    try:
        files = _files(folder)
        payload = {name: path for name, path in files.items() if name.startswith("data/")}
        tags = {name: path for name, path in files.items() if name not in payload and name != TAG_MANIFEST}
        if missing := [name for name in ("bagit.txt", BAG_INFO, MANIFEST, TAG_MANIFEST) if name not in files]:
            return (f"{', '.join(missing)} is missing: this is no bundle",)
        wrong = [] if files["bagit.txt"].read_bytes() == BAGIT_TXT else ["bagit.txt does not declare a BagIt 1.0 bag"]
        wrong += _against(files[MANIFEST], payload)
        wrong += _against(files[TAG_MANIFEST], tags)
        oxum = f"Payload-Oxum: {sum(path.stat().st_size for path in payload.values())}.{len(payload)}"
        if oxum not in files[BAG_INFO].read_text("utf-8").splitlines():
            wrong.append(f"{BAG_INFO} does not say {oxum}")
    except (BagError, UnicodeError) as error:
        return (str(error),)
    return tuple(wrong)


def _files(folder: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise BagError(f"{name} is no plain file")
        if path.is_file():
            found[name] = path
    return found


def _against(manifest: Path, files: Mapping[str, Path]) -> list[str]:
    wrong = []
    said: dict[str, str] = {}
    for line in manifest.read_text("utf-8").splitlines():
        found = _MANIFEST_LINE.fullmatch(line)
        if found is None or found[2] in said:
            wrong.append(f"{manifest.name} holds a line that is none: {line[:80]!r}")
            continue
        said[found[2]] = found[1]
    for name, path in files.items():
        if name not in said:
            wrong.append(f"{name} is in no manifest")
        else:
            with open(path, "rb") as content:
                if _hashed(content) != said[name]:
                    wrong.append(f"{name} is not what {manifest.name} says it is")
    return wrong + [f"{name} is missing" for name in said if name not in files]
