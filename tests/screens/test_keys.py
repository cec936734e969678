"""The operator's own keys: what room.toml may say, and what is said of that which cannot hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from screen_plays import playing, speaks

from app.screens.keymap import checked_keys, places
from store.bodies import BreakMarked
from store.settings import parse_settings

HEAD = 'format = 1\noperator = "Ada"\n'


def test_the_usual_keys_do_not_clash() -> None:
    kept, wrong = checked_keys({place.id: ",".join(sorted(place.keys)) for place in places()})
    assert not wrong and len(kept) == len({place.id for place in places()})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mark_brake": "f6"}, "did you mean mark_break?"),
        ({"zzz": "f6"}, "F1 lists the actions"),
        ({"mark_break": "ctrl+foo"}, "'ctrl+foo'"),
        ({"mark_break": ""}, "write a key like"),
        ({"mark_break": "ctrl+e"}, "mark_break and export would both be on ctrl+e"),
        ({"mark_break": "ctrl+y", "export": "ctrl+y"}, "would both be on ctrl+y"),
        ({"tiers.promote": "r"}, "tiers.promote and tiers.retire would both be on r"),
        ({"chat.copy": "ctrl+e"}, "chat.copy and export would both be on ctrl+e"),
    ],
)
def test_what_cannot_hold_is_said_once_and_keeps_its_usual_key(given: dict[str, str], said: str) -> None:
    kept, wrong = checked_keys(given)
    assert len(wrong) == 1 and said in wrong[0] and len(kept) == len(given) - 1


@pytest.mark.parametrize(
    "given",
    [
        {"mark_break": "ctrl+e", "export": "ctrl+b"},  # changed places
        {"tiers.promote": "c"},  # another widget's c is not in the way
        {"list.up": "up,w"},
        {"mark_break": "question_mark"},
    ],
)
def test_keys_that_meet_nowhere_hold(given: dict[str, str]) -> None:
    assert checked_keys(given) == (given, ())


def test_an_action_of_a_widget_is_named_with_its_dot_as_toml_reads_it() -> None:
    keys = parse_settings(HEAD + '[keys]\ntiers.promote = "k"\n"chat.copy" = "c"\nmark_break = "f6"\n').keys
    assert keys == {"tiers.promote": "k", "chat.copy": "c", "mark_break": "f6"}


async def test_own_keys_act_are_in_the_help_and_wrong_ones_are_told_on_screen(tmp_path: Path) -> None:
    toml = '[keys] => [keys]\nmark_break = "f7"\nundo_last = "ctrl+b"\nexport = "f7"\nnothing = "x"\n'
    async with playing(tmp_path, speaks(), toml=toml) as play:
        await play.until(lambda: len([note for note in play.told() if "[keys]" in note]) == 2)
        await play.press("f7")
        await play.until(lambda: play.bodies(BreakMarked))
        await play.press("f1")
        await play.until_seen("Keys and actions")
        rows = [row for row in play.seen().splitlines() if "natural break" in row]
        assert rows and "F7" in rows[0]
