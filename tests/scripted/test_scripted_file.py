"""Scripts read from TOML: what they mean, and what is said about one that can not be played."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripted_plays import HELLO, Play

from app.scripted.script import SCRIPTED_NOTICE, SeatScript, ToolCall
from app.scripted.script_file import ScriptError, load_script

WHOLE = """
[presence]
otherwise = "I am scripted."
[[presence.beat]]
when = "(?i)hello"
[[presence.beat.reply]]
text = "Looking."
pace = 60
delay_s = 0.5
thinking = "hm"
[[presence.beat.reply.tool]]
name = "bash"
input = { command = "python output_test.py --region KV", times = 2 }
[[presence.beat.reply]]
text = "It says {{last_tool}}"
[keeper]
every_match = true
otherwise = ""
[[keeper.beat]]
when = "diff"
[[keeper.beat.reply]]
[[keeper.beat.reply.tool]]
name = "add_line"
input = { kind = "decision", turn = 2 }
"""


def written(folder: Path, script: str | bytes) -> Path:
    path = folder / "script.toml"
    path.write_bytes(script if isinstance(script, bytes) else script.encode())
    return path


async def test_a_script_file_is_played_as_written(play: Play, tmp_path: Path) -> None:
    script = load_script(written(tmp_path, WHOLE))
    assert isinstance(script.presence, SeatScript) and isinstance(script.keeper, SeatScript)
    first, second = script.presence.beats[0].replies
    assert (first.pace, first.delay_s, first.thinking) == (60, 0.5, "hm")
    assert first.tools == (ToolCall("bash", {"command": "python output_test.py --region KV", "times": 2}),)
    assert second.text == "It says {{last_tool}}"
    assert script.keeper.every_match and script.keeper.otherwise.text == ""
    _, client = await play(script, ignore_pace=True)
    message = await client.messages.create(**HELLO)
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]


def test_an_empty_script_file_says_that_every_seat_is_scripted(tmp_path: Path) -> None:
    script = load_script(written(tmp_path, ""))
    assert isinstance(script.reader, SeatScript)
    assert script.reader.otherwise.text == SCRIPTED_NOTICE


BAD: list[tuple[str, str | bytes]] = [
    ("not valid TOML", "[presence"),
    ("not UTF-8 at byte 1", b"#\xff"),
    ("presence.beat.0.when: '\\(' is no regular", '[[presence.beat]]\nwhen="("\n[[presence.beat.reply]]\ntext="x"'),
    ("presence.beat.0.reply: field required", '[[presence.beat]]\nwhen="x"'),
    ("presence.beats: extra inputs", '[presence]\nbeats="x"'),
    ("keeper.beat.0.reply.0.pace", '[[keeper.beat]]\nwhen="x"\n[[keeper.beat.reply]]\npace=0'),
    ("keeper.beat.0.reply.0.tool.0.name", '[[keeper.beat]]\nwhen="x"\n[[keeper.beat.reply]]\ntool=[{}]'),
    ("author: extra inputs", "[author]\n"),
]


@pytest.mark.parametrize(("complaint", "script"), BAD)
def test_a_script_that_can_not_be_played_is_refused_in_one_line_with_file_and_key(
    tmp_path: Path, complaint: str, script: str | bytes
) -> None:
    with pytest.raises(ScriptError, match=complaint) as caught:
        load_script(written(tmp_path, script))
    assert str(caught.value).startswith(f"{tmp_path / 'script.toml'}: ")
    assert "\n" not in str(caught.value)


def test_a_script_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match=r"none.toml: can not be read \(No such file"):
        load_script(tmp_path / "none.toml")
