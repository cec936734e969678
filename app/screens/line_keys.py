"""The keys of the tier panel on a session's screen: what is done to a line, the search in cold, and where it leads."""

from __future__ import annotations

from textual import on, work
from textual.screen import ScreenResultType

from app.screens.arranged import ArrangedScreen
from app.screens.line_desk import LineDesk
from app.screens.past import PastSession
from app.screens.places import Place, place_of, show_place
from app.session.session import Session
from widgets.tiers import LineAction, TiersWanted


class LineKeysScreen(ArrangedScreen[ScreenResultType]):
    """Has the ``session`` whose lines are shown, and a ``desk`` once it is mounted."""

    session: Session
    desk: LineDesk

    @on(LineAction)
    @work(group="lines")
    async def _line_action(self, event: LineAction) -> None:
        line = self.session.room.tiers.lines.get(event.line_id)
        jump = await self.desk.act(event.action, event.line_id)
        if jump is None:
            return
        place = place_of(self.session.room, jump, line.quote if line is not None else "")
        if place is None:
            self.notify(f"Session {jump.session} is not in this room.", markup=False)
        else:
            self.go_to(place)

    @on(TiersWanted)
    @work(group="lines")
    async def _tiers_wanted(self, event: TiersWanted) -> None:
        if event.what == "changes":
            await self.desk.choose_undo()
        elif (place := await self.desk.search_cold()) is not None:
            self.go_to(place)

    @work(group="lines")
    async def action_undo_last(self) -> None:
        """Take back the operator's last change of the tiers."""
        await self.desk.undo()

    def go_to(self, place: Place) -> None:
        """Show a place: in this session's chat, or in the other session's transcript."""
        room = self.session.room
        if place.log == self.session.log:
            self.action_pane("chat")
            self.call_after_refresh(show_place, self.panes.chat.view, place)
            return
        row = next((row for row in room.sessions() if row.id == place.log), None)
        if row is None:
            self.notify(f"{place.log} is no session, so there is no turn to go to.", markup=False)
        else:
            self.app.push_screen(PastSession(room, row.id, f"session {row.number}, {row.opened_at[:10]}", place=place))
