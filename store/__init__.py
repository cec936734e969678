"""What persists and its rules: events, lines, journals, letters, bundles."""
