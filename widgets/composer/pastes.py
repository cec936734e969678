"""Long pastes as short tokens in the composer: what is typed around them stays quick, what is sent is whole."""

from __future__ import annotations

import re
from dataclasses import dataclass

from store.text import clean
from widgets.figures import size

FOLD_CHARACTERS = 2_000
"""A paste longer than this is folded."""
FOLD_LINES = 20
"""A paste of more lines than this is folded."""

_TOKEN = re.compile(r"\[paste \d+: [^\[\]\n]*\]")


@dataclass(frozen=True, slots=True)
class Paste:
    """A folded paste: its token in the composer and the whole text."""

    token: str
    text: str


def with_line_ends(text: str) -> str:
    """``text`` with one kind of line end. Terminals send a carriage return for every line of a paste."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


class Pastes:
    """The pastes of one composer, by their tokens. Numbers are never given twice."""

    def __init__(self) -> None:
        self._by_token: dict[str, str] = {}
        self._number = 0

    def taken(self, text: str) -> str:
        """What goes into the composer for a pasted ``text``: the text itself, or the token that stands for it.

        Folded is what is long, what holds terminal controls (they are sent, never drawn), and what looks like a
        token itself.
        """
        text = with_line_ends(text)
        short = len(text) <= FOLD_CHARACTERS and text.count("\n") < FOLD_LINES
        if short and _TOKEN.search(text) is None and clean(text) == text:
            return text
        self._number += 1
        lines = text.count("\n") + 1
        count = f"{lines:,} lines" if lines > 1 else "1 line"
        weight = size(len(text.encode("utf-8", "surrogatepass")))
        token = f"[paste {self._number}: {weight}, {count}]"
        self._by_token[token] = text
        return token

    def unfolded(self, shown: str) -> str:
        """``shown`` with every whole token replaced by its text. A token that was edited is just text."""
        return _TOKEN.sub(lambda found: self._by_token.get(found[0], found[0]), shown)

    def within(self, shown: str) -> tuple[Paste, ...]:
        """The pastes whose tokens stand whole in ``shown``, in their order."""
        tokens = (found[0] for found in _TOKEN.finditer(shown))
        return tuple(Paste(token, self._by_token[token]) for token in tokens if token in self._by_token)

    def token_before(self, line: str, column: int) -> str | None:
        """The token that ends at ``column`` of ``line``."""
        return next((f[0] for f in _TOKEN.finditer(line) if f.end() == column and f[0] in self._by_token), None)

    def token_after(self, line: str, column: int) -> str | None:
        """The token that begins at ``column`` of ``line``."""
        found = _TOKEN.match(line, column)
        return found[0] if found is not None and found[0] in self._by_token else None

    def forget(self) -> None:
        """Let go of all texts; their tokens are then just text."""
        self._by_token.clear()
