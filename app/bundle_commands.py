"""The commands about bundles: export and verify."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.options import JsonOption, RoomOption


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command(name="export")(export_command)
    app.command(name="verify")(verify_command)


def export_command(
    session: Annotated[str, typer.Argument(help="The session to export.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The bundle's file (zip).")],
    room: RoomOption = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Take secrets out (keys, tokens, passwords) and say where they stood.")
    ] = False,
) -> None:
    """Export one session as a bundle that a stranger can verify."""
    from app.keeping import reading_room
    from app.listings import export_session

    export_session(reading_room(room), session, output, redact=redact)


def verify_command(
    bundle: Annotated[Path, typer.Argument(help="The bundle's file, or the folder it was unpacked to.")],
    json: JsonOption = False,
) -> None:
    """Check a bundle: every file's hash, the chain of events, the views recomputed. Exit 1 when something is wrong."""
    from app.listings import verify_file

    raise typer.Exit(verify_file(bundle, as_json=json))

