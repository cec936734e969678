"""The lines of hot and warm as a list with a cursor, and the keys that act on the line under it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar, Literal

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from store.lines import LINE_KINDS, Line, LineId, LineKind, Tier, Tiers, one_line
from store.text import clean
from widgets.figures import Piece, fitted, piece
from widgets.rows import RowList
from widgets.tiers.changes import SIGNS, ChangeName, TurnChanges

LineActionName = Literal["promote", "retire", "undo", "edit", "touch", "history"]
FOLDED_ROWS = 2
"""Rows of text that a line takes while the cursor is elsewhere."""

KIND_WORDS: Mapping[LineKind, str] = {
    "decision": "decision",
    "trap": "trap",
    "thread": "thread",
    "way_back": "way back",
    "finding": "finding",
}


class LineAction(Message):
    """The operator acts on a line: what, and on which. The tiers change only by the event that answers it."""

    def __init__(self, action: LineActionName, line_id: LineId) -> None:
        self.action = action
        self.line_id = line_id
        super().__init__()


@dataclass(frozen=True, slots=True)
class LineFilter:
    """Which lines are shown: those of ``kind`` (None: all) whose text, reason or id hold every word."""

    kind: LineKind | None = None
    words: str = ""

    def __bool__(self) -> bool:
        return self.kind is not None or bool(self.words.strip())

    def __call__(self, line: Line) -> bool:
        if self.kind is not None and line.kind != self.kind:
            return False
        hay = f"{line.id} {line.text} {line.reason}".casefold()
        return all(word in hay for word in self.words.casefold().split())

    def next_kind(self) -> LineFilter:
        """The same words with the next kind; after the last kind, all of them."""
        order: tuple[LineKind | None, ...] = (None, *LINE_KINDS)
        return LineFilter(order[(order.index(self.kind) + 1) % len(order)], self.words)


@dataclass(frozen=True, slots=True)
class LineRow:
    """A line with what the panel knows about it: ``fades_to`` is its priority after the next opening (0: cold),
    ``age`` the sessions since it was made, ``wrong`` what is wrong with a date in it."""

    line: Line
    fades_to: int | None
    change: ChangeName | None
    lit: bool
    age: int = 0
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class SectionRow:
    """The row above a tier's lines: how many of them are shown."""

    tier: Tier
    shown: int
    total: int
    filter: LineFilter = field(default_factory=LineFilter)


Row = LineRow | SectionRow


def rows_of(
    tiers: Tiers,
    chosen: LineFilter,
    fading: Mapping[LineId, int],
    changes: TurnChanges,
    lit: frozenset[LineId],
    wrong: Mapping[tuple[LineId, str], str] = MappingProxyType({}),
) -> tuple[Row, ...]:
    """The rows of the list: hot and its lines, warm and its lines. Nothing at all when there is no line."""
    if not len(tiers):
        return ()
    rows: list[Row] = []
    sections: Sequence[tuple[Tier, tuple[Line, ...]]] = (("hot", tiers.hot()), ("warm", tiers.warm()))
    for tier, lines in sections:
        shown = [line for line in lines if chosen(line)]
        rows.append(SectionRow(tier, len(shown), len(lines), chosen))
        rows += [
            LineRow(
                line,
                fading.get(line.id),
                changes.names.get(line.id),
                line.id in lit,
                max(0, tiers.session - line.made_session),
                wrong.get((line.id, line.text), ""),
            )
            for line in shown
        ]
    return tuple(rows)


