"""Files that a person writes: settings, tasks, conditions. What is wrong is one sentence that says where."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import briefs
from store.conditions import ConditionError, condition_named, load_conditions
from store.settings import Settings, SettingsError, load_settings, parse_settings, room_toml
from store.tasks import TaskError, load_task

HEAD = 'format = 1\noperator = "Derick"\n'


# ---------------------------------------------------------------- room.toml


@given(st.text(min_size=1), st.text(min_size=1))
def test_the_file_of_a_new_room_gives_the_defaults_whatever_the_operator_is_called(operator: str, model: str) -> None:
    operator, model = (text.encode("utf-8", "replace").decode() for text in (operator, model))
    made = parse_settings(room_toml(operator, model))
    assert made == parse_settings(room_toml("x")).model_copy(
        update={"operator": operator, "endpoint": made.endpoint.model_copy(update={"model": model})}
    )


def test_the_file_of_a_new_room_names_every_key_with_its_default_under_a_comment() -> None:
    text = room_toml("Derick")
    assert parse_settings(text) == Settings(format=1, operator="Derick")
    lines = text.splitlines()
    for section, model in Settings.model_fields.items():
        inner = getattr(model.annotation, "model_fields", None)
        if inner is None:
            continue
        body = text.split(f"[{section}]\n")[1].split("\n[")[0]
        for key in inner:
            assert re.search(rf"^{key} = ", body, re.MULTILINE), f"{section}.{key}"
    for number, line in enumerate(lines):
        if re.match(r"\w+ = ", line):
            above = next(text for text in reversed(lines[:number]) if not re.match(r"\w+ = ", text))
            assert above.startswith("#"), line


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (HEAD + '\n[keeper]\nmax_usd = "a"\n', "room.toml line 5: keeper.max_usd: must be a number"),
        (HEAD + "[keeper]\nmax_usd = -1\n", "room.toml line 4: keeper.max_usd: must be at least 0.0"),
        (HEAD + "[keeper]\nmax_usd = nan\n", "room.toml line 4: keeper.max_usd: must be a finite number"),
        (HEAD + "[keeper]\nwindow_turns = 1.5\n", "room.toml line 4: keeper.window_turns: must be a whole number"),
        (HEAD + "[endpoint]\nidle_timeout_s = 0\n", "room.toml line 4: endpoint.idle_timeout_s: must be more than 0"),
        (HEAD + "endpoint.max_tokens = true\n", "room.toml line 3: endpoint.max_tokens: must be a whole number"),
        (HEAD + "endpoint = 3\n", "room.toml line 3: endpoint: must be a section of keys"),
        (HEAD + '[tools]\nallow = "edit"\n', "room.toml line 4: tools.allow: must be a list of texts"),
        (HEAD + "[tools]\nnetwork = 1\n", "room.toml line 4: tools.network: must be true or false"),
        (HEAD + "[tools]\nallow = [\n 'a',\n 1]\n", "room.toml line 4: tools.allow: must be text in quotes"),
        (
            HEAD + '[tools]\napprov = "ask"\n',
            "room.toml line 4: tools.approv: is not a key here; did you mean ",
        ),
        (HEAD + "[tool]\n", "room.toml line 3: tool: is not a key here; did you mean tools?"),
        (HEAD + '[mcp.a]\nargs = ["x"]\ncommand=["x"]', "room.toml line 4: mcp.a.args: is not a key here; "),
        (HEAD + "[mcp.a]\n", "room.toml line 3: mcp.a: needs either a command (a list of words) or a url"),
        (HEAD + '[session]\ncache_ttl = "2h"\n', "room.toml line 4: session.cache_ttl: must be '5m' or '1h'"),
        ("format = 1\n", "room.toml: operator: is missing; add it"),
        ('format = 1\noperator = ""\n', "room.toml line 2: operator: must not be empty"),
        (HEAD + "[tools\n", "room.toml line 3, column 7: is no TOML: "),
        (HEAD + "[a]\n[a]\n", "room.toml line 4, column 3: is no TOML: "),
        ("format = 7\n", "this room has format 7, and this program reads formats up to 1; update two-twins"),
    ],
)
def test_what_is_wrong_in_the_settings_is_one_sentence_with_line_and_key(text: str, sentence: str) -> None:
    with pytest.raises(SettingsError) as raised:
        parse_settings(text)
    assert str(raised.value).startswith(sentence)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "line",
    [
        'api_key_env = "sk-ant-api03-SECRET"',
        'base_url = "https://user:SECRET@host/v1"',
        'base_url = "https://host/v1?key=SECRET"',
        'base_url = "SECRET"',
        'thinking = "SECRET"',
        'max_tokens = "SECRET"',
    ],
)
def test_a_key_pasted_into_the_settings_is_refused_and_never_repeated(line: str) -> None:
    with pytest.raises(SettingsError) as raised:
        parse_settings(HEAD + "[endpoint]\n" + line)
    assert "SECRET" not in str(raised.value)
    assert "line 4" in str(raised.value)


def test_the_settings_that_a_log_keeps_hold_no_commands_or_addresses_of_servers() -> None:
    settings = parse_settings(
        HEAD + '[mcp.files]\ncommand = ["serve", "--token", "SECRET"]\n[mcp.b]\nurl = "http://SECRET"'
    )
    assert "SECRET" not in str(settings.public())
    assert settings.public()["mcp"] == ["files", "b"]
    assert settings.mcp["files"].command == ("serve", "--token", "SECRET")


def test_settings_that_are_not_utf_8_or_not_there_are_told(tmp_path: Path) -> None:
    (tmp_path / "room.toml").write_bytes(b'operator = "\xff"')
    with pytest.raises(SettingsError, match=r"not UTF-8 \(byte 12\)"):
        load_settings(tmp_path / "room.toml")
    with pytest.raises(SettingsError, match="there is no file"):
        load_settings(tmp_path / "none.toml")


# ---------------------------------------------------------------- tasks

TASK = """\
name = "kv"
title = "Kelvarra's clocks"
workspace = "work"
brief = "Find out why."
[first_action]
tool = "bash"
pattern = 'output_test.*--region\\s+KV'
told_pattern = '--region'
[breaks]
ship = '\\bgit push\\b'
"""


@pytest.fixture
def task_file(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "kv.toml"


def test_a_task_is_read_with_its_workspace_beside_it(task_file: Path) -> None:
    task_file.write_text(TASK)
    task = load_task(task_file)
    assert task.workspace == (task_file.parent / "work").resolve()
    assert task.record.first_action.pattern == r"output_test.*--region\s+KV"
    assert task.record.breaks == {"ship": r"\bgit push\b"}


@pytest.mark.parametrize("name", ["kv", "br"])
def test_the_tasks_of_the_tour_can_be_loaded(name: str) -> None:
    assert load_task(Path(briefs.__file__).parent / "tour" / "tasks" / f"{name}.toml").record.name == name


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("[first_action]", "[other]", "kv.toml has no [first_action] with its tool and pattern"),
        (
            "pattern = 'output",
            "patterns = 'output",
            "kv.toml line 7: first_action.patterns: is not a key here; did you mean pattern?",
        ),
        ("'output_test.*--region\\s+KV'", "''", "kv.toml line 7: first_action.pattern: must not be empty"),
        ("'output_test.*--region\\s+KV'", "'('", "kv.toml line 7: first_action.pattern: is no regular expression"),
        ("'--region'", "'['", "kv.toml line 8: first_action.told_pattern: is no regular expression"),
        ("'\\bgit push\\b'", "'*'", "kv.toml line 10: breaks.ship: is no regular expression"),
        ("'\\bgit push\\b'", "''", "kv.toml line 10: breaks.ship: must not be empty"),
        ('"work"', '"nowhere"', "kv.toml: workspace: there is no folder "),
        ("brief =", "breif =", "kv.toml line 4: breif: is not a key here; did you mean brief?"),
        ("title =", 'nmae = "x"\ntitle =', "kv.toml line 2: nmae: is not a key here; did you mean name?"),
        ("name = ", "name : ", "kv.toml line 1, column 6: is no TOML"),
    ],
)
def test_what_is_wrong_in_a_task_is_one_sentence(task_file: Path, old: str, new: str, sentence: str) -> None:
    assert old in TASK
    task_file.write_text(TASK.replace(old, new, 1))
    with pytest.raises(TaskError) as raised:
        load_task(task_file)
    assert str(raised.value).startswith(sentence)
    assert "\n" not in str(raised.value)


def test_a_task_that_is_not_there_or_not_utf_8_is_told(task_file: Path) -> None:
    with pytest.raises(TaskError, match="there is no file"):
        load_task(task_file)
    task_file.write_bytes(TASK.encode("utf-16"))
    with pytest.raises(TaskError, match=r"kv\.toml is not UTF-8"):
        load_task(task_file)


# ---------------------------------------------------------------- conditions


def test_the_shipped_conditions_are_those_of_the_design() -> None:
    flags = {
        name: "".join(
            mark if flag else "-"
            for mark, flag in zip(
                "khwsn", (one.keeper, one.hot_each_turn, one.whisper, one.speak, one.write_snug), strict=True
            )
        )
        for name, one in load_conditions().items()
    }
    assert flags == {"A": "-----", "B": "k----", "C": "khw--", "D": "khws-", "E": "k---n"}
    handed = {name: one.successor for name, one in load_conditions().items()}
    assert handed["A"] == ("letters", "handoff")
    assert {handed[name] for name in "BCDE"} == {("letters", "handoff", "hot", "warm", "cold")}


def test_an_operator_adds_conditions_of_their_own_and_may_redefine_one(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'format = 1\n[conditions.F]\ntitle = "mine"\nkeeper = true\nsuccessor = ["warm"]\n'
        '[conditions.A]\ntitle = "none at all"\nkeeper = false\nsuccessor = []\n'
    )
    assert set(load_conditions(own)) == {"F", "A"}
    shipped = Path(briefs.__file__).with_name("conditions.toml")
    both = load_conditions(shipped, own)
    assert list(both) == ["A", "B", "C", "D", "E", "F"]
    assert both["A"].title == "none at all"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("keeper = 1\nsuccessor = []", "own.toml line 4: conditions.F.keeper: must be true or false"),
        (
            "keeper = false\nwhisper = true\nsuccessor = []",
            "own.toml line 2: conditions.F: whisper needs keeper",
        ),
        ('keeper = true\nsuccessor = ["letter"]', "own.toml line 5: conditions.F.successor: must be 'letters', "),
        ("keeper = true\nsuccesor = []", "own.toml line 5: conditions.F.succesor: is not a key here; did you mean "),
    ],
)
def test_what_is_wrong_in_a_condition_is_one_sentence(tmp_path: Path, body: str, sentence: str) -> None:
    own = tmp_path / "own.toml"
    own.write_text(f'format = 1\n[conditions.F]\ntitle = "mine"\n{body}\n')
    with pytest.raises(ConditionError) as raised:
        load_conditions(own)
    assert str(raised.value).startswith(sentence)


def test_a_condition_that_does_not_exist_is_answered_with_those_that_do() -> None:
    with pytest.raises(ConditionError, match=r"no condition 'Z'; choose one of A \(letters only\), B .*E"):
        condition_named(load_conditions(), "Z")
