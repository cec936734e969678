"""The rules by which the Messages API refuses a request, so that tests meet them before a real model does.

Source: https://platform.claude.com/docs/en/api/messages and the API's own error messages.
"""

from __future__ import annotations

import re

from app.scripted.compaction import is_summary
from app.scripted.refusals import invalid
from app.scripted.request import JsonObject, blocks_of
from app.scripted.wire import forged_signature

_TOOL_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,128}$")
_TOOL_USE_ID = re.compile(r"^[a-zA-Z0-9_-]+$")
_MOST_BREAKPOINTS = 4


def check_request(body: JsonObject, *, counting: bool = False) -> None:
    """Raises `Refusal` (400) for the first rule that the request breaks.

    `counting` leaves out what the token counting endpoint does not ask for.
    """
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise invalid("model: Field required")
    if not counting:
        _check_sampling(body)
    _check_tools(body)
    if any(block.get("type") == "text" and not block.get("text") for block in blocks_of(body.get("system") or [])):
        raise invalid("system: text content blocks must be non-empty")
    _check_messages(body.get("messages"), compacting=bool(body.get("compaction")))
    _check_breakpoints(body)


def _check_sampling(body: JsonObject) -> None:
    most = body.get("max_tokens")
    if most is None:
        raise invalid("max_tokens: Field required")
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise invalid("max_tokens: Input should be an integer greater than or equal to 1")
    for name in ("temperature", "top_p", "top_k"):
        if name in body:
            raise invalid(f"`{name}` is not supported by this model: the newest models reject it. Leave it out.")
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") in ("any", "tool"):
        raise invalid(
            f"tool_choice.type: `{choice['type']}` is not supported by this model: the newest models reject "
            "forced tool use. Use `auto` and validate what comes back."
        )


def _check_tools(body: JsonObject) -> None:
    tools = body.get("tools")
    if tools is None:
        return
    if not isinstance(tools, list):
        raise invalid("tools: Input should be a valid list")
    names: set[str] = set()
    for index, tool in enumerate(tools):
        if not isinstance(tool, dict):
            raise invalid(f"tools.{index}: Input should be a valid dictionary")
        if "name" not in tool:
            continue  # toolsets and MCP servers have no name of their own
        name = tool["name"]
        if not isinstance(name, str) or not _TOOL_NAME.match(name):
            raise invalid(f"tools.{index}.name: String should match pattern '{_TOOL_NAME.pattern}'")
        if name in names:
            raise invalid("tools: Tool names must be unique.")
        names.add(name)
        if tool.get("type", "custom") == "custom":
            schema = tool.get("input_schema")
            if not isinstance(schema, dict):
                raise invalid(f"tools.{index}.custom.input_schema: Field required")
            if schema.get("type") != "object":
                raise invalid(f"tools.{index}.custom.input_schema.type: Input should be 'object'")


