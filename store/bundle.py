"""Bundles: a session exported whole, so that a stranger can check it and fold it again (DESIGN §14)."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from store.bag import BagError, bag, check_bag, pack, safe_name, unpack
from store.bodies import JournalWritten, Json, LetterFiled, WakePacket, WorkspaceDiffed
from store.events import Event, EventFormatError, decode, line_hash, plain
from store.journals import HEADS, entry_text
from store.lines import Tiers
from store.log import check_chain
from store.page import Fact, TurnFigures, page
from store.plain import PlainError
from store.redaction import Redaction, redacted, redactions
from store.secrets import secrets_in
from store.session_record import NoSession, SessionRecord, read_session, session_record
from store.standing import LogName
from store.whole_outputs import outputs_in, whole_outputs

BUNDLE_FORMAT: Final = 2
"""Version of a bundle's layout; `data/bundle.json` carries it. 2 has whole outputs; without any it is 1 as before."""

_EVENTS: Final = "events.jsonl"
_ABOUT: Final = "bundle.json"
_BEFORE: Final = "tiers/before.json"
_METRICS: Final = "metrics.json"
_MEANWHILE: Final = "meanwhile/"
_BRIEFS: Final = "briefs/"
_TIERS = TypeAdapter(Tiers)


class BundleError(PlainError, ValueError):
    """A bundle cannot be written or read; one plain sentence that says what to do."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """What a session was measured to be: ``document`` goes into the bundle as it is, ``facts`` and ``turns`` onto its
    page. Measuring is not the store's affair, so it is handed in."""

    document: Json
    facts: tuple[Fact, ...] = ()
    turns: tuple[TurnFigures, ...] = ()


Measure = Callable[[SessionRecord], Metrics]


@dataclass(frozen=True, slots=True)
class Exported:
    """A bundle on the disk: its file, the SHA-256 of it, briefs left out because their words have changed since the
    session (or hold a secret that was to be taken out), the places that secrets were taken out of, and whole outputs
    left out because they are gone, are not what the log tells of, or are more than a bundle carries."""

    file: Path
    sha256: str
    left_out: tuple[str, ...] = ()
    redactions: tuple[Redaction, ...] = ()
    outputs_left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What checking a bundle found: ``findings`` are plain sentences, none when it is sound. ``checked`` says what
    was looked at, as far as it came."""

    findings: tuple[str, ...]
    session: str = ""
    events: int = 0
    checked: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


# ---------------------------------------------------------------- writing


def write_bundle(
    root: Path,
    session: LogName,
    file: Path,
    measure: Measure,
    briefs: Mapping[str, str] | None = None,
    redact: Mapping[str, str] | None = None,
) -> Exported:
    """Exports ``session`` of the room in ``root``, as it stands now, into the zip ``file``.

    Equal sessions give equal bytes. ``briefs`` maps names to texts; only those in whose words the session was held go
    in. With ``redact`` secrets are taken out; it maps values that are secrets whatever they look like to names (and
    may be empty). Raises BundleError: no such session, ``file`` is there already (it is never overwritten) or cannot
    be written; SecretsUnavailable.
    """
    try:
        record = read_session(root, session)
    except NoSession as error:
        raise BundleError(str(error)) from error
    said = whole_outputs(record.events)
    record = replace(record, outputs=outputs_in(root / "sessions" / session, said))
    texts = dict(briefs or {})
    held = record.opened.briefs
    kept = {name: text for name, text in texts.items() if held.get(name) == _sha256(text)}
    if redact is not None:
        record = redacted(record, redact)
        kept = {name: text for name, text in kept.items() if not secrets_in(text, redact)}
    metrics = measure(record)
    payload = {
        _EVENTS: record.content,
        _METRICS: _json(metrics.document),
        **_given(record),
        **_views(record),
        **record.outputs,
        **{f"{_BRIEFS}{name}": text.encode() for name, text in kept.items()},
    }
    info = [
        ("Bag-Software-Agent", "two-twins"),
        ("External-Identifier", session),
        ("External-Description", "One session of two twins: its log, and what follows from it"),
    ]
    try:
        files = bag(payload, {"index.html": page(record, metrics.facts, metrics.turns).encode()}, info)
        sha256 = pack(file, session, files)
    except FileExistsError as error:
        raise BundleError(f"{file} is there already and is not overwritten; choose another name") from error
    except BagError as error:
        raise BundleError(f"{session} cannot be exported: {error}") from error
    except OSError as error:
        raise BundleError(f"cannot write {file}: {error.strerror or error}; choose another place") from error
    left_out = tuple(name for name in texts if name not in kept)
    return Exported(
        file,
        sha256,
        left_out,
        redactions(record) if redact is not None else (),
        tuple(sorted(said.keys() - record.outputs.keys())),
    )


def _views(record: SessionRecord) -> dict[str, bytes]:
    """All files of a bundle that follow from its events alone, by name."""
    opened = record.opened
    files = {
        _ABOUT: _json(_about(record)),
        "condition.json": _json(plain(opened.condition)),
        "settings.json": _json(opened.settings),
        "versions.json": _json(plain(opened.versions)),
        "tiers/after.json": _json(plain(record.after)),
    }
    if opened.task is not None:
        files["task.json"] = _json(plain(opened.task))
    if taken_out := redactions(record):
        files["redactions.json"] = _json([plain(one) for one in taken_out])
    journals: dict[str, str] = {}
    for event in record.events:
        body = event.body
        match body:
            case WakePacket():
                files["wake-packet.md"] = _bytes(body.text)
            case LetterFiled():
                files[f"letters/{body.file}"] = _bytes(body.text)
            case WorkspaceDiffed():
                files["workspace.diff"] = _bytes(body.diff)
            case JournalWritten():
                name = f"{body.journal}.md"
                entry = entry_text(event, body.text, opened.number)
                journals[name] = journals.get(name, HEADS[body.journal]) + "\n" + entry
            case _:
                pass
    return files | {name: _bytes(text) for name, text in journals.items()}


def _about(record: SessionRecord) -> dict[str, Json]:
    first, last = record.events[0], record.events[-1]
    return {
        "format": BUNDLE_FORMAT if record.outputs else 1,
        "session": record.log,
        "number": record.opened.number,
        "events": len(record.events),
        "first_seq": first.seq,
        "last_seq": last.seq,
        "first_prev": first.prev,
        # The other logs of the room, which these files are from, stay at home.
        "given_sha256": {
            name: hashlib.sha256(content).hexdigest() for name, content in sorted(_given(record).items())
        },
        # Nothing in the log itself covers its last line.
        "last_line_sha256": line_hash(record.content.rstrip(b"\n").rsplit(b"\n", 1)[-1]),
        # Those that were there to go in: a session may have lost some.
        **({"outputs": [*sorted(record.outputs)]} if record.outputs else {}),
    }


def _given(record: SessionRecord) -> dict[str, bytes]:
    """What the tiers are folded from besides the session's own log, by file name."""
    files = {_BEFORE: _json(plain(record.before))}
    for event, line in record.meanwhile:
        name = f"{_MEANWHILE}{event.log}.jsonl"
        files[name] = files.get(name, b"") + line + b"\n"
    return files


