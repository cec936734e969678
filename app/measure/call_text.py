"""What a tool is called with, as the texts that a task's patterns are searched in."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator

from store.bodies import Json

_CONTINUED = re.compile(r"\\\r?\n")
_LONG_OPTION = re.compile(r"(--[A-Za-z][\w-]*)=(.+)", re.DOTALL)
_SEPARATORS = frozenset("();<>|&")
_QUOTED_SEPARATOR = re.compile(r"""(["'])[();<>|&]+\1|\\[();<>|&]""")


def call_texts(called_with: Json) -> tuple[str, ...]:
    """The texts that stand for a tool call's input; a pattern matches the call when it is found in one of them.

    An input with one text in it (a bash command) is that text as written, and then each simple command of it in one
    spelling: plain words without their quotes, ``--option=value`` as ``--option value``, one blank between words,
    comments gone. Words that are no plain words keep quotes, so that a command that is merely quoted does not become
    one. Any other input is its JSON and each text in it.
    """
    leaves = tuple(_texts(called_with))
    if len(leaves) == 1:
        return tuple(dict.fromkeys((leaves[0], *_simple_commands(leaves[0]))))
    return (json.dumps(called_with, ensure_ascii=False), *leaves)


def found_in_call(pattern: re.Pattern[str], called_with: Json) -> bool:
    """Whether ``pattern`` is found in what a tool is called with."""
    return any(pattern.search(text) for text in call_texts(called_with))


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)


def _simple_commands(command: str) -> Iterator[str]:
    for line in _CONTINUED.sub(" ", command).splitlines():
        if _QUOTED_SEPARATOR.search(line):  # shlex cannot tell it from one that separates
            return
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: list[str] = []
        try:
            tokens = list(lexer)
        except ValueError:  # a quote that stays open to the next line: the text as written has to do
            return
        for token in tokens:
            if token and set(token) <= _SEPARATORS:
                if words:
                    yield " ".join(words)
                words = []
            elif option := _LONG_OPTION.fullmatch(token):
                words += [option[1], shlex.quote(option[2])]
            else:
                words.append(shlex.quote(token))
        if words:
            yield " ".join(words)
