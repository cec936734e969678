"""What K hears over a long session: windows that do not grow, results shortened, nothing of its own, nothing for P."""

from __future__ import annotations

from statistics import mean

from app.scripted.request import Request
from app.scripted.script import Reply, ToolCall
from app.session.chunks import Ear, shortened
from store.bodies import ChunkGiven, KeeperPassed, MessageEnded
from tests.keeper.room_check import wrong_with
from tests.session.session_plays import Stages, bodies, said

TURNS = 60
WORDS = "the wind and the weather and the way down to the harbour "


def presence(request: Request) -> Reply:
    if request.round == 0:
        return Reply(tools=(ToolCall("bash", {"command": "yes some long output | head -c 6000"}),))
    return Reply(f"{WORDS * 5} Answer to {request.operator_text.split()[0]}.")


def keeper(request: Request) -> Reply:
    """Rewrites one hot line and adds a warm one every turn, as wide as it may."""
    if request.round or "[operator] word" not in request.operator_text:
        return Reply("Nothing to keep.")
    turn = int(request.operator_text.split()[1])
    mark = f"word{turn}"
    line = {"kind": "finding", "text": f"{mark}: {WORDS}", "reason": WORDS, "quote": f"{mark} is said", "turn": turn}
    return Reply(
        text=f"OWN-WORDS of the Keeper in turn {turn}",
        tools=(ToolCall("rewrite_hot", {"lines": [f"at {mark}"]}), ToolCall("add_line", line)),
    )


async def test_what_the_keeper_reads_in_a_pass_does_not_grow_over_sixty_turns(stage: Stages) -> None:
    window = 4
    s = await stage(presence, keeper, settings={"keeper": {"window_turns": window}})
    live = await s.open("C")
    await said(live, *(f"word{turn} is said" for turn in range(1, TURNS + 1)))
    asked = s.asked("keeper")
    assert [body.turns for body in bodies(live, KeeperPassed)] == [(turn,) for turn in range(1, TURNS + 1)]
    sizes = [len(request.raw) for request in asked]
    fixed = len(asked[0].raw)
    # Warm grows until it is full, and a window opens with it: from there on nothing grows any more.
    full = next(n for n, body in enumerate(bodies(live, ChunkGiven)) if n >= window * 3)
    assert max(sizes) < fixed + 20_480 + 2_048 + window * 12_000
    assert mean(sizes[-2 * window :]) < 1.5 * mean(sizes[full : full + 2 * window])
    prompts = [body.usage.prompt for body in bodies(live, MessageEnded, seat="keeper")]
    assert max(prompts[TURNS // 2 :]) < 1.5 * max(prompts[full : TURNS // 2])
    assert max(len(request.messages) for request in asked) <= 2 * window
    assert wrong_with(s.room) == []


async def test_the_keeper_never_hears_its_own_words_nor_what_is_added_for_p(stage: Stages) -> None:
    def talks(request: Request) -> Reply:
        calls = (ToolCall("whisper", {"text": "OWN-WORDS whispered"}), ToolCall("speak", {"text": "OWN-WORDS spoken"}))
        hot = ToolCall("rewrite_hot", {"lines": ["OWN-WORDS hot"]})
        return Reply("OWN-WORDS", tools=(*calls, hot)) if request.round == 0 else Reply("Done.")

    s = await stage(lambda _: Reply("Well."), talks)
    live = await s.open("D")
    await said(live, "one", "two", "three")
    assert "OWN-WORDS hot" in s.asked()[-1].raw.decode(), "P was shown them"
    chunks = [body.text for body in bodies(live, ChunkGiven)]
    assert len(chunks) == 3
    assert not any("OWN-WORDS" in text or "two-twins" in text or "colleague" in text for text in chunks)


async def test_a_letter_is_never_heard_by_the_keeper(stage: Stages) -> None:
    s = await stage(lambda asked: Reply("LETTER-WORDS" if "Write your" in asked.operator_text else "Well."))
    live = await s.open("B")
    await said(live, "one")
    await live.close()
    assert all("LETTER-WORDS" not in request.raw.decode() for request in s.asked("keeper"))


def test_a_shortened_result_keeps_head_and_tail_and_says_how_much_is_left_out() -> None:
    text = "".join(f"{number:05d}\n" for number in range(10_000))
    short = shortened(text, 1_200)
    head, _, rest = short.partition(" […")
    left_out, _, tail = rest.partition(" bytes left out…] ")
    assert text.startswith(head) and text.endswith(tail)
    assert len(head) + len(tail) + int(left_out.replace(",", "")) == len(text)
    assert Ear(1_200).chunk([1]) == ""
