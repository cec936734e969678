"""Token counting and prompt-cache accounting by byte-exact prefix, as the Messages API bills it.

Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching. Prefix order is tools, system,
messages. An entry is written only at a breakpoint; a breakpoint finds the longest entry among itself and
the blocks before it, 20 positions in all; a hit renews the entries it reads.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.scripted.request import JsonObject, blocks_of

Ttl: TypeAlias = Literal["5m", "1h"]

LOOKBACK_POSITIONS = 20
TTL_SECONDS: dict[Ttl, float] = {"5m": 300.0, "1h": 3600.0}
#: The shortest prefix that is cached, in tokens; the API's figure for most models.
MINIMUM_TOKENS = 1024


def canonical(value: object) -> bytes:
    """`value` as compact JSON in UTF-8, keys in the order they came: another order is another prefix."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def count_tokens(block: JsonObject) -> int:
    """Tokens of one block: a quarter of the bytes of its canonical JSON, rounded up, `cache_control` left out.

    No tokenizer is at hand, so this is an approximation; it is deterministic and adds up over blocks.
    """
    return -(-len(canonical(_without_control(block))) // 4)


@dataclass(frozen=True)
class Usage:
    """Input tokens of one request, split as it is billed. The total is the sum of the four."""

    fresh: int
    read: int
    written_5m: int
    written_1h: int

    @property
    def written(self) -> int:
        return self.written_5m + self.written_1h

    @property
    def total(self) -> int:
        return self.fresh + self.read + self.written


@dataclass(frozen=True)
class _Step:
    """One block of the prefix: the hash of all bytes up to and with it, its tokens, and a breakpoint's ttl."""

    key: str
    tokens: int
    ttl: Ttl | None


@dataclass
class _Entry:
    expires: float
    ttl: Ttl


class PromptCache:
    """What the server remembers of prefixes. `clock` gives seconds; `minimum` is in tokens, 0 caches all."""

    def __init__(self, clock: Callable[[], float], minimum: int = MINIMUM_TOKENS) -> None:
        self._clock = clock
        self._minimum = minimum
        self._entries: dict[str, _Entry] = {}

    def account(self, body: JsonObject) -> Usage:
        """The usage of this request; what it writes is there for the next one."""
        now = self._clock()
        steps = prefix_steps(body)
        breakpoints = [at for at, step in enumerate(steps) if step.ttl is not None]
        upto = [0]  # upto[i]: tokens of the first i steps
        for step in steps:
            upto.append(upto[-1] + step.tokens)
        hit = max((self._longest_hit(steps, at, now) for at in breakpoints), default=-1)
        read = upto[hit + 1]
        self._renew(steps[: hit + 1], now)
        written: dict[Ttl, int] = {"5m": 0, "1h": 0}
        paid = hit
        for at in breakpoints:
            ttl = steps[at].ttl
            if ttl is None or upto[at + 1] < self._minimum:
                continue
            if at > paid:
                written[ttl] += upto[at + 1] - upto[paid + 1]
                paid = at
            if not self._alive(steps[at].key, now):
                self._entries[steps[at].key] = _Entry(now + TTL_SECONDS[ttl], ttl)
        return Usage(upto[-1] - upto[paid + 1], read, written["5m"], written["1h"])

    def _longest_hit(self, steps: list[_Step], breakpoint_at: int, now: float) -> int:
        last = max(breakpoint_at - LOOKBACK_POSITIONS, -1)
        for at in range(breakpoint_at, last, -1):
            if self._alive(steps[at].key, now):
                return at
        return -1

    def _alive(self, key: str, now: float) -> bool:
        entry = self._entries.get(key)
        return entry is not None and now < entry.expires

    def _renew(self, steps: list[_Step], now: float) -> None:
        for step in steps:
            if self._alive(step.key, now):
                entry = self._entries[step.key]
                entry.expires = now + TTL_SECONDS[entry.ttl]


def total_tokens(body: JsonObject) -> int:
    """All input tokens of a request: tools, system prompt and messages."""
    return sum(step.tokens for step in prefix_steps(body))


def prefix_steps(body: JsonObject) -> list[_Step]:
    """The request's blocks in prefix order with their running hashes and breakpoints.

    The model starts the hash, and tool choice and thinking stand before the messages: a change of theirs
    makes the cached messages useless, as the API's table of cache invalidation says.
    """
    state = hashlib.sha256(canonical(body.get("model")))
    steps: list[_Step] = []

    def add(where: str, block: JsonObject) -> None:
        state.update(where.encode() + b"\x00" + canonical(_without_control(block)) + b"\x00")
        steps.append(_Step(state.hexdigest(), count_tokens(block), _ttl(block)))

    for tool in blocks_of(body.get("tools")):
        add("tool", tool)
    for block in blocks_of(body.get("system")):
        add("system", block)
    state.update(canonical([body.get("tool_choice"), body.get("thinking")]))
    for index, message in enumerate(body.get("messages", [])):
        for block in blocks_of(message["content"]):
            add(f"{index}:{message['role']}", block)
    if steps:  # the request's own `cache_control` is a breakpoint on its last block
        last = steps[-1]
        steps[-1] = _Step(last.key, last.tokens, last.ttl or _ttl(body))
    return steps


def _ttl(block: JsonObject) -> Ttl | None:
    control = block.get("cache_control")
    if not isinstance(control, dict):
        return None
    return "1h" if control.get("ttl") == "1h" else "5m"


def _without_control(block: JsonObject) -> JsonObject:
    return {key: value for key, value in block.items() if key != "cache_control"}
