"""The command line: each command checks what it was given, then hands over to the part that does it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from app import (
    brief_command,
    bundle_commands,
    doctor_command,
    import_command,
    line_commands,
    replay_command,
    score_commands,
    serve_command,
    study_commands,
)
from app.options import JsonOption, RoomOption

app = typer.Typer(
    name="twins",
    help="Work with a Claude instance while its identical twin keeps the memory, line by line, in sight.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

HeadlessOption = Annotated[bool, typer.Option("--headless", help="Run without a screen.")]
TaskOption = Annotated[Path | None, typer.Option("--task", help="A task file (TOML).")]
ConditionOption = Annotated[str, typer.Option("--condition", help="A to E; else the room's own setting.")]
WorkspaceOption = Annotated[Path | None, typer.Option("--workspace", help="The folder that P works in.")]
ModelOption = Annotated[str, typer.Option("--model", help="The model of both seats, instead of the room's.")]
ApproveOption = Annotated[str, typer.Option("--approve", help="Without a screen: which tools run, none, read or all.")]


def _say(line: str) -> None:
    print(line, flush=True)


@app.callback(invoke_without_command=True)
def twins(ctx: typer.Context, room: RoomOption = None) -> None:
    """Without a command: open the room on screen."""
    if ctx.invoked_subcommand is None:
        _open_screen(room)


@app.command()
def init(
    folder: Annotated[Path | None, typer.Argument(help="Where the room shall be.")] = None,
    operator: Annotated[str, typer.Option(help="Your name, as the twins know it.")] = "",
    model: Annotated[str, typer.Option(help="The model of both seats.")] = "",
    base_url: Annotated[str, typer.Option(help="A server that speaks the Messages API; empty for Anthropic's.")] = "",
) -> None:
    """Make a room: a folder with room.toml, which says what every setting does."""
    import getpass

    from app.plan import room_path
    from store.room import Room
    from store.settings import Endpoint

    place = room_path(folder)
    Room.create(place, operator or getpass.getuser(), model=model or Endpoint().model, base_url=base_url)
    _say(f"Made a room in {place}. Look at {place / 'room.toml'}, then: twins --room {place}")


@app.command()
def demo(
    headless: HeadlessOption = False,
    json: JsonOption = False,
    keep: Annotated[Path | None, typer.Option(help="Make the demo's room in this folder and leave it there.")] = None,
) -> None:
    """A tour with scripted twins: no key, no network. Without a terminal it runs headless, line by line."""
    from app.demo import staged_tour

    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise typer.BadParameter(f"{keep} is not empty; name a new folder")
    if headless or json or not _has_screen():
        from app.batch import demo_headless

        with staged_tour(keep, at_speed=True) as staged:
            demo_headless(staged, as_json=json)
        return
    from app.tui import run_tour

    with staged_tour(keep) as staged:
        run_tour(staged)


@app.command()
def run(
    room: RoomOption = None,
    task: TaskOption = None,
    condition: ConditionOption = "",
    workspace: WorkspaceOption = None,
    model: ModelOption = "",
    headless: HeadlessOption = False,
    input: Annotated[
        Path | None, typer.Option("--input", help="With --headless: operator messages, parted by lines of ---.")
    ] = None,
    approve: ApproveOption = "read",
    json: JsonOption = False,
) -> None:
    """Open a new session, on screen or with --headless --input FILE."""
    from app.keeping import working_room
    from app.plan import plan_session

    turns = _given_turns(headless, input)
    policy = _approve(approve)
    with working_room(room, on_screen=not headless) as opened:
        plan = plan_session(opened, task=task, condition=condition, workspace=workspace, model=model)
        if input is not None:
            from app.batch import run_headless

            raise typer.Exit(run_headless(opened, plan, turns, approve=policy, as_json=json))
        from app.tui import run_plan

        run_plan(opened, plan)


@app.command()
def resume(
    session: Annotated[str, typer.Argument(help="The session; without it, the newest open one.")] = "",
    room: RoomOption = None,
    model: ModelOption = "",
    headless: HeadlessOption = False,
    input: Annotated[Path | None, typer.Option("--input", help="With --headless: more operator messages.")] = None,
    approve: ApproveOption = "read",
    json: JsonOption = False,
) -> None:
    """Take up a session that was left or interrupted."""
    from app.keeping import working_room
    from app.plan import resume_plan

    turns = _given_turns(headless, input)
    policy = _approve(approve)
    with working_room(room, on_screen=not headless) as opened:
        log, endpoint = resume_plan(opened, session, model)
        if input is not None:
            from app.batch import resume_headless

            raise typer.Exit(resume_headless(opened, log, endpoint, turns, approve=policy, as_json=json))
        from app.tui import run_resumed

        run_resumed(opened, log, endpoint)


@app.command()
def close(
    session: Annotated[str, typer.Argument(help="The session; without it, the newest open one.")] = "",
    room: RoomOption = None,
    letters: Annotated[bool, typer.Option(help="Ask P for its letter and handoff.")] = True,
) -> None:
    """Close a session that was left open: letter, handoff, closing pass."""
    from app.batch import close_session
    from app.keeping import working_room
    from app.plan import resume_plan

    with working_room(room, on_screen=False) as opened:
        log, endpoint = resume_plan(opened, session, "", offline=not letters)
        close_session(opened, log, endpoint, letters=letters)


@app.command()
def wake(room: RoomOption = None, condition: ConditionOption = "", task: TaskOption = None) -> None:
    """Print the wake packet that the next session would give, without opening it."""
    from app.keeping import reading_room
    from app.plan import condition_for
    from app.session.opening import preview
    from store.tasks import load_task

    with reading_room(room) as opened:
        named = condition_for(opened.root, condition or opened.settings.session.condition)
        record = load_task(task).record if task is not None else None
        _say(preview(opened, named, record).text)


@app.command()
def letters(
    room: RoomOption = None,
    show: Annotated[str, typer.Option(help="Print one letter whole, by its file name.")] = "",
    json: JsonOption = False,
) -> None:
    """The room's letters and handoffs, oldest first."""
    from app.keeping import reading_room
    from app.listings import list_letters

    list_letters(reading_room(room), show=show, as_json=json)


