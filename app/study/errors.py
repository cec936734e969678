"""What is wrong with a study, for the one who runs it."""

from __future__ import annotations

from store.plain import PlainError


class StudyError(PlainError):
    """A study cannot do what it was asked; one plain sentence that says what to do."""
