"""Tells what a file is by what it holds, not by its name."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from app.replay.importers.claude_ai import claude_ai
from app.replay.importers.claude_code import claude_code
from app.replay.importers.locomo import locomo
from app.replay.importers.plain_text import plain_text
from app.replay.importers.records import Importer, TranscriptError

Format = Literal["claude-code", "claude.ai", "locomo", "plain", "bundle"]
IMPORTERS: Mapping[Format, Importer] = {
    "claude-code": claude_code,
    "claude.ai": claude_ai,
    "locomo": locomo,
    "plain": plain_text,
}
"""Every format but this product's bundles, whose import is `store`'s. A new format is one module and one line here."""
_HEAD = 1 << 16


def format_of(path: Path) -> Format:
    """The format of a file. Raises TranscriptError when there is none, or when it is not text."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise TranscriptError(f"{path} cannot be read: {error.strerror}; name a file that exists.") from error
    if head.startswith(b"PK\x03\x04") or zipfile.is_zipfile(path):  # the first also where its end was cut off
        return "bundle"
    if b"\x00" in head:
        raise TranscriptError(f"{path.name} is not text; a transcript is JSON, JSON Lines or plain text.")
    if not head.strip():
        raise TranscriptError(f"{path.name} is empty; there is nothing to import.")
    text = head.decode("utf-8-sig", "replace").lstrip()
    if not text.startswith(("{", "[")):
        return "plain" if not _any_record(text) else "claude-code"
    if text.startswith("["):
        # The keys that only one of the formats has, in whatever order they stand.
        places = {
            "claude.ai": _first(text, '"chat_messages"', '"sender"'),
            "locomo": _first(text, '"conversation"', '"speaker_a"', '"dia_id"', '"sample_id"'),
            "claude-code": _first(text, '"parentUuid"', '"sessionId"', '"isSidechain"'),
        }
        found = min(places, key=lambda name: places[name])
        if places[found] == len(text):
            if text.startswith("[") and text[1:].lstrip().startswith("]"):
                return "claude.ai"
            raise TranscriptError(
                f"{path.name} is JSON of a kind that this program does not know; it reads {', '.join(IMPORTERS)}."
            )
        return found  # type: ignore[return-value]
    if '"chat_messages"' in text and '"parentUuid"' not in text:
        return "claude.ai"
    if '"speaker_a"' in text or ('"sample_id"' in text and '"parentUuid"' not in text):
        return "locomo"
    return "claude-code"


def _first(text: str, *keys: str) -> int:
    return min((at for key in keys if (at := text.find(key)) >= 0), default=len(text))


def _any_record(text: str) -> bool:
    """Whether a text whose first line is damaged goes on as JSON Lines."""
    for line in text.splitlines()[1:20]:
        if line.startswith("{"):
            try:
                return isinstance(json.loads(line), dict)
            except ValueError:
                return '"type"' in line
    return False
