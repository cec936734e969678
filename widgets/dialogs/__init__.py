"""Dialogs: each asks one thing over the screen and comes back with a typed answer, or None when left."""

from widgets.dialogs.approval import Approval, ApprovalDialog
from widgets.dialogs.ask import AskText, Confirm
from widgets.dialogs.help import Help, HelpSection
from widgets.dialogs.line_history import Jump, LineHistory

__all__ = ["Approval", "ApprovalDialog", "AskText", "Confirm", "Help", "HelpSection", "Jump", "LineHistory"]
