"""The script: every line of the tour is answered once, every quote stands verbatim where it is said to stand."""

import re
from itertools import combinations

import pytest
from tour_plays import SCRIPT, SESSIONS, TOUR, Session, beats_for, seat

from store.wording import near_duplicate

EVERY_SESSION = pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.task["name"])


def all_replies(name: str):
    return [(beat, reply) for beat in seat(name).beats for reply in beat.replies]


def folded(text: str) -> str:
    return " ".join(text.split())


@EVERY_SESSION
def test_each_line_of_the_tour_has_exactly_one_answer_and_the_script_no_other(session: Session) -> None:
    for line in session.lines:
        assert len(beats_for("presence", line)) == 1, line
    lines = [line for each in SESSIONS for line in each.lines]
    assert len(set(lines)) == len(lines)
    for name in ("presence", "keeper"):
        for beat in seat(name).beats:
            assert beat.when.startswith("^Write your") or sum(beat.matches(line) for line in lines) == 1, beat.when


def test_no_scripted_text_of_the_presence_is_empty_and_no_keeper_reply_does_nothing() -> None:
    for beat, reply in all_replies("presence"):
        assert reply.text.strip(), beat.when
    for beat, reply in all_replies("keeper"):
        assert reply.tools, beat.when
    assert "scripted" in seat("presence").otherwise.text
    for word in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "`twins init`", "`twins run`"):
        assert word in seat("presence").otherwise.text
    assert seat("keeper").every_match and not seat("presence").every_match
    assert SCRIPT.reader is not None


def test_a_turn_ends_with_words_and_never_with_a_tool_call() -> None:
    for beat in seat("presence").beats:
        assert not beat.replies[-1].tools, beat.when
        assert all(reply.tools for reply in beat.replies[:-1]), beat.when


@EVERY_SESSION
def test_tools_fail_only_where_the_output_test_finds_the_fault(session: Session, played) -> None:
    turns, _ = played(session)
    calls = [call for turn in turns for call in turn.calls]
    failed = [(name, given) for name, given, wrong, _ in calls if wrong]
    region = session.task["name"].upper()
    assert failed == [("bash", {"command": f"python3 output_test.py --region {region}"})]
    assert any(result == f"output test: {region} passed ({n} meetings)" for *_, result in calls for n in (36, 38))


@EVERY_SESSION
def test_every_quote_stands_verbatim_in_its_turn(session: Session, played) -> None:
    turns, _ = played(session)
    seen = 0
    for turn in turns:
        for beat in beats_for("keeper", turn.chunk):
            for call in beat.replies[0].tools:
                quote = call.input.get("quote")
                if quote is None:
                    assert call.name == "rewrite_hot", call
                    continue
                seen += 1
                assert call.input.get("turn", turn.number) == turn.number
                sources = [turn.operator]
                if call.input.get("kind") != "decision":
                    sources += [*turn.texts, *(result for *_, result in turn.calls)]
                assert any(folded(str(quote)) in folded(source) for source in sources), quote
    assert seen >= 4


@EVERY_SESSION
def test_a_keeper_beat_hears_its_own_turn_only(session: Session, played) -> None:
    turns, _ = played(session)
    for turn in turns:
        assert beats_for("keeper", turn.chunk) == beats_for("keeper", turn.operator)
    whole = "\n\n".join(turn.chunk for turn in turns)  # a Keeper that is behind hears all at once, in order
    assert list(beats_for("keeper", whole)) == [b for turn in turns for b in beats_for("keeper", turn.chunk)]


