"""A whole study as one file: its log, its lock and a bundle of every session; and the results made again from that."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from app.measure.metrics import metrics
from app.session.briefs import brief_sources
from app.study.errors import StudyError
from app.study.items import RunLogs
from app.study.results import Results, results
from app.study.state import STUDY_LOG, study_state
from app.study.study import LOCK_FILE, Study
from store.bag import BagError, bag, check_bag, pack, unpack
from store.bundle import verify_bundle, write_bundle
from store.events import Event, decode
from store.log import check_chain
from store.session_record import session_record
from store.standing import LogName
from store.study_bodies import Part

_LOG: Final = "study/events.jsonl"


def export_study(study: Study, file: Path) -> str:
    """Writes the study into the new zip ``file``; its SHA-256. Nothing in it is secret once the key is open.

    Raises StudyError before the key is opened (the conditions stand in it), or when ``file`` is there already.
    """
    study.check()
    if not study.state.key_opened:
        raise StudyError("The conditions stand in a study's bundle: open the key first, with twins score reveal")
    payload = {
        _LOG: study.room.log_path(STUDY_LOG).read_bytes(),
        f"study/{study.file.name}": study.file.read_bytes(),
        f"study/{LOCK_FILE}": (study.folder / LOCK_FILE).read_bytes(),
    }
    with tempfile.TemporaryDirectory(prefix="two-twins-study-") as folder:
        for run in study.state.runs.values():
            for part, session in run.sessions.items():
                room = study.run_folder(run) / "room"
                bundle = Path(folder) / f"{run.name}-{part}.zip"
                write_bundle(room, LogName(session), bundle, metrics, brief_sources(room))
                payload[f"sessions/{bundle.name}"] = bundle.read_bytes()
    info = [
        ("Bag-Software-Agent", "two-twins"),
        ("External-Identifier", study.lock),
        ("External-Description", "A study of two twins: its log and lock, and a bundle of every session"),
    ]
    try:
        return pack(file, f"study-{study.lock[:12]}", bag(payload, {}, info))
    except FileExistsError as error:
        raise StudyError(f"{file} is there already and is not overwritten; choose another name") from error
    except BagError as error:
        raise StudyError(f"The study cannot be exported: {error}") from error


def results_from(file: Path) -> Results:
    """The results that a study's bundle alone comes to, after checking all of it. Raises StudyError with what is
    wrong."""
    try:
        with tempfile.TemporaryDirectory(prefix="two-twins-study-") as folder:
            return _results_in(unpack(file, Path(folder)))
    except BagError as error:
        raise StudyError(f"{file} is no sound bundle of a study: {error}") from error
    except FileNotFoundError as error:
        raise StudyError(f"There is no bundle of a study at {file}") from error


def _results_in(folder: Path) -> Results:
    if findings := check_bag(folder):
        raise StudyError(f"The bundle is damaged: {findings[0]}")
    data = folder / "data"
    if broken := check_chain(data / _LOG, None, STUDY_LOG):
        raise StudyError(f"The study's log is broken: {broken}")
    events = tuple(decode(line, STUDY_LOG) for line in (data / _LOG).read_bytes().splitlines())
    return results(events, _logs(data / "sessions", events))


def _logs(folder: Path, events: tuple[Event, ...]) -> dict[str, RunLogs]:
    found: dict[str, RunLogs] = {}
    for run in study_state(events).of("over"):
        logs: dict[Part, tuple[Event, ...]] = {}
        for part, session in run.sessions.items():
            bundle = folder / f"{run.name}-{part}.zip"
            verdict = verify_bundle(bundle, metrics)
            if not verdict.ok or verdict.session != session:
                raise StudyError(f"{bundle.name}: {verdict.findings[0] if verdict.findings else 'another session'}")
            logs[part] = _events_of(bundle, session)
        found[run.name] = logs
    return found


def _events_of(bundle: Path, session: str) -> tuple[Event, ...]:
    from store.lines import Tiers

    with tempfile.TemporaryDirectory(prefix="two-twins-study-") as folder:
        data = unpack(bundle, Path(folder)) / "data"
        return session_record(LogName(session), (data / "events.jsonl").read_bytes(), Tiers()).events
