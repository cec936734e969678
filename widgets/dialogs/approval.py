"""The approval dialog: exactly what a tool is about to do, and how far the operator's leave reaches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from store.bodies import AllowScope
from store.text import clean
from widgets.dialogs.dialog import Dialog, keys_rows
from widgets.dialogs.exactly import exactly, warnings_on
from widgets.dialogs.plain_text import PlainText, text_lines

ARM_SECONDS = 0.5
"""For so long after the dialog came up no key answers it: the operator may be in the middle of a word."""


@dataclass(frozen=True, slots=True)
class Approval:
    """The operator's answer: a decision, how far it reaches, the command prefix it holds for, a word to P."""

    decision: Literal["allow", "deny"]
    scope: AllowScope = "once"
    prefix: str = ""
    word: str = ""


class ApprovalDialog(Dialog[Approval]):
    """Asks about one tool call. Escape denies: nothing ever runs by leaving.

    ``shown`` is the whole of what will run, with all that is not drawn spelled out. ``prefix`` proposes which commands
    like it may be allowed, and ``covers`` says whether a prefix would hold for this one; an empty proposal means that
    there is none to allow, which ``no_prefix`` explains. ``diff`` colours ``shown`` as a diff. ``where`` says in a
    phrase which server or folder it concerns.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer('once')", "Allow once"),
        Binding("t", "answer('tool')", "Allow this tool"),
        Binding("x", "ask_prefix", "Allow a prefix"),
        Binding("n", "deny", "Deny"),
        Binding("d", "ask_word", "Deny with a word"),
    ]

    def __init__(
        self,
        name: str,
        shown: str,
        *,
        prefix: str = "",
        covers: Callable[[str], bool] = bool,
        no_prefix: str = "",
        where: str = "",
        diff: bool = False,
        arm_seconds: float = ARM_SECONDS,
    ) -> None:
        super().__init__(classes="-asks")
        self._tool = clean(name)
        self._shown = shown
        self._prefix, self._covers, self._no_prefix = prefix, covers, no_prefix
        self._where = clean(where)
        self._diff = diff
        self._arm_seconds = arm_seconds
        self._armed = arm_seconds <= 0

    def compose(self) -> ComposeResult:
        lines = text_lines(self._shown, diff=self._diff)
        with Vertical(id="dialog-box") as box:
            box.border_title = Content(f"Presence asks to use {self._tool}")
            count = "1 line" if len(lines) == 1 else f"{len(lines):,} lines"
            box.border_subtitle = Content(count)
            if self._where:
                yield Static(Content(self._where), classes="dialog-words", markup=False)
            if warnings := list(warnings_on(self._shown)):
                yield Static(Content("\n".join(warnings)), classes="dialog-words dialog-warning", markup=False)
            yield PlainText(lines, id="approval-shown")
            yield Input(id="approval-prefix", classes="dialog-input", compact=True)
            yield Input(id="approval-word", classes="dialog-input", compact=True)
            keys = [("y", "allow once"), ("t", f"allow {self._tool} for this session")]
            if self._prefix:
                keys.append(("x", "allow a prefix"))
            elif self._no_prefix:
                yield Static(Content(self._no_prefix), classes="dialog-words", markup=False)
            yield keys_rows(keys, [("n", "deny"), ("d", "deny with a word to Presence"), ("esc", "deny")])

    def on_mount(self) -> None:
        for field in self.query(Input):
            field.display = False
        self.query_one(PlainText).focus()
        if not self._armed:
            self.set_timer(self._arm_seconds, self._arm)

    def on_resize(self) -> None:
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        """Give what will run the rows that are left: in a small window it scrolls, and nothing beside it does."""
        box, shown = self.query_one("#dialog-box"), self.query_one(PlainText)
        shown.styles.clear_rule("max_height")
        self.call_after_refresh(self._shorten, box, shown)

    def _shorten(self, box: Widget, shown: PlainText) -> None:
        over = box.virtual_size.height - box.scrollable_content_region.height
        if over > 0:
            shown.styles.max_height = max(3, shown.outer_size.height - over)

    def _arm(self) -> None:
        self._armed = True

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "ask_prefix" or bool(self._prefix)

    def action_answer(self, scope: AllowScope) -> None:
        if self._armed:
            self.dismiss(Approval("allow", scope))

    def action_deny(self) -> None:
        if self._armed:
            self.dismiss(Approval("deny"))

    def action_leave(self) -> None:
        opened = next((field for field in self.query(Input) if field.display), None)
        if opened is not None:
            opened.display = False
            self.query_one(PlainText).focus()
        else:
            self.action_deny()

    def action_ask_prefix(self) -> None:
        self._open("#approval-prefix", self._prefix, "allow commands that begin with these words")

    def action_ask_word(self) -> None:
        self._open("#approval-word", "", "your word to Presence; enter denies with it")

    def _open(self, selector: str, value: str, words: str) -> None:
        if self._armed:
            for field in self.query(Input):
                field.display = False
            field = self.query_one(selector, Input)
            field.placeholder = words
            field.value = exactly(value)
            field.display = True
            field.focus()

    @on(Input.Submitted, "#approval-prefix")
    def _prefix_given(self, event: Input.Submitted) -> None:
        prefix = event.value.strip()
        if prefix and self._covers(prefix):
            self.dismiss(Approval("allow", "prefix", prefix=prefix))
        else:
            self.notify("The command asked about does not begin with these words.", severity="warning", markup=False)

    @on(Input.Submitted, "#approval-word")
    def _word_given(self, event: Input.Submitted) -> None:
        self.dismiss(Approval("deny", word=event.value.strip()))
