"""Markdown as rows while it streams: whole lines are laid out once, the line that still grows again and again."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from widgets.chat.highlight import code_spans
from widgets.chat.inline import inline
from widgets.chat.rows import Row, Span, text_rows
from widgets.chat.tables import is_table_line, table_rows
from widgets.chat.wrap import without_tabs

_FENCE = re.compile(r"([ ]*)(`{3,}|~{3,})[ ]*([^`\s]*)[^`]*").fullmatch
_HEADING = re.compile(r" {0,3}(#{1,6})[ ]+(.*?)[ ]*#*[ ]*").fullmatch
_RULE = re.compile(r" {0,3}([-*_])(?:[ ]*\1){2,}[ ]*").fullmatch
_QUOTE = re.compile(r" {0,3}((?:>[ ]?)+)(.*)").fullmatch
_ITEM = re.compile(r"([ ]*)([-*+]|\d{1,9}[.)])[ ]+(.*)").fullmatch

CODE_LEAD = "│ "


@dataclass(slots=True)
class _Fence:
    mark: str
    indent: int
    language: str
    first_row: int
    lines: list[str] = field(default_factory=list)


class Flow:
    """A text that only grows, as rows at one width, each behind ``lead``.

    A line end in the source is a line end on screen. The marks of Markdown become looks; every word stays, and code
    is kept character for character. An open fence is shown plain; once closed it is coloured.
    """

    def __init__(self, width: int, lead: str = "") -> None:
        self._width = width
        self._lead = lead
        self._begin()

    def _begin(self) -> None:
        self.rows: list[Row] = []
        self._text = ""
        self._line_start = 0
        self._stable = 0
        self._blank_lines = 0
        self._fence: _Fence | None = None
        self._table: list[str] = []
        self._final = False

    def update(self, text: str, *, final: bool = False) -> None:
        """Lay out ``text``; ``final`` when no more follows. What it shares with the text before is kept; a text
        that is not a continuation of it is laid out from the start."""
        if self._final or not text.startswith(self._text):
            self._begin()
        self._text = text
        del self.rows[self._stable :]
        start = self._line_start
        while (end := text.find("\n", start)) >= 0:
            self._whole(text[start:end])
            start = end + 1
        if final:
            if start < len(text):
                self._whole(text[start:])
            self._end_table()
            self._final = True
            return
        self._line_start = start
        self._stable = len(self.rows)
        self._growing(text[start:])

    def _whole(self, raw: str) -> None:
        line = without_tabs(raw)
        if self._fence is not None:
            if self._closes(line):
                self._close()
            else:
                self._fence.lines.append(self._code(line))
                self.rows += self._code_rows(self._fence.lines[-1])
            return
        if is_table_line(line):
            self._end_blanks()
            self._table.append(line)
            return
        self._end_table()
        if not line.strip():
            self._blank_lines += 1
            return
        self._end_blanks()
        if opening := _FENCE(line):
            if opening[3]:
                self.rows.append(self._label(opening[3]))
            self._fence = _Fence(opening[2], len(opening[1]), opening[3], len(self.rows))
            return
        self.rows += self._line(line)

    def _growing(self, raw: str) -> None:
        """The last line: shown, but as nothing that later words could not still change."""
        line = without_tabs(raw)
        if self._fence is not None:
            # A line that may become the closing fence is not shown as code first.
            if line and not self._may_close(line):
                self.rows += self._code_rows(self._code(line))
            return
        if self._table:
            self.rows += table_rows(self._table, self._width, self._lead)
        if not line.strip():
            return
        self.rows += [Row(lead=self._lead)] * self._blank_lines
        opening = _FENCE(line)
        if opening is None:
            self.rows += self._line(line)
        elif opening[3]:
            self.rows.append(self._label(opening[3]))

    # ------------------------------------------------------------ code and tables

    def _closes(self, line: str) -> bool:
        text = line.strip()
        mark = self._fence.mark if self._fence else ""
        return len(text) >= len(mark) and set(text) == {mark[0]}

    def _may_close(self, line: str) -> bool:
        text = line.strip()
        return self._fence is not None and set(text) == {self._fence.mark[0]}

    def _close(self) -> None:
        fence = self._fence
        if fence is None:
            return
        self._fence = None
        code = "\n".join(fence.lines)
        spans = code_spans(code, fence.language)
        if any(spans):
            del self.rows[fence.first_row :]
            for line, found in zip(fence.lines, spans, strict=True):
                self.rows += self._code_rows(line, found)

    def _code(self, line: str) -> str:
        """A line of code without the fence's own indentation (CommonMark 4.5)."""
        indent = self._fence.indent if self._fence else 0
        return line[min(indent, len(line) - len(line.lstrip(" "))) :]

    def _code_rows(self, line: str, spans: list[Span] | None = None) -> list[Row]:
        lead = self._lead + CODE_LEAD
        return text_rows(line, spans or (), self._width, lead=lead, lead_look="code-bar", fill="code", code=True)

    def _label(self, language: str) -> Row:
        text = language[: max(1, self._width - len(self._lead) - 2)]
        return Row("", (), f"{self._lead}{CODE_LEAD}{text}", "code-bar", fill="code")

    def _end_table(self) -> None:
        if self._table:
            self.rows += table_rows(self._table, self._width, self._lead)
            self._table = []

    def _end_blanks(self) -> None:
        """Blank lines are rows once something follows them: an answer does not end in them."""
        self.rows += [Row(lead=self._lead)] * self._blank_lines
        self._blank_lines = 0

    # ------------------------------------------------------------ lines

    def _line(self, line: str) -> list[Row]:
        lead, width = self._lead, self._width
        if heading := _HEADING(line):
            text, spans = inline(heading[2])
            level = "heading" if len(heading[1]) < 3 else "subheading"
            return text_rows(text, [*spans, (0, len(text), level)], width, lead=lead)
        if _RULE(line):
            return [Row(lead=lead + "─" * max(3, min(40, width - len(lead))), lead_look="muted")]
        if quote := _QUOTE(line):
            text, spans = inline(quote[2])
            bars = lead + "▎ " * min(quote[1].count(">"), 5)
            return text_rows(text, [*spans, (0, len(text), "quote")], width, lead=bars, lead_look="quote-bar")
        if item := _ITEM(line):
            indent = min(len(item[1]), 12)
            mark = "•" if item[2] in "-*+" else item[2]
            text, spans = inline(item[3])
            first = f"{lead}{' ' * indent}{mark} "
            return text_rows(text, spans, width, lead=first, more=" " * len(first), lead_look="bullet")
        indent = min(len(line) - len(line.lstrip(" ")), 12)
        text, spans = inline(line[indent:])
        return text_rows(text, spans, width, lead=lead + " " * indent)
