"""Calls the operator by bell and by the terminal's title when P or K waits for them."""

from __future__ import annotations

from textual.app import App

from store.bodies import (
    KeeperState,
    KeeperWords,
    LetterDrafted,
    OperatorSaid,
    SessionClosed,
    ToolAnswered,
    ToolAsked,
    ToolEnded,
    TurnEnded,
)
from store.events import Event

CALM = "Two Twins"


class Attention:
    """Takes a session's events in. Only the program's own words go into the title, never the model's."""

    def __init__(self, app: App[object], *, bell: bool) -> None:
        self._app = app
        self._bell = bell
        self._asked: set[str] = set()
        self._failed = False
        self._title(CALM)

    def apply(self, event: Event) -> None:
        """Take one event in."""
        match event.body:
            case ToolAsked(tool_use_id=asked):
                self._asked.add(asked)
                self._call("a tool waits for your word")
            case ToolAnswered(tool_use_id=done) | ToolEnded(tool_use_id=done):
                self._asked.discard(done)
                if not self._asked:
                    self._title(CALM)
            case LetterDrafted(which=which):
                self._call(f"the {which} waits to be read")
            case KeeperWords(to="both"):
                self._call("the Keeper has spoken")
            case KeeperState(standing=standing):
                failed = standing == "failed"
                if failed and not self._failed:
                    self._call("the Keeper has failed")
                self._failed = failed
            case TurnEnded(end=end):
                # Who looks on sees it end; who is elsewhere is called.
                if end not in ("done", "stopped") or not self._app.app_focus:
                    self._call("ready for you" if end == "done" else "Presence has stopped")
            case OperatorSaid() | SessionClosed():
                self._title(CALM)
            case _:
                pass

    def _call(self, words: str) -> None:
        self._title(f"● {words} · Two Twins")
        if self._bell:
            self._app.bell()

    def _title(self, words: str) -> None:
        name = getattr(self._app._driver, "name_window", None)
        if name is not None:
            name(words)
