"""Templates in scripted words: `{{line:some words}}` and `{{last_tool}}`, filled from the request."""

from __future__ import annotations

import re
from typing import TypeVar, cast

from app.scripted.request import Request

_TEMPLATE = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_RENDERED_ID = re.compile(r"\[(L\d+)\b[^\]\n]*\]")
_NAMED_ID = re.compile(r"\b(L\d+)\b")

Filled = TypeVar("Filled")


def fill(value: Filled, request: Request) -> Filled:
    """`value` with the templates in every string of it filled; an unknown template becomes nothing."""
    return cast(Filled, _fill(value, request))


def _fill(value: object, request: Request) -> object:
    if isinstance(value, str):
        return _TEMPLATE.sub(lambda found: _meaning(found.group(1), request), value)
    if isinstance(value, dict):
        return {key: _fill(part, request) for key, part in value.items()}
    if isinstance(value, list):
        return [_fill(part, request) for part in value]
    return value


def _meaning(template: str, request: Request) -> str:
    if template == "last_tool":
        return request.last_tool_text
    if template.startswith("line:"):
        return line_id(template.removeprefix("line:"), request)
    return ""


def line_id(words: str, request: Request) -> str:
    """The id of the tier line that has `words`, as last seen in the request, or nothing.

    A line is seen as rendered (`[L12 trap p4] the words`) or as a tool named it (`added L12 to warm: the
    words`). White space is folded and case ignored on both sides.
    """
    wanted = " ".join(words.split()).casefold()
    if not wanted:
        return ""
    for text in reversed(list(request.texts())):
        for line in reversed(text.splitlines()):
            folded = " ".join(line.split())
            at = folded.casefold().rfind(wanted)
            if at < 0:
                continue
            rendered = _RENDERED_ID.findall(folded[:at])
            if rendered:
                return str(rendered[-1])
            named = _NAMED_ID.findall(folded[:at])
            if named:
                return str(named[0])
    return ""
