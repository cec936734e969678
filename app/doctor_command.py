"""The command doctor."""

from __future__ import annotations

from typing import Annotated

import typer

from app.options import JsonOption, RoomOption


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="doctor")(doctor)


def doctor(
    room: RoomOption = None,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended without losing anything.")] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Leave the endpoint alone.")] = False,
    json: JsonOption = False,
) -> None:
    """Check a room, and the key and endpoint it needs: say what is wrong and what to do. Exit 1 when something is."""
    from app.doctor import report
    from app.plan import room_path

    raise typer.Exit(report(room_path(room), repair=repair, offline=offline, as_json=json))