class LineList(RowList[Row]):
    """Hot and warm lines. The line under the cursor shows its whole text and its reason, the others two rows."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "rows--cursor",
        "rows--lit",
        "tiers--section",
        "tiers--dim",
        "tiers--text",
        "tiers--mark",
        "tiers--fading",
        "tiers--wrong",
        "tiers--promoted",
        "tiers--decision",
        "tiers--trap",
        "tiers--thread",
        "tiers--way_back",
        "tiers--finding",
    }

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "line('promote')", "Promote", id="tiers.promote", tooltip="Keep a hot line, raise a warm one"),
        Binding("r", "line('retire')", "Retire", id="tiers.retire", tooltip="Send the line to cold"),
        Binding("u", "line('undo')", "Undo", id="tiers.undo", tooltip="Take back your last change of this line"),
        Binding("e", "line('edit')", "Edit", id="tiers.edit", tooltip="Change the line's words"),
        Binding("t", "line('touch')", "Touch", id="tiers.touch", tooltip="Keep the line from decaying"),
        Binding("y", "copy", "Copy", show=False, id="tiers.copy", tooltip="Copy the line"),
        Binding("enter", "choose", "History", id="tiers.history", tooltip="Reason, quote and every change"),
    ]
    only_read = False
    """Whether nobody takes a LineAction here: then no key offers one."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not (self.only_read and action in ("line", "choose"))

    def key(self, item: Row) -> object:
        return item.line.id if isinstance(item, LineRow) else item.tier

    def words(self, item: Row) -> str:
        return clean(item.line.text) if isinstance(item, LineRow) else ""

    def selectable(self, item: Row) -> bool:
        return isinstance(item, LineRow)

    def lit(self, item: Row) -> bool:
        return isinstance(item, LineRow) and item.lit

    def rows(self, item: Row, width: int, current: bool) -> Sequence[Content]:
        if isinstance(item, SectionRow):
            return (self._section(item, width),)
        gutter = "▌" if current else " "
        line = item.line
        rows = [Content.assemble((gutter, f"tiers--{line.kind}"), self._head(item, width - 1, current))]
        indent = Content.assemble((gutter, f"tiers--{line.kind}"), "  ")
        room = max(1, width - 4)
        text = Content(one_line(clean(line.text))).wrap(room)
        if not current and len(text) > FOLDED_ROWS:
            last = text[FOLDED_ROWS - 1]
            text = [*text[: FOLDED_ROWS - 1], Content(last.plain.rstrip() + " …").truncate(room, ellipsis=True)]
        rows += [Content.assemble(indent, row) for row in text]
        if item.wrong:
            rows += [Content.assemble(indent, row) for row in Content.styled(item.wrong, "tiers--wrong").wrap(room)]
        if current and line.reason:
            why = Content.styled(f"why: {one_line(clean(line.reason))}", "tiers--dim")
            rows += [Content.assemble(indent, row) for row in why.wrap(room)]
        return rows

    def _section(self, item: SectionRow, width: int) -> Content:
        noun = "line" if item.total == 1 else "lines"
        count = f"{item.shown} of {item.total} {noun}" if item.filter else f"{item.total} {noun}"
        left = [piece(100, " ", (item.tier, "tiers--section"), (f"  {count}", "tiers--dim"))]
        right = []
        if item.filter.kind is not None:
            right.append(piece(50, (f"only {KIND_WORDS[item.filter.kind]}", "tiers--mark")))
        if item.filter.words.strip():
            right.append(piece(40, (f"with “{one_line(clean(item.filter.words))}”", "tiers--mark")))
        return fitted(left, right, width)

    def _head(self, item: LineRow, width: int, current: bool) -> Content:
        line = item.line
        if line.tier == "hot":
            state = ("◆ kept    ", "tiers--promoted") if line.promoted else ("◇ expires ", "tiers--dim")
        else:
            state = ("●" * line.priority + "○" * (5 - line.priority) + "     ", f"tiers--{line.kind}")
        kind = (f"{KIND_WORDS[line.kind]:<8}", f"tiers--{line.kind}")
        left = [piece(100, state, kind, (f" {line.id:>4}", "tiers--dim"))]
        if line.tier == "warm":
            left.append(piece(30, (f"used s{line.touched}", "tiers--dim")))
        old = "new" if not item.age else "1 session old" if item.age == 1 else f"{item.age} sessions old"
        left.append(piece(25, (old, "tiers--dim")))
        if current:
            left.append(piece(20, (f"made s{line.made_session} t{line.made_turn}", "tiers--dim")))
        right: list[Piece] = []
        if item.fades_to is not None:
            where = f"→ {item.fades_to}" if item.fades_to else "→ cold"
            right.append(piece(60, (f"fades {where}", "tiers--fading")))
        if item.change is not None:
            right.append(piece(80, (f"{SIGNS[item.change]} {item.change}", "tiers--mark")))
        return fitted(left, right, width)

    def action_line(self, action: LineActionName) -> None:
        """Ask for ``action`` on the line under the cursor."""
        row = self.current
        if isinstance(row, LineRow):
            self.post_message(LineAction(action, row.line.id))

    def action_choose(self) -> None:
        self.action_line("history")
