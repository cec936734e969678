"""The composer: a growing text area under a rule that says where the words go and what enter does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static, TextArea

from store.lines import one_line
from store.text import clean
from widgets.composer.area import ComposerArea
from widgets.composer.offers import Offers
from widgets.figures import size

ComposerMode = Literal["send", "queue", "closing", "closed", "read_only"]

_SHUT: frozenset[ComposerMode] = frozenset({"closing", "closed", "read_only"})

_TITLES: dict[ComposerMode, str] = {
    "send": "to Presence",
    "queue": "Presence works: what you send waits in line",
    "closing": "closing",
    "closed": "this session is closed",
    "read_only": "read only: another program holds this room",
}


class Submitted(Message):
    """The operator sent ``text``: whole, with every paste in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__()


class FilesWanted(Message):
    """The operator began a file's name with ``@``; answer with ``Composer.offer``. ``words`` is what stands there."""

    def __init__(self, words: str) -> None:
        self.words = words
        super().__init__()


class Composer(Vertical):
    """Posts ``Submitted``, and ``FilesWanted`` while a name stands behind an ``@``.

    ``mode`` says what becomes of a message now; ``ready`` is a line that stands ready to be sent by enter while nothing
    else is written (the demo's next line); ``note`` is a word in the place of the hint on keys: how far a close is,
    what can be done after a cut.
    """

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    mode: reactive[ComposerMode] = reactive[ComposerMode]("send", init=False)
    ready: reactive[str] = reactive("", init=False)
    note: reactive[str] = reactive("", init=False)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.area = ComposerArea(id="composer-area")
        self._offers = Offers(id="composer-offers")
        self._begun: str | None = None

    def compose(self) -> ComposeResult:
        yield self._offers
        with Horizontal(id="composer-row"):
            yield Static("›", id="composer-sign", markup=False)
            yield self.area

    def on_mount(self) -> None:
        self.watch_mode(self.mode, self.mode)
        self._offers.show(())

    # ------------------------------------------------------------ values

    @property
    def text(self) -> str:
        """What is written, with its pastes unfolded."""
        return self.area.whole

    def put(self, text: str) -> None:
        """Write ``text`` in place of what stands there: a queued message taken back, an editor's result."""
        self.area.put(text)

    def set_history(self, entries: Sequence[str]) -> None:
        """What the operator sent before in this room, oldest first."""
        self.area.set_history(entries)

    def prepend_history(self, entries: Sequence[str]) -> None:
        """What the operator sent in earlier sessions, oldest first."""
        self.area.prepend_history(entries)

    def focus_area(self) -> None:
        """Give the keys to the text area."""
        self.area.focus()

    # ------------------------------------------------------------ sending

    @on(ComposerArea.Send)
    def _send(self, event: ComposerArea.Send) -> None:
        event.stop()
        area = self.area
        text = area.whole if area.text.strip() else self.ready
        if self.mode in _SHUT or not text.strip():
            return
        area.load_text("")
        area.pastes.forget()
        area.remember(text)
        self.post_message(Submitted(text))

    @on(TextArea.Changed)
    def _changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._follow_name()
        self._say()

    # ------------------------------------------------------------ names of files

    def offer(self, words: str, names: Sequence[str]) -> None:
        """Offer ``names`` for the name that was begun by ``words``; too late for other words, and none hides them."""
        if words == self._begun:
            self._offers.show(names)
            self.area.offering = bool(names)

    def _follow_name(self) -> None:
        begun = self.area.name_begun
        if begun is None:
            self._end_offer()
        elif begun != self._begun:
            self._begun = begun
            self.post_message(FilesWanted(begun))

    def _end_offer(self) -> None:
        self._begun = None
        self._offers.show(())
        self.area.offering = False

    @on(ComposerArea.OfferKey)
    def _offer_key(self, event: ComposerArea.OfferKey) -> None:
        event.stop()
        if event.key in ("up", "down"):
            self._offers.step(-1 if event.key == "up" else 1)
            return
        name = self._offers.chosen
        self._end_offer()
        if event.key in ("tab", "enter") and name is not None:
            self.area.take_name(name)

    def on_click(self, event: Click) -> None:
        if event.widget is not self.area:
            self.focus_area()

    # ------------------------------------------------------------ looks

    def watch_mode(self, old: ComposerMode, new: ComposerMode) -> None:
        self.remove_class(f"-{old}")
        self.add_class(f"-{new}")
        self.area.read_only = new in _SHUT
        self._say()

    def watch_ready(self) -> None:
        self._say()

    def watch_note(self) -> None:
        self._say()

    def _say(self) -> None:
        area = self.area
        waits = self.ready and not area.text and not area.read_only
        area.show_ready(Content(one_line(clean(self.ready))) if waits else Content(""))
        hint = self.note or self._hint(bool(waits), area)
        self.border_title = Content.assemble(_TITLES[self.mode], (f"  {hint}" if hint else "", "not bold $text-muted"))

    def _hint(self, waits: bool, area: ComposerArea) -> str:
        if area.read_only:
            return ""
        pastes = area.pastes.within(area.text)
        if pastes:
            weight = sum(len(paste.text.encode("utf-8", "surrogatepass")) for paste in pastes)
            noun = "paste" if len(pastes) == 1 else "pastes"
            return f"{len(pastes)} {noun} of {size(weight)} will be sent whole"
        if waits:
            return "enter sends this line, or write your own"
        return "enter sends, ctrl+j new line, ↑ earlier, / commands, @ files"
