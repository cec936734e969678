"""One measured figure with its budget, and the table that shows them."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Figure:
    """``value`` in ``unit``; ``most`` and ``least`` are the budget, None when it has none on that side; ``versus``
    is the same figure of the naive way, or of the small case, and ``against`` says which."""

    part: str
    what: str
    value: float
    unit: str
    most: float | None = None
    least: float | None = None
    versus: float | None = None
    against: str = ""

    @property
    def holds(self) -> bool:
        """Whether the budget is kept."""
        return (self.most is None or self.value <= self.most) and (self.least is None or self.value >= self.least)


def share(values: Sequence[float], at: float) -> float:
    """The value below which the share ``at`` of ``values`` lies (0.95: p95)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * at))]


def median(values: Sequence[float]) -> float:
    """The middle value."""
    return statistics.median(values)


def show(figures: Sequence[Figure]) -> None:
    """Print the figures as one table."""
    table = Table(title="two twins: benchmarks", title_justify="left", pad_edge=False)
    for name, justify in (("part", "left"), ("what", "left"), ("measured", "right"), ("budget", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    table.add_column("beside", justify="right")
    table.add_column("")
    for figure in figures:
        bounds = [f"≤ {_number(figure.most)}"] if figure.most is not None else []
        bounds += [f"≥ {_number(figure.least)}"] if figure.least is not None else []
        beside = ""
        if figure.versus is not None:
            ratio = f" (×{figure.value / figure.versus:.2f})" if figure.versus else ""
            beside = f"{figure.against} {_number(figure.versus)}{ratio}"
        verdict = "" if not bounds else "holds" if figure.holds else "BROKEN"
        measured = f"{_number(figure.value)} {figure.unit}".rstrip()
        table.add_row(figure.part, figure.what, measured, " ".join(bounds), beside, verdict)
    Console(width=None if Console().is_terminal else 150).print(table)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"
