"""What a search of the cold tier found, as a list with a cursor: lines that are in cold, then words of the logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.content import Content

from store.lines import Line, one_line
from store.room import LogName
from store.search import Hit
from store.text import clean
from widgets.figures import Piece, fitted, piece
from widgets.rows import RowList
from widgets.tiers.lines import KIND_WORDS

SNIPPET_ROWS = 2
"""Rows that a find takes while the cursor is elsewhere."""

_KINDS: Mapping[str, str] = {
    "operator.said": "message",
    "message.ended": "answer",
    "tool.called": "tool call",
    "message.cut": "answer, cut off",
    "tool.ended": "tool output",
    "tool.answered": "answer to a tool",
    "tiers.refused": "change refused",
    "tiers.changed": "change of a line",
    "journal.written": "journal",
    "letter.filed": "letter",
    "keeper.words": "words",
    "wake.packet": "wake packet",
    "session.opened": "opening",
    "session.closed": "close",
    "turn.ended": "end of a turn",
    "break.marked": "break",
    "ret.marked": "RET mark",
    "request.failed": "failed request",
    "workspace.diff": "changes of the workspace",
}
"""What an event kind is called on screen; others by their own name."""


@dataclass(frozen=True, slots=True)
class ColdRow:
    """A line in cold."""

    line: Line


@dataclass(frozen=True, slots=True)
class HitRow:
    """A find in a log; ``where`` names its session."""

    hit: Hit
    where: str


@dataclass(frozen=True, slots=True)
class HeadRow:
    """A row above a part of the list."""

    words: str


FoundRow = ColdRow | HitRow | HeadRow


def found_rows(lines: Sequence[Line], hits: Sequence[Hit], sessions: Mapping[LogName, str]) -> tuple[FoundRow, ...]:
    """The rows of a search; ``sessions`` names the logs."""
    rows: list[FoundRow] = []
    if lines:
        rows += [HeadRow(f"in cold: {len(lines)} {'line' if len(lines) == 1 else 'lines'}"), *map(ColdRow, lines)]
    if hits:
        noun = "place" if len(hits) == 1 else "places"
        rows.append(HeadRow(f"said, done and noted: {len(hits)} {noun}"))
        rows += [HitRow(hit, sessions.get(hit.log, str(hit.log))) for hit in hits]
    return tuple(rows)


class FoundList(RowList[FoundRow]):
    """The finds. The one under the cursor shows all its words."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor", "rows--lit", "found--head", "found--dim", "found--mark"}

    DEFAULT_CSS = """
    FoundList {
        height: 1fr;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
        background: $surface;
        color: $foreground;

        & > .rows--cursor { background: $primary-muted; }
        & > .found--head { color: $foreground; text-style: bold underline; }
        & > .found--dim { color: $text-muted; }
        & > .found--mark { color: $text-accent; text-style: bold; }
    }
    """

    def key(self, item: FoundRow) -> object:
        match item:
            case ColdRow():
                return item.line.id
            case HitRow():
                return (item.hit.log, item.hit.n)
            case HeadRow():
                return item.words

    def selectable(self, item: FoundRow) -> bool:
        return not isinstance(item, HeadRow)

    def rows(self, item: FoundRow, width: int, current: bool) -> Sequence[Content]:
        if isinstance(item, HeadRow):
            return (fitted([piece(100, " ", (item.words, "found--head"))], [], width),)
        head, words, why = self._parts(item)
        gutter = "▌" if current else " "
        rows = [Content.assemble((gutter, "found--mark"), fitted(head, [], width - 1))]
        room = max(1, width - 4)
        text = Content(words).wrap(room)
        if not current and len(text) > SNIPPET_ROWS:
            last = text[SNIPPET_ROWS - 1].plain.rstrip()
            text = [*text[: SNIPPET_ROWS - 1], Content(f"{last} …").truncate(room, ellipsis=True)]
        if current and why:
            text += Content.styled(why, "found--dim").wrap(room)
        return [*rows, *(Content.assemble((gutter, "found--mark"), "  ", row) for row in text)]

    @staticmethod
    def _parts(item: ColdRow | HitRow) -> tuple[list[Piece], str, str]:
        """The pieces of its first row, its words, and its reason."""
        if isinstance(item, ColdRow):
            line = item.line
            head = [
                piece(100, (f"{line.id} {KIND_WORDS[line.kind]}", "found--mark")),
                piece(80, (f"priority was {line.priority}", "found--dim")),
                piece(60, (f"made s{line.made_session} t{line.made_turn}, used s{line.touched}", "found--dim")),
            ]
            return head, one_line(clean(line.text)), f"why: {one_line(clean(line.reason))}" if line.reason else ""
        hit = item.hit
        head = [
            piece(100, (f"{clean(item.where)} turn {hit.turn}", "found--mark")),
            piece(80, (f"{hit.by} · {_KINDS.get(hit.kind, hit.kind)}", "found--dim")),
            piece(60, (hit.at[:16].replace("T", " "), "found--dim")),
        ]
        return head, one_line(clean(hit.snippet)), ""
