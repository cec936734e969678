"""What the composer asks of a session's screen: commands, names of files, the editor, the words of earlier sessions."""

from __future__ import annotations

import asyncio

from textual import on, work
from textual.screen import ScreenResultType

from app.screens.arranged import ArrangedScreen
from app.screens.editing import NoEditor, edited
from app.screens.files import WorkspaceFiles
from app.session.session import Session
from store.said import operator_words
from widgets.composer import FilesWanted
from widgets.composer.area import ComposerArea

MOST_REMEMBERED = 500
"""Messages of earlier sessions that up and down walk through."""


class ComposingScreen(ArrangedScreen[ScreenResultType]):
    """Has the ``session`` that is written to."""

    session: Session

    def on_mount(self) -> None:
        self._files = WorkspaceFiles(self.session.workspace)
        self._remember_the_room()

    @work(group="history")
    async def _remember_the_room(self) -> None:
        session = self.session
        try:
            words = await asyncio.to_thread(operator_words, session.room, besides=session.log, limit=MOST_REMEMBERED)
        except OSError as error:
            self.notify(f"Words of earlier sessions cannot be read ({error.strerror}).", markup=False)
        else:
            self.panes.composer.prepend_history(words)

    @on(ComposerArea.CommandsWanted)
    def _commands_wanted(self) -> None:
        self.app.action_command_palette()

    @on(FilesWanted)
    @work(group="files", exclusive=True)
    async def _files_wanted(self, event: FilesWanted) -> None:
        names = await asyncio.to_thread(self._files.matching, event.words)
        self.panes.composer.offer(event.words, names)

    @on(ComposerArea.EditorWanted)
    @work(group="editor", exclusive=True)
    async def _editor_wanted(self) -> None:
        composer = self.panes.composer
        try:
            words = await edited(self.app, composer.text)
        except NoEditor as error:
            self.notify(str(error), severity="warning", markup=False)
        else:
            composer.put(words)
