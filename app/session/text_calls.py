"""Tool calls that a small model wrote as text: the common shapes, read with care and never guessed."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Set

from store.bodies import Json

MOST_CALLS = 100
"""Calls taken from one answer; a model that writes more than this is in a loop."""
_NAME_KEYS = ("name", "tool", "tool_name", "function", "action")
_INPUT_KEYS = ("input", "arguments", "parameters", "args", "action_input")
_TAGGED = re.compile(r"<function[= ]\"?(\w+)\"?>\s*(.*?)\s*</function>", re.DOTALL)


def calls_in_text(text: str, names: Set[str]) -> list[dict[str, Json]]:
    """The calls of known tools that stand in ``text``, in order, as ``tool_use`` blocks without ids.

    Read are: a JSON object with a tool's name and its input (in tags, fences or bare, alone or in a list, also as the
    OpenAI ``function`` object with its arguments as a string), ``<function=name>{…}</function>``, ``name {…}``, and
    ``name(key="value", …)``. Anything else is prose. No input is made up: a call without one has an empty object.
    """
    found: list[tuple[int, str, Json]] = []
    covered: list[tuple[int, int]] = []
    for match in _TAGGED.finditer(text):
        if match[1] in names:
            found.append((match.start(), match[1], _loaded(match[2]) if match[2] else {}))
            covered.append(match.span())
    for start, end, value in _json_values(text):
        if any(a <= start < b for a, b in covered):
            continue
        before = re.search(r"(\w+)\s*[:=]?\s*\(?\s*$", text[:start])
        calls = list(_calls_of(value, names))
        if not calls and before and before[1] in names and isinstance(value, dict):
            calls = [(before[1], value)]
        found.extend((start, name, given) for name, given in calls)
        if calls:
            covered.append((start, end))
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, sorted(names)))})\s*(?=\()") if names else None
    for match in pattern.finditer(text) if pattern else ():
        if any(a <= match.start() < b for a, b in covered):
            continue
        given = _python_arguments(text, match.end())
        if given is not None:
            found.append((match.start(), match[1], given))
    found.sort(key=lambda call: call[0])
    return [{"type": "tool_use", "name": name, "input": given} for _, name, given in found[:MOST_CALLS]]


def _calls_of(value: Json, names: Set[str]) -> Iterator[tuple[str, Json]]:
    if isinstance(value, list):
        for item in value:
            yield from _calls_of(item, names)
        return
    if not isinstance(value, dict):
        return
    inner = value.get("function")
    if isinstance(inner, dict):
        yield from _calls_of(inner, names)
        return
    for key in ("tool_calls", "calls"):
        if isinstance(value.get(key), list):
            yield from _calls_of(value[key], names)
            return
    name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
    if isinstance(name, str) and name in names:
        given = next((value[key] for key in _INPUT_KEYS if key in value), None)
        if isinstance(given, str):
            given = _loaded(given)
        if given is None:
            given = {key: item for key, item in value.items() if key not in _NAME_KEYS}
        yield name, given
        return
    if len(value) == 1:
        only, given = next(iter(value.items()))
        if only in names:
            yield only, given


def _json_values(text: str) -> Iterator[tuple[int, int, Json]]:
    """JSON objects and lists that stand in the text, outermost ones only, with where they stand."""
    decoder = json.JSONDecoder(strict=False)
    position = 0
    tried = 0
    while tried < 2_000:
        start = min((at for at in (text.find("{", position), text.find("[", position)) if at >= 0), default=-1)
        if start < 0:
            return
        tried += 1
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            position = start + 1
            continue
        yield start, end, value
        position = end


def _loaded(text: str) -> Json:
    try:
        value: Json = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return text
    return value


def _python_arguments(text: str, start: int) -> Json:
    """``(key="value", …)`` at ``start`` as an object; None when it is not one of plain values."""
    depth, end, quote, index = 0, -1, "", start
    while index < min(len(text), start + 20_000):
        char = text[index]
        if quote:
            if char == "\\":
                index += 1
            elif char == quote:
                quote = ""
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                end = index + 1
                break
        index += 1
    if end < 0:
        return None
    try:
        tree = ast.parse(f"f{text[start:end]}", mode="eval").body
        if not isinstance(tree, ast.Call) or tree.args or any(word.arg is None for word in tree.keywords):
            return None
        return {
            keyword.arg: _plain(ast.literal_eval(keyword.value)) for keyword in tree.keywords if keyword.arg is not None
        }
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _plain(value: object) -> Json:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise ValueError("no plain value")
