"""P's context: how full it is, when it is compacted, and where a request is marked for the prompt cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from store.bodies import Json, Usage

CROWDED: Final = 18
"""Blocks since the request before, past which the mark at the end no longer finds it: the cache looks back over 20
(platform.claude.com/docs/en/build-with-claude/prompt-caching). Many tool calls in one answer come to that."""


@dataclass(slots=True)
class Context:
    """How full P's context is. ``window`` in tokens, 0 when nobody tells; ``compact_at`` is the share of it from which
    on the conversation is compacted; ``tokens`` is what the last answer left in it."""

    window: int
    compact_at: float
    tokens: int = 0

    def take(self, usage: Usage) -> None:
        """The usage of P's last answer: its prompt, and what it said, stand in the next prompt."""
        self.tokens = usage.prompt + usage.output

    @property
    def full(self) -> bool:
        """Whether it is time to compact."""
        return bool(self.window) and self.tokens >= self.compact_at * self.window

    @property
    def share(self) -> float:
        """The share of the window that is in use; 0 when the window is not known."""
        return self.tokens / self.window if self.window else 0.0


def marked(messages: list[dict[str, Json]], cache: Any) -> list[dict[str, Json]]:
    """The messages with a mark for the cache at the end of the request before, when the mark that every request has at
    its own end is too far from there to find it. Neither text nor order is touched."""
    users = [place for place, message in enumerate(messages) if message["role"] == "user"]
    if len(users) < 2:
        return messages
    before = users[-2]
    since = sum(len(_blocks(message)) for message in messages[before + 1 :])
    blocks = _blocks(messages[before])
    if since <= CROWDED or not blocks or not isinstance(last := blocks[-1], dict):
        return messages
    again: Json = [*blocks[:-1], {**last, "cache_control": cache}]
    return [*messages[:before], {**messages[before], "content": again}, *messages[before + 1 :]]


def crowded(content: list[Json], calls: int) -> bool:
    """Whether an answer and its tool results put the request before it out of the cache's sight."""
    return len(content) + calls > CROWDED


def _blocks(message: dict[str, Json]) -> list[Json]:
    content = message["content"]
    return content if isinstance(content, list) else []