def test_every_line_that_the_keeper_names_by_its_words_was_written_before() -> None:
    written: list[str] = []
    kinds: list[str] = []
    for beat, reply in all_replies("keeper"):
        for call in reply.tools:
            kinds.append(call.name)
            named = re.search(r"\{\{line:(.*?)\}\}", str(call.input.get("id", "")))
            if call.name in ("edit_line", "touch_line"):
                assert named, call
                found = [text for text in written if named.group(1) in text]
                assert len(found) == 1, (named.group(1), beat.when)
                if call.name == "edit_line":
                    written.remove(found[0])
            if call.name in ("add_line", "edit_line"):
                assert str(call.input["reason"]).strip()
                written.append(str(call.input["text"]))
    assert {"add_line", "edit_line", "touch_line", "rewrite_hot"} <= set(kinds)
    in_presence = re.findall(r"\{\{line:(.*?)\}\}", " ".join(reply.text for _, reply in all_replies("presence")))
    assert in_presence and all(sum(words in text for text in written) == 1 for words in in_presence)


def test_the_diffs_that_the_presence_shows_are_the_edits_that_it_makes() -> None:
    shown = []
    for _, reply in all_replies("presence"):
        for fence in re.findall(r"```diff\n--- (\S+)\n\+\+\+ (\S+)\n(.*?)```", reply.text, re.DOTALL):
            assert fence[0] == fence[1]
            minus = [line[1:] for line in fence[2].splitlines() if line.startswith("-")]
            plus = [line[1:] for line in fence[2].splitlines() if line.startswith("+")]
            shown.append((fence[0], minus, plus))
    made = [
        (call.input["file_path"], call.input["old_string"].splitlines(), call.input["new_string"].splitlines())
        for _, reply in all_replies("presence")
        for call in reply.tools
        if call.name == "edit" and call.input["file_path"] != "NOTES.md"
    ]
    assert shown == made and len(made) == 2


def test_the_second_session_begins_with_the_output_test_and_the_first_does_not(played) -> None:
    first, second = (played(session)[0] for session in SESSIONS)
    assert second[0].calls[0][:2] == ("bash", {"command": "python3 output_test.py --region BR"})
    assert not any("output_test.py" in str(given) for _, given, _, _ in first[0].calls)


@pytest.mark.parametrize("which", ["letter", "handoff"])
def test_letters_and_handoffs_are_signed_reasoned_and_the_region_is_told_by_the_request(which: str) -> None:
    for words, own, other in (("Kelvarra's clocks", "kv", "br.json"), ("Brindelow's meetings", "br", "kv.json")):
        beat = beats_for("presence", f"Write your {which} to the one who wakes next.\nTask: {words}")[0]
        (reply,) = beat.replies
        assert reply.text.rstrip().endswith("— Presence, scripted")
        assert "because" in reply.text and f"out/{other}" not in reply.text
        assert f"data/{own}" in reply.text or f"out/{own}.json" in reply.text
    plain = beats_for("presence", f"Write your {which} to the one who wakes next.")
    assert len(plain) == 1 and not re.search("Kelvarra|Brindelow", plain[0].replies[0].text)
    assert "output test" in plain[0].replies[0].text and plain[0].replies[0].text.rstrip().endswith(
        "— Presence, scripted"
    )


def test_no_scripted_word_writes_a_date_or_a_machine_path() -> None:
    for file in TOUR.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            text = file.read_text(encoding="utf-8")
            assert not re.search(r"\b20\d\d-\d\d-\d\d\b|/(?:home|root|tmp|Users)/", text), file


def test_the_operators_lines_do_not_give_the_first_action_away_before_it_is_done() -> None:
    for session in SESSIONS:
        told = re.compile(session.task["first_action"]["told_pattern"], re.IGNORECASE)
        done = re.compile(session.task["first_action"]["pattern"], re.IGNORECASE)
        for line in session.lines:
            assert not told.search(line), line
            calls = [call for beat in beats_for("presence", line) for reply in beat.replies for call in reply.tools]
            if any(done.search(str(call.input.get("command", ""))) for call in calls):
                break
        else:
            pytest.fail(f"{session.task['name']} never takes its first action")


def test_kept_lines_say_different_things() -> None:
    texts = [str(c.input["text"]) for _, r in all_replies("keeper") for c in r.tools if c.name == "add_line"]
    for one, two in combinations(texts, 2):
        assert not near_duplicate(one, two), (one, two)