def _json(value: Json) -> bytes:
    return _bytes(json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n")


def _bytes(text: str) -> bytes:
    # What no UTF-8 can hold becomes U+FFFD, as in the log itself (store.events.encode).
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# ---------------------------------------------------------------- checking


def verify_bundle(path: Path, measure: Measure | None = None) -> Verdict:
    """Checks the bundle in ``path``, a zip or the folder it was unpacked to, trusting nothing in it.

    The seal of the zip, the bag's manifests, the chain of the log, the tiers folded again, every file that follows
    from the log made again, and with ``measure`` the metrics measured again. Raises BundleError only when there is
    nothing to check at ``path``.
    """
    return read_bundle(path, measure)[0]


def read_bundle(path: Path, measure: Measure | None = None) -> tuple[Verdict, SessionRecord | None]:
    """The bundle in ``path`` checked like ``verify_bundle`` does, and its session when nothing was found.

    Raises BundleError only when there is nothing to check at ``path``.
    """
    try:
        if path.is_dir():
            check = _verify_folder(_bag_in(path), measure)
        else:
            with tempfile.TemporaryDirectory(prefix="two-twins-verify-") as folder:
                check = _verify_folder(unpack(path, Path(folder)), measure)
    except BagError as error:
        return Verdict((str(error),)), None
    except OSError as error:
        raise BundleError(f"cannot read {path}: {error.strerror or error}; give the file of a bundle") from error
    return check.verdict(), None if check.findings else check.record


def _bag_in(folder: Path) -> Path:
    """The bag's own folder: ``folder``, or the only one in it, as a zip unpacks."""
    inside = list(folder.iterdir())
    if len(inside) == 1 and inside[0].is_dir() and not inside[0].is_symlink():
        return inside[0]
    return folder


@dataclass(slots=True)
class _Check:
    """A check under way."""

    findings: list[str] = field(default_factory=list)
    checked: list[str] = field(default_factory=list)
    record: SessionRecord | None = None

    def verdict(self) -> Verdict:
        found = self.record
        return Verdict(
            tuple(self.findings), found.log if found else "", len(found.events) if found else 0, tuple(self.checked)
        )


def _verify_folder(folder: Path, measure: Measure | None) -> _Check:
    check = _Check(list(check_bag(folder)), ["manifests"])
    if not check.findings:
        try:
            _verify_content(folder / "data", check, measure)
        except FileNotFoundError as error:
            check.findings.append(f"data/{Path(error.filename).relative_to(folder / 'data').as_posix()} is missing")
        except (NoSession, EventFormatError, ValidationError, RecursionError, ValueError) as error:
            check.findings.append(f"it cannot be read as a bundle: {str(error).splitlines()[0]}")
    return check


def _verify_content(data: Path, check: _Check, measure: Measure | None) -> None:
    about = json.loads((data / _ABOUT).read_bytes())
    version = about.get("format") if isinstance(about, dict) else None
    if not isinstance(version, int) or not 1 <= version <= BUNDLE_FORMAT:
        check.findings.append(
            f"its format is {version!r}, and this program reads formats up to {BUNDLE_FORMAT}; update two-twins"
        )
        return
    log = LogName(str(about.get("session")))
    broken = check_chain(data / _EVENTS, None, log)
    check.checked.append("chain")
    if broken:
        check.findings.append(str(broken))
        return
    before = _TIERS.validate_json((data / _BEFORE).read_bytes())
    record = session_record(log, (data / _EVENTS).read_bytes(), before, tuple(_read_meanwhile(data)))
    record = check.record = _with_outputs(data, record, about.get("outputs", []), check)
    if check.findings:
        return
    wanted = {_EVENTS: record.content, **_given(record), **_views(record), **record.outputs}
    _compare(data, wanted, check)
    _verify_briefs(data, record, check)
    check.checked += ["tiers", "files"]
    if measure is not None:
        again = json.loads(_json(measure(record).document))
        if again != json.loads((data / _METRICS).read_bytes()):
            check.findings.append(f"data/{_METRICS} is not what the log comes to")
        check.checked.append("metrics")


def _with_outputs(data: Path, record: SessionRecord, listed: Json, check: _Check) -> SessionRecord:
    """``record`` with the whole outputs that the bundle lists, each as the event tells that names it."""
    said = whole_outputs(record.events)
    names = [str(name) for name in listed] if isinstance(listed, list) else [str(listed)]
    outputs = outputs_in(data, {name: said[name] for name in names if name in said})
    for name in names:
        if name not in said:
            check.findings.append(f"no event of the log tells of {name!r}, which {_ABOUT} lists")
        elif not (data / name).exists():
            check.findings.append(f"data/{name} is missing")
        elif name not in outputs:
            check.findings.append(f"data/{name} is not the output that the log tells of")
    if outputs:
        check.checked.append("outputs")
    return replace(record, outputs=outputs)


def _read_meanwhile(data: Path) -> Iterator[tuple[Event, bytes]]:
    found: list[tuple[Event, bytes]] = []
    for path in sorted(data.glob(f"{_MEANWHILE}*.jsonl")):
        lines = path.read_bytes().removesuffix(b"\n").split(b"\n")
        found += [(decode(line, path.name.removesuffix(".jsonl")), line) for line in lines]
    yield from sorted(found, key=lambda one: one[0].seq)


def _compare(data: Path, wanted: Mapping[str, bytes], check: _Check) -> None:
    there = {path.relative_to(data).as_posix() for path in data.rglob("*") if path.is_file()}
    for name in sorted(there):
        if name == _METRICS or name.startswith(_BRIEFS):
            continue
        if name not in wanted:
            check.findings.append(f"data/{name} does not follow from the log")
        elif (data / name).read_bytes() != wanted[name]:
            check.findings.append(f"data/{name} is not what the log comes to")
    for name in sorted({*wanted, _METRICS} - there):
        check.findings.append(f"data/{name} is missing" if safe_name(name) else f"{name!r} is no name for a file")


def _verify_briefs(data: Path, record: SessionRecord, check: _Check) -> None:
    held = record.opened.briefs
    for path in sorted((data / _BRIEFS).rglob("*")):
        if path.is_file():
            name = path.relative_to(data / _BRIEFS).as_posix()
            if held.get(name) != hashlib.sha256(path.read_bytes()).hexdigest():
                check.findings.append(f"data/{_BRIEFS}{name} is not the brief that the session was held with")
