"""A Markdown table as rows with aligned columns, or as it stands where it does not fit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len

from widgets.chat.inline import inline
from widgets.chat.rows import Row, Span, text_rows

_RULE = re.compile(r":?-+:?").fullmatch
_BAR = re.compile(r"(?<!\\)\|")


def is_table_line(line: str) -> bool:
    """A line that begins and ends with a bar."""
    text = line.strip()
    return len(text) > 2 and text[0] == text[-1] == "|"


def table_rows(lines: Sequence[str], width: int, lead: str = "") -> list[Row]:
    """``lines`` of one table as rows; the second line must be the rule below the head, or it is no table."""
    cells = [[cell.strip() for cell in _BAR.split(line.strip()[1:-1])] for line in lines]
    if len(cells) < 2 or not all(_RULE(cell) for cell in cells[1]) or any(len(c) != len(cells[0]) for c in cells):
        return _as_it_stands(lines, width, lead)
    shown = [[inline(cell) for cell in line] for i, line in enumerate(cells) if i != 1]
    widths = [max(cell_len(line[c][0]) for line in shown) for c in range(len(cells[0]))]
    if len(lead) + sum(widths) + 3 * (len(widths) - 1) > width:
        return _as_it_stands(lines, width, lead)
    rows = [_table_row(line, widths, lead, head=i == 0) for i, line in enumerate(shown)]
    rule = "─┼─".join("─" * cells_wide for cells_wide in widths)
    return [rows[0], Row(rule, ((0, len(rule), "muted"),), lead), *rows[1:]]


def _table_row(line: Sequence[tuple[str, list[Span]]], widths: Sequence[int], lead: str, *, head: bool) -> Row:
    text = ""
    spans: list[Span] = []
    for column, (words, inner) in enumerate(line):
        if column:
            spans.append((len(text), len(text) + 3, "muted"))
            text += " │ "
        spans += [(len(text) + a, len(text) + b, look) for a, b, look in inner]
        if head:
            spans.append((len(text), len(text) + len(words), "bold"))
        text += words + " " * (widths[column] - cell_len(words))
    return Row(text, tuple(spans), lead)


def _as_it_stands(lines: Sequence[str], width: int, lead: str) -> list[Row]:
    return [row for line in lines for row in text_rows(line, (), width, lead=lead)]
