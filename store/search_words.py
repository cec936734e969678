"""Words for full-text search: what an event says, how it is cut into words, and the snippet around a find."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from store.bodies import (
    Body,
    BreakMarked,
    JournalWritten,
    Json,
    KeeperWords,
    LetterFiled,
    MessageCut,
    MessageEnded,
    Notice,
    OperatorSaid,
    RequestFailed,
    RetMarked,
    SessionClosed,
    SessionOpened,
    TiersChanged,
    TiersRefused,
    ToolAnswered,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    WorkspaceDiffed,
)
from store.lines import Line

SEARCHED: frozenset[str] = frozenset(
    body.KIND
    for body in (
        BreakMarked,
        JournalWritten,
        KeeperWords,
        LetterFiled,
        MessageCut,
        MessageEnded,
        Notice,
        OperatorSaid,
        RequestFailed,
        RetMarked,
        SessionClosed,
        SessionOpened,
        TiersChanged,
        TiersRefused,
        ToolAnswered,
        ToolCalled,
        ToolEnded,
        TurnEnded,
        WorkspaceDiffed,
    )
)
"""Kinds that hold words of their own. Wake packets, chunks and queued messages repeat words that stand in others."""


def words_in(body: Body) -> str:
    """What an event says, as one text; empty when it says nothing of its own.

    What came out of memory (a recall, a memory file) is left out: it would be found in place of its origin.
    """
    match body:
        case OperatorSaid() | KeeperWords() | JournalWritten() | LetterFiled() | MessageCut() | Notice():
            return body.text
        case MessageEnded():
            return "\n".join(_texts(body.content, only=frozenset({"text"})))
        case ToolCalled():
            return "\n".join([body.name, *_texts(body.input)])
        case ToolEnded():
            return "" if body.source == "memory" else "\n".join(_texts(body.content, only=frozenset({"text"})))
        case TiersChanged():
            return "\n".join([*(line_words(change.after) for change in body.changes), body.reason])
        case TiersRefused():
            return f"{body.op}\n{body.reason}"
        case SessionOpened():
            task = f"\n{body.task.title}\n{body.task.brief}" if body.task else ""
            return f"{body.condition.title}{task}"
        case ToolAnswered():
            return body.word
        case RetMarked() | SessionClosed() | RequestFailed():
            return body.reason
        case TurnEnded():
            return body.detail
        case BreakMarked():
            return body.which
        case WorkspaceDiffed():
            return body.diff
        case _:
            return ""


def line_words(line: Line) -> str:
    """All that a line says, its id too."""
    return "\n".join(part for part in (line.id, line.text, line.reason, line.quote) if part)


def _texts(value: Json, only: frozenset[str] = frozenset()) -> Iterator[str]:
    """The texts in a JSON value; of objects those under the keys ``only``, when it names any."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, only)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not only or key in only or isinstance(item, list):
                yield from _texts(item, only)


# ---------------------------------------------------------------- words

# Scripts that are written without blanks between words, or (Hangul) with endings joined to them: each character is a
# word of the index, and words are found as phrases.
_UNPARTED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u318f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff])"
)
_NAME = re.compile(r"\b\w{3,64}\b")
_CAMEL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def parted(text: str) -> str:
    """``text`` as the index takes it: normal forms, without case, unparted scripts character by character."""
    if text.isascii():
        return text
    return _UNPARTED.sub(r" \1 ", unicodedata.normalize("NFKC", text).casefold())


def humps(text: str) -> str:
    """The parts of camel-case names in ``text``: ``readRoomFile`` gives read, Room, File."""
    return " ".join(hump for name in _NAME.findall(text) if _CAMEL.search(name) for hump in _HUMP.findall(name))


@dataclass(frozen=True, slots=True)
class Term:
    """One thing looked for: a word or a phrase, whole or as a beginning."""

    text: str
    prefix: bool = False

    def match(self) -> str:
        """The term in FTS5's language. Everything is quoted, so nothing in it is taken for an operator."""
        star = " *" if self.prefix else ""
        quoted = '"' + parted(self.text).replace('"', '""') + '"' + star
        # A part of a camel-case name stands in the index as its humps.
        return f'({quoted} OR "{parts}"{star})' if (parts := humps(self.text)) else quoted


_TERM = re.compile(r'"([^"]*)"?(\*?)|([^\s"]+)')


def terms(query: str) -> tuple[Term, ...]:
    """What a query looks for, all of it at once: words, "phrases in quotes", and beginnings with a star at the end."""
    found = []
    # What UTF-8 cannot hold was never said, and SQLite ends a query at a NUL.
    for phrase, star, word in _TERM.findall(query.encode("utf-8", "replace").decode().replace("\x00", " ")):
        text = phrase or word.rstrip("*")
        if any(character.isalnum() for character in unicodedata.normalize("NFKC", text)):
            found.append(Term(text, bool(star) or word.endswith("*")))
    return tuple(found)


# ---------------------------------------------------------------- the snippet

SNIPPET_CHARACTERS = 160
_LOOKED_THROUGH = 200_000


def snippet(text: str, looked_for: Iterable[Term]) -> str:
    """The surroundings of the first find in ``text``, on one line; its beginning when the find cannot be shown."""
    text = text[:_LOOKED_THROUGH]
    folded, places = _folded(text)
    found = [at for term in looked_for if (at := _find(folded, term)) >= 0]
    at = places[min(found)] if found and places else min(found, default=0)
    start = max(0, at - SNIPPET_CHARACTERS // 3)
    if start:
        blank = text.find(" ", start, at)
        start = blank + 1 if blank >= 0 else start
    end = start + SNIPPET_CHARACTERS
    inside = " ".join(text[start:end].split())
    return f"{'…' if start else ''}{inside}{'…' if end < len(text) else ''}"


def _folded(text: str) -> tuple[str, list[int]]:
    """``text`` without case and accents, and for each of its characters the place in ``text`` (empty: the same)."""
    if text.isascii():
        return text.lower(), []
    folded: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for plain in unicodedata.normalize("NFKD", character).casefold():
            if not unicodedata.combining(plain):
                folded.append(plain)
                places.append(place)
    return "".join(folded), places


def _find(folded: str, term: Term) -> int:
    wanted, _ = _folded(term.text)
    at = folded.find(wanted)
    if at >= 0:
        return at
    words = re.findall(r"[^\W_]+", wanted)
    found = re.search(r"[\W_]+".join(map(re.escape, words)), folded) if words else None
    return found.start() if found else -1
