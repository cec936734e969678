"""The snug: the room's private journal as a pane to read."""

from widgets.snug.snug import SnugEntry, SnugPane

__all__ = ["SnugEntry", "SnugPane"]
