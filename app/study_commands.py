"""The commands that plan and run a study: pre-registration, lock, runs, questions after them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from app.options import JsonOption, RoomOption
from app.study_shell import say, study_room, tell_rules

if TYPE_CHECKING:
    from app.study.runs import Next
    from app.study.study import Study

study_app = typer.Typer(
    name="study", help="A pre-registered study in this room: plan, lock, run, report.", no_args_is_help=True
)
WhyOption = Annotated[str, typer.Option("--why", help="The reason; it goes into the record.")]
PartOption = Annotated[str, typer.Option("--part", help="run or successor: which of the run's two sessions.")]
RunArgument = Annotated[str, typer.Argument(help="The run, for example run-03.")]


def register(app: typer.Typer) -> None:
    """Adds the group, with the commands about its results."""
    from app import study_results_commands

    study_results_commands.register(study_app)
    app.add_typer(study_app)


@study_app.command()
def init(
    room: RoomOption = None,
    preset: Annotated[
        str, typer.Option(help="full (5 tasks, A to E) or first-pass (3 tasks, A and B).")
    ] = "first-pass",
    seed: Annotated[str, typer.Option(help="What the schedule is drawn from; without it, one is made up.")] = "",
    task: Annotated[list[Path] | None, typer.Option(help="A task file; once for each task.")] = None,
    turns: Annotated[list[Path] | None, typer.Option(help="The operator's messages of each task, in order.")] = None,
) -> None:
    """Write the pre-registration file: hypotheses, predictions, stop rules; to be looked through and changed."""
    from app.study.study import draft_study

    if preset not in ("full", "first-pass"):
        raise typer.BadParameter(f"--preset takes full or first-pass, not {preset!r}")
    tasks = task or []
    messages: list[Path | None] = [*(turns or [])]
    if messages and len(messages) != len(tasks):
        raise typer.BadParameter("give --turns once for each --task, in the same order, or not at all")
    pairs = tuple(zip(tasks, messages or [None] * len(tasks), strict=True))
    with study_room(room) as opened:
        path = draft_study(opened, cast(Literal["full", "first-pass"], preset), seed=seed, tasks=pairs)
    say(f"Wrote {path}. Look through it, then: twins study lock")


@study_app.command()
def lock(room: RoomOption = None) -> None:
    """Hash the pre-registration, draw the schedule, freeze both."""
    from app.study.study import Study

    with study_room(room) as opened, Study(opened) as study:
        terms = study.fix()
        say(f"Locked: {terms.sha256}")
        say(f"{len(terms.schedule)} runs are drawn. See how likely an answer is: twins study simulate")


@study_app.command()
def amend(why: WhyOption, room: RoomOption = None) -> None:
    """Record a numbered amendment: the file as it is changed now, or a note."""
    from app.study.study import Study

    with study_room(room) as opened, Study(opened) as study:
        body = study.amend(why)
        changed = "with a change of the file" if body.diff else "a note, the file is as it was"
        say(f"Amendment {body.number}: {changed}.")


@study_app.command()
def status(
    room: RoomOption = None,
    json: JsonOption = False,
    live: Annotated[bool, typer.Option("--live", help="Keep the tables up to date until ctrl+c.")] = False,
) -> None:
    """How the study stands. Exit 1 when a stop rule has fired."""
    from rich.console import Console

    from app.study.status import fired, rulings_of, status_json, status_tables
    from app.study.study import Study

    if live:
        _live_status(room)
        return
    with study_room(room, read_only=True) as opened:
        study = Study(opened)
        if study.state.locked is not None:
            study.check()
        rulings = rulings_of(study)
        if json:
            import json as json_module

            print(json_module.dumps(status_json(study, rulings), ensure_ascii=False, indent=1))
        else:
            Console(highlight=False).print(status_tables(study, rulings))
    raise typer.Exit(int(fired(rulings)))


def _live_status(room: Path | None) -> None:
    import time

    from rich.console import Console
    from rich.live import Live

    from app.study.status import rulings_of, status_tables
    from app.study.study import Study

    with Live(console=Console(highlight=False), auto_refresh=False) as shown:
        while True:
            with study_room(room, read_only=True) as opened:
                study = Study(opened)
                shown.update(status_tables(study, rulings_of(study)), refresh=True)
            time.sleep(2)


@study_app.command(name="next")
def next_command(
    room: RoomOption = None,
    headless: Annotated[bool, typer.Option("--headless", help="Play the locked turns without a screen.")] = False,
    model: Annotated[str, typer.Option("--model", help="The model of both seats, instead of the room's.")] = "",
    approve: Annotated[
        str, typer.Option("--approve", help="Without a screen: tools that run: none, read, all.")
    ] = "all",
    whole: Annotated[bool, typer.Option("--all", help="Without a screen: play every run that is left.")] = False,
) -> None:
    """Play the next session of the schedule: on screen, or with --headless the whole next run."""
    from app.study.study import Study

    if approve not in ("none", "read", "all"):
        raise typer.BadParameter(f"--approve takes none, read or all, not {approve!r}")
    with study_room(room) as opened, Study(opened) as study:
        if headless:
            _play_headless(study, model, approve, whole=whole)
        else:
            _play_on_screen(study, model)
        tell_rules(study)


def _play_headless(study: Study, model: str, approve: str, *, whole: bool) -> None:
    import asyncio
    import os

    from app.session.endpoint import check_reachable, resolve_endpoint
    from app.session.policy import Approve
    from app.study.runs import play_run

    endpoint = resolve_endpoint(study.room.settings, os.environ, model)
    check_reachable(endpoint)

    async def play() -> None:
        while (run := await play_run(study, endpoint, approve=cast(Approve, approve), tell=say)) is not None:
            say(f"{run.name} is over.")
            if not whole:
                return
        say("The schedule is through. Next: twins score reader")

    asyncio.run(play())


def _play_on_screen(study: Study, model: str) -> None:
    import os
    import sys

    from app.plan import InputError, Plan
    from app.session.endpoint import check_reachable, resolve_endpoint
    from app.study.runs import make_next, settle
    from app.tui import run_plan, run_resumed
    from store.room import LogName, Room

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError("There is no terminal here; use twins study next --headless.")
    endpoint = resolve_endpoint(study.room.settings, os.environ, model)
    check_reachable(endpoint)
    following = make_next(study)
    if following is None:
        say("The schedule is through. Next: twins score reader")
        return
    with Room.open(following.room) as own:
        if following.session:
            run_resumed(own, LogName(following.session), endpoint)
        else:
            task = following.task
            run_plan(own, Plan(endpoint, following.condition, task.record, following.workspace, task.turns))
    settle(study)
    if following.part not in following.run.closed:
        say("The session is open still. Go on with: twins study next")
        return
    _ask_after(study, following)


def _ask_after(study: Study, following: Next) -> None:
    """The questions that belong right behind a session; an empty answer leaves one open."""
    from app.study.asking import HEARD_QUESTION, OBSERVED_QUESTION, answer_observed, letters_of, rate_heard
    from app.study.status import asks_heard
    from store.study_bodies import Observed
    from store.text import clean

    run, part = following.run, following.part
    if asks_heard(study, run, part):
        rating = typer.prompt(f"{HEARD_QUESTION} 1-5, empty for later", default="", show_default=False)
        if rating.strip() in ("1", "2", "3", "4", "5"):
            rate_heard(study, run.name, part, int(rating), typer.prompt("A note", default="", show_default=False))
    for text in letters_of(study, run.name, part):
        say(f"\n{clean(text)}\n")
    answer = typer.prompt(
        f"{OBSERVED_QUESTION} unsaid, no, better, worse; empty for later", default="", show_default=False
    )
    if answer in ("unsaid", "no", "better", "worse"):
        quote = typer.prompt("Its words", default="") if answer in ("better", "worse") else ""
        answer_observed(study, run.name, part, cast(Observed, answer), quote)


@study_app.command()
def questions(room: RoomOption = None) -> None:
    """What the operator is still to be asked after sessions. Not for scorers: it tells which runs were both-talk."""
    from app.study.status import open_questions
    from app.study.study import Study

    with study_room(room, read_only=True) as opened:
        for run, words in open_questions(Study(opened)):
            say(f"{run}: {words}")


@study_app.command()
def heard(
    run: RunArgument,
    rating: Annotated[int, typer.Option(help="1: an assistant with a sidecar; 5: two colleagues.")],
    part: PartOption = "run",
    note: str = "",
    room: RoomOption = None,
) -> None:
    """Rate a both-talk session (H6)."""
    from app.study.asking import rate_heard
    from app.study.study import Study

    with study_room(room) as opened, Study(opened) as study:
        rate_heard(study, run, _part(part), rating, note)
        tell_rules(study)


@study_app.command()
def observed(
    run: RunArgument,
    answer: Annotated[str, typer.Option(help="unsaid, no, better or worse.")],
    part: PartOption = "run",
    quote: Annotated[str, typer.Option(help="The letter's words; better and worse need them.")] = "",
    room: RoomOption = None,
) -> None:
    """Say whether P's letter says that being observed changed how it worked."""
    from app.study.asking import answer_observed
    from app.study.study import Study
    from store.study_bodies import Observed

    if answer not in ("unsaid", "no", "better", "worse"):
        raise typer.BadParameter(f"--answer takes unsaid, no, better or worse, not {answer!r}")
    with study_room(room) as opened, Study(opened) as study:
        answer_observed(study, run, _part(part), cast(Observed, answer), quote)
        tell_rules(study)


@study_app.command()
def abort(
    why: WhyOption,
    room: RoomOption = None,
    run: Annotated[str, typer.Option(help="The run; without it, the one under way.")] = "",
    repeat: Annotated[bool, typer.Option("--repeat", help="Put its cell at the schedule's end again.")] = False,
) -> None:
    """End a run without finishing it. It stays in the record."""
    from app.study.study import Study

    with study_room(room) as opened, Study(opened) as study:
        say(f"{study.abort(why, repeat=repeat, run=run).name} is aborted; its record stays.")


@study_app.command()
def stop(why: WhyOption, room: RoomOption = None) -> None:
    """End the study before its schedule does."""
    from app.study.study import Study

    with study_room(room) as opened, Study(opened) as study:
        study.stop(why)
        say("The study is stopped. Score what was run, then: twins score reveal")


def _part(given: str) -> Literal["run", "successor"]:
    if given not in ("run", "successor"):
        raise typer.BadParameter(f"--part takes run or successor, not {given!r}")
    return cast(Literal["run", "successor"], given)
