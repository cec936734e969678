"""The commands about scoring: the blind reader, a person's desk, the lexical scorer, the opening of the key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from app.options import JsonOption, RoomOption
from app.study_shell import study_room, tell_rules

if TYPE_CHECKING:
    from app.study.study import Study

score_app = typer.Typer(name="score", help="Score a study's runs, blind.", invoke_without_command=True)
NameOption = Annotated[str, typer.Option("--as", help="Your name: scores are signed.")]
AllOption = Annotated[bool, typer.Option("--all", help="Every item, not only what the reader left open.")]


def register(app: typer.Typer) -> None:
    """Adds the group."""
    app.add_typer(score_app)


@score_app.callback()
def score(ctx: typer.Context, room: RoomOption = None, name: NameOption = "", everything: AllOption = False) -> None:
    """Without a command: score on screen, one item at a time."""
    if ctx.invoked_subcommand is not None:
        return
    import getpass
    import sys

    from app.plan import InputError
    from app.study.scoring import Desk
    from app.study.study import Study

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError("There is no terminal here; use twins score item and twins score answer.")
    with study_room(room) as opened, Study(opened) as study:
        desk = Desk(study, name or getpass.getuser(), everything=everything)
        if desk.asked() is None:
            print("Nothing is left for you to score.")
            return
        from app.screens.scoring import ScoringApp

        ScoringApp(desk, lambda: _fired(study)).run()
        done, of = desk.progress
        print(f"{done} of {of} scored. What you answered is kept; go on with: twins score")
        tell_rules(study)


def _fired(study: Study) -> tuple[str, ...]:
    from app.study.results import rule_study

    return tuple(f"Stop rule {one.rule} has fired: {one.why}" for one in rule_study(study) if one.state == "fired")


def _told_once(study: Study, told: set[str]) -> None:
    """Says of a stop rule that it has fired, when it does."""
    import sys

    for words in _fired(study):
        if words not in told:
            told.add(words)
            print(words, file=sys.stderr, flush=True)


@score_app.command()
def reader(
    room: RoomOption = None,
    model: Annotated[str, typer.Option("--model", help="The reader's model; its seat is free.")] = "",
) -> None:
    """Let the blind reader write the checklists and answer; then the lexical scorer, for comparison."""
    import asyncio
    import os

    from app.session.endpoint import check_reachable, resolve_endpoint
    from app.study.reader import BlindReader
    from app.study.scoring import score_lexically
    from app.study.study import Study

    with study_room(room) as opened, Study(opened) as study:
        endpoint = resolve_endpoint(opened.settings, os.environ, model)
        check_reachable(endpoint)

        told: set[str] = set()

        async def read() -> int:
            async with BlindReader(study, endpoint, print, lambda: _told_once(study, told)) as seat:
                return await seat.read()

        left = asyncio.run(read())
        print(f"The lexical scorer answered {score_lexically(study)} facts.")
        print(f"{left} items are left to a person." if left else "No item is left to a person.")
        tell_rules(study)


@score_app.command()
def lexical(room: RoomOption = None) -> None:
    """Let the lexical scorer answer every fact of the checklists."""
    from app.study.scoring import score_lexically
    from app.study.study import Study

    with study_room(room) as opened, Study(opened) as study:
        study.check()
        print(f"The lexical scorer answered {score_lexically(study)} facts.")


@score_app.command()
def checklist(
    run: Annotated[str, typer.Argument(help="The run, for example run-03.")],
    file: Annotated[Path | None, typer.Option("--file", help="The facts, one a line.")] = None,
    name: NameOption = "",
    room: RoomOption = None,
) -> None:
    """Write a run's checklist yourself; without --file, print what it is to be written from."""
    from app.study.runs import run_logs
    from app.study.scoring import checklist_source, give_checklist
    from app.study.study import Study
    from store.text import clean

    if file is None:
        with study_room(room, read_only=True) as opened:
            study = Study(opened)
            handoff, diff = checklist_source(run_logs(study, study.run_named(run)))
            print(f"# Handoff\n{clean(handoff)}\n\n# Workspace diff\n{clean(diff)}")
        return
    facts = tuple(line.removeprefix("- ") for line in file.read_text(encoding="utf-8").splitlines() if line.strip())
    with study_room(room) as opened, Study(opened) as study:
        give_checklist(study, run, facts, name)
        print(f"{run} has a checklist of {len(facts)} facts.")


@score_app.command()
def item(name: NameOption, room: RoomOption = None, everything: AllOption = False, json: JsonOption = False) -> None:
    """Print the next item for a scorer: id, question, material, the answers it takes."""
    from app.study.scoring import Desk
    from app.study.study import Study
    from store.events import plain

    with study_room(room, read_only=True) as opened:
        asked = None
        desk = Desk(Study(opened), name, everything=everything)
        if not desk.done:
            asked = desk.asked()
        if json:
            import json as json_module

            print(json_module.dumps(plain(asked) if asked else None, ensure_ascii=False, indent=1))
        elif asked is None:
            print("Nothing is left for you to score.")
        else:
            print(f"{asked.id}\n\n{asked.question}\n\n{asked.material}\n\nAnswers: {', '.join(asked.answers)}")


@score_app.command()
def answer(
    item: Annotated[str, typer.Argument(help="The item's id.")],
    given: Annotated[str, typer.Argument(metavar="ANSWER", help="y, n, u, or 0 to 3 for warmth.")],
    name: NameOption,
    note: str = "",
    room: RoomOption = None,
) -> None:
    """Answer one item by its id."""
    from app.study.scoring import Desk
    from app.study.study import Study
    from store.study_bodies import Answer

    with study_room(room) as opened, Study(opened) as study:
        desk = Desk(study, name, everything=True)
        desk.go_to(item)
        desk.answer(cast(Answer, given), note)
        print("Kept.")
        tell_rules(study)


@score_app.command()
def reveal(room: RoomOption = None) -> None:
    """Open the key, once everything is scored: from then on no score can be given."""
    from app.study.scoring import open_key
    from app.study.study import Study

    with study_room(room) as opened, Study(opened) as study:
        print(f"The key is open: {open_key(study)} items. Next: twins study report")
