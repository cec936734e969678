"""Words and data: briefs for each seat, conditions, decay rules and the demo tour."""
