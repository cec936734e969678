"""Shows P's letters at the close before they are filed, one after the other, and hands them back to the session."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import date

from app.session.session import Session
from store.almanac import wrong_dates
from store.bodies import LetterDrafted, LetterFiled
from store.clock import from_stamp
from store.entries import WrongDay
from store.events import Event
from widgets.dialogs.letter import LetterReview, LetterWords


class Reviewing:
    """Drafts in the order in which they came. ``show`` puts a dialog up and calls back with what it comes to; it is
    only asked to when ``free`` says that nothing else is in front."""

    def __init__(
        self,
        session: Session,
        show: Callable[[LetterReview, Callable[[LetterWords | None], None]], None],
        free: Callable[[], bool],
    ) -> None:
        self._session = session
        self._show = show
        self._free = free
        self._waiting: deque[tuple[LetterDrafted, date]] = deque()
        self._up = False

    def apply(self, event: Event) -> None:
        """Take one event in: a draft, or that it is filed."""
        body = event.body
        if isinstance(body, LetterDrafted):
            self._waiting.append((body, from_stamp(event.at).date()))
            self.next()
        elif isinstance(body, LetterFiled):
            self._waiting = deque(item for item in self._waiting if item[0].which != body.which)

    def next(self) -> None:
        """Put the next draft up, if the screen is free for it."""
        if self._up or not self._waiting or not self._free():
            return
        draft, today = self._waiting.popleft()
        wrong = tuple(WrongDay(one.said, one.right) for one in wrong_dates(draft.text, today))
        self._up = True
        self._show(LetterReview(draft.which, draft.text, wrong), lambda words: self._reviewed(draft, words))

    def _reviewed(self, draft: LetterDrafted, words: LetterWords | None) -> None:
        self._up = False
        words = words or LetterWords(draft.text)
        self._session.file_draft(draft.which, words.text, words.answer)
        self.next()
