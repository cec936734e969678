"""The tier panel: both budgets as bars, this turn's changes as counts, the lines below, a filter on demand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from store.bodies import Change
from store.decay import Fading
from store.lines import BUDGETS, LineId, Tier, Tiers
from widgets.figures import Piece, bar, fitted, piece
from widgets.tiers.changes import SIGNS, ChangeName, TurnChanges
from widgets.tiers.lines import LineFilter, LineList, rows_of

LIT_SECONDS = 4.0
"""How long a changed line stays lit; its mark stays until the next turn."""

TiersWantedName = Literal["cold", "changes"]

_COUNTED: tuple[ChangeName, ...] = ("added", "edited", "demoted")


class TiersWanted(Message):
    """The operator wants what the panel itself has not: ``cold`` to search in, or their own ``changes``."""

    def __init__(self, what: TiersWantedName) -> None:
        self.what = what
        super().__init__()


class TierGauges(Widget):
    """Hot and warm bytes against their budgets, and what this turn changed."""

    tiers: reactive[Tiers] = reactive(Tiers)
    changes: reactive[TurnChanges] = reactive(TurnChanges)
    fading: reactive[int] = reactive(0)

    def render(self) -> Content:
        width = self.content_size.width
        rows = [self._gauge("hot", width), self._gauge("warm", width), self._changed(width)]
        return Content("\n").join(rows)

    def _gauge(self, tier: Tier, width: int) -> Content:
        used, budget = self.tiers.size(tier), BUDGETS[tier]
        share = used / budget
        style = "$error" if share > 1 else "$warning" if share >= 0.9 else "$primary"
        words = f"{used:>6,} of {budget:>6,} bytes"
        short = f"{used:>6,}/{budget:>6,} B"
        label = piece(100, (f"{tier:<5}", "bold"))
        over = [piece(90, (f"{used - budget:,} over", "bold $text-error"))] if used > budget else []
        shown = words if width >= 46 else short
        cells = max(4, width - 5 - len(shown) - 2 - sum(item.content.cell_length + 2 for item in over))
        gauge = Content.assemble(label.content, bar(share, cells, style))
        return fitted([Piece(gauge, 100)], [*over, piece(95, shown)], width)

    def _changed(self, width: int) -> Content:
        parts = [
            piece(80, (f"{SIGNS[name]}{count} {name}", "bold $text-success"))
            for name in _COUNTED
            if (count := self.changes.count(name))
        ]
        left = [piece(100, ("this turn", "$text-muted")), *(parts or [piece(80, ("nothing changed", "$text-muted"))])]
        right = [piece(50, (f"{self.fading} will fade", "italic $text-warning"))] if self.fading else []
        return fitted(left, right, width)


class TierPanel(Vertical):
    """Shows ``Tiers`` and posts ``LineAction``; it changes nothing by itself.

    The screen calls ``show`` whenever the tiers were folded anew, ``changed`` with what an event changed, and
    ``turn_began`` when the operator's next message is out.
    """

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "filter", "Filter", id="tiers.filter", tooltip="Show only lines that hold these words"),
        Binding("o", "next_kind", "Kind", id="tiers.kind", tooltip="Show only one kind of line"),
        Binding("slash", "ask('cold')", "Cold", id="tiers.cold", tooltip="Search in cold and in all that was said"),
        Binding("U", "ask('changes')", "Undo any", id="tiers.changes", tooltip="Take back any of your changes"),
        Binding("escape", "unfilter", "Show all", show=False, id="tiers.unfilter"),
    ]

    def __init__(
        self, *, empty: str = "", only_read: bool = False, id: str | None = None, classes: str | None = None
    ) -> None:
        """``empty`` is what stands there while there is no line. ``only_read``: the lines are those of another time,
        so that the panel offers nothing to be done with them."""
        super().__init__(id=id, classes=classes)
        self._only_read = only_read
        self._empty = empty or "No line yet. The Keeper files the first ones after a turn."
        self._tiers = Tiers()
        self._fading: Mapping[LineId, int] = {}
        self._changes = TurnChanges()
        self._lit: frozenset[LineId] = frozenset()
        self._lit_timer: Timer | None = None
        self._wrong: Mapping[tuple[LineId, str], str] = {}
        self._filter = LineFilter()
        self._composed = False

    def compose(self) -> ComposeResult:
        yield TierGauges()
        yield Input(placeholder=Content("words to look for").plain, id="tier-filter", compact=True)
        lines = LineList(id="tier-lines")
        lines.only_read = self._only_read
        yield lines

    def on_mount(self) -> None:
        self._composed = True
        self._draw()

    # ------------------------------------------------------------ values

    def show(self, tiers: Tiers, fading: Iterable[Fading] | None = None) -> None:
        """Show ``tiers``. ``fading`` is what the next opening will lower; None leaves what was known."""
        self._tiers = tiers
        if fading is not None:
            self._fading = {item.line.id: item.priority for item in fading}
        self._draw()

    def changed(self, changes: Iterable[Change]) -> None:
        """Mark what an event of this turn changed, and light it up for a moment."""
        changed = tuple(changes)
        self._changes = self._changes.plus(changed)
        self._lit |= {change.after.id for change in changed}
        if self._lit_timer is not None:
            self._lit_timer.stop()
        self._lit_timer = self.set_timer(LIT_SECONDS, self._unlight)
        self._draw()

    def wrong_day(self, line_id: LineId, words: str) -> None:
        """Mark a line whose words hold a date that is not so; ``words`` say what is wrong. It goes with the words."""
        line = self._tiers.lines.get(line_id)
        if line is not None:
            self._wrong = {**self._wrong, (line_id, line.text): words}
            self._draw()

    def turn_began(self) -> None:
        """A new turn: the last one's marks go."""
        self._changes = TurnChanges()
        self._unlight()

    @property
    def line_filter(self) -> LineFilter:
        return self._filter

    @line_filter.setter
    def line_filter(self, chosen: LineFilter) -> None:
        self._filter = chosen
        self._draw()

    def _unlight(self) -> None:
        self._lit = frozenset()
        self._draw()

    def _draw(self) -> None:
        if not self._composed:
            return  # shown values wait for the mount
        gauges = self.query_one(TierGauges)
        gauges.tiers, gauges.changes = self._tiers, self._changes
        gauges.fading = sum(1 for line in self._tiers.warm() if line.id in self._fading)
        rows = rows_of(self._tiers, self._filter, self._fading, self._changes, self._lit, self._wrong)
        self.query_one(LineList).show(rows, empty=Content.styled(self._empty, "tiers--dim"))

    # ------------------------------------------------------------ filter

    def action_filter(self) -> None:
        field = self.query_one("#tier-filter", Input)
        field.add_class("-open")
        field.focus()

    def action_next_kind(self) -> None:
        self.line_filter = self._filter.next_kind()

    def action_ask(self, what: TiersWantedName) -> None:
        """Ask the screen for cold, or for the operator's changes."""
        self.post_message(TiersWanted(what))

    def action_unfilter(self) -> None:
        field = self.query_one("#tier-filter", Input)
        field.remove_class("-open")
        field.value = ""
        self.line_filter = LineFilter()
        self.query_one(LineList).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "unfilter":  # else escape belongs to the screen, which stops P with it
            return bool(self._filter) or self.query_one("#tier-filter", Input).has_class("-open")
        if action == "ask" and self._only_read:
            return False
        if action in ("filter", "next_kind", "ask"):
            return not self.query_one("#tier-filter", Input).has_focus
        return True

    @on(Input.Changed, "#tier-filter")
    def _filter_typed(self, event: Input.Changed) -> None:
        event.stop()
        self.line_filter = LineFilter(self._filter.kind, event.value)

    @on(Input.Submitted, "#tier-filter")
    def _filter_taken(self, event: Input.Submitted) -> None:
        event.stop()
        if not event.value.strip():
            event.input.remove_class("-open")
        self.query_one(LineList).focus()
