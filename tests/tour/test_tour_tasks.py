"""The task files: the first right action is known in any spelling, and nothing else passes for it."""

import re

import pytest
from tour_plays import SESSIONS

# {R} is the task's region, {r} the same in small letters, {O} the other region.
RIGHT = [
    "python output_test.py --region {R}",
    "python3 ./output_test.py --region={R}",
    'python3 output_test.py --region "{R}"',
    "python3 output_test.py --region='{r}'",
    "python3 output_test.py '--region={r}'",
    'python3  "output_test.py"   --region   {r}  ',
    "cd finder/.. && python output_test.py --region {R}",
    'cd "a b/c"; python3 ./output_test.py --region {R} 2>&1 | tail -20',
    "python3.12 -B output_test.py --region {r}; echo $?",
    "python3 -m output_test --region {R}",
    "./output_test.py --region {R}",
    "PYTHONPATH=. python3 output_test.py --region {R}",
    "env X=1 timeout 30 python3 output_test.py --region {R}",
    "(python3 output_test.py --region {R})",
    "if ! python3 output_test.py --region {R}; then ls; fi",
    'bash -c "cd x && python3 output_test.py --region {R}"',
    "bash -lc 'python output_test.py --region={R}'",
    "ls # a look first\npython3 output_test.py --region {R}",
    "python3 output_test.py \\\n  --region {R}",
    "python3 output_test.py --verbose --region {R}",
    "python3 output_test.py --region {O}; python3 output_test.py --region {R}",
    "/usr/bin/python3 output_test.py --region {R}>log",
]
WRONG = [
    "python output_test.py --region {O}",
    "python output_test.py --region {R}X",
    "python output_test.py --region X{R}",
    "python output_test.py --region {O} # --region {R}",
    "python output_test.py --region {R} --region {O}",
    "python output_test.py",
    "cat output_test.py --region {R}",
    'echo "python output_test.py --region {R}"',
    'echo "a; python output_test.py --region {R}"',
    "grep -n 'output_test.py --region {R}' NOTES.md",
    "grep -rn output_test.py .",
    "# python3 output_test.py --region {R}",
    "ls # ; python3 output_test.py --region {R}",
    "python3 apply.py --region {R}",
    "python3 not_output_test.py --region {R}",
    "python3 output_test.py; echo --region {R}",
    "python3 -c \"print('output_test.py --region {R}')\"",
    "python3 output_test.py.bak --region {R}",
    "sed -n 1,20p output_test.py",
]
REGIONS = {"kv": ("KV", "BR"), "br": ("BR", "KV")}
EVERY_TASK = pytest.mark.parametrize("task", [s.task for s in SESSIONS], ids=lambda task: task["name"])


def spelled(command: str, task: dict) -> str:
    own, other = REGIONS[task["name"]]
    return command.replace("{R}", own).replace("{r}", own.lower()).replace("{O}", other)


@EVERY_TASK
@pytest.mark.parametrize("command", RIGHT)
def test_the_first_action_is_known_in_any_spelling(task: dict, command: str) -> None:
    assert re.search(task["first_action"]["pattern"], spelled(command, task))
    assert task["first_action"]["tool"] == "bash"


@EVERY_TASK
@pytest.mark.parametrize("command", WRONG)
def test_the_wrong_region_and_mere_mentions_are_not_the_first_action(task: dict, command: str) -> None:
    assert not re.search(task["first_action"]["pattern"], spelled(command, task))


@EVERY_TASK
@pytest.mark.parametrize(
    "line",
    ["Run the output test for it.", "try output_test.py", "please run its tests", "use --region BR", "the Output-Test"],
)
def test_an_operator_who_names_the_test_gave_it_away(task: dict, line: str) -> None:
    assert re.search(task["first_action"]["told_pattern"], line)


@EVERY_TASK
@pytest.mark.parametrize(
    "line", ["Begin where you think best.", "The brunch was a detested run.", "Which region is it?"]
)
def test_ordinary_words_do_not_give_it_away(task: dict, line: str) -> None:
    assert not re.search(task["first_action"]["told_pattern"], line)


@EVERY_TASK
def test_the_brief_of_the_task_does_not_give_it_away_either(task: dict) -> None:
    assert not re.search(task["first_action"]["told_pattern"], task["brief"])


@EVERY_TASK
def test_the_first_action_pattern_does_not_hang_on_long_commands(task: dict) -> None:
    for long in (
        "echo 'a' \"b\" # c\n" * 4000 + "python3 output_test.py --x",
        "python3 output_test.py " + "--x y " * 4000,
        "A=1 " * 4000 + "cat",
        "; " * 4000,
        "python3 " + "-B " * 4000 + "\\" * 4001,
        '"' + "a; " * 4000,
    ):
        assert not re.search(task["first_action"]["pattern"], long)


@EVERY_TASK
def test_natural_breaks_are_commands_that_run(task: dict) -> None:
    breaks = {name: re.compile(pattern) for name, pattern in task["breaks"].items()}
    assert set(breaks) == {"output_test", "apply", "ship"}
    for name, program in (("output_test", "output_test.py"), ("apply", "apply.py")):
        for command in (
            f"python3 {program} --region KV",
            f"cd x && python3 -B ./{program} --region=br",
            f"./{program} --region KV",
        ):
            assert breaks[name].search(command), command
        for command in (f"cat {program}", f"grep -n '{program} --region' NOTES.md", f"python3 my{program} --region KV"):
            assert not breaks[name].search(command), command
    assert breaks["ship"].search("git add . && git push") and not breaks["ship"].search("git log")
