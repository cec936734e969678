"""What a quote must show before the gate lets a line stand on it (DESIGN §7)."""

from __future__ import annotations

import re
from typing import Final

from store.evidence import Evidence, Source, folded
from store.lines import Line
from store.wording import not_the_words_of, share_of_words, words_of

LEAST_QUOTE: Final = 8
"""Bytes of words that a quote must hold, unless it is a whole message of the operator: fewer stand anywhere and show
nothing (our choice)."""
LEAST_KEPT: Final = 0.3
"""Share of an edited text's words that must stand in the line it replaces when no new quote is given (our choice)."""

_LABEL = re.compile(r"^\[(?:operator|presence|tool)\b[^\]]{0,60}\]\s*")
_PAIRS: Final = (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("«", "»"), ("`", "`"))
_DOTS: Final = "… ."


class NotQuoted(Exception):
    """A quote does not show what it must; the message says what would."""


def quoted_line(evidence: Evidence, quote: str, turn: int | None) -> tuple[Source, str]:
    """Where the quote of a new line stands, and the quote as it stands there. Raises NotQuoted.

    A quote that does not stand in the turn named, but in another, is taken from there: the words are the evidence.
    """
    wanted = _as_it_stands(evidence, quote)
    if source := evidence.find(wanted, turn) or evidence.find(wanted):
        return source, wanted
    if evidence.in_memory(wanted):
        raise NotQuoted(
            "These words came out of memory, which is no evidence for a new line. If they were of use, touch the "
            "line that holds them; else quote what the operator, Presence or a tool said anew."
        )
    raise _nowhere(quote)


def quoted_decision(evidence: Evidence, quote: str, turn: int | None, text: str) -> Source:
    """Where the operator said what a decision files. Raises NotQuoted when it was not the operator who said the
    quote, or when ``text`` is not in the operator's words there."""
    source = evidence.operator_said(quote, turn) or evidence.operator_said(quote)
    if source is None:
        raise NotQuoted(
            "A decision is filed in the operator's words, and this quote is not from an operator message. Quote the "
            "operator, or file it as a finding, trap, thread or way_back."
        )
    _in_the_operators_words(text, source.passage, quote)
    return source


def still_stands(line: Line, text: str) -> None:
    """Lets a line take a new text on its old quote. Raises NotQuoted when the text goes beyond what that showed: a
    decision must stay in the words of its text and quote, any other line must keep some of them."""
    words = f"{folded(line.text)}. {folded(line.quote)}"
    if line.kind == "decision":
        _in_the_operators_words(text, words, line.quote)
    elif share_of_words(text, f"{words}. {line.reason}") < LEAST_KEPT:
        raise NotQuoted(
            f"This says something else than {line.id} did. Give the quote it stands on, or add a line of its own."
        )


def _in_the_operators_words(text: str, words: str, quote: str) -> None:
    if not (wrong := not_the_words_of(text, words)):
        return
    would_do = next((own for own in (quote, _sentence_of(quote, words)) if not not_the_words_of(own, words)), "")
    raise NotQuoted(
        f"A decision is filed in the operator's words, and this text is not: {wrong}."
        f"{' This would do as its text: ' if would_do else ''}{would_do}"
    )


def _sentence_of(quote: str, passage: str) -> str:
    """The sentence of the passage that holds the quote."""
    return next((sentence for sentence in re.split(r"(?<=[.!?。！？])\s*", passage) if quote in sentence), passage)


def quoted_use(evidence: Evidence, quote: str, turn: int | None) -> str:
    """The quote that shows the use of a line, as it stands in the session, if only as recalled. Raises NotQuoted."""
    wanted = _as_it_stands(evidence, quote)
    if evidence.find(wanted, turn, recalled=True) or evidence.find(wanted, recalled=True):
        return wanted
    raise _nowhere(quote)


def _as_it_stands(evidence: Evidence, quote: str) -> str:
    """The quote without the label, quotation marks or dots that a model put around it, where only so it stands."""
    wanted = folded(quote)
    if not wanted:
        raise NotQuoted("No quote, no line: copy the words it stands on exactly as they were said, with their turn.")
    for tried in _bared(wanted):
        if evidence.find(tried, recalled=True):
            wanted = tried
            break
    if sum(len(word.encode()) for word in words_of(wanted)) < LEAST_QUOTE and not evidence.is_whole(wanted):
        raise NotQuoted("This quote is too short to show anything. Copy the whole phrase or sentence.")
    return wanted


def _bared(quote: str) -> tuple[str, ...]:
    tried = [quote]
    bare = _LABEL.sub("", quote)
    for opening, closing in _PAIRS:
        if len(bare) > 2 and bare.startswith(opening) and bare.endswith(closing):
            bare = bare[1:-1].strip()
            break
    tried += [bare, bare.strip(_DOTS)]
    return tuple(text for text in dict.fromkeys(tried) if text)


def _nowhere(quote: str) -> NotQuoted:
    shown = folded(quote)[:80]
    return NotQuoted(
        f"“{shown}” stands nowhere in this session. Copy words exactly as the operator, Presence or a tool said them."
    )
