"""The commands about what a study comes to: replay scores, the report, its bundle, power."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from app.options import RoomOption
from app.study_shell import say, study_room

if TYPE_CHECKING:
    from app.study.verdicts import Design
    from store.study_bodies import ScheduledRun

RunArgument = Annotated[str, typer.Argument(help="The run, for example run-03.")]


def register(app: typer.Typer) -> None:
    """Adds the commands to the study's group."""
    app.command(name="offline")(offline_command)
    app.command(name="report")(report_command)
    app.command(name="export")(export_command)
    app.command(name="verify")(verify_command)
    app.command(name="simulate")(simulate_command)


def offline_command(
    run: RunArgument,
    model: Annotated[str, typer.Option(help="The model that sat behind the Keeper in the replay.")],
    hf: Annotated[float, typer.Option(help="Its handoff fidelity on this run, 0 to 1.")],
    source: Annotated[str, typer.Option(help="Where the number comes from: a replay's report.")],
    wwr: Annotated[float | None, typer.Option(help="Its warmth, 0 to 3.")] = None,
    room: RoomOption = None,
) -> None:
    """Add the score of a recorded run replayed through another Keeper (H5)."""
    from app.study.study import Study

    with study_room(room) as opened, Study(opened) as study:
        study.add_offline(run, model, hf, wwr, source)


def report_command(
    room: RoomOption = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="A folder; else the study's own.")] = None,
) -> None:
    """Write the results paper: Markdown, one page of HTML, every number as JSON. Exit 1 when a stop rule has fired."""
    from app.study.report import write_results
    from app.study.status import fired
    from app.study.study import Study

    with study_room(room) as opened, Study(opened) as study:
        files, found = write_results(study, output)
        for path in files:
            say(f"Wrote {path}")
        for one in found.judgements:
            say(f"{one.hypothesis} {one.outcome}: {one.why}")
        for ruling in found.rulings:
            say(f"stop rule {ruling.rule} {ruling.state}: {ruling.why}")
    raise typer.Exit(int(fired(found.rulings)))


def export_command(
    output: Annotated[Path, typer.Option("-o", "--output", help="The bundle's file (zip).")], room: RoomOption = None
) -> None:
    """Export the whole study: its log, its lock, a bundle of every session. Once the key is open."""
    from app.study.archive import export_study
    from app.study.study import Study

    with study_room(room, read_only=True) as opened:
        say(f"Wrote {output} (SHA-256 {export_study(Study(opened), output)})")


def verify_command(
    bundle: Annotated[Path, typer.Argument(help="A study's bundle.")],
    against: Annotated[Path | None, typer.Option(help="The results' JSON file to compare with.")] = None,
) -> None:
    """Check a study's bundle and reckon its results from it alone. Exit 1 when they are not those of --against."""
    import json

    from app.study.archive import results_from

    found = results_from(bundle)
    for one in found.judgements:
        say(f"{one.hypothesis} {one.outcome}: {one.why}")
    if against is not None and json.loads(against.read_text(encoding="utf-8")) != found.numbers():
        say(f"The numbers in {against} are not those of the bundle.")
        raise typer.Exit(1)
    say(f"Lock {found.lock}, {len(found.runs)} runs: all reckoned again from the bundle alone.")


def simulate_command(
    room: RoomOption = None,
    rounds: Annotated[int, typer.Option(min=10, max=100_000, help="How often the schedule is played.")] = 1000,
    preset: Annotated[str, typer.Option(help="Without a study in the room: full or first-pass.")] = "",
    hf_keeper: Annotated[float, typer.Option(help="Fidelity with a Keeper (baseline 0.65).")] = 0.88,
    minutes_keeper: Annotated[float, typer.Option(help="Minutes of RET with a Keeper (baseline 10).")] = 4.0,
    presence_keeper: Annotated[float, typer.Option(help="Presence share with a Keeper (baseline 0.75).")] = 0.9,
    wwr_keeper: Annotated[float, typer.Option(help="Warmth with a mechanical Keeper (baseline 2.4).")] = 1.8,
) -> None:
    """Power: play the schedule with assumed effects and say how often each hypothesis would be called held."""
    from rich.console import Console
    from rich.table import Table

    from app.study.simulate import Effects
    from app.study.simulate import simulate as played

    design, schedule = _design(room, preset)
    effects = Effects(
        hf_keeper=hf_keeper, minutes_keeper=minutes_keeper, presence_keeper=presence_keeper, wwr_keeper=wwr_keeper
    )
    table = Table("", "held", "did not hold", "not enough runs", "held with no effect at all", box=None, pad_edge=False)
    nothing = {one.hypothesis: one for one in played(design, schedule, effects.null(), rounds=rounds)}
    for one in played(design, schedule, effects, rounds=rounds):
        by_chance = nothing[one.hypothesis]
        table.add_row(
            one.hypothesis,
            f"{one.shares['held']:.1%} ± {one.error:.1%}",
            f"{one.shares['did not hold']:.1%}",
            f"{one.shares['not enough runs']:.1%}",
            f"{by_chance.shares['held']:.1%} ± {by_chance.error:.1%}",
        )
    console = Console(highlight=False)
    console.print(f"{len(schedule)} runs, alpha {design.preregistration.alpha:g}, played {rounds:,} times: {effects}")
    console.print(table)


def _design(room: Path | None, preset: str) -> tuple[Design, tuple[ScheduledRun, ...]]:
    """The room's study, or one of a preset that nobody has drafted."""
    from app.study.draw import schedule
    from app.study.prereg import TASKS, Preregistration, Preset, draft
    from app.study.study import Study
    from app.study.verdicts import Design
    from store.conditions import load_conditions

    if preset:
        import tomllib

        if preset not in TASKS:
            raise typer.BadParameter(f"--preset takes full or first-pass, not {preset!r}")
        registered = Preregistration.model_validate(tomllib.loads(draft(cast(Preset, preset), "power", "the operator")))
        names = [f"task {place}" for place in range(1, TASKS[cast(Preset, preset)] + 1)]
        return Design(registered, load_conditions()), schedule("power", names, registered.conditions)
    with study_room(room, read_only=True) as opened:
        study = Study(opened)
        terms = study.terms
        return Design(terms.preregistration, terms.conditions), terms.schedule
