"""Plots of a study as inline SVG: every run a point, stacked bars; readable without colour, in light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from statistics import fmean

_WIDTH, _HEIGHT = 720, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 34, 46


@dataclass(frozen=True, slots=True)
class Point:
    """One run: the group it stands in, its value, what to say of it. ``open`` marks a value that is a lower bound."""

    group: str
    value: float
    said: str
    open: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """One stacked bar: its parts from the bottom up, by the names of the plot's series."""

    group: str
    parts: tuple[float, ...]


def points(title: str, axis: str, groups: Sequence[str], found: Sequence[Point], line: float | None = None) -> str:
    """Every point over its group, a bar at the mean of each group's closed points, a dashed line at ``line``."""
    top = _round_up(max([one.value for one in found] + [line or 0.0]))
    drawn = [_axes(title, axis, top, groups)]
    if line is not None:
        y = _y(line, top)
        drawn.append(
            f'<line class="predicted" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text class="predicted" x="{_WIDTH - _RIGHT}" y="{y - 5:.1f}" text-anchor="end">'
            f"predicted {_short(line)}</text>"
        )
    for place, group in enumerate(groups):
        mine = [one for one in found if one.group == group]
        middle = _x(place, len(groups))
        closed = [one.value for one in mine if not one.open]
        if closed:
            y = _y(fmean(closed), top)
            drawn.append(
                f'<line class="mean" x1="{middle - 30:.1f}" x2="{middle + 30:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
            )
        for number, one in enumerate(mine):
            x = middle + (number - (len(mine) - 1) / 2) * min(14.0, 60.0 / max(1, len(mine)))
            drawn.append(_mark(x, _y(one.value, top), one))
    return _svg(title, drawn)


def _mark(x: float, y: float, one: Point) -> str:
    said = f"<title>{escape(one.said)}</title>"
    if one.open:
        corners = f"M{x - 5:.1f} {y + 4:.1f}L{x:.1f} {y - 6:.1f}L{x + 5:.1f} {y + 4:.1f}Z"
        return f'<path class="open" d="{corners}">{said}</path>'
    return f'<circle class="run" cx="{x:.1f}" cy="{y:.1f}" r="4.5">{said}</circle>'


def stacked(title: str, axis: str, series: Sequence[str], bars: Sequence[Bar]) -> str:
    """A bar for each group, its parts on top of each other, and a legend."""
    top = _round_up(max([sum(bar.parts) for bar in bars] + [0.0]))
    drawn = [_axes(title, axis, top, [bar.group for bar in bars])]
    for place, bar in enumerate(bars):
        middle, below = _x(place, len(bars)), 0.0
        for number, part in enumerate(bar.parts):
            y = _y(below + part, top)
            high = max(0.0, _y(below, top) - y)
            drawn.append(
                f'<rect class="s{number}" x="{middle - 24:.1f}" y="{y:.1f}" width="48" height="{high:.1f}">'
                f"<title>{escape(f'{bar.group}, {series[number]}: {_short(part)}')}</title></rect>"
            )
            below += part
        drawn.append(f'<text x="{middle:.1f}" y="{_y(below, top) - 5:.1f}" text-anchor="middle">{_short(below)}</text>')
    for number, name in enumerate(series):
        x = _WIDTH - _RIGHT - 150 * (len(series) - number)
        drawn.append(
            f'<rect class="s{number}" x="{x}" y="12" width="12" height="12"/>'
            f'<text x="{x + 17}" y="22">{escape(name)}</text>'
        )
    return _svg(title, drawn)


def _axes(title: str, axis: str, top: float, groups: Sequence[str]) -> str:
    ticks = "".join(
        f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{_y(value, top):.1f}" y2="{_y(value, top):.1f}"/>'
        f'<text x="{_LEFT - 6}" y="{_y(value, top) + 4:.1f}" text-anchor="end">{_short(value)}</text>'
        for value in (0.0, top / 4, top / 2, 3 * top / 4, top)
    )
    names = "".join(
        f'<text x="{_x(place, len(groups)):.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">'
        f"{escape(name)}</text>"
        for place, name in enumerate(groups)
    )
    return (
        f'{ticks}{names}<text class="title" x="{_LEFT}" y="20">{escape(title)}</text>'
        f'<text x="{_LEFT}" y="{_HEIGHT - 8}">{escape(axis)}</text>'
    )


def _svg(title: str, drawn: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title, quote=True)}">'
        f"{''.join(drawn)}</svg>"
    )


def _x(place: int, count: int) -> float:
    return _LEFT + (place + 0.5) * (_WIDTH - _LEFT - _RIGHT) / max(1, count)


def _y(value: float, top: float) -> float:
    return _HEIGHT - _BOTTOM - value / top * (_HEIGHT - _TOP - _BOTTOM)


def _round_up(value: float) -> float:
    """The next number that divides well into four."""
    if value < 1e-6:  # nothing that is measured here; a top of nearly nought would throw points out of the picture
        return 1.0
    step = 10.0
    while step > value:
        step /= 10
    while step * 10 <= value:
        step *= 10
    return next(step * factor for factor in (1, 2, 4, 6, 8, 10) if step * factor >= value * (1 - 1e-9))


def _short(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
