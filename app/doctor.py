"""The doctor: every check of a room and of what it needs, what is wrong, what to do, and what can be mended safely."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from app.session.endpoint import EndpointError, check_reachable, resolve_endpoint
from store.almanac import wrong_dates
from store.bodies import Json
from store.clock import Clock, SystemClock, from_stamp
from store.events import fold, plain
from store.folding import check_room, log_paths
from store.journals import HEADS, entries, journals_behind, read_journal
from store.letters import letters, missing_letters
from store.lines import BUDGETS, Tiers
from store.lock import holder_of, is_held
from store.log import good_length
from store.mending import mend
from store.room import Room, RoomError
from store.search_file import index_faults, remove
from store.settings import Settings, SettingsError, load_settings
from store.text import clean

State = Literal["ok", "note", "wrong", "mended"]
ENOUGH_FREE = 1 << 30
LEAST_FREE = 100 << 20
"""Bytes free on the room's disk below which the doctor speaks up, and below which a session may soon be refused."""
CLOCK_MAY_LAG = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found. ``advice`` says what to do; empty when nothing need be done. Only ``wrong`` is a finding in
    the sense of the exit code."""

    check: str
    state: State
    text: str
    advice: str = ""


def examine(
    root: Path,
    *,
    repair: bool = False,
    offline: bool = False,
    environment: Mapping[str, str] = os.environ,
    clock: Clock | None = None,
) -> Iterator[Finding]:
    """Every check of the room in ``root``, as it is done. ``repair`` mends what loses nothing: modes of files, a stale
    holder record, torn tails (moved aside), views, journals and letters that lack what the log holds.

    Raises RoomError when there is no room at ``root``.
    """
    clock = clock or SystemClock()
    if not (root / "room.toml").is_file():
        raise RoomError(f"there is no room at {root}; make one with: twins init {root}")
    yield from _permissions(root, repair)
    yield from _disk(root)
    settings: Settings | None = None
    try:
        settings = load_settings(root / "room.toml")
        yield Finding("settings", "ok", "room.toml can be used")
    except SettingsError as error:
        yield Finding("settings", "wrong", str(error), "mend that line of room.toml")
    held = is_held(root)
    yield from _lock(root, held, repair)
    if repair and held:
        yield Finding("repair", "wrong", "the room is in use, so nothing in it was mended", "close it there first")
    mends = repair and not held and settings is not None
    yield from _logs(root, mends, clock)
    if settings is not None:
        yield from _room(root, mends, clock)
        yield from _index(root, mends)
        yield from _key(root, settings, environment)
        if not offline:
            yield from _endpoint(settings, environment)


# ---------------------------------------------------------------- the folder


def _permissions(root: Path, repair: bool) -> Iterator[Finding]:
    loose: list[Path] = []
    links: list[Path] = []
    for path in (root, *root.rglob("*")):
        if path.is_symlink():
            links.append(path)
        elif path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            loose.append(path)
    if repair:
        for path in loose:
            path.chmod(path.stat().st_mode & stat.S_IRWXU)
    if loose:
        named = ", ".join(_inside(root, path) for path in loose[:3]) + (" …" if len(loose) > 3 else "")
        said = f"others on this machine may read or change {len(loose)} of its files ({named})"
        yield Finding("permissions", "mended" if repair else "wrong", said, "" if repair else "twins doctor --repair")
    elif not os.access(root, os.W_OK):
        yield Finding("permissions", "wrong", "the folder cannot be written", "give yourself the right to write there")
    else:
        yield Finding("permissions", "ok", "the room is its owner's alone")
    for path in links:
        yield Finding(
            "permissions",
            "note",
            f"{_inside(root, path)} is a link to {os.readlink(path)}",
            "put the file itself there if it belongs to the room",
        )


def _inside(root: Path, path: Path) -> str:
    return "the folder itself" if path == root else path.relative_to(root).as_posix()


def _disk(root: Path) -> Iterator[Finding]:
    free = shutil.disk_usage(root).free
    said = f"{free / (1 << 30):,.1f} GB are free on its disk"
    state: State = "wrong" if free < LEAST_FREE else "note" if free < ENOUGH_FREE else "ok"
    yield Finding("disk", state, said, "" if state == "ok" else "make room on the disk; a full one stops the session")


def _lock(root: Path, held: bool, repair: bool) -> Iterator[Finding]:
    holder = holder_of(root)
    if held:
        who = str(holder) if holder and not holder.gone() else "another process"
        yield Finding("lock", "note", f"the room is in use by {who}", "look on with: twins (it opens read-only)")
    elif holder is None:
        yield Finding("lock", "ok", "nobody writes to the room")
    elif holder.gone() or repair:
        if repair:
            (root / "room.holder.json").unlink(missing_ok=True)
        said = f"{holder} ended without closing the room; the lock itself is free"
        yield Finding(
            "lock", "mended" if repair else "note", said, "" if repair else "nothing; the next opening takes it over"
        )
    else:
        yield Finding(
            "lock",
            "note",
            f"the room was last held by {holder}, and the lock is free here",
            "make sure that no other machine works in this folder",
        )


# ---------------------------------------------------------------- the logs and what follows from them


def _logs(root: Path, mends: bool, clock: Clock) -> Iterator[Finding]:
    torn = {
        log: size - good
        for log, path in log_paths(root / "sessions").items()
        if (good := good_length(path)) < (size := path.stat().st_size)
    }
    if torn and mends:
        Room.open(root, clock=clock).close()  # opening moves them aside and says so in the log
    for log, many in torn.items():
        said = f"log {log} ends with {many:,} bytes of an unfinished event"
        yield Finding(
            "chain",
            "mended" if mends else "wrong",
            f"{said}, set aside beside it" if mends else said,
            "" if mends else "twins doctor --repair moves them aside; no whole event is touched",
        )
    breaks = check_room(root / "sessions")
    for broken in breaks:
        yield Finding(
            "chain",
            "wrong",
            broken,
            "compare the log with a backup or a bundle; nothing here can tell what stood there",
        )
    if not breaks:
        yield Finding("chain", "ok", f"{len(log_paths(root / 'sessions')):,} logs hold together, line by line")


def _room(root: Path, mends: bool, clock: Clock) -> Iterator[Finding]:
    try:
        with Room.open(root, read_only=True) as room:
            newest = max((event.at for event in room.all_events()), default="")
            yield from _folds(root, room, mends, clock)
            yield from _budgets(room.tiers)
            yield from _calendar(room, newest, clock.now())
            yield from _words(room, mends, clock)
            for row in room.sessions():
                if not row.closed_at:
                    yield Finding(
                        "sessions",
                        "note",
                        f"session {row.id} is open",
                        f"twins resume {row.id} goes on, twins close {row.id} ends it",
                    )
    except RoomError as error:
        yield Finding("folds", "wrong", str(error), "")


def _folds(root: Path, room: Room, mends: bool, clock: Clock) -> Iterator[Finding]:
    anew = fold(Tiers(), room.all_events())
    stands, found = (list(anew), anew.next_number, anew.session), room.tiers
    view = root / "tiers.json"
    said = [notice.text for notice in room.found if "the chain of log" not in notice.text and notice.level != "info"]
    if stands != (list(found), found.next_number, found.session):
        said.append("tiers.json is not what the logs come to")
    if said:
        if mends:
            if view.exists():
                os.replace(view, _free(view.with_name("tiers.json.damaged")))
            Room.open(root, clock=clock).close()
        for text in said:
            if mends:
                yield Finding("folds", "mended", f"{text}; it is folded again, and the old file kept beside it")
            else:
                yield Finding("folds", "wrong", text, "twins doctor --repair folds it again from the logs")
        return
    yield Finding("folds", "ok", f"hot and warm are what the logs come to: {len(anew)} lines")


def _free(path: Path) -> Path:
    number = 1
    while (found := path.with_name(f"{path.name}-{number}")).exists():
        number += 1
    return found


def _budgets(tiers: Tiers) -> Iterator[Finding]:
    for tier, budget in BUDGETS.items():
        size = tiers.size(tier)
        if size > budget:
            yield Finding("budgets", "wrong", f"{tier} holds {size:,} bytes of {budget:,}", "retire or shorten lines")
        else:
            yield Finding("budgets", "ok", f"{tier} holds {size:,} bytes of {budget:,}")


def _calendar(room: Room, newest: str, now: datetime) -> Iterator[Finding]:
    if newest and from_stamp(newest) > now + CLOCK_MAY_LAG:
        yield Finding(
            "calendar",
            "wrong",
            f"the newest event is dated {newest}, this machine says {now:%Y-%m-%d %H:%M} UTC",
            "set the clock; the order of events does not depend on it, their dates do",
        )
    else:
        yield Finding("calendar", "ok", f"by this machine's clock it is {now:%A %Y-%m-%d, %H:%M} UTC")
    for place, text in _prose(room):
        for wrong in wrong_dates(text, now.date()):
            yield Finding(
                "calendar",
                "note",
                f"{place}: {clean(wrong.sentence)}",
                "correct the line, or tell the next instance; what is written stays",
            )


def _prose(room: Room) -> Iterator[tuple[str, str]]:
    for line in room.tiers:
        yield f"line {line.id}", line.text
    for letter in letters(room):
        yield f"letters/{letter.file}", letter.text
    for journal in HEADS:
        for entry in entries(read_journal(room, journal)):
            yield f"{journal} of {entry.at}", entry.text


def _words(room: Room, mends: bool, clock: Clock) -> Iterator[Finding]:
    lacking = [path.name for path in journals_behind(room)]
    lacking += [f"letters/{name}" for name in missing_letters(room)]
    if not lacking:
        yield Finding("words", "ok", "journals and letters hold all that the log holds")
        return
    if mends:
        with Room.open(room.root, clock=clock) as opened:
            for done in mend(opened):
                yield Finding("words", "mended", done)
        return
    yield Finding("words", "wrong", f"{', '.join(lacking)} lack words that the log holds", "twins doctor --repair")


def _index(root: Path, mends: bool) -> Iterator[Finding]:
    path = root / "index.sqlite"
    if not path.exists():
        yield Finding("index", "ok", "there is no search index yet; the first search builds it")
        return
    wrong = index_faults(path)
    if not wrong:
        yield Finding("index", "ok", "the search index is whole")
        return
    if mends:
        remove(path)
    yield Finding(
        "index",
        "mended" if mends else "wrong",
        f"the search index cannot be used: {wrong}",
        "" if mends else "twins doctor --repair throws it away; the next search builds it",
    )


# ---------------------------------------------------------------- key and endpoint


def _key(root: Path, settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    variable = settings.endpoint.api_key_env
    key = environment.get(variable, "")
    if not key:
        local = settings.endpoint.base_url or environment.get("ANTHROPIC_BASE_URL", "")
        yield Finding(
            "key",
            "note" if local else "wrong",
            f"{variable} is not set",
            "nothing, if your server wants no key" if local else f"set {variable} to your key",
        )
        return
    leaked = [path for path in sorted(root.rglob("*")) if path.is_file() and _holds(path, key.encode())]
    for path in leaked:
        yield Finding(
            "key",
            "wrong",
            f"the key of {variable} stands in {_inside(root, path)}",
            "replace the key where you got it; export from this room with --redact only",
        )
    if not leaked:
        yield Finding("key", "ok", f"{variable} is set, and its key stands nowhere in the room")


def _holds(path: Path, words: bytes) -> bool:
    tail = b""
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            if words in tail + block:
                return True
            tail = block[-len(words) :]
    return False


def _endpoint(settings: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    try:
        endpoint = resolve_endpoint(settings, environment)
        check_reachable(endpoint)
    except EndpointError as error:
        yield Finding("endpoint", "wrong", str(error).removesuffix(" Nothing was written."), "")
        return
    import anthropic

    client = anthropic.Anthropic(api_key=endpoint.key, base_url=endpoint.base_url or None, max_retries=0, timeout=10.0)
    try:
        client.models.retrieve(endpoint.model)
        yield Finding("endpoint", "ok", f"{endpoint.place} answers, takes the key and knows {endpoint.model}")
    except (anthropic.AuthenticationError, anthropic.PermissionDeniedError):
        yield Finding("endpoint", "wrong", f"{endpoint.place} refuses the key", f"see {settings.endpoint.api_key_env}")
    except anthropic.NotFoundError:
        yield Finding(
            "endpoint",
            "note",
            f"{endpoint.place} answers, but not whether it has {endpoint.model}",
            "check the model's name if a session cannot be opened",
        )
    except anthropic.APIError as error:
        yield Finding("endpoint", "wrong", f"{endpoint.place} answers with {type(error).__name__}", "try again later")
    finally:
        client.close()


# ---------------------------------------------------------------- the report


def report(root: Path, *, repair: bool, offline: bool, as_json: bool) -> int:
    """Prints what was found as it is found, or as one JSON document; 1 when something is wrong and was not mended."""
    findings: list[Finding] = []
    for found in examine(root, repair=repair, offline=offline):
        one = replace(found, text=" ".join(clean(found.text).split()))
        findings.append(one)
        if not as_json:
            to_do = f"\n{'':<20}to do: {one.advice}" if one.advice else ""
            print(f"{one.state:<7}{one.check:<12} {one.text}{to_do}", flush=True)
    ok = not any(found.state == "wrong" for found in findings)
    if as_json:
        document: dict[str, Json] = {"ok": ok, "findings": [plain(found) for found in findings]}
        print(json.dumps(document, ensure_ascii=False, indent=1))
    return 0 if ok else 1
