"""What a room holds, printed: letters, the snug, bundles; as a table or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from app.export import export_bundle, verify
from app.measure.metrics import metrics
from app.plan import InputError
from app.printing import print_json as _print_json
from app.printing import table as _table
from store.bodies import Json
from store.bundle import Verdict, read_bundle
from store.bundle_import import take_in
from store.events import plain
from store.journals import entries, read_journal
from store.letters import letters
from store.room import Room
from store.text import clean


def list_letters(room: Room, *, show: str, as_json: bool) -> None:
    """Letters and handoffs, oldest first; ``show`` prints one whole."""
    with room:
        found = letters(room)
        if show:
            letter = next((letter for letter in found if letter.file == show), None)
            if letter is None:
                names = ", ".join(letter.file for letter in found[-3:]) or "none yet"
                raise InputError(f"There is no letter {show}; the newest are: {names}.")
            print(json.dumps(plain(letter), ensure_ascii=False) if as_json else letter.text)
            return
        if as_json:
            _print_json([plain(letter) for letter in found])
            return
        table = _table("at", "what", "session", "title", "file")
        for letter in found:
            table.add_row(
                letter.at[:16].replace("T", " "), letter.which, str(letter.session), Text(letter.title), letter.file
            )
        Console(highlight=False).print(table)


def list_snug(room: Room, *, as_json: bool) -> None:
    """The room's private journal, as its file holds it."""
    with room:
        text = read_journal(room, "snug")
        if as_json:
            _print_json([plain(entry) for entry in entries(text)])
        else:
            print(text or "The snug is empty.")


def export_session(room: Room, session: str, output: Path, *, redact: bool) -> None:
    """Export one session into a new zip, and say where secrets were taken out."""
    with room:
        exported = export_bundle(room, session, output, redact=redact)
    print(f"Wrote {exported.file} (SHA-256 {exported.sha256})")
    if redact:
        print(f"Took out {len(exported.redactions)} secrets" + (":" if exported.redactions else "; none was found."))
    for one in exported.redactions:
        print(f"    {one.log} event {one.n} (turn {one.turn}, {one.kind}) {clean(one.where)}: {clean(one.what)}")
    for name in exported.left_out:
        why = "has changed since or holds a secret" if redact else "has changed since"
        print(f"The brief {name} {why} and is left out; its hash stands in the session.", file=sys.stderr)
    for name in exported.outputs_left_out:
        print(
            f"The whole output {clean(name)} is left out: it is gone, has changed, is too much for a bundle, or its "
            "name holds a secret; its hash stands in the session.",
            file=sys.stderr,
        )


def verify_file(path: Path, *, as_json: bool) -> int:
    """Check a bundle; 0 when it is sound, 1 when something was found."""
    verdict = verify(path)
    if as_json:
        _print_json(_verdict(verdict))
    elif verdict.ok:
        print(f"Sound: session {verdict.session}, {verdict.events:,} events; checked {', '.join(verdict.checked)}.")
    else:
        for finding in verdict.findings:
            print(clean(finding))
    return 0 if verdict.ok else 1


def import_file(open_room: Callable[[], Room], path: Path, *, as_json: bool) -> int:
    """Take a bundle's session into the room that ``open_room`` opens, once it has been verified; 1, and the room not
    even opened, when something was found."""
    verdict, record = read_bundle(path, metrics)
    if record is None:
        if as_json:
            _print_json(_verdict(verdict))
        for finding in verdict.findings:
            print(f"{clean(finding)}", file=sys.stderr)
        return 1
    with open_room() as room:
        taken = take_in(room, record, path)
        lines = len(room.tiers)
    if as_json:
        _print_json({**_verdict(verdict), "lines": lines, "written": [*taken.written]})
    else:
        print(f"Took in session {taken.session}: {taken.events:,} events; the room now holds {lines} lines.")
        for done in taken.written:
            print(f"    {clean(done)}")
    return 0


def _verdict(verdict: Verdict) -> dict[str, Json]:
    return {
        "ok": verdict.ok,
        "session": verdict.session,
        "events": verdict.events,
        "checked": [*verdict.checked],
        "findings": [*verdict.findings],
    }
