"""The claude.ai data export: an array of conversations, each with its messages."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator
from pathlib import Path

from app.replay.importers.json_stream import json_items
from app.replay.importers.records import KNOWN_ALREADY, Source, Taken, Tally, file_time, when
from app.replay.importers.turns import Turns
from store.bodies import Json

FORMAT = "claude.ai"


def claude_ai(path: Path, tally: Tally, known: Container[str]) -> Iterator[Taken]:
    """Each conversation is a session of its own."""
    for conversation in json_items(path, tally):
        messages = conversation.get("chat_messages") if isinstance(conversation, dict) else None
        if not isinstance(conversation, dict) or not isinstance(messages, list):
            tally.left("a foreign record")
            continue
        name = conversation.get("uuid")
        if not isinstance(name, str) or not name:
            tally.left("a conversation without its uuid")
            continue
        if not messages:
            tally.left("an empty conversation")
            continue
        title = conversation.get("name")
        began = when(conversation.get("created_at"), file_time(path))
        source = Source(FORMAT, name, name, title=title if isinstance(title, str) else "")
        turns = Turns(source, began)
        for place, message in enumerate(messages, 1):
            if isinstance(message, dict):
                yield from _message(message, f"{name}/{place}", turns, tally, known)
            else:
                tally.left("a foreign record")
        yield from turns.end()


def _message(message: dict[str, Json], name: str, turns: Turns, tally: Tally, known: Container[str]) -> Iterator[Taken]:
    uuid = message.get("uuid")
    name = uuid if isinstance(uuid, str) and uuid else name
    at = when(message.get("created_at"), turns.at)
    sender = message.get("sender")
    if sender not in ("human", "assistant"):
        tally.left(f"sender {sender}" if isinstance(sender, str) else "a foreign record")
        return
    blocks = [block for block in _listed(message.get("content")) if isinstance(block, dict)]
    fresh = name not in known
    if not fresh:
        tally.left(KNOWN_ALREADY)
    if sender == "human":
        text = _operator_text(message, blocks)
        if not text:
            tally.left("a message without words")
        elif fresh:
            tally.took("human")
            yield from turns.operator(at, text, [name])
        else:
            turns.pass_over(at)
        return
    if fresh:
        yield from _answer(message, blocks, name, turns, tally)


def _answer(
    message: dict[str, Json], blocks: list[dict[str, Json]], name: str, turns: Turns, tally: Tally
) -> Iterator[Taken]:
    at = when(message.get("created_at"), turns.at)
    text = message.get("text")
    said = [block for block in blocks if block.get("type") != "tool_result"]
    if not said and isinstance(text, str) and text:
        said = [{"type": "text", "text": text}]
    if not said and not blocks:
        tally.left("a message without words")
        return
    names: dict[str, str] = {}
    content: list[Json] = []
    for place, block in enumerate(said):
        if block.get("type") == "tool_use":
            call = str(block.get("id") or f"{name}:{place}")
            names[call] = str(block.get("name") or "?")
            block = {"type": "tool_use", "id": call, "name": names[call], "input": block.get("input") or {}}
        content.append(block)
    tally.took("responses")
    yield from turns.message(at, content, [name], message_id=name)
    # An export may leave the ids out: results then answer the calls in their order.
    waiting = list(names)
    for block in blocks:
        if block.get("type") != "tool_result":
            continue
        told = str(block.get("tool_use_id") or "")
        call = told if told in names else waiting[0] if waiting else told
        if call in waiting:
            waiting.remove(call)
        given = block.get("content")
        size = len(given.encode("utf-8", "replace")) if isinstance(given, str) else len(json.dumps(given))
        tally.took("tool results")
        yield turns.result(
            at, call, names.get(call, str(block.get("name") or "?")), "error" if block.get("is_error") else "ok",
            given, size, (),
        )  # fmt: skip


def _operator_text(message: dict[str, Json], blocks: list[dict[str, Json]]) -> str:
    text = message.get("text")
    words = [text] if isinstance(text, str) and text.strip() else []
    if not words:
        words = [str(block["text"]) for block in blocks if isinstance(block.get("text"), str)]
    for attached in _listed(message.get("attachments")):
        if isinstance(attached, dict):
            inside = attached.get("extracted_content")
            head = f"[attachment {attached.get('file_name') or 'without a name'}]"
            words.append(f"{head}\n{inside}" if isinstance(inside, str) and inside else head)
    return "\n\n".join(words)


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
