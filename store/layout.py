"""How the operator left the screen of a room: widths, hidden panes, theme. One small file beside the log, no event."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from store.documents import write_whole
from store.plain import PlainError

LAYOUT_FILE = "screen.json"
SidePane = Literal["tiers", "snug"]


class LayoutError(PlainError):
    """The file cannot be read or written; the screen goes on with what it has."""


class Layout(BaseModel):
    """``side`` is the share of the width that tiers and snug take, in percent (0: by the terminal's width); ``snug``
    the snug's share of that side's height. An empty ``theme`` is the usual one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    side: Annotated[int, Field(ge=0, le=80)] = 0
    snug: Annotated[int, Field(ge=10, le=80)] = 30
    hidden: frozenset[SidePane] = frozenset()
    theme: str = ""


def load_layout(room: Path) -> Layout:
    """The room's layout, the usual one when none was kept. Raises LayoutError when the file holds something else."""
    try:
        return Layout.model_validate_json((room / LAYOUT_FILE).read_bytes())
    except FileNotFoundError:
        return Layout()
    except (OSError, ValidationError) as error:
        raise LayoutError(f"{LAYOUT_FILE} holds no layout, so the usual one is shown; it can be deleted") from error


def keep_layout(room: Path, layout: Layout) -> None:
    """Keep ``layout`` for the next time. Raises LayoutError when the disk refuses."""
    try:
        write_whole(room / LAYOUT_FILE, layout.model_dump_json(indent=1).encode() + b"\n")
    except OSError as error:
        raise LayoutError(f"the layout could not be kept in {LAYOUT_FILE} ({error.strerror})") from error
