"""The commands about kept lines: `twins lines` with its views and changes, and `twins search`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.options import JsonOption, RoomOption

if TYPE_CHECKING:
    from store.operations import Operation
    from store.room import Room

lines = typer.Typer(
    name="lines",
    help="The lines of hot and warm as they stand; with a word behind it, a change of one by your hand.",
    invoke_without_command=True,
    no_args_is_help=False,
)

LineArgument = Annotated[str, typer.Argument(help="The line's id, such as L12.")]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why; it stays with the line.")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.add_typer(lines)
    app.command(name="search")(search_command)


@lines.callback()
def lines_command(
    ctx: typer.Context,
    room: RoomOption = None,
    tier: Annotated[str, typer.Option(help="Only hot, warm or cold (cold: the newest).")] = "",
    kind: Annotated[str, typer.Option(help="Only one kind: decision, trap, thread, way_back, finding.")] = "",
    cold: Annotated[str, typer.Option(help="Lines in cold that hold these words.")] = "",
    history: Annotated[str, typer.Option(help="All that happened to one line, such as L12.")] = "",
    fading: Annotated[bool, typer.Option("--fading", help="What the next opening will lower or send to cold.")] = False,
    json: JsonOption = False,
) -> None:
    """The lines of hot and warm as they stand, or one of the other views."""
    if ctx.invoked_subcommand is not None:
        ctx.obj = (room, json)
        return
    from app.keeping import reading_room
    from app.line_desk import list_fading, list_history, list_lines

    if history:
        list_history(reading_room(room), history, as_json=json)
    elif fading:
        list_fading(reading_room(room), kind=kind, as_json=json)
    else:
        list_lines(reading_room(room), tier="cold" if cold else tier, kind=kind, words=cold, as_json=json)


@lines.command()
def promote(ctx: typer.Context, line: LineArgument, room: RoomOption = None, json: JsonOption = False) -> None:
    """Let a hot line outlive the close, or raise a warm one by one."""
    from app.line_desk import line_id
    from store.operations import Promote

    _change(ctx, room, json, lambda _: Promote(line_id(line)))


@lines.command()
def retire(
    ctx: typer.Context, line: LineArgument, reason: ReasonOption = "", room: RoomOption = None, json: JsonOption = False
) -> None:
    """Send a line to cold; only you can do that with a decision."""
    from app.line_desk import line_id
    from store.operations import Retire

    _change(ctx, room, json, lambda _: Retire(line_id(line), reason))


@lines.command()
def touch(
    ctx: typer.Context, line: LineArgument, reason: ReasonOption = "", room: RoomOption = None, json: JsonOption = False
) -> None:
    """Say that a line is of use, so that it does not fade at the next opening."""
    from app.line_desk import line_id
    from store.operations import TouchLine

    _change(ctx, room, json, lambda _: TouchLine(id=line_id(line), reason=reason or "touched by the operator"))


@lines.command()
def edit(
    ctx: typer.Context,
    line: LineArgument,
    text: Annotated[str, typer.Argument(help="The line's words from now on.")],
    reason: ReasonOption = "edited by the operator",
    room: RoomOption = None,
    json: JsonOption = False,
) -> None:
    """Say a line in other words."""
    from app.line_desk import line_id
    from store.operations import EditLine

    _change(ctx, room, json, lambda _: EditLine(id=line_id(line), text=text, reason=reason))


@lines.command()
def add(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(help="The line: a sentence or two.")],
    reason: Annotated[str, typer.Option("--reason", help="Why the next instance needs this.")],
    kind: Annotated[str, typer.Option(help="decision, trap, thread, way_back or finding.")] = "decision",
    room: RoomOption = None,
    json: JsonOption = False,
) -> None:
    """Add a warm line of your own."""
    from app.line_desk import added

    _change(ctx, room, json, lambda _: added(kind, text, reason))


@lines.command()
def restore(
    ctx: typer.Context, line: LineArgument, reason: ReasonOption = "", room: RoomOption = None, json: JsonOption = False
) -> None:
    """Bring a line back from cold."""
    from app.line_desk import in_cold, line_id
    from store.operations import Restore

    _change(ctx, room, json, lambda opened: Restore(in_cold(opened, line_id(line)), reason))


@lines.command()
def undo(
    ctx: typer.Context,
    line: Annotated[str, typer.Argument(help="Of this line only; without it, your newest change of any.")] = "",
    reason: ReasonOption = "",
    room: RoomOption = None,
    json: JsonOption = False,
) -> None:
    """Take back your own last change."""
    from app.line_desk import line_id, to_take_back
    from store.operations import Undo

    _change(ctx, room, json, lambda opened: Undo(to_take_back(opened, line_id(line) if line else None), reason))


def search_command(
    words: Annotated[
        list[str] | None, typer.Argument(help="Words to find in everything this room ever said; none: the newest.")
    ] = None,
    room: RoomOption = None,
    seat: Annotated[str, typer.Option(help="Only what one said: operator, presence, keeper, system.")] = "",
    kind: Annotated[
        str, typer.Option(help="Only one kind of event, such as tool.ended, or tool for all of those.")
    ] = "",
    session: Annotated[str, typer.Option(help="Only one session, by its name or its number.")] = "",
    since: Annotated[str, typer.Option(help="Not before this date or time (UTC), such as 2026-11-30.")] = "",
    until: Annotated[str, typer.Option(help="Not after this date (the whole day) or time (UTC).")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many hits at the most.")] = 20,
    json: JsonOption = False,
) -> None:
    """Search the cold tier: all that was ever said or done in this room."""
    from app.cold_search import Sought, search_cold
    from app.keeping import reading_room

    sought = Sought(" ".join(words or []), seat=seat, kind=kind, session=session, since=since, until=until)
    search_cold(reading_room(room), sought, limit=limit, as_json=json)


def _change(ctx: typer.Context, room: Path | None, json: bool, operation: _Asked) -> None:
    from app.keeping import working_room
    from app.line_desk import change

    before: tuple[Path | None, bool] = ctx.obj or (None, False)
    change(working_room(room or before[0], on_screen=False), operation, as_json=json or before[1])


if TYPE_CHECKING:
    from collections.abc import Callable

    _Asked = Callable[[Room], Operation]
