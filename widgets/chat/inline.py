"""Emphasis, code and links within one line of Markdown: the words without their marks, and how they look."""

from __future__ import annotations

import re

from widgets.chat.rows import Span

LONGEST = 2_000
"""Characters of a line that is still searched for marks. Patterns with two ends take quadratic time on hostile text,
and foreign text must not stall the screen; a longer line is shown as it stands."""

_MARKS = re.compile(
    r"""
    (?<!`)(?P<ticks>`+)(?!`)(?P<code>.{1,600}?)(?<!`)(?P=ticks)(?!`)
    | \\(?P<escaped>[\\`*_{}\[\]()\#+\-.!~|>])
    | \*\*(?P<bold>\S(?:.{0,300}?\S)??)\*\*
    | (?<!\w)__(?P<bold2>\S(?:.{0,300}?\S)??)__(?!\w)
    | (?<![\w*])\*(?P<italic>[^\s*](?:[^*]{0,300}?[^\s*])?)\*(?![\w*])
    | (?<!\w)_(?P<italic2>[^\s_](?:[^_]{0,300}?[^\s_])?)_(?!\w)
    | ~~(?P<strike>\S(?:.{0,300}?\S)??)~~
    | \[(?P<label>[^\[\]]+)\]\((?P<url>[^()\s]+)\)
    | (?P<bare>https?://[^\s<>"'`]+[^\s<>"'`.,;:!?)\]])
    """,
    re.VERBOSE,
)
_LOOKS = {"bold": "bold", "bold2": "bold", "italic": "italic", "italic2": "italic", "strike": "strike"}


def inline(text: str) -> tuple[str, list[Span]]:
    """``text`` without the marks, and the spans that they stood for. Where a link leads is always in sight."""
    if len(text) > LONGEST or not any(mark in text for mark in "`*_~[\\:"):
        return text, []
    parts: list[str] = []
    spans: list[Span] = []
    length = at = 0

    def add(words: str, look: str = "") -> None:
        nonlocal length
        if look:
            spans.append((length, length + len(words), look))
        parts.append(words)
        length += len(words)

    for found in _MARKS.finditer(text):
        add(text[at : found.start()])
        at = found.end()
        kind = found.lastgroup or ""
        if found["code"] is not None:
            code = found["code"]
            # One blank on each side lets code begin or end with a backtick (CommonMark 6.1).
            add(code[1:-1] if code[0] == code[-1] == " " and code.strip() else code, "inline-code")
        elif found["escaped"] is not None:
            add(found["escaped"])
        elif found["label"] is not None:
            add(found["label"], "link")
            if found["url"] != found["label"]:
                add(f" ({found['url']})", "muted")
        elif found["bare"] is not None:
            add(found["bare"], "link")
        else:
            words, inner = inline(found[kind])
            spans.extend((length + a, length + b, look) for a, b, look in inner)
            add(words, _LOOKS[kind])
    add(text[at:])
    return "".join(parts), spans
