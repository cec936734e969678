"""Options that several commands share: the room, and whether to print JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

RoomOption = Annotated[
    Path | None, typer.Option("--room", help="The room's folder (else TWINS_ROOM, else ~/two-twins).")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output, nothing else.")]
