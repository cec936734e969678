"""A terminal that may go away: writing to it then tells so, where Textual's writer would die and the program hang."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, TYPE_CHECKING

from textual.drivers.linux_driver import LinuxDriver

if TYPE_CHECKING:
    from textual.app import App


class TwinsDriver(LinuxDriver):
    """Textual's driver on a file that outlives its terminal.

    Textual 8.2 writes from a thread of its own. When the terminal is gone (its window closed, its connection lost)
    that thread ends with an error, its queue fills and the next paint waits for ever.
    """

    def __init__(
        self, app: App[None], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        if self._file is not None:
            self._file = LosableFile(self._file, self._lost)  # type: ignore[assignment]

    def start_application_mode(self) -> None:
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self.write("\x1b[22;2t")  # the terminal keeps its title aside

    def stop_application_mode(self) -> None:
        self.write("\x1b[23;2t")  # and takes it back
        super().stop_application_mode()

    def name_window(self, words: str) -> None:
        """The terminal's title. ``words`` are the program's own: nothing foreign may come here."""
        self.write(f"\x1b]2;{words}\x1b\\")

    def _lost(self) -> None:
        lost = getattr(self._app, "terminal_lost", None)
        if lost is not None:
            self._app.call_later(lost)


class LosableFile:
    """Writes to ``file`` until that fails for the first time: then ``lost`` is called once, and words go nowhere."""

    def __init__(self, file: IO[str], lost: Callable[[], None]) -> None:
        self._file = file
        self._lost: Callable[[], None] | None = lost

    def write(self, text: str) -> int:
        """Write, or drop what can reach nobody any more."""
        if self._lost is not None:
            try:
                return self._file.write(text)
            except OSError:
                self._tell()
        return len(text)

    def flush(self) -> None:
        """Flush, if there is still somewhere to."""
        if self._lost is not None:
            try:
                self._file.flush()
            except OSError:
                self._tell()

    def fileno(self) -> int:
        """The file's number."""
        return self._file.fileno()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._file.isatty()

    def _tell(self) -> None:
        lost, self._lost = self._lost, None
        if lost is not None:
            lost()
