"""The tools' questions on screen: each answer reaches the engine, one question after the other, none is left over."""

from pathlib import Path

from screen_plays import Play, beat, playing, speaks

from app.scripted.script import Reply, ToolCall
from store.bodies import ToolAnswered, ToolEnded, TurnEnded
from widgets.dialogs import ApprovalDialog


def asks(*commands: str) -> Reply:
    return Reply(text="Let me see.", tools=tuple(ToolCall("bash", {"command": command}) for command in commands))


DONE = Reply(text="That was all.")


async def question(play: Play, shown: str) -> None:
    """Wait for the question about ``shown``, and until it takes keys."""
    await play.until(lambda: isinstance(play.app.screen, ApprovalDialog) and shown in play.seen(), shown)
    dialog = play.app.screen
    await play.until(lambda: dialog._armed)


async def test_y_lets_the_call_run_once_and_the_next_is_asked_about_again(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("go", asks("echo one"), asks("echo two"), DONE))) as play:
        await play.write("go")
        await question(play, "echo one")
        assert "a tool waits for your word" in play.seen()
        await play.press("y")
        await question(play, "echo two")
        await play.press("y")
        await play.until_seen("That was all.")
        assert [end.outcome for end in play.bodies(ToolEnded)] == ["ok", "ok"]


async def test_two_calls_of_one_answer_are_asked_about_one_after_the_other(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("go", asks("echo one", "echo two"), DONE))) as play:
        await play.write("go")
        await question(play, "echo one")
        await play.press("n")
        await question(play, "echo two")
        await play.press("y")
        await play.until_seen("That was all.")
        assert [end.outcome for end in play.bodies(ToolEnded)] == ["denied", "ok"]


async def test_t_allows_the_tool_for_the_session(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("go", asks("echo one"), asks("echo two"), DONE))) as play:
        await play.write("go")
        await question(play, "echo one")
        await play.press("t")
        await play.until_seen("That was all.")
        assert next(answer.scope for answer in play.bodies(ToolAnswered)) == "tool"


async def test_x_allows_a_prefix_and_other_commands_still_ask(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("go", asks("echo one"), asks("echo one two"), asks("ls"), DONE))) as play:
        await play.write("go")
        await question(play, "echo one")
        await play.press("x", "enter")
        await question(play, "ls")
        await play.press("escape")
        await play.until_seen("That was all.")
        assert [end.outcome for end in play.bodies(ToolEnded)] == ["ok", "ok", "denied"]


async def test_d_denies_with_a_word_that_reaches_presence(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("go", asks("rm -r ."), DONE))) as play:
        await play.write("go")
        await question(play, "rm -r .")
        await play.press("d")
        await play.write("never that")
        await play.until_seen("That was all.")
        assert play.bodies(ToolAnswered)[0].word == "never that"
        assert "never that" in str(play.server.requests_of("presence")[-1].body)


async def test_a_question_waits_while_another_dialog_is_up(tmp_path: Path) -> None:
    async with playing(
        tmp_path, speaks(beat("go", Reply(text="Wait.", delay_s=0.3, tools=asks("ls").tools), DONE))
    ) as play:
        await play.write("go")
        await play.press("f1")
        await play.until_seen("Keys and actions")
        await play.until(lambda: play.live._asking._waiting, "the question")
        assert not isinstance(play.app.screen, ApprovalDialog)
        await play.press("escape")
        await question(play, "ls")
        await play.press("y")
        await play.until_seen("That was all.")


async def test_leaving_takes_a_question_that_is_up_away_and_runs_nothing(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("go", asks("touch ran"), DONE))) as play:
        await play.write("go")
        await question(play, "touch ran")
        await play.press("ctrl+q")
        await play.until_seen("Close this session?")
        await play.press("l")
        await play.until(lambda: not play.app.is_running)
        assert not (play.session.workspace / "ran").exists()
        assert play.bodies(TurnEnded)[0].end == "stopped"


async def test_closing_takes_a_question_that_is_up_away(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("go", asks("touch ran"), DONE))) as play:
        await play.write("go")
        await question(play, "touch ran")
        await play.press("ctrl+q")
        await play.until_seen("Close this session?")
        await play.press("n")
        await play.until_seen("The session is closed")
        assert not any(isinstance(screen, ApprovalDialog) for screen in play.app.screen_stack)
        assert not (play.session.workspace / "ran").exists()


async def test_a_command_that_is_more_than_one_has_no_prefix_to_allow_and_the_dialog_says_so(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("go", asks("git status; touch ran"), DONE))) as play:
        await play.write("go")
        await question(play, "git status; touch ran")
        assert "no prefix of it can be allowed" in play.seen() and "allow a prefix" not in play.seen()
        await play.press("x", "enter")
        assert isinstance(play.app.screen, ApprovalDialog)
        await play.press("n")
        await play.until_seen("That was all.")
        assert not (play.session.workspace / "ran").exists()


async def test_a_prefix_is_taken_only_as_the_engine_will_hold_it(tmp_path: Path) -> None:
    async with playing(tmp_path, speaks(beat("go", asks("echo one two"), asks("echo one"), DONE))) as play:
        await play.write("go")
        await question(play, "echo one two")
        await play.press("x", "end", "backspace", "enter")  # "echo on" begins the text, and no command by its words
        assert isinstance(play.app.screen, ApprovalDialog)
        await play.press("end", "e", "enter")
        await play.until_seen("That was all.")
        assert [end.outcome for end in play.bodies(ToolEnded)] == ["ok", "ok"]


async def test_a_command_that_hides_something_shows_it_and_is_warned_of(tmp_path: Path) -> None:
    hiding = "ls \u202e\u200b" + "\n" * 30 + "touch ran"
    async with playing(tmp_path, speaks(beat("go", asks(hiding), DONE))) as play:
        await play.write("go")
        await question(play, "‹U+202E›‹U+200B›")
        assert "not drawn" in play.seen() and "stretch of blanks" in play.seen()
        await play.press("end")
        await play.until_seen("touch ran")
        await play.press("escape")
        await play.until_seen("That was all.")
        assert not (play.session.workspace / "ran").exists()


async def test_an_edit_is_asked_about_as_a_diff_and_opens_as_one_in_the_chat(tmp_path: Path) -> None:
    edit = ToolCall("edit", {"file_path": "a.py", "old_string": "x = 1\n", "new_string": "x = 2\n"})
    async with playing(tmp_path, speaks(beat("go", Reply(text="I change it.", tools=(edit,)), DONE))) as play:
        (play.session.workspace / "a.py").write_text("x = 1\n")
        await play.write("go")
        await question(play, "+x = 2")
        await play.press("y")
        await play.until_seen("That was all.")
        assert (play.session.workspace / "a.py").read_text() == "x = 2\n"
        await play.press("f2", "end", "k", "k", "enter")
        await play.until_seen("│ +x = 2")