@app.command()
def snug(room: RoomOption = None, json: JsonOption = False) -> None:
    """The room's private journal."""
    from app.keeping import reading_room
    from app.listings import list_snug

    list_snug(reading_room(room), as_json=json)


def _given_turns(headless: bool, given: Path | None) -> tuple[str, ...]:
    """The operator's messages of ``--input``; none on screen, where the operator writes them."""
    from app.plan import operator_turns

    if headless != (given is not None):
        raise typer.BadParameter("--headless and --input FILE go together")
    return operator_turns(given) if given is not None else ()


def _approve(given: str) -> Any:
    if given not in ("none", "read", "all"):
        raise typer.BadParameter(f"--approve takes none, read or all, not {given!r}")
    return given


def _has_screen() -> bool:
    """Whether there is a terminal, or a browser behind the driver that textual-serve names."""
    return bool(os.environ.get("TEXTUAL_DRIVER")) or (sys.stdin.isatty() and sys.stdout.isatty())


def _open_screen(room: Path | None) -> None:
    from app.keeping import screen_room
    from app.plan import InputError

    if not _has_screen():
        raise InputError("There is no terminal here; use twins run --headless --input FILE, or twins demo.")
    from app.plan import room_path

    if not (place := room_path(room)).exists():
        from app.screens.first_run import make_first_room

        made = make_first_room(place)
        if made is None:
            return
        room = made
    from app.tui import run_room

    with screen_room(room) as opened:
        run_room(opened)


line_commands.register(app)
brief_command.register(app)
bundle_commands.register(app)
import_command.register(app)
replay_command.register(app)
doctor_command.register(app)
study_commands.register(app)
score_commands.register(app)
serve_command.register(app)


def main() -> None:
    """Run the command line. Bad input becomes one plain line on standard error and exit 2; ``--debug`` shows where it
    came from."""
    debug = "--debug" in sys.argv
    arguments = [word for word in sys.argv[1:] if word != "--debug"]
    try:
        code = app(args=arguments, standalone_mode=False)
    except Exception as error:
        if debug:
            raise
        told = _plain_sentence(error)
        if told is None:
            raise
        print(f"twins: {told}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("twins: stopped", file=sys.stderr)
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)


def _plain_sentence(error: Exception) -> str | None:
    """What to say of an error that the user can mend; None for one that is ours."""
    from store.plain import PlainError

    # Newer typers bring a click of their own, so the base of usage errors is taken from typer's own one.
    usage_error: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
    if isinstance(error, typer.Abort):
        return "stopped"
    if isinstance(error, usage_error):
        return " ".join(error.format_message().split())
    if isinstance(error, PlainError):
        return " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return None
