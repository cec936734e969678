"""Which tool results come out of the room's own memory, and so are no evidence for a new line (DESIGN §7)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from store.bodies import Json

Origin = Literal["world", "memory"]

MEMORY_TOOLS = frozenset({"memory", "recall", "read_letter", "read_snug", "note_improvement"})
"""Tools whose results come out of memory whatever they are called with."""
PATH_FIELDS = {"read": "file_path", "write": "file_path", "edit": "file_path", "glob": "path", "grep": "path"}
KEPT = ("memory", "letters", "sessions", "snug.md", "improvements.md", "recall.md", "tiers.json", "index.sqlite")
"""What of a room is memory; the rest of its folder may be anything, a workspace too."""


class MemoryPlaces:
    """The files and folders of one room that hold memory, and whether a tool call reads them."""

    def __init__(self, room: Path, workspace: Path) -> None:
        self._room = room.resolve()
        self._workspace = workspace.resolve()
        self._places = tuple(self._room / name for name in KEPT)
        # As a command may spell them: as they are, through the room's own spelling, from the workspace, from home.
        spelled = {str(place) for place in self._places} | {str(room / name) for name in KEPT}
        for base, mark in ((self._workspace, "./"), (Path.home(), "~/"), (Path.home(), "$HOME/")):
            if self._room.is_relative_to(base):
                relative = self._room.relative_to(base)
                names = (str(relative / name) for name in KEPT)
                spelled |= {f"{mark}{name}" for name in names}
                if mark == "./" and relative.parts:
                    spelled |= {str(relative / name) for name in KEPT}
        self._spelled = tuple(spelled)

    def origin(self, name: str, tool_input: Json, content: Json = "", cwd: Path | None = None) -> Origin:
        """Where the result of a call comes from. ``content`` is the result, ``cwd`` where bash stood."""
        if name in MEMORY_TOOLS:
            return "memory"
        fields = tool_input if isinstance(tool_input, dict) else {}
        if name == "bash":
            command = fields.get("command")
            named = isinstance(command, str) and self._named_in(command)
            return "memory" if named or (cwd is not None and self._holds(cwd)) else "world"
        field = PATH_FIELDS.get(name)
        if field is None:
            return "world"
        given = fields.get(field)
        base = (self._workspace / given).resolve() if isinstance(given, str) and given else self._workspace
        if self._holds(base):
            return "memory"
        # A search from above finds the room among the rest: what it found there is memory, so all of it counts as such.
        above = any(place.is_relative_to(base) for place in self._places)
        return "memory" if above and any(self._named_in(text) for text in _texts(content)) else "world"

    def _holds(self, path: Path) -> bool:
        return any(path == place or path.is_relative_to(place) for place in self._places)

    def _named_in(self, text: str) -> bool:
        return any(spelled in text for spelled in self._spelled)


def _texts(content: Json) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, dict) and isinstance(text := block.get("text"), str):
                yield text
