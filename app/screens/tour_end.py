"""The last screen of the tour: both sessions beside each other, RET, money, lines, and how to go on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from app.measure.report import SessionReport, session_report
from store.room import LogName, Room
from widgets.figures import NOTHING, money, tokens


def _rows(reports: Sequence[SessionReport]) -> Iterator[tuple[str, list[str]]]:
    def each(*cells: str) -> list[str]:
        return list(cells)

    yield "", each(*(f"session {number}" for number in range(1, len(reports) + 1)))
    yield "turns", each(*(str(report.turns) for report in reports))
    yield (
        "RET, minutes to first right action",
        each(*(NOTHING if report.ret.seconds is None else f"{report.ret.seconds / 60:.2f}" for report in reports)),
    )
    yield "told by the operator", each(*("yes" if report.ret.told else "no" for report in reports))
    for seat, name in (("presence", "Presence"), ("keeper", "Keeper")):
        used = [report.seats[seat] for report in reports]  # type: ignore[index]
        yield (
            f"{name}, tokens in and out",
            each(*(f"{tokens(one.input + one.cache_read + one.cache_write)} · {tokens(one.output)}" for one in used)),
        )
        yield f"{name}, money at list price", each(*(money(one.usd) for one in used))
    yield "lines kept at the end", each(*(str(report.tiers.lines) for report in reports))
    yield "letter", each(*("filed" if report.letter else NOTHING for report in reports))


def figures(reports: Sequence[SessionReport]) -> Content:
    """The table of both sessions."""
    rows = []
    for number, (name, cells) in enumerate(_rows(reports)):
        style = "bold" if number == 0 else ""
        shown = [Content.styled(f"{cell:>15}", style) for cell in cells]
        rows.append(Content.assemble((f"{name:<36}", "$text-muted"), *shown))
    return Content("\n").join(rows)


class TourEnd(Screen[None]):
    """What the tour came to. Any of the keys ends the program."""

    DEFAULT_CSS = """
    TourEnd {
        align: center middle;
        #tour-box {
            width: auto; max-width: 100%; height: auto; max-height: 100%; overflow-y: auto;
            padding: 1 3; border: round $primary; border-title-style: bold; background: $surface;
        }
        Static { width: auto; max-width: 100%; height: auto; }
        .tour-words { margin-top: 1; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,escape,q,space", "end", "End the tour")]

    def __init__(self, room: Room, logs: Sequence[LogName]) -> None:
        super().__init__()
        self._reports = [session_report(room.events(log)) for log in logs]

    def compose(self) -> ComposeResult:
        with Vertical(id="tour-box") as box:
            box.border_title = "The end of the tour"
            yield Static(figures(self._reports), markup=False)
            yield Static(
                "The twins were scripted, the engine was not: tools ran, lines passed the gate, tokens were counted.\n"
                "For a real one:  twins init my-room  and then  twins --room my-room",
                classes="tour-words",
                markup=False,
            )
            yield Static(Content.assemble(("enter", "bold $text-accent"), " ends it"), classes="tour-words")

    def action_end(self) -> None:
        """End the tour."""
        self.dismiss(None)
