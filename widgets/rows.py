"""A list of items of any height drawn line by line: one widget however many items there are."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import ClassVar, Generic, TypeVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

ItemT = TypeVar("ItemT")


class RowList(ScrollView, Generic[ItemT], can_focus=True):
    """Items of any height, a cursor on one of them, drawn through the line API.

    A subclass says by ``key`` what makes an item the same after a change, by ``rows`` how it looks at a width (its
    spans are names of component classes), and by ``selectable`` where the cursor may stand. The cursor keeps to its
    item and the reader's place keeps to the top item when the items change.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor", "rows--lit"}

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "cursor(-1)", "Up", show=False, id="list.up"),
        Binding("down,j", "cursor(1)", "Down", show=False, id="list.down"),
        Binding("pageup,ctrl+u", "page(-1)", "Page up", show=False, id="list.page_up"),
        Binding("pagedown,ctrl+d", "page(1)", "Page down", show=False, id="list.page_down"),
        Binding("home,g", "edge(-1)", "First", show=False, id="list.first"),
        Binding("end,G", "edge(1)", "Last", show=False, id="list.last"),
        Binding("enter", "choose", "Open", show=False, id="list.open"),
    ]

    FOLLOWS_END: ClassVar[bool] = False
    """Whether a reader at the end stays there when items come."""

    cursor: reactive[int] = reactive(0, init=False, repaint=False)
    """Index of the item under the cursor; -1 when there is none to stand on."""

    class Chosen(Message):
        """The operator chose an item by enter or by a double click."""

        def __init__(self, rows: Widget, index: int) -> None:
            self.rows = rows
            self.index = index
            super().__init__()

        @property
        def control(self) -> Widget:
            return self.rows

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._items: tuple[ItemT, ...] = ()
        self._starts: list[int] = [0]
        self._drawn: list[tuple[Content, ...]] = []
        self._opened = -1
        self._laid_out: dict[tuple[ItemT, int, bool], tuple[Content, ...]] = {}
        self._empty: Content = Content("")
        self.set_reactive(RowList.cursor, -1)

    # ------------------------------------------------------------ what a subclass says

    def key(self, item: ItemT) -> object:
        """What makes an item the same one after a change."""
        raise NotImplementedError

    def rows(self, item: ItemT, width: int, current: bool) -> Sequence[Content]:
        """The item at ``width`` cells; ``current`` when the cursor is on it and the list has the focus."""
        raise NotImplementedError

    def words(self, item: ItemT) -> str:
        """What is copied of an item; nothing when there is nothing to copy."""
        return ""

    def selectable(self, item: ItemT) -> bool:
        """Whether the cursor may stand on the item."""
        return True

    def lit(self, item: ItemT) -> bool:
        """Whether the item is lit up."""
        return False

    # ------------------------------------------------------------ items

    @property
    def items(self) -> tuple[ItemT, ...]:
        return self._items

    @property
    def current(self) -> ItemT | None:
        """The item under the cursor."""
        return self._items[self.cursor] if 0 <= self.cursor < len(self._items) else None

    def show(self, items: Sequence[ItemT], empty: Content | None = None) -> None:
        """Show ``items``; ``empty`` stands there when there are none."""
        before, anchor, offset = self.current, *self._top()
        follows = self._at_followed_end()
        old_index = self.cursor
        self._items = tuple(items)
        if empty is not None:
            self._empty = empty
        self.set_reactive(RowList.cursor, self._index_like(before, old_index))
        self._measure()
        if anchor is not None and self.scroll_offset.y > 0 and not follows:
            place = next((i for i, item in enumerate(self._items) if self.key(item) == anchor), None)
            if place is not None:
                self.scroll_to(y=self._starts[place] + offset, animate=False, force=True)
        self.refresh()

    def _at_followed_end(self) -> bool:
        return self.FOLLOWS_END and self.scroll_offset.y >= self.max_scroll_y

    def _top(self) -> tuple[object | None, int]:
        """Key of the item at the top of the window and how many of its rows are above it."""
        if not self._items:
            return None, 0
        index = self._item_at(self.scroll_offset.y)
        return self.key(self._items[index]), self.scroll_offset.y - self._starts[index]

    def _index_like(self, before: ItemT | None, old_index: int) -> int:
        """Where the cursor goes after a change: the same item, else the nearest one it may stand on."""
        if before is not None:
            wanted = self.key(before)
            for index, item in enumerate(self._items):
                if self.key(item) == wanted:
                    return index
        places = [i for i, item in enumerate(self._items) if self.selectable(item)]
        return min(places, key=lambda place: abs(place - old_index), default=-1)

    # ------------------------------------------------------------ layout

    @property
    def row_width(self) -> int:
        """Cells a row may take. The bar's place is kept free, so that nothing wraps anew when it comes or goes."""
        return max(1, self.container_size.width - self.styles.scrollbar_size_vertical)

    def _lay_out(self, item: ItemT, width: int, current: bool) -> tuple[Content, ...]:
        found = self._laid_out.get((item, width, current))
        return tuple(self.rows(item, width, current)) if found is None else found

    def _measure(self) -> None:
        """Lay out what is not laid out yet. Only here, so that heights and rows never disagree while drawing."""
        if not self.container_size.width:
            return  # not laid out yet; the first resize measures
        follows = self._at_followed_end()
        width = self.row_width
        opened = self.cursor if self.has_focus else -1
        places = [(item, width, index == opened) for index, item in enumerate(self._items)]
        self._drawn = [self._lay_out(*place) for place in places]
        self._laid_out = dict(zip(places, self._drawn, strict=True))
        self._opened = opened
        self._starts = [0, *accumulate(len(rows) for rows in self._drawn)]
        self.virtual_size = Size(width, self._starts[-1])
        if follows:
            self.scroll_to(y=self.max_scroll_y, animate=False, force=True)

    def _item_at(self, y: int) -> int:
        return max(0, min(len(self._items) - 1, bisect_right(self._starts, y) - 1))

    def on_resize(self) -> None:
        self._measure()
        self.refresh()

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self._measure()
        self.refresh()
        if has_focus:
            self.show_cursor()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.refresh()

    # ------------------------------------------------------------ drawing

    def _named(self, name: str | Style) -> Style:
        return self.get_visual_style(name, partial=True) if isinstance(name, str) else name

    def _background(self, name: str) -> Style:
        # A partial visual style loses an opaque background (textual 8.2, Widget.get_visual_style): take it itself.
        return Style(background=self.get_component_styles(name).background)

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        line = y + self.scroll_offset.y
        base = self.visual_style
        if not self._items:
            words = self._empty.wrap(self.row_width)
            content = words[y] if y < len(words) else Content("")
            return self._strip(content, base, width)
        if line >= self._starts[-1]:
            return Strip.blank(width, base.rich_style)
        index = self._item_at(line)
        item = self._items[index]
        if index == self._opened and self.selectable(item):
            base += self._background("rows--cursor")
        elif self.lit(item):
            base += self._background("rows--lit")
        return self._strip(self._drawn[index][line - self._starts[index]], base, width)

    def _strip(self, content: Content, base: Style, width: int) -> Strip:
        segments = [
            Segment(text, (base + style).rich_style)
            for text, style in content.render(base, end="", parse_style=self._named)
        ]
        return Strip(segments, content.cell_length).adjust_cell_length(width, base.rich_style)

    # ------------------------------------------------------------ moving

    def watch_cursor(self, _old: int, _new: int) -> None:
        self._measure()
        self.refresh()
        self.show_cursor()

    def show_cursor(self) -> None:
        """Bring the item under the cursor into sight, its first row before its last."""
        if 0 <= self.cursor < len(self._items):
            start = self._starts[self.cursor]
            height = min(self._starts[self.cursor + 1] - start, max(1, self.size.height))
            self.scroll_to_region(Region(0, start, 1, height), animate=False, force=True)

    def _move_to(self, target: int, step: int) -> None:
        """Put the cursor on ``target`` or the next item in direction ``step`` where it may stand."""
        while 0 <= target < len(self._items) and not self.selectable(self._items[target]):
            target += step
        if 0 <= target < len(self._items):
            self.cursor = target
        elif step < 0:
            self.scroll_home(animate=False)

    def action_cursor(self, step: int) -> None:
        self._move_to(self.cursor + step, step)

    def action_page(self, step: int) -> None:
        if self._items:
            row = self._starts[max(0, self.cursor)] + step * max(1, self.size.height - 1)
            target = self._item_at(max(0, row))
            inward = -step if target in (0, len(self._items) - 1) else step
            self._move_to(target, inward)

    def action_edge(self, step: int) -> None:
        self._move_to(0 if step < 0 else len(self._items) - 1, 1 if step < 0 else -1)

    def action_copy(self) -> None:
        """Copy the words of the item under the cursor. A subclass binds it: in a question, y is the answer."""
        text = self.words(self.current) if self.current is not None else ""
        if text:
            self.app.copy_to_clipboard(text)
        else:
            self.app.bell()

    def action_choose(self) -> None:
        if self.current is not None:
            self.post_message(self.Chosen(self, self.cursor))

    def on_click(self, event: Click) -> None:
        line = event.y + self.scroll_offset.y
        if self._items and 0 <= line < self._starts[-1]:
            index = self._item_at(line)
            if self.selectable(self._items[index]):
                self.cursor = index
                if event.chain == 2:
                    self.action_choose()
