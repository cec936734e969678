"""The one boundary that text from outside passes before anything shows or keeps it: no terminal control survives."""

from __future__ import annotations

import re
from typing import Final, Literal

_BIDI: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Marks, embeddings, overrides and isolates: they show text in another order than it is read (CVE-2021-42574)."""

_SPECIAL = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{_BIDI}]")
"""All of C0 but line end and tab, DEL, C1 and the bidi controls: nothing of it may reach a terminal."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNCLEAN = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{_BIDI}\ud800-\udfff]")
"""Either of them: most text holds none, and one search tells."""
_STRING_END = re.compile(r"[\x07\x18\x1a\x1b\x9c\n\r]")
_CSI_INSIDE = re.compile(r"[\x20-\x3f]*")

_ESC: Final = "\x1b"
_STRING_AFTER_ESC: Final = frozenset("PX]^_")
_STRING_IN_C1: Final = frozenset("\x90\x98\x9d\x9e\x9f")
_CSI_IN_C1: Final = "\x9b"

_State = Literal["text", "escape", "escape+", "csi", "string"]


class Cleaner:
    """Cleans a stream of text whose control sequences may be split across chunks.

    What it drops (ECMA-48): CSI sequences, the strings of OSC, DCS, SOS, PM and APC with all that they carry, other
    escape sequences, the single controls of C0 (but line end and tab), DEL, C1, and the bidi controls. ``\\r\\n`` and
    ``\\r`` become ``\\n``; a lone surrogate, which no UTF-8 can hold, becomes U+FFFD, and a pair becomes its
    character.

    A string that nobody ends is dropped up to the end of its line and no further: foreign text can not hide the rest
    of a message. The chunks' results joined are the same wherever the text was cut.
    """

    def __init__(self) -> None:
        self._state: _State = "text"
        self._after_return = False
        self._high = ""

    def feed(self, chunk: str) -> str:
        """The clean text that ``chunk`` adds. It holds back nothing but half of a surrogate pair."""
        if self._high or _SURROGATE.search(chunk):
            chunk = self._without_surrogates(chunk)
        if not chunk:
            return ""
        start = 1 if self._after_return and chunk[0] == "\n" else 0
        self._after_return = False
        if self._state == "text" and _SPECIAL.search(chunk, start) is None:
            return chunk[start:]
        return self._scan(chunk, start)

    def end(self) -> str:
        """What was held back, now that no more comes. The cleaner is then as new."""
        rest = "\ufffd" if self._high and self._state == "text" else ""
        self._state, self._after_return, self._high = "text", False, ""
        return rest

    def _without_surrogates(self, chunk: str) -> str:
        chunk = self._high + chunk
        self._high = chunk[-1] if "\ud800" <= chunk[-1:] <= "\udbff" else ""
        whole = chunk[:-1] if self._high else chunk
        return whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def _scan(self, chunk: str, start: int) -> str:
        kept: list[str] = []
        at, length = start, len(chunk)
        while at < length:
            if self._state == "text":
                special = _SPECIAL.search(chunk, at)
                if special is None:
                    kept.append(chunk[at:])
                    break
                kept.append(chunk[at : special.start()])
                at = special.end()
                at = self._enter(chunk, at, special.group(), kept)
            elif self._state == "string":
                end = _STRING_END.search(chunk, at)
                if end is None:
                    break
                # ESC begins "ESC \\" and a line end belongs to the text: both are read again as text.
                at = end.start() if end.group() in "\x1b\n\r" else end.end()
                self._state = "text"
            elif self._state == "csi":
                inside = _CSI_INSIDE.match(chunk, at)
                at = inside.end() if inside else at
                if at < length:
                    at += 1 if "\x40" <= chunk[at] <= "\x7e" else 0
                    self._state = "text"
            else:
                at += self._after_escape(chunk[at])
        return "".join(kept)

    def _enter(self, chunk: str, at: int, control: str, kept: list[str]) -> int:
        """Takes one control met in text; the place to go on at."""
        if control == "\r":
            kept.append("\n")
            if at == len(chunk):
                self._after_return = True
            elif chunk[at] == "\n":
                return at + 1
        elif control == _ESC:
            self._state = "escape"
        elif control == _CSI_IN_C1:
            self._state = "csi"
        elif control in _STRING_IN_C1:
            self._state = "string"
        return at

    def _after_escape(self, character: str) -> int:
        """Takes the character after ESC (and its intermediates); how many characters that used up."""
        first = self._state == "escape"
        if first and character == "[":
            self._state = "csi"
        elif first and character in _STRING_AFTER_ESC:
            self._state = "string"
        elif "\x20" <= character <= "\x2f":
            self._state = "escape+"
        elif "\x30" <= character <= "\x7e":
            self._state = "text"
        else:
            self._state = "text"
            return 0
        return 1


def clean(text: str) -> str:
    """``text`` without anything a terminal would obey; see Cleaner for what goes and what stays."""
    if _UNCLEAN.search(text) is None:
        return text
    cleaner = Cleaner()
    return cleaner.feed(text) + cleaner.end()
