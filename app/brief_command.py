"""`twins brief`: the Keeper's proposal for its own brief, read, taken or left."""

from __future__ import annotations

from typing import Annotated

import typer

from app.options import JsonOption, RoomOption


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="brief")(brief_command)


def brief_command(
    room: RoomOption = None,
    accept: Annotated[bool, typer.Option("--accept", help="Make the proposal the room's brief from now on.")] = False,
    decline: Annotated[bool, typer.Option("--decline", help="Leave the brief as it is.")] = False,
    json: JsonOption = False,
) -> None:
    """What the Keeper proposes to change in its own brief; it is asked at a room's first close."""
    if accept and decline:
        raise typer.BadParameter("--accept and --decline do not go together")
    from app.brief_desk import answer_proposal, show_proposal
    from app.keeping import reading_room, working_room

    if accept or decline:
        answer_proposal(working_room(room, on_screen=False), accept=accept, as_json=json)
    else:
        show_proposal(reading_room(room), as_json=json)
