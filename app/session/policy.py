"""Which tool calls run, which are asked about, which are refused: rules on values, with what the operator allowed."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from store.bodies import Json
from store.entries import edit_diff

Verdict = Literal["allow", "ask", "deny"]
Approve = Literal["ask", "none", "read", "all"]

READ_ONLY = frozenset({"read", "glob", "grep", "recall", "read_clock", "read_letter", "read_snug"})
"""Tools that change nothing: they run without a question (DESIGN §6)."""

SHELL_OPERATORS = (";", "&", "|", "`", "$(", "${", "<", ">", "\n", "\r")
"""What can make one command into two, or write a file: a command with any of it is never allowed by prefix."""


@dataclass(slots=True)
class Policy:
    """The room's approval policy and what the operator has allowed for this session.

    ``approve``: "ask" runs what only reads and asks about the rest; "read" refuses the rest instead of asking (no
    operator is there); "none" refuses all; "all" runs all.
    """

    approve: Approve
    tools: set[str] = field(default_factory=set)
    prefixes: list[str] = field(default_factory=list)

    def verdict(self, name: str, tool_input: Json) -> Verdict:
        """What holds for one call, by the policy alone."""
        if self.approve == "none":
            return "deny"
        if self.approve == "all" or only_reads(name, tool_input) or name in self.tools:
            return "allow"
        command = command_of(name, tool_input)
        if command and any(has_prefix(command, prefix) for prefix in self.prefixes):
            return "allow"
        return "ask" if self.approve == "ask" else "deny"


def only_reads(name: str, tool_input: Json) -> bool:
    """Whether the call can change nothing. The memory tool's ``view`` only reads."""
    if name == "memory":
        return isinstance(tool_input, dict) and tool_input.get("command") == "view"
    return name in READ_ONLY


def command_of(name: str, tool_input: Json) -> str:
    """The shell command of a bash call; empty for anything else."""
    if name == "bash" and isinstance(tool_input, dict):
        command = tool_input.get("command")
        return command if isinstance(command, str) else ""
    return ""


def has_prefix(command: str, prefix: str) -> bool:
    """Whether a command is one single command that begins with the words of ``prefix``."""
    if any(operator in command for operator in SHELL_OPERATORS):
        return False
    try:
        words, wanted = shlex.split(command), shlex.split(prefix)
    except ValueError:
        return False
    return bool(wanted) and words[: len(wanted)] == wanted


def suggested_prefix(command: str) -> str:
    """The prefix that "allow this command prefix" stands for: the command's first two words, empty when the command
    is more than one."""
    if any(operator in command for operator in SHELL_OPERATORS):
        return ""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    return shlex.join(words[:2])


def what_will_run(name: str, tool_input: Json, workspace: Path) -> str:
    """Exactly what a call will do, as the operator is shown it: the command, the diff, or name and arguments."""
    fields = tool_input if isinstance(tool_input, dict) else {}
    command = command_of(name, tool_input)
    if command:
        return command
    path = fields.get("file_path")
    if name == "edit" and isinstance(path, str):
        every = fields.get("replace_all") is True
        return edit_diff(path, str(fields.get("old_string", "")), str(fields.get("new_string", "")), every=every)
    if name == "write" and isinstance(path, str):
        return edit_diff(path, _text_of(workspace / path), str(fields.get("content", "")))
    return f"{name} {json.dumps(tool_input, ensure_ascii=False, indent=1)}"


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
