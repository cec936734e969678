"""The base of all errors whose text is for the user: one plain sentence that says what to do."""


class PlainError(Exception):
    """Something that the user can mend. Whoever shows errors shows its text as it is, and no traceback."""
