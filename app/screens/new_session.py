"""The dialog that begins a session: condition, task, workspace, model; it comes back with a plan that holds."""

from __future__ import annotations

from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Label, Static

from app.plan import Plan, plan_session
from store.bodies import ConditionRecord
from store.plain import PlainError
from store.room import Room
from store.text import clean
from widgets.dialogs.dialog import Dialog, keys_rows


class NewSession(Dialog[Plan]):
    """Four fields; enter in any of them begins. What cannot be used is said in the dialog, and nothing is written."""

    DEFAULT_CSS = """
    NewSession {
        Label { width: 1fr; margin: 1 1 0 1; color: $text-muted; }
        .dialog-input { margin: 0 1; }
        #new-wrong { color: $text-error; }
    }
    """

    def __init__(self, room: Room, conditions: dict[str, ConditionRecord]) -> None:
        super().__init__()
        self._room = room
        self._conditions = conditions

    def compose(self) -> ComposeResult:
        settings = self._room.settings
        known = ", ".join(f"{name} {record.title}" for name, record in self._conditions.items())
        with Vertical(id="dialog-box") as box:
            box.border_title = "A new session"
            yield Label(Content(f"condition: {clean(known)}"), markup=False)
            yield Input(settings.session.condition, id="new-condition", classes="dialog-input", compact=True)
            yield Label("task file (TOML); leave it empty to work without one", markup=False)
            yield Input(id="new-task", classes="dialog-input", compact=True)
            yield Label(
                "workspace: the folder that Presence works in; empty for the task's own, or this one", markup=False
            )
            yield Input(placeholder=clean(str(Path.cwd())), id="new-workspace", classes="dialog-input", compact=True)
            yield Label("model of both twins", markup=False)
            yield Input(settings.endpoint.model, id="new-model", classes="dialog-input", compact=True)
            yield Static("", id="new-wrong", classes="dialog-words", markup=False)
            yield keys_rows([("enter", "begin"), ("tab", "next field"), ("esc", "leave")])

    def on_mount(self) -> None:
        self.query_one("#new-task", Input).focus()

    def _field(self, name: str) -> str:
        return self.query_one(f"#new-{name}", Input).value.strip()

    @on(Input.Submitted)
    def _begin(self, event: Input.Submitted) -> None:
        event.stop()
        self.query_one("#new-wrong", Static).update("Looking whether the endpoint answers …")
        self._plan()

    @work(thread=True, exclusive=True)
    def _plan(self) -> None:
        task, workspace = self._field("task"), self._field("workspace")
        try:
            plan = plan_session(
                self._room,
                task=Path(task).expanduser() if task else None,
                condition=self._field("condition"),
                workspace=Path(workspace).expanduser() if workspace else None,
                model=self._field("model"),
            )
        except PlainError as error:
            self.app.call_from_thread(self.query_one("#new-wrong", Static).update, Content(clean(str(error))))
        else:
            self.app.call_from_thread(self.dismiss, plan)
