"""What a room holds, printed: lines, letters, the snug, finds in cold, bundles; as a table or as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.export import export_bundle, verify
from app.plan import InputError
from store.bodies import Json
from store.events import plain
from store.journals import entries, read_journal
from store.letters import letters
from store.lines import HOT_BUDGET, WARM_BUDGET
from store.room import Room
from store.search import Index
from store.text import clean


def list_lines(room: Room, *, as_json: bool) -> None:
    """Hot and warm as they stand, promoted and highest first."""
    with room:
        tiers = room.tiers
        lines = [*tiers.hot(), *tiers.warm()]
        if as_json:
            _print_json([plain(line) for line in lines])
            return
        table = _table("", "id", "kind", "p", "text", "why", "touched")
        for line in lines:
            table.add_row(
                line.tier + (" promoted" if line.promoted else ""),
                line.id,
                line.kind,
                str(line.priority) if line.tier == "warm" else "",
                Text(clean(line.text)),
                Text(clean(line.reason)),
                f"session {line.touched}",
            )
        console = Console(highlight=False)
        console.print(table)
        console.print(
            f"hot {tiers.size('hot'):,} of {HOT_BUDGET:,} bytes, warm {tiers.size('warm'):,} of {WARM_BUDGET:,} bytes"
        )


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


def search_cold(room: Room, words: str, *, limit: int, as_json: bool) -> None:
    """Finds in everything this room ever said, best first."""
    with room:
        index = Index.open(room)
        try:
            hits = index.search(words, limit=limit)
        finally:
            index.close()
        if as_json:
            _print_json([plain(hit) for hit in hits])
            return
        for hit in hits:
            print(f"{hit.at[:16].replace('T', ' ')} {hit.log} turn {hit.turn} {hit.by} {hit.kind}")
            print(f"    {' '.join(clean(hit.snippet).split())}")
        if not hits:
            print("Nothing found.")


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


def verify_file(path: Path, *, as_json: bool) -> int:
    """Check a bundle; 0 when it is sound, 1 when something was found."""
    verdict = verify(path)
    if as_json:
        _print_json(
            {
                "ok": verdict.ok,
                "session": verdict.session,
                "events": verdict.events,
                "checked": [*verdict.checked],
                "findings": [*verdict.findings],
            }
        )
    elif verdict.ok:
        print(f"Sound: session {verdict.session}, {verdict.events:,} events; checked {', '.join(verdict.checked)}.")
    else:
        for finding in verdict.findings:
            print(clean(finding))
    return 0 if verdict.ok else 1


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _print_json(value: Json) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=1))
