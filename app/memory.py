"""How the program's own collector of unreachable objects is set: seldom, because almost all that it holds stays."""

from __future__ import annotations

import gc

YOUNG_OBJECTS = 50_000
"""New objects before a look at them. Python's own 700 (2,000 in newer ones) makes a log of 10,000 messages be looked
through a hundred times while it is read, for nothing: an event and its entry live as long as the session."""


def settle_collector() -> None:
    """Leave alone what was imported, and look at new objects less often. Call once, before a log is read."""
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 10, 10)
