"""The scrubber: where in a session the reader stands, and where its tiers changed."""

from widgets.scrubber.scrubber import Scrubber

__all__ = ["Scrubber"]
