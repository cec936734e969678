"""The faults that users of such programs have reported in public, and the tests here that hold the right behaviour."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

FAULTS: Mapping[str, tuple[str, ...]] = {
    "several agents' CLIs: model text sets the title, writes the clipboard, hides text": (
        "store/test_text.py::test_no_control_ever_comes_out",
        "store/test_text.py::test_it_makes_no_difference_where_a_stream_is_cut",
        "widgets/test_chat_terminal.py::test_foreign_text_sends_no_sequence_that_plain_text_does_not",
        "cli/test_cli_headless.py::test_text_of_a_model_reaches_the_terminal_without_controls",
    ),
    "Textual #6155: markup in model text raises or restyles": (
        "widgets/test_chat.py::test_markup_in_foreign_text_is_shown_as_typed_everywhere",
        "widgets/test_tiers.py::test_text_of_a_line_is_shown_as_typed_and_without_controls",
        "widgets/test_dialogs.py::test_a_tools_name_from_outside_is_no_markup",
        "widgets/test_header.py::test_text_from_outside_is_shown_as_typed_and_without_controls",
        "widgets/test_snug.py::test_what_a_twin_wrote_is_shown_as_typed_and_without_controls",
    ),
    "Textual #6518: a streamed fence goes blank or turns into a paragraph": (
        "widgets/test_chat.py::test_a_streamed_fence_is_in_sight_all_the_while_and_ends_as_the_message",
        "widgets/test_chat_rows.py::test_streamed_in_any_pieces_the_rows_are_those_of_the_whole_text",
    ),
    "Textual #6677: the view stops following for good, or yanks a reader away": (
        "widgets/test_chat.py::test_the_view_follows_the_newest_words",
        "widgets/test_chat.py::test_a_reader_who_scrolled_up_is_never_moved_and_follows_again_at_the_end",
        "widgets/test_chat.py::test_reaching_the_end_by_single_steps_follows_again",
    ),
    "several: typing lags while two answers stream": ("bench/chat.py::measure",),
    "OpenHands-CLI #601: selecting while text updates crashes": (
        "widgets/test_chat.py::test_a_selection_survives_text_that_comes_in_and_rows_that_move",
    ),
    "several: a stop inside a fence drops the buffered tail": (
        "widgets/test_chat.py::test_a_stop_inside_a_fence_keeps_the_tail_and_marks_it",
        "widgets/test_chat_rows.py::test_a_stop_inside_a_fence_keeps_a_tail_that_looks_like_its_end",
    ),
    "several: two streams end up in one bubble": (
        "store/test_transcript.py::test_two_streams_never_end_up_in_one_entry",
        "widgets/test_chat.py::test_two_streams_keep_apart_on_screen",
    ),
    "anthropic SDKs: overloaded_error inside a stream is not retried": (
        "scripted/test_scripted_faults.py::test_an_error_inside_a_stream_has_status_200_and_is_told_by_its_type",
        "session/test_session_faults.py::test_a_stream_that_dies_before_its_first_word_is_asked_for_again",
        "session/test_session_faults.py::test_a_stream_that_dies_in_the_middle_keeps_its_words_and_is_not_asked_again",
    ),
    "anthropic SDKs: a silent stream hangs for ten minutes": (
        "session/test_session_faults.py::test_the_watchdog_lets_a_slow_stream_live",
        "session/test_session_faults.py::test_a_stream_that_dies_in_the_middle_keeps_its_words_and_is_not_asked_again",
    ),
    "gateways: cumulative usage is added": (
        "session/test_session_turn.py::test_usage_is_assigned_from_the_cumulative_count_and_stands_once_a_message",
    ),
    "several chats: ctrl+c or a crash loses the conversation": (
        "session/test_session_kills.py::test_killed_while_p_streams_the_words_are_kept_as_cut_off",
        "session/test_session_kills.py::test_killed_before_the_first_word_the_message_is_not_lost",
        "screens/test_live_talk.py::test_escape_stops_presence_and_keeps_what_has_come",
        "screens/test_terminal_ends.py::test_a_signal_leaves_the_terminal_as_it_was_and_the_session_resumable",
        "screens/test_terminal_ends.py::test_a_lost_terminal_ends_the_program_in_order",
    ),
    "TinyDB #467, #89, #91: truncated file, a value that is no JSON, threads": (
        "store/test_documents.py::test_a_crash_or_a_full_disk_while_writing_leaves_the_old_document",
        "store/test_documents.py::test_a_value_that_is_not_json_is_refused_and_spoils_nothing",
        "store/test_room.py::test_a_second_opening_in_one_process_is_refused_too",
    ),
    "Textual #3966: a thread worker blocks quitting": (
        "screens/test_live_end.py::test_a_stream_that_stalls_for_ever_does_not_hold_the_program",
        "bench/start.py::leaves",
    ),
    "Textual #5385, editors' terminals: some keys never arrive": (
        "widgets/test_composer.py::test_a_new_line_has_more_than_one_key_because_terminals_differ",
        "screens/test_terminal.py::test_a_room_without_a_key_says_what_to_set_and_does_not_crash",
    ),
    "several: a 1 MB paste freezes the input": (
        "widgets/test_composer.py::test_a_paste_of_a_megabyte_is_one_token_and_is_sent_to_the_last_byte",
    ),
    "RichLog: old lines do not wrap again after a resize": (
        "widgets/test_chat.py::test_old_text_wraps_anew_after_a_resize_and_the_reader_keeps_the_place",
        "widgets/test_tiers.py::test_lines_wrap_again_after_a_resize_and_wide_characters_stay_inside",
    ),
    "snapshot suites: cursor, clock and zone make pictures flaky": (
        "screens/test_snapshots.py::test_a_picture_is_the_same_at_any_hour_and_in_any_zone",
    ),
    "claude-mem #1742, #2201, #2643: the observer burns money without limit": (
        "session/test_session_keeper.py::test_a_keeper_that_has_spent_its_budget_waits_and_says_so",
        "keeper/test_window.py::test_what_the_keeper_reads_in_a_pass_does_not_grow_over_sixty_turns",
        "screens/test_live_marks.py::test_f9_stops_the_keeper_and_starts_it_again",
    ),
    "claude-mem #2336: observers run on after the session": (
        "session/test_session_keeper.py::test_the_keeper_ends_with_the_session",
    ),
    "mem0 #4573: memory fills with its own recalled text": (
        "store/test_evidence.py::test_memory_is_no_evidence_and_what_repeats_it_is_recalled",
        "session/test_session_keeper.py::test_what_came_out_of_memory_is_no_evidence",
        "store/test_gate.py::test_a_line_without_its_grounds_is_refused_and_told_what_is_missing",
    ),
    "several: hundreds of near-equal memories": (
        "store/test_gate.py::test_a_near_duplicate_is_refused_with_the_id_of_the_line_that_stands",
        "store/test_gate.py::test_a_near_duplicate_is_refused_in_a_rewriting_an_edit_and_a_restoring_too",
    ),
    "letta #3241: one write path bypasses the size limit": (
        "store/test_gate_properties.py::test_no_order_of_operations_breaks_a_rule_of_the_tiers",
    ),
    "letta-code #2185: a sync replaces a full block by an empty one": (
        "store/test_gate.py::test_hot_is_emptied_only_with_a_reason",
        "store/test_documents.py::test_a_damaged_document_is_set_aside_and_said_never_silently_emptied",
    ),
    "claude-code #58736: two sessions, one memory file": (
        "store/test_room.py::test_a_second_process_is_told_who_writes_and_may_read",
        "screens/test_room_read_only.py::test_a_second_twins_follows_what_the_first_one_writes",
    ),
    "MCP memory server #1819, #2577: concurrent calls corrupt the store": (
        "store/test_documents.py::test_a_damaged_document_is_set_aside_and_said_never_silently_emptied",
        "store/test_room.py::test_a_second_opening_in_one_process_is_refused_too",
        "store/test_log.py::test_a_damaged_line_is_told_with_its_place_or_left_out",
    ),
    "claude-mem #2821: database is locked, observation dropped": (
        "store/test_search.py::test_two_processes_may_keep_one_index",
        "store/test_search.py::test_threads_may_search_while_the_session_appends",
    ),
    "claude-mem #3179: a damaged index is served silently": (
        "store/test_search.py::test_an_index_that_is_of_no_use_is_built_anew_and_finds_all",
        "store/test_search.py::test_an_index_of_logs_that_were_replaced_is_built_anew",
    ),
    "mem0 PR #5226: yesterday in an old transcript is taken for today's": (
        "replay/test_replay.py::test_relative_dates_are_those_of_the_day_they_were_said",
    ),
    "hermes-agent #30267: a hard cap makes the model retry for ever": (
        "store/test_gate.py::test_hot_over_its_budget_is_refused_with_the_bytes_over",
        "store/test_gate.py::test_warm_over_its_budget_sends_the_least_and_longest_untouched_to_cold_and_says_so",
        "session/test_session_keeper.py::test_a_pass_has_three_rounds_at_the_most",
    ),
    "episodic-memory #59, #96: summaries of summaries, failing items re-billed": (
        "keeper/test_window.py::test_the_keeper_never_hears_its_own_words_nor_what_is_added_for_p",
        "session/test_session_keeper.py::test_three_passes_that_fail_stop_the_keeper_and_starting_again_catches_up",
    ),
    "episodic-memory #84: text appended after indexing is never indexed": (
        "store/test_search.py::test_the_index_goes_on_from_where_it_stood",
        "store/test_search.py::test_new_events_are_found_at_once_and_only_what_somebody_said",
    ),
    "claude-code-log: usage repeated per block is counted again": (
        "measure/test_cost.py::test_usage_that_is_repeated_with_every_block_of_a_response_counts_once",
        "replay/test_import.py::test_usage_that_grows_while_an_answer_streams_counts_once_and_the_last_wins",
    ),
}
"""Each fault by who reported it, and the tests (or the benchmark with its budget) that fail when it comes back."""


@cache
def _names(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("fault", FAULTS)
def test_every_known_fault_is_held_by_tests_that_stand(fault: str) -> None:
    gone = [name for name in FAULTS[fault] if name.partition("::")[2] not in _names(name.partition("::")[0])]
    assert FAULTS[fault] and not gone
