"""What a scripted seat says and when: replies, beats, and the choice of the next reply for a request."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from app.scripted.request import JsonObject, Request, Seat
from app.scripted.templates import fill

SCRIPTED_NOTICE = (
    "I am a scripted twin: no model is behind this seat, and I can only play the lines of my script. "
    "To bring a real one, set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL to a local server that speaks the "
    "Messages API, then `twins init` and `twins run`."
)


@dataclass(frozen=True)
class ToolCall:
    """One tool call of a reply. Strings anywhere in `input` may hold templates."""

    name: str
    input: JsonObject = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """One model call's answer.

    `thinking`, `text` and `tools` become content blocks in that order. `blocks`, when given, are sent in their
    place as they are (unknown types, signatures of one's own). `pace` is in tokens per second, none means as fast
    as possible. `delay_s` are seconds before the first byte. `stop_reason` and single `usage` fields override
    what the server would reckon.
    """

    text: str = ""
    thinking: str = ""
    tools: tuple[ToolCall, ...] = ()
    blocks: tuple[JsonObject, ...] | None = None
    pace: float | None = None
    delay_s: float = 0.0
    stop_reason: str | None = None
    usage: Mapping[str, int] | None = None


#: Played when a beat has no reply left, so that the turn ends. It has a text because the API refuses an
#: assistant message without content when a client sends the conversation back.
NOTHING_MORE = Reply(text="Done.")


@dataclass(frozen=True)
class Beat:
    """What a seat does when `when`, a regular expression, is found in the operator's text.

    Each of `replies` is one model call: while a reply calls tools, the next one follows their results.
    """

    when: str
    replies: tuple[Reply, ...]

    def __post_init__(self) -> None:
        re.compile(self.when)

    def matches(self, text: str) -> bool:
        return re.search(self.when, text) is not None


@dataclass(frozen=True)
class SeatScript:
    """One seat's beats. The first that matches is played, or with `every_match` all that match, in order."""

    beats: tuple[Beat, ...] = ()
    otherwise: Reply = Reply(text=SCRIPTED_NOTICE)
    every_match: bool = False

    def reply(self, request: Request) -> Reply:
        """The reply for this request, found from the request alone.

        Nothing is remembered between requests, so that a retry, a resume and a restart get the same answer.
        """
        matching = [beat for beat in self.beats if beat.matches(request.operator_text)]
        if not self.every_match:
            matching = matching[:1]
        if not matching:
            return self.otherwise if request.round == 0 else NOTHING_MORE
        round_ = request.round
        return merged([beat.replies[round_] for beat in matching if round_ < len(beat.replies)])


def merged(replies: list[Reply]) -> Reply:
    """One reply that says and does all that `replies` do; the first that sets a pace or an override wins."""
    if not replies:
        return NOTHING_MORE
    if len(replies) == 1:
        return replies[0]
    with_blocks = [block for reply in replies for block in reply.blocks or ()]
    return Reply(
        text="\n\n".join(reply.text for reply in replies if reply.text),
        thinking="\n\n".join(reply.thinking for reply in replies if reply.thinking),
        tools=tuple(call for reply in replies for call in reply.tools),
        blocks=tuple(with_blocks) or None,
        pace=next((reply.pace for reply in replies if reply.pace is not None), None),
        delay_s=max(reply.delay_s for reply in replies),
        stop_reason=next((reply.stop_reason for reply in replies if reply.stop_reason), None),
        usage=next((reply.usage for reply in replies if reply.usage is not None), None),
    )


#: What plays a seat: a script, or for tests and benchmarks any function of the request.
Player: TypeAlias = SeatScript | Callable[[Request], Reply]


@dataclass(frozen=True)
class Script:
    """A player for each seat. A seat without one says that it is scripted."""

    presence: Player = SeatScript()
    keeper: Player = SeatScript()
    reader: Player = SeatScript()

    def player(self, seat: Seat) -> Player:
        players: dict[Seat, Player] = {
            "presence": self.presence,
            "keeper": self.keeper,
            "reader": self.reader,
        }
        return players[seat]

    def reply(self, request: Request) -> Reply:
        """The reply of the request's seat, its templates filled from the request."""
        player = self.player(request.seat)
        reply = player.reply(request) if isinstance(player, SeatScript) else player(request)
        return filled(reply, request)


def filled(reply: Reply, request: Request) -> Reply:
    """`reply` with the templates in its text and tool inputs filled; raw blocks stay as they are."""
    return replace(
        reply,
        text=fill(reply.text, request),
        tools=tuple(ToolCall(call.name, fill(call.input, request)) for call in reply.tools),
    )
