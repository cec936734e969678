"""`twins replay`: recorded transcripts through any Keeper, offline, and the bench that compares them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.options import JsonOption


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(name="replay")(replay_command)


def replay_command(
    data: Annotated[
        Path | None, typer.Argument(help="Transcripts: a file, a folder of them, or a room.", show_default=False)
    ] = None,
    bench: Annotated[
        Path | None, typer.Option("--bench", help="The same, and compare the Keepers by what they hand over.")
    ] = None,
    keeper: Annotated[
        list[str] | None,
        typer.Option("--keeper", help="mechanical, small, twin; none, tail, head, everything. Give it again for more."),
    ] = None,
    checklist: Annotated[
        str, typer.Option(help="For --bench: observations, handoff, next, a file of facts, or the first that fits.")
    ] = "auto",
    out: Annotated[Path, typer.Option("--out", help="Where replays and results are kept, and taken up again.")] = Path(
        "twins-replay"
    ),
    chain: Annotated[str, typer.Option(help="Only this chain of sessions.")] = "",
    model: Annotated[str, typer.Option(help="The model behind small or twin.")] = "",
    batch: Annotated[bool, typer.Option("--batch", help="Send what can go out of order in batches.")] = False,
    max_usd: Annotated[float | None, typer.Option(min=0, help="Stop when so many dollars are spent.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=0, help="Stop when so many tokens are spent.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Transcripts at the same time; else one a core.")] = None,
    play: Annotated[
        Path | None, typer.Option("--play", help="Open a room, or what --out holds, on screen, turn by turn.")
    ] = None,
    session: Annotated[int, typer.Option(min=1, help="For --play: the session to begin with.")] = 1,
    json: JsonOption = False,
) -> None:
    """Replay transcripts through Keepers, with the live gate, budgets and decay, on the transcripts' clock.
    Exit 1 when a budget stopped it; the same command goes on from there."""
    import sys
    from json import dumps

    from rich.console import Console

    from app.replay.desk import Asked, run
    from app.replay.setup import setup_for
    from app.replay.tables import table

    if play is not None:
        from app.screens.replay_app import play as play_on_screen

        play_on_screen(play, tuple(keeper or ()), chain, session)
        raise typer.Exit
    named = tuple(dict.fromkeys(keeper or ("mechanical", "tail", "head", "none", "everything")))
    place = bench or data
    if place is None or (bench is not None and data is not None):
        raise typer.BadParameter("name the transcripts once: twins replay DATA, or twins replay --bench DATA")
    if not place.exists():
        raise typer.BadParameter(f"there is no {place}; name a transcript, a folder of them, or a room")
    setup = setup_for(named, model, out, batch=batch)
    asked = Asked(place, named, out, checklist if bench else "", chain, setup, max_usd, max_tokens, workers)
    try:
        result = run(asked)
    except KeyboardInterrupt:
        typer.echo("twins: stopped; the same command goes on from here", err=True)
        raise typer.Exit(130) from None
    if json:
        print(dumps(result.as_json(), ensure_ascii=False, indent=1))
    else:
        # A pipe has no width of its own; the table wants more than the 80 columns that Rich takes then.
        console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
        console.print(table(result.rows, result.title))
        if result.method:
            console.print(result.method, markup=False)
        for file in result.files:
            print(f"Wrote {file}")
    stopped = [why for row in result.rows for why in row.stopped]
    for why in dict.fromkeys(stopped):
        typer.echo(f"twins: {why}", err=True)
    raise typer.Exit(1 if stopped else 0)
