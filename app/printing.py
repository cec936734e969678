"""How commands print: one JSON document, or a plain table."""

from __future__ import annotations

import json

from rich.table import Table

from store.bodies import Json


def table(*columns: str) -> Table:
    """A table without lines, whose long texts fold."""
    made = Table(box=None, pad_edge=False)
    for column in columns:
        made.add_column(column, overflow="fold")
    return made


def print_json(value: Json) -> None:
    """The one JSON document of a command."""
    print(json.dumps(value, ensure_ascii=False, indent=1))
