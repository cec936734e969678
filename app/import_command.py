"""`twins import`: takes transcripts of other programs, and bundles of this one, into the room."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.options import JsonOption, RoomOption

if TYPE_CHECKING:
    from app.replay.taking import Report


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="import")(import_command)


def import_command(
    files: Annotated[
        list[Path], typer.Argument(help="Bundles; transcripts of Claude Code, claude.ai, LoCoMo; plain text.")
    ],
    room: RoomOption = None,
    json: JsonOption = False,
) -> None:
    """Take bundles and transcripts into the room: what they hold is told by itself, and nothing is taken twice.
    Exit 1 when a bundle does not verify."""
    from app.replay.importers.detect import format_of

    bundles = [file for file in files if format_of(file) == "bundle"]
    transcripts = [file for file in files if file not in bundles]
    if json and bundles and len(files) > 1:
        raise typer.BadParameter("--json prints one document: import each bundle in a call of its own")
    if transcripts:
        _transcripts(transcripts, room, as_json=json)
    raise typer.Exit(max((_bundle(file, room, as_json=json) for file in bundles), default=0))


def _bundle(file: Path, room: Path | None, *, as_json: bool) -> int:
    from app.keeping import working_room
    from app.listings import import_file

    return import_file(lambda: working_room(room, on_screen=False), file, as_json=as_json)


def _transcripts(files: list[Path], room: Path | None, *, as_json: bool) -> None:
    from functools import partial
    from json import dumps

    from app.keeping import tell_what_was_found
    from app.plan import room_path
    from app.replay.progress import bar
    from app.replay.taking import Library

    reports: list[Report] = []
    with Library(room_path(room)) as library, bar() as progress:
        tell_what_was_found(library.room)
        for file in files:
            task = progress.add_task(f"{file.name}: events", total=None)
            reports.append(library.take(file, partial(progress.update, task)))
            progress.remove_task(task)
            if not as_json:
                _tell(reports[-1])
    if as_json:
        print(dumps([report.as_json() for report in reports], ensure_ascii=False, indent=1))


def _tell(report: Report) -> None:
    from store.text import clean

    print(f"{clean(report.file)} ({report.format}): {report.events:,} events in {len(report.sessions):,} sessions")
    for what, count in report.taken.items():
        print(f"    took {count:,} {what}")
    usage = report.usage
    if usage.prompt or usage.output:
        print(
            f"    tokens: input {usage.input:,}, cache write {usage.cache_write:,}, cache read {usage.cache_read:,}, "
            f"output {usage.output:,}"
        )
    for why, count in report.left_out.items():
        print(f"    left out {count:,}: {clean(why)}")
