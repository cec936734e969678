"""P's tools behind the gate: what they may reach, what they give back, and that every call stands in the log."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from session_plays import (
    Stage,
    Stages,
    always,
    bash,
    blocks,
    bodies,
    calls,
    events,
    running,
    said,
    texts,
    until,
)

from app.scripted.script import Reply, ToolCall
from app.session.session import Session
from app.session.shell import sandbox_works
from store.bodies import ToolAnswered, ToolCalled, ToolEnded, TurnEnded

SECRET = "swordfish-of-the-outside"


async def ran(s: Stage, live: Session, text: str = "go") -> list[ToolEnded]:
    """The tool results of one turn that has come to its end."""
    await said(live, text)
    assert bodies(live, TurnEnded)[-1].end == "done"
    return bodies(live, ToolEnded)


def outside(folder: Path) -> dict[str, str]:
    """Ways out of the workspace, by name."""
    secret = folder / "secret.txt"
    secret.write_text(SECRET)
    workspace = folder / "workspace"
    (workspace / "link.txt").symlink_to(secret)
    (workspace / "door").symlink_to(folder)
    return {
        "parent": "../secret.txt",
        "deep parent": "a/b/../../../secret.txt",
        "absolute": str(secret),
        "link": "link.txt",
        "through a link": "door/secret.txt",
        "proc root": f"/proc/self/root{secret}",
        "proc cwd": f"/proc/{os.getpid()}/cwd/../secret.txt",
    }


WAYS = ("parent", "deep parent", "absolute", "link", "through a link", "proc root", "proc cwd")


@pytest.mark.parametrize("way", WAYS)
async def test_no_file_tool_reaches_outside_the_workspace(stage: Stages, tmp_path: Path, way: str) -> None:
    path: list[str] = []
    tools = (
        lambda: ToolCall("read", {"file_path": path[0]}),
        lambda: ToolCall("write", {"file_path": path[0], "content": "overwritten"}),
        lambda: ToolCall("edit", {"file_path": path[0], "old_string": "sword", "new_string": "edited"}),
        lambda: ToolCall("grep", {"pattern": "swordfish", "path": path[0]}),
        lambda: ToolCall("glob", {"pattern": "*", "path": path[0]}),
        lambda: ToolCall("glob", {"pattern": path[0]}),
    )
    s = await stage(lambda asked: Reply(tools=tuple(make() for make in tools)) if asked.round == 0 else Reply("Done."))
    path.append(outside(tmp_path)[way])
    live = await s.open("A")
    ended = await ran(s, live)
    assert len(ended) == 6
    assert all(body.outcome == "error" for body in ended[:3])
    assert SECRET not in texts(s.asked())
    assert (tmp_path / "secret.txt").read_text() == SECRET


async def test_a_search_of_the_workspace_does_not_follow_links_out_of_it(stage: Stages, tmp_path: Path) -> None:
    s = await stage(
        always(
            Reply(tools=(ToolCall("grep", {"pattern": "swordfish"}), ToolCall("glob", {"pattern": "**/*.txt"}))),
            Reply("Done."),
        )
    )
    outside(tmp_path)
    (s.workspace / "own.txt").write_text("swordfish of my own")
    live = await s.open("A")
    found, globbed = await ran(s, live)
    assert "own" in str(found.content) and "own.txt" in str(globbed.content)
    assert SECRET not in texts(s.asked())


async def test_the_memory_tool_keeps_to_the_memory_folder(stage: Stages, tmp_path: Path) -> None:
    secret = tmp_path / "room" / "room.toml"
    s = await stage(
        always(
            Reply(
                tools=(
                    ToolCall("memory", {"command": "create", "path": "/memories/kept.md", "file_text": "kept"}),
                    ToolCall("memory", {"command": "view", "path": "/memories/../room.toml"}),
                    ToolCall("memory", {"command": "view", "path": str(secret)}),
                    ToolCall("memory", {"command": "delete", "path": "/memories/../room.toml"}),
                )
            ),
            Reply("Done."),
        )
    )
    live = await s.open("A")
    ended = await ran(s, live)
    assert [body.outcome for body in ended] == ["ok", "error", "error", "error"]
    assert (s.room.memory / "kept.md").read_text() == "kept" and secret.exists()
    assert {body.source for body in ended} == {"memory"}


async def test_each_call_is_in_the_log_before_it_runs_and_its_result_before_the_next_request(stage: Stages) -> None:
    s = await stage(
        always(Reply("Now.", tools=(ToolCall("bash", {"command": "cat ../room/sessions/*/events.jsonl"}),)))
    )
    live = await s.open("A")
    (ended,) = await ran(s, live)
    assert "tool.called" in str(ended.content), "the call stood in the log while the tool ran"
    kinds = [event.kind for event in events(live)]
    assert kinds.index("tool.called") < kinds.index("tool.answered") < kinds.index("tool.ended")
    assert kinds.index("tool.ended") < len(kinds) - 1 - kinds[::-1].index("request.sent")


async def test_a_failed_command_comes_back_as_an_error_with_its_output_and_exit_code(stage: Stages) -> None:
    s = await stage(always(bash("echo before; false"), Reply("I see.")))
    live = await s.open("A")
    (ended,) = await ran(s, live)
    assert ended.outcome == "error" and ended.content == "before\n[exit code 1]"
    assert '"is_error":true' in s.asked()[-1].raw.decode().replace(" ", "")


async def test_a_tool_that_is_not_there_is_answered_and_logged(stage: Stages) -> None:
    s = await stage(
        always(
            Reply(tools=(ToolCall("nope", {"x": 1}), ToolCall("bash", {"command": "echo 1"}), ToolCall("nope2", {}))),
            Reply("I see."),
        )
    )
    live = await s.open("A")
    ended = await ran(s, live)
    assert [(body.name, body.outcome) for body in ended] == [
        ("nope", "unknown_tool"),
        ("bash", "ok"),
        ("nope2", "unknown_tool"),
    ]
    assert [body.name for body in bodies(live, ToolCalled)] == ["nope", "bash", "nope2"]


@pytest.mark.parametrize(
    "given",
    [{}, {"command": 7}, {"command": None}, {"command": "echo 1", "timeout_ms": "x"}, {"command": ["echo"]}],
    ids=str,
)
async def test_a_call_with_strange_fields_never_ends_the_turn(stage: Stages, given: dict) -> None:
    s = await stage(
        always(
            Reply(tools=(ToolCall("bash", given), ToolCall("read", given), ToolCall("write", given))), Reply("I see.")
        )
    )
    live = await s.open("A")
    assert len(await ran(s, live)) == 3


async def test_output_that_is_no_text_comes_through_as_text_and_the_next_request_is_valid(stage: Stages) -> None:
    s = await stage(
        always(
            bash(r"printf '\377\376 caf\351 \000 \033]0;title\007 \033[31mred\033[0m \302\233 end'"),
            bash(r"head -c 3000 /dev/urandom"),
            Reply("I see."),
        )
    )
    live = await s.open("A")
    escapes, noise = await ran(s, live)
    assert escapes.outcome == noise.outcome == "ok"
    assert "end" in str(escapes.content)
    again = [event for event in events(live) if isinstance(event.body, ToolEnded)]
    assert [event.body for event in again] == [escapes, noise], "what was written can be read again"


async def test_a_file_that_is_no_text_is_refused_or_read_but_never_ends_the_turn(stage: Stages) -> None:
    s = await stage(always(calls("read", file_path="noise.bin"), calls("grep", pattern="x"), Reply("I see.")))
    (s.workspace / "noise.bin").write_bytes(bytes(range(256)) * 40)
    live = await s.open("A")
    assert len(await ran(s, live)) == 2


async def test_five_megabytes_of_output_are_cut_to_what_a_request_can_hold(stage: Stages) -> None:
    s = await stage(
        always(
            bash("yes 'all work and no play' | head -c 5000000; echo THE END"),
            calls("read", file_path="big.txt"),
            Reply("I see."),
        )
    )
    (s.workspace / "big.txt").write_text("line\n" * 1_000_000)
    live = await s.open("A")
    output, read = await ran(s, live)
    assert "THE END" in str(output.content) and "truncated" in str(output.content)
    assert output.bytes < 200_000 and read.bytes < 300_000


async def test_a_command_at_its_limit_is_ended_with_all_that_it_started(stage: Stages) -> None:
    s = await stage(
        always(
            bash("sleep 7331 & (sleep 7332; true) & sleep 7333", timeout_ms=700), bash("echo alive"), Reply("I see.")
        ),
    )
    live = await s.open("A")
    stopped, alive = await ran(s, live)
    assert stopped.outcome == "error" and "0.7 s" in str(stopped.content)
    assert alive.outcome == "ok" and alive.content == "alive"
    await until(lambda: not running("sleep 733"), "the end of the command's children")


async def test_a_command_that_asks_for_longer_than_the_room_allows_gets_the_rooms_limit(stage: Stages) -> None:
    s = await stage(
        always(bash("sleep 7341", timeout_ms=600_000), Reply("I see.")), settings={"tools": {"bash_timeout_s": 0.5}}
    )
    live = await s.open("A")
    (stopped,) = await ran(s, live)
    assert "0.5 s" in str(stopped.content)
    await until(lambda: not running("sleep 7341"))


@pytest.mark.parametrize("command", ["echo 'open", "exit 3", "exec true", "kill -9 $$", "cat <<EOF", "exec 1>&-"])
async def test_a_command_that_breaks_the_shell_leaves_a_fresh_one(stage: Stages, command: str) -> None:
    s = await stage(always(bash(command, timeout_ms=500), bash("echo alive"), Reply("I see.")))
    live = await s.open("A")
    _, alive = await ran(s, live)
    assert (alive.outcome, alive.content) == ("ok", "alive")


async def test_the_shell_keeps_its_place_and_its_jobs_from_call_to_call_and_leaves_none_behind(stage: Stages) -> None:
    s = await stage(always(bash("mkdir in; cd in; sleep 7351 &"), bash("pwd; jobs -r | wc -l"), Reply("ok")))
    live = await s.open("A")
    _, second = await ran(s, live)
    assert second.content == f"{s.workspace / 'in'}\n1"
    assert running("sleep 7351")
    await live.close()
    await until(lambda: not running("sleep 7351"), "the end of the background job")


async def test_leaving_a_session_ends_its_shell_too(stage: Stages) -> None:
    s = await stage(always(bash("sleep 7361 & echo started"), Reply("ok")))
    live = await s.open("A")
    await ran(s, live)
    await until(lambda: running("sleep 7361"))
    await live.leave()
    await until(lambda: not running("sleep 7361"), "the end of the background job")


@pytest.mark.parametrize("sandbox", ["off", "auto"])
async def test_no_credential_is_in_what_a_command_sees(
    stage: Stages, monkeypatch: pytest.MonkeyPatch, sandbox: str
) -> None:
    names = ("ANTHROPIC_API_KEY", "ANTHROPIC_CUSTOM", "GITHUB_TOKEN", "DB_PASSWORD", "aws_secret_access_key", "HOUSE")
    for name in names:
        monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv("HARMLESS", "seen by all")
    s = await stage(
        always(bash("env; set"), Reply("ok")),
        settings={"endpoint": {"api_key_env": "HOUSE"}, "tools": {"sandbox": sandbox}},
    )
    live = await s.open("A")
    (ended,) = await ran(s, live)
    assert "seen by all" in str(ended.content)
    assert SECRET not in str(ended.content)


async def test_what_the_operator_stops_or_denies_never_ran(stage: Stages) -> None:
    s = await stage(always(bash("touch ran.txt"), Reply("ok")))
    live = await s.open("A", approve="none")
    (ended,) = await ran(s, live)
    assert ended.outcome == "denied" and not (s.workspace / "ran.txt").exists()
    assert [body.decision for body in bodies(live, ToolAnswered)] == ["deny"]


async def test_a_room_that_demands_a_sandbox_runs_no_command_without_one(
    stage: Stages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.session.seats.sandbox_works", lambda *_, **__: False)
    s = await stage(always(bash("touch ran.txt"), Reply("ok")), settings={"tools": {"sandbox": "required"}})
    live = await s.open("A")
    (ended,) = await ran(s, live)
    assert ended.outcome == "error" and "sandbox" in str(ended.content)
    assert not (s.workspace / "ran.txt").exists()


async def test_in_the_sandbox_a_command_writes_in_the_workspace_and_nowhere_else(stage: Stages, tmp_path: Path) -> None:
    if not sandbox_works(tmp_path, tmp_path, network=True):
        pytest.skip("bubblewrap is not installed here or may not be used")
    s = await stage(
        always(bash(f"echo 1 > own.txt; echo 2 > {tmp_path}/outside.txt"), bash("sleep 7371 & echo ok"), Reply("ok")),
        settings={"tools": {"sandbox": "auto"}},
    )
    live = await s.open("A")
    ended = await ran(s, live)
    assert ended[1].outcome == "ok"
    assert (s.workspace / "own.txt").exists() and not (tmp_path / "outside.txt").exists()
    await live.leave()
    await until(lambda: not running("sleep 7371"), "the end of the background job")


async def test_many_calls_of_one_answer_are_answered_in_their_order(stage: Stages) -> None:
    many = tuple(ToolCall("bash", {"command": f"echo {number}"}) for number in range(12))
    s = await stage(always(Reply(tools=many), Reply("ok")))
    live = await s.open("A")
    assert [body.content for body in await ran(s, live)] == [str(number) for number in range(12)]


async def test_a_tool_result_reaches_p_as_it_stands_in_the_log(stage: Stages) -> None:
    s = await stage(always(bash("printf 'a  b\\n\\n  c'"), Reply("ok")))
    live = await s.open("A")
    (ended,) = await ran(s, live)
    role, block = blocks(s.asked()[-1])[-1]
    assert role == "user" and '"a  b\\n\\n  c"' in block and ended.content == "a  b\n\n  c"
