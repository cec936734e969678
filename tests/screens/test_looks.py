"""Whatever the theme, words can be read: the contrast of every word on screen, reckoned as WCAG 2 does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.style import Style
from screen_samples import sample_app, still_room, stream
from test_finding import three_sessions
from textual.color import Color
from textual.screen import Screen

from app.screens.room_app import RoomApp
from store.room import Room
from widgets.themes import LOOKS

LEAST = {"night": 4.5, "paper": 4.5, "high-contrast": 7.0, "high-contrast-light": 7.0}
"""The least contrast of each look: WCAG asks 4.5 of ordinary text (AA), 7 of what is to be read by all (AAA)."""
SHOWN = """
# A heading, `code`, **bold** and [a link](x)
> a quote
- a list
```python
def find(region: str) -> int:  # where
    return len("KV") + 60
```
"""


def contrast(style: Style) -> float:
    """Contrast ratio of a style's two colours."""
    assert style.color is not None and style.bgcolor is not None
    front, back = (Color.from_rich_color(one) for one in (style.color, style.bgcolor))
    if style.reverse:
        front, back = back, front
    light, dark = sorted((_luminance(front), _luminance(back)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: Color) -> float:
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in color.normalized]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def words(screen: Screen[Any]) -> Iterator[tuple[str, Style]]:
    """Everything in front that holds a letter or a figure; what a dialog stands above is dimmed on purpose."""
    box = screen.query("#dialog-box").first().region if screen.is_modal else screen.region
    for strip in screen._compositor.render_strips()[box.y : box.bottom]:
        for segment in strip.crop(box.x, box.right):
            if any(char.isalnum() for char in segment.text) and segment.style is not None and segment.style.color:
                yield segment.text, segment.style


@pytest.mark.parametrize("look", LOOKS)
async def test_every_row_of_the_rooms_list_can_be_read_also_under_the_cursor(tmp_path: Path, look: str) -> None:
    three_sessions(tmp_path / "room")
    with Room.open(tmp_path / "room") as room:
        app = RoomApp(room)
        async with app.run_test(size=(100, 24)) as pilot:
            app.theme = look
            await pilot.press("down")
            await pilot.pause()
            faint = {
                text.strip(): contrast(style) for text, style in words(app.screen) if contrast(style) < LEAST[look]
            }
    assert not faint


@pytest.mark.parametrize("look", LOOKS)
async def test_every_word_can_be_read(tmp_path: Path, look: str) -> None:
    room, clock = still_room(tmp_path)
    faint: dict[str, float] = {}
    with room:
        app = sample_app(room, clock, tmp_path / "work")
        async with app.run_test(size=(120, 60)) as pilot:
            await pilot.pause()
            app.theme = look
            assert app.live is not None
            stream(app.live.session.record, SHOWN)
            for keys in (["f3", "end"], ["f2", "k"], ["f8"], ["escape"], ["f1"]):
                await pilot.press(*keys)
                await pilot.pause()
                for text, style in words(app.screen):
                    ratio = contrast(style)
                    if ratio < LEAST[look]:
                        faint[f"{text.strip()!r} {style.color.name} on {style.bgcolor.name}"] = round(ratio, 1)  # type: ignore[union-attr]
    assert not faint, "\n".join(f"{ratio} {what}" for what, ratio in sorted(faint.items(), key=lambda one: one[1]))
