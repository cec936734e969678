"""The baselines' common part: a Keeper that keeps no tiers, but some bytes of the transcript as it is."""

from __future__ import annotations

from collections import deque

from app.replay.chains import Turn
from app.replay.keepers.cues import every_sentence
from app.replay.keepers.interface import ReplayKeeper
from store.lines import HOT_BUDGET, WARM_BUDGET

BYTES = HOT_BUDGET + WARM_BUDGET
"""What hot and warm may hold together: the tail and the head of a transcript are given as much."""


def transcript_text(turn: Turn, day: str, *, named: bool = False) -> str:
    """A turn as a reader would see it: a line with the date where a new day begins, then ``name: words``; ``named``
    puts the name before every sentence."""
    date = f"{turn.at:%A} {turn.at.day} {turn.at:%B %Y}"
    lines = [f"# {date}"] if date != day else []
    for spoken in turn.spoken():
        name = f"{spoken.tool} {spoken.name}".strip() if spoken.by == "tool" else spoken.name
        if named and spoken.by != "tool":
            lines += [f"{name} — {sentence}" for sentence in every_sentence(spoken.text)]
        else:
            lines.append(f"{name}: {spoken.text}")
    return "\n".join(lines)


class Transcript(ReplayKeeper):
    """Holds the transcript's text, at the most ``most`` bytes of it, from its beginning or from its end.

    ``named`` is the control for a scorer that looks for a name and a fact in the same sentence: it gives the baseline
    what a Keeper's line has, who said it, so that what is left of a difference is the choice of what to keep.
    """

    keeps_tiers = False

    def __init__(self, name: str, most: int | None, *, from_end: bool, named: bool = False) -> None:
        self.name = name
        self._most = most
        self._from_end = from_end
        self._named = named
        self._parts: deque[bytes] = deque()
        self._held = 0
        self._day = ""

    def overhear(self, turn: Turn) -> None:
        text = transcript_text(turn, self._day, named=self._named)
        self._day = f"{turn.at:%A} {turn.at.day} {turn.at:%B %Y}"
        if not text or (self._most is not None and not self._from_end and self._held >= self._most):
            return
        self._parts.append(text.encode("utf-8", "replace") + b"\n")
        self._held += len(self._parts[-1])
        if self._most is not None and self._from_end:
            while self._parts and self._held - len(self._parts[0]) >= self._most:
                self._held -= len(self._parts.popleft())

    def loaded(self) -> str:
        return self.at_most(self._most)

    def at_most(self, most: int | None) -> str:
        """What it would hand over within ``most`` bytes."""
        whole = b"".join(self._parts).rstrip(b"\n")
        if most is not None:
            whole = b"" if not most else whole[-most:] if self._from_end else whole[:most]
        return whole.decode("utf-8", "ignore")
