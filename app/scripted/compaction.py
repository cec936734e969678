"""Compaction as the Messages API does it on request: a signed summary block, alone, in place of an answer.

Source: the `compaction` parameter of https://platform.claude.com/docs/en/api/messages, behind a beta.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from app.scripted.refusals import invalid
from app.scripted.request import JsonObject, Request
from app.scripted.script import Reply

BETA = "compact-2026-09-04"


def check_beta(headers: Mapping[str, str]) -> None:
    """Raises `Refusal` (400) for a request that asks for compaction without the beta that it needs."""
    if BETA not in headers.get("anthropic-beta", ""):
        raise invalid("compaction: Extra inputs are not permitted")


def compaction_of(request: Request) -> Reply:
    """The answer to a compaction request: it says how many messages it stands for, and nothing else."""
    content = f"Summary of {len(request.messages)} messages."
    signature = hashlib.sha256(content.encode() + request.raw).hexdigest()
    return Reply(
        blocks=({"type": "compaction", "content": content, "signature": signature},), stop_reason="compaction"
    )


def is_summary(message: JsonObject) -> bool:
    """Whether a message is a summary that stands for what was said before it."""
    content = message.get("content")
    first = content[0] if isinstance(content, list) and content else None
    return message.get("role") == "assistant" and isinstance(first, dict) and first.get("type") == "compaction"
