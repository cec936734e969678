"""A session without its secrets: each is replaced by a mark that says what it was, and the log is chained anew."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from pydantic import TypeAdapter

from store.bodies import Body, Json, Partial, ToolEnded, Unknown, WholeOutput
from store.events import Event, decode_body, encode, line_hash, plain
from store.lines import Tiers
from store.secrets import Secret, secrets_in, worth_looking_for
from store.session_record import SessionRecord
from store.whole_outputs import whole_outputs

_TIERS: Final = TypeAdapter(Tiers)
_MARK = re.compile(r"\[redacted: ([^\]\n]{1,60})\]")
_Text = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Redaction:
    """One mark in a log: the event's number, turn and kind, where in it, and what was taken out."""

    log: str
    n: int
    turn: int
    kind: str
    where: str
    what: str


def redacted(record: SessionRecord, known: Mapping[str, str]) -> SessionRecord:
    """``record`` without the secrets in it. ``known`` maps values that are secrets whatever they look like to names.

    What is found in one place is taken out everywhere, also where a stream cut it in two. The log's lines are written
    and chained anew from the hash that the first one cites, so that the result verifies by itself; it is no longer
    the room's own log byte for byte, and cannot be. Whole outputs are taken as text in UTF-8; the events that name
    them then tell of what is left. One whose name holds a secret is left out.
    """
    found = dict(known)
    outputs = {name: content.decode("utf-8", "surrogateescape") for name, content in record.outputs.items()}
    texts = [*_texts(plain(record.before)), *_streams(record.events).values(), *outputs.values(), *outputs]
    for event in (*record.events, *(event for event, _ in record.meanwhile)):
        texts += _texts(_data(event))
    for text in texts:
        for secret in secrets_in(text, known):
            value = text[secret.start : secret.end]
            if worth_looking_for(value):
                found.setdefault(value, secret.what)
    cut = _cut_streams(record.events, found)

    def without(text: str) -> str:
        return _marked(text, secrets_in(text, found))

    kept = {
        name: without(text).encode("utf-8", "surrogateescape")
        for name, text in outputs.items()
        if without(name) == name
    }
    said = whole_outputs(record.events)
    events, content, prev = [], b"", record.events[0].prev
    for event in record.events:
        body = event.body
        if isinstance(body, Partial):
            clean = replace(event, body=replace(body, text=cut[event.n]), prev=prev)
        elif isinstance(body, ToolEnded) and (whole := body.whole) and whole.file in kept and whole == said[whole.file]:
            # Its hash stays as it is written, whatever a detector takes it for.
            clean = replace(_without(replace(event, body=replace(body, whole=None)), without), prev=prev)
            clean = replace(clean, body=_with_output(clean.body, whole, kept[whole.file]))
        else:
            clean = replace(_without(event, without), prev=prev)
        line = encode(clean)
        prev = line_hash(line)
        events.append(clean)
        content += line + b"\n"
    meanwhile = tuple((one := _without(event, without), encode(one)) for event, _ in record.meanwhile)
    before = _TIERS.validate_python(_walked(plain(record.before), without))
    return SessionRecord(record.log, content, tuple(events), before, meanwhile, kept)


def redactions(record: SessionRecord) -> tuple[Redaction, ...]:
    """Where marks stand in a session's log and in its whole outputs: what was taken out of it, and where."""
    in_log = tuple(
        Redaction(event.log, event.n, event.turn, event.kind, where, mark[1])
        for event in (*record.events, *(event for event, _ in record.meanwhile))
        for where, text in _leaves(_data(event))
        for mark in _MARK.finditer(text)
    )
    said = whole_outputs(record.events)
    in_outputs = tuple(
        Redaction(event.log, event.n, event.turn, event.kind, f"{whole.file}, line {number}", mark[1])
        for event in record.events
        if isinstance(event.body, ToolEnded) and (whole := event.body.whole) is not None
        if whole.file in record.outputs and whole == said[whole.file]
        for number, line in enumerate(record.outputs[whole.file].decode("utf-8", "replace").split("\n"), 1)
        for mark in _MARK.finditer(line)
    )
    return in_log + in_outputs


def _with_output(body: Body, whole: WholeOutput, content: bytes) -> Body:
    """``body`` with ``whole`` telling of ``content``, which it now is."""
    assert isinstance(body, ToolEnded)
    sha256 = hashlib.sha256(content).hexdigest()
    return replace(body, whole=replace(whole, bytes=len(content), sha256=sha256))


def _marked(text: str, secrets: tuple[Secret, ...]) -> str:
    for secret in reversed(secrets):
        text = f"{text[: secret.start]}[redacted: {secret.what}]{text[secret.end :]}"
    return text


def _data(event: Event) -> Json:
    return event.body.raw if isinstance(event.body, Unknown) else plain(event.body)


def _without(event: Event, without: _Text) -> Event:
    return replace(event, body=decode_body(event.kind, _walked(_data(event), without)))


def _walked(value: Json, change: _Text) -> Json:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_walked(item, change) for item in value]
    if isinstance(value, dict):
        return {change(key): _walked(item, change) for key, item in value.items()}
    return value


def _leaves(value: Json, where: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _leaves(item, f"{where}.{number}" if where else str(number))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield f"{where} (a name)".strip(), key
            yield from _leaves(item, f"{where}.{key}" if where else key)


def _texts(value: Json) -> list[str]:
    return [text for _, text in _leaves(value)]


# ---------------------------------------------------------------- what a stream cut in pieces

_Stream = tuple[str, int, int, str]


def _stream(body: Partial) -> _Stream:
    return body.seat, body.request, body.block, body.what


def _streams(events: tuple[Event, ...]) -> dict[_Stream, str]:
    """The words of each streamed block, put together."""
    whole: dict[_Stream, str] = {}
    for event in events:
        if isinstance(event.body, Partial):
            whole[_stream(event.body)] = whole.get(_stream(event.body), "") + event.body.text
    return whole


def _cut_streams(events: tuple[Event, ...], known: Mapping[str, str]) -> dict[int, str]:
    """The text of each partial event without secrets: the mark stands where the secret began, the rest of it is gone
    from the pieces that follow."""
    secrets = {stream: secrets_in(text, known) for stream, text in _streams(events).items()}
    at: dict[_Stream, int] = {}
    cut: dict[int, str] = {}
    for event in events:
        if isinstance(event.body, Partial):
            stream, text = _stream(event.body), event.body.text
            start = at.get(stream, 0)
            at[stream] = end = start + len(text)
            kept, from_ = "", start
            for secret in secrets[stream]:
                if secret.end <= start or secret.start >= end:
                    continue
                kept += text[from_ - start : max(secret.start, start) - start]
                kept += f"[redacted: {secret.what}]" if secret.start >= start else ""
                from_ = min(secret.end, end)
            cut[event.n] = kept + text[from_ - start :]
    return cut
