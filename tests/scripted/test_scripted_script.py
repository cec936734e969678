"""Which reply a script chooses for a request, and how templates in it are filled."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_plays import HELLO, Play

from app.scripted.request import ENGINE_MARK, JsonObject, Request
from app.scripted.script import NOTHING_MORE, SCRIPTED_NOTICE, Beat, Reply, Script, SeatScript, ToolCall

RESULT = {"type": "tool_result", "tool_use_id": "t", "content": "ran"}


def request(*contents: Any, system: Any = None) -> Request:
    """A request whose messages alternate from the user, of these contents."""
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": content} for n, content in enumerate(contents)]
    body: JsonObject = {"messages": messages} | ({"system": system} if system else {})
    return Request("/v1/messages", "presence", body, b"", 0.0, {})


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


LOOK = SeatScript(
    (
        Beat("look", (Reply("first"), Reply("second"))),
        Beat("look around", (Reply("never reached"),)),
        Beat("", (Reply("anything"),)),
    )
)


def test_the_first_beat_that_matches_the_last_operator_text_is_played() -> None:
    assert LOOK.reply(request("please look around")).text == "first"
    assert LOOK.reply(request("please look", "yes", "stop")).text == "anything"


def test_the_reply_follows_from_the_answers_since_the_operator_spoke() -> None:
    assert LOOK.reply(request("old", "old answer", "look")).text == "first"
    assert LOOK.reply(request("look", [text("first")], [RESULT])).text == "second"
    assert LOOK.reply(request("look", "a", [RESULT], "b", [RESULT])) == NOTHING_MORE


def test_only_the_operators_own_text_the_last_block_is_matched() -> None:
    packet = "a letter that says look"
    assert LOOK.reply(request([text(packet), text("hello")])).text == "anything"
    assert LOOK.reply(request([RESULT, text("look")])).text == "first"


def test_a_block_that_the_engine_adds_is_neither_matched_nor_a_new_turn() -> None:
    added = text(f"{ENGINE_MARK}hot>\nlook here\n</two-twins>")
    assert LOOK.reply(request([text("hello"), added])).text == "anything"
    assert LOOK.reply(request("look", "first", [RESULT, added])).text == "second"


def test_what_no_beat_matches_gets_the_scripts_otherwise() -> None:
    seat = SeatScript((Beat("^never$", (Reply("no"),)),), otherwise=Reply("otherwise"))
    assert seat.reply(request("hello")).text == "otherwise"
    assert Script().reply(request("hello")).text == SCRIPTED_NOTICE
    assert seat.reply(request("hello", "called a tool", [RESULT])) == NOTHING_MORE


def test_with_every_match_all_matching_beats_are_merged_in_order_round_by_round() -> None:
    calls = [ToolCall("touch", {"n": n}) for n in range(4)]
    seat = SeatScript(
        (
            Beat("tea", (Reply("one", tools=(calls[0],)), Reply("later"))),
            Beat("coffee", (Reply("not this", tools=(calls[1],)),)),
            Beat("cup", (Reply("two", tools=(calls[2], calls[3])),)),
        ),
        every_match=True,
    )
    first = seat.reply(request("a cup of tea"))
    assert first.text == "one\n\ntwo"
    assert first.tools == (calls[0], calls[2], calls[3])
    assert seat.reply(request("a cup of tea", "x", [RESULT])).text == "later"
    assert seat.reply(request("a cup", "x", [RESULT])) == NOTHING_MORE


@given(st.lists(st.sampled_from(["look", "hello", "x"]), min_size=1, max_size=4), st.integers(0, 3))
def test_the_same_request_always_gets_the_same_reply(said: list[str], rounds: int) -> None:
    turns = [part for words in said[:-1] for part in (words, "answer")]
    loop = [part for _ in range(rounds) for part in ("call", [RESULT])]
    asked = request(*turns, said[-1], *loop)
    assert asked.round == rounds
    assert LOOK.reply(asked) == LOOK.reply(asked)


def filled(template: str, asked: Request) -> str:
    return Script(presence=lambda _: Reply(template)).reply(asked).text


LINES = "# warm\n[L3 trap p4 turn 2] The relay  is off by a day\n[L12 decision p5] Show the diff (see L3)\n"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("relay is off", "L3"),
        ("RELAY IS OFF", "L3"),
        ("the diff", "L12"),
        ("see l3", "L12"),
        ("no such", ""),
        ("", ""),
    ],
)
def test_a_line_is_named_by_words_of_its_rendered_form(words: str, found: str) -> None:
    assert filled("{{line:" + words + "}}", request([text(LINES), text("hi")])) == found
    assert filled("{{line:" + words + "}}", request("hi", system=LINES)) == found


def test_the_latest_mention_of_a_line_counts_also_in_tool_results() -> None:
    result = {**RESULT, "content": [text("added L4 to warm: the relay is off, like L3")]}
    assert filled("{{line:relay is off}}", request(LINES, "x", [result])) == "L4"
    assert filled("{{line:relay is off}}", request(LINES, "x", [result], "x", LINES)) == "L3"


def test_templates_are_filled_in_tool_inputs_at_any_depth_and_unknown_ones_vanish() -> None:
    call = ToolCall("edit", {"keep": ["{{line:relay}}", {"deep": "<{{ last_tool }}>"}], "n": 1, "x": "a{{what}}b"})
    reply = Script(presence=lambda _: Reply(tools=(call,))).reply(request(LINES, "x", [RESULT]))
    assert reply.tools[0].input == {"keep": ["L3", {"deep": "<ran>"}], "n": 1, "x": "ab"}


def test_what_a_tool_printed_is_put_in_once_and_not_read_as_a_template() -> None:
    result = {**RESULT, "content": "{{line:relay}}"}
    assert filled("got {{last_tool}}", request(LINES, "x", [result])) == "got {{line:relay}}"


async def test_a_retry_and_a_restarted_server_play_the_same_reply(play: Play) -> None:
    said = []
    for _ in range(2):
        _, client = await play(LOOK)
        for _ in range(2):
            messages = [{"role": "user", "content": "look"}, *HELLO["messages"]]
            said.append((await client.messages.create(**{**HELLO, "messages": messages})).content[0].text)
    assert set(said) == {"anything"}