def _check_messages(messages: object, *, compacting: bool) -> None:
    if not isinstance(messages, list):
        raise invalid("messages: Field required" if messages is None else "messages: Input should be a valid list")
    if not messages:
        raise invalid("messages: at least one message is required")
    for index, message in enumerate(messages):
        _check_shape(index, message)
    summed_up = is_summary(messages[0])
    if messages[0]["role"] != "user" and not summed_up:
        raise invalid('messages: first message must use the "user" role')
    if messages[-1]["role"] == "assistant" and not compacting and not (summed_up and len(messages) == 1):
        raise invalid(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
    _check_tool_pairs(messages)


def _check_shape(index: int, message: object) -> None:
    if not isinstance(message, dict):
        raise invalid(f"messages.{index}: Input should be a valid dictionary")
    if message.get("role") not in ("user", "assistant", "system"):
        raise invalid(f"messages.{index}.role: Input should be 'user', 'assistant' or 'system'")
    content = message.get("content")
    if not isinstance(content, str | list):
        raise invalid(f"messages.{index}.content: Field required")
    if not content:
        raise invalid(f"messages.{index}: all messages must have non-empty content")
    if isinstance(content, list):
        for position, block in enumerate(content):
            _check_block(f"messages.{index}.content.{position}", block, str(message["role"]))


def _check_block(at: str, block: object, role: str) -> None:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        raise invalid(f"{at}.type: Field required")
    kind = block["type"]
    if kind == "text":
        text = block.get("text")
        if not isinstance(text, str):
            raise invalid(f"{at}.text.text: Field required")
        if not text:
            raise invalid("messages: text content blocks must be non-empty")
        if not text.strip():
            raise invalid("messages: text content blocks must contain non-whitespace text")
    elif kind == "tool_use":
        if role != "assistant":
            raise invalid(f"{at}: `tool_use` blocks can only be in `assistant` messages")
        identifier = block.get("id")
        if not isinstance(identifier, str) or not _TOOL_USE_ID.match(identifier):
            raise invalid(f"{at}.tool_use.id: String should match pattern '{_TOOL_USE_ID.pattern}'")
        if not isinstance(block.get("input"), dict):
            raise invalid(f"{at}.tool_use.input: Input should be a valid dictionary")
    elif kind == "tool_result":
        if role != "user":
            raise invalid(f"{at}: `tool_result` blocks can only be in `user` messages")
        if not isinstance(block.get("tool_use_id"), str):
            raise invalid(f"{at}.tool_result.tool_use_id: Field required")
    elif kind == "thinking":
        if role != "assistant":
            raise invalid(f"{at}: `thinking` blocks can only be in `assistant` messages")
        if "cache_control" in block:
            raise invalid(f"{at}.thinking.cache_control: Extra inputs are not permitted")
        if forged_signature(block):
            raise invalid(f"{at}: Invalid `signature` in `thinking` block")


def _check_tool_pairs(messages: list[JsonObject]) -> None:
    """Every `tool_use` is answered at the head of the very next user content, and nothing else is answered.

    Neighbouring messages of one role are read as one, as the API does.
    """
    seen: set[str] = set()
    open_ids: list[str] = []  # tool uses of the assistant turn before
    answered: set[str] = set()
    past_results = False
    previous_role = ""
    for index, message in enumerate(messages):
        role = message["role"]
        if role == "system":
            continue
        if role == "assistant" and previous_role != "assistant":
            _check_all_answered(index, open_ids, answered)
            open_ids, answered = [], set()
        if role == "user" and previous_role != "user":
            past_results = False
        previous_role = role
        for position, block in enumerate(blocks_of(message["content"])):
            if block["type"] == "tool_use":
                if block["id"] in seen:
                    raise invalid("messages: `tool_use` ids must be unique")
                seen.add(block["id"])
                open_ids.append(block["id"])
            elif block["type"] == "tool_result":
                identifier = block["tool_use_id"]
                if identifier not in open_ids or identifier in answered:
                    reason = "answered twice" if identifier in answered else "unexpected"
                    raise invalid(
                        f"messages.{index}.content.{position}: {reason} `tool_use_id` found in `tool_result` "
                        f"blocks: {identifier}. Each `tool_result` block must have a corresponding `tool_use` "
                        "block in the previous message."
                    )
                if past_results:
                    raise invalid(
                        f"messages.{index}.content.{position}: `tool_result` blocks must come first in the "
                        "content, before any text."
                    )
                answered.add(identifier)
            elif role == "user":
                past_results = True
    _check_all_answered(len(messages), open_ids, answered)


def _check_all_answered(index: int, open_ids: list[str], answered: set[str]) -> None:
    dangling = [identifier for identifier in open_ids if identifier not in answered]
    if dangling:
        raise invalid(
            f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(dangling)}. Each `tool_use` block must have a corresponding `tool_result` block in the "
            "next message."
        )


def _check_breakpoints(body: JsonObject) -> None:
    groups = [body.get("tools"), body.get("system"), *(m.get("content") for m in body["messages"])]
    controls = [b["cache_control"] for group in groups for b in blocks_of(group) if b.get("cache_control")]
    if body.get("cache_control"):
        controls.append(body["cache_control"])
    for control in controls:
        if not isinstance(control, dict) or control.get("type") != "ephemeral":
            raise invalid("cache_control.type: Input should be 'ephemeral'")
        if control.get("ttl", "5m") not in ("5m", "1h"):
            raise invalid("cache_control.ttl: Input should be '5m' or '1h'")
    if len(controls) > _MOST_BREAKPOINTS:
        raise invalid(
            f"A maximum of {_MOST_BREAKPOINTS} blocks with cache_control may be provided. Found {len(controls)}."
        )
    ttls = [control.get("ttl", "5m") for control in controls]
    if "1h" in ttls[ttls.index("5m") :] if "5m" in ttls else False:
        raise invalid("cache_control.ttl: a ttl='1h' block must not come after a ttl='5m' block.")
