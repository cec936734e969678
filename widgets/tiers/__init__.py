"""The tier panel: hot and warm against their budgets, line by line, with what this turn changed."""

from widgets.tiers.changes import TurnChanges
from widgets.tiers.lines import LineAction, LineActionName, LineFilter
from widgets.tiers.panel import TierPanel, TiersWanted

__all__ = ["LineAction", "LineActionName", "LineFilter", "TierPanel", "TiersWanted", "TurnChanges"]
