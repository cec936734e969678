"""In which sessions of a room words were said, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from store.room import LogName, Room
from store.search import Index

MOST = 500
"""So many finds are counted; a word that is said everywhere singles out nothing."""


def said_in(room: Room, words: str) -> Mapping[LogName, int]:
    """How often ``words`` were said in each session that holds them. Not on the event loop: the index catches up."""
    with Index.open(room) as index:
        return Counter(hit.log for hit in index.search(words, limit=MOST))
