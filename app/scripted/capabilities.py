"""What a scripted server leaves out, to stand for the lesser endpoints that also speak the Messages API."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from app.scripted.refusals import invalid
from app.scripted.request import JsonObject
from app.scripted.script import Reply

Feature: TypeAlias = Literal["cache", "count_tokens", "thinking", "tools", "models", "batches", "compaction"]
#: Features that are asked for inside a message request and so can be refused with a 400.
RefusableFeature: TypeAlias = Literal["thinking", "tools", "compaction", "cache_control"]

_BLOCKS_OF: dict[Feature, tuple[str, ...]] = {
    "thinking": ("thinking", "redacted_thinking"),
    "tools": ("tool_use",),
}


@dataclass(frozen=True)
class Capabilities:
    """Features that are missing without a word (`without`), and those that are refused by name (`refuses`).

    Missing `cache` means a usage without cache fields; missing `count_tokens`, `models` and `batches` are 404;
    missing `thinking` and `tools` are taken in the request and never come back in an answer; missing `compaction` is
    not told by the models endpoint, and one that is asked for is answered like any request.
    """

    without: AbstractSet[Feature] = frozenset()
    refuses: AbstractSet[RefusableFeature] = frozenset()

    def __post_init__(self) -> None:
        unknown: list[str] = sorted(set(self.without) - set(get_args(Feature)))
        unknown += sorted(set(self.refuses) - set(get_args(RefusableFeature)))
        if unknown:
            raise ValueError(f"{unknown[0]!r} can not be left out or refused; see Feature and RefusableFeature.")

    def has(self, feature: Feature) -> bool:
        return feature not in self.without

    def check(self, body: JsonObject) -> None:
        """Raises `Refusal` (400) when the request asks for a refused feature."""
        for feature in sorted(self.refuses):
            if body.get(feature):
                raise invalid(f"{feature}: this server does not support {feature}. Leave it out.")

    def told(self) -> JsonObject:
        """What the models endpoint tells of these features, in the API's form."""
        thinks, compacts = {"supported": self.has("thinking")}, {"supported": self.has("compaction")}
        return {
            "thinking": {**thinks, "types": {"adaptive": thinks, "disabled": {"supported": True}}},
            "compaction": {**compacts, "summarize": compacts},
        }

    def within(self, reply: Reply) -> Reply:
        """The part of `reply` that a server without these features can say."""
        missing = {kind for feature, kinds in _BLOCKS_OF.items() if not self.has(feature) for kind in kinds}
        if not missing:
            return reply
        blocks = reply.blocks
        return replace(
            reply,
            thinking="" if "thinking" in missing else reply.thinking,
            tools=() if "tool_use" in missing else reply.tools,
            blocks=None if blocks is None else tuple(b for b in blocks if b.get("type") not in missing),
        )
