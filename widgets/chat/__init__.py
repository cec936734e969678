"""The chat: a transcript drawn line by line, with search, selection and places to jump to."""

from widgets.chat.chat import Chat
from widgets.chat.messages import Copied, EntryOpened, FollowChanged, TurnChosen
from widgets.chat.view import ChatView

__all__ = ["Chat", "ChatView", "Copied", "EntryOpened", "FollowChanged", "TurnChosen"]
