"""Builds the two seats of a session on the SDK: clients, tools, briefs, budgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anthropic.types.beta import BetaCacheControlEphemeralParam

from app.session.answers import Listener
from app.session.chunks import Ear
from app.session.context import Context
from app.session.endpoint import Endpoint
from app.session.endpoint import environment as operators_environment
from app.session.keeper import Keeper
from app.session.keeper_tools import KeeperDesk, tools_for
from app.session.mcp_servers import McpServers
from app.session.opening import Opened
from app.session.policy import Policy
from app.session.presence import Presence
from app.session.sandbox import Held, sandbox_command, sandbox_works
from app.session.shell import Shell
from app.session.tools import Ask, ToolBelt
from app.session.wire import connect
from store.bodies import Seat
from store.clock import weekday_line
from store.defused import defused
from store.lines import HOT_BUDGET, WARM_BUDGET, render

MAX_TOKENS = 16_000
KEEPER_MAX_TOKENS = 4_000
LOCAL_MAX_TOKENS = 4_096
LOCAL_KEEPER_MAX_TOKENS = 1_024
"""Limits of one answer when the room sets none: at Anthropic's own endpoint, and elsewhere, where a small model on
the operator's machine may take minutes for what nobody needs."""
REQUEST_TIMEOUT_S = 600.0
NO_SANDBOX = "this room runs commands in a sandbox only, and bubblewrap is not installed here or may not be used"


@dataclass(frozen=True, slots=True)
class Seats:
    """Both seats, ready. ``close`` ends P's shell and the connections."""

    presence: Presence
    belt: ToolBelt
    keeper: Keeper | None
    clients: tuple[object, ...]
    sandbox: Held
    servers: McpServers

    async def prepare(self) -> None:
        """What needs other programs or the network before the first turn: MCP servers, what the model can."""
        for tool in await self.servers.start(frozenset(tool.name for tool in self.belt.tools)):
            self.belt.add(tool.definition, tool.run)
        await self.presence.prepare(self.sandbox)

    async def close(self) -> None:
        """End P's shell and its MCP servers, and close both connections."""
        await self.belt.close()
        await self.servers.close()
        for client in self.clients:
            await client.close()  # type: ignore[attr-defined]


def build_seats(
    opened: Opened, endpoint: Endpoint, policy: Policy, ear: Ear, ask: Ask, environment: Mapping[str, str]
) -> Seats:
    """Both seats of a session. Importing this module imports the SDK."""
    record = opened.record
    room = record.room
    settings = room.settings
    # The plain form is the one that every endpoint knows; five minutes is what it means.
    cache: BetaCacheControlEphemeralParam = {"type": "ephemeral"}
    if settings.session.cache_ttl == "1h":
        cache = {"type": "ephemeral", "ttl": "1h"}

    def listener(seat: Seat) -> Listener:
        return Listener(
            record,
            seat,
            endpoint.model,
            idle_timeout_s=settings.endpoint.idle_timeout_s,
            journal=seat == "presence",
        )

    own, keepers = (LOCAL_MAX_TOKENS, LOCAL_KEEPER_MAX_TOKENS) if endpoint.base_url else (MAX_TOKENS, KEEPER_MAX_TOKENS)
    limit = settings.endpoint.max_tokens or own

    hears_presence = listener("presence")
    presence_client = connect(
        endpoint,
        "presence",
        hears_presence.tap,
        max_retries=settings.endpoint.max_retries,
        timeout_s=REQUEST_TIMEOUT_S,
    )
    network = settings.tools.network
    confined = settings.tools.sandbox != "off" and sandbox_works(opened.workspace, room.memory, network=network)
    shell = Shell(
        opened.workspace,
        environment,
        timeout_s=settings.tools.bash_timeout_s,
        wrap=sandbox_command(opened.workspace, room.memory, network=network) if confined else (),
    )
    belt = ToolBelt(
        record,
        policy,
        opened.workspace,
        shell,
        ask,
        built_in_memory=not endpoint.base_url,
        no_bash=NO_SANDBOX if settings.tools.sandbox == "required" and not confined else "",
    )
    presence = Presence(
        record,
        presence_client,
        hears_presence,
        belt,
        model=endpoint.model,
        system=opened.presence.text,
        max_tokens=limit,
        cache_control=cache,
        max_retries=settings.endpoint.max_retries,
        thinking=settings.endpoint.thinking == "auto",
        context=Context(settings.endpoint.context_window, settings.session.compact_at),
    )
    held: Held = "bwrap" if confined else "off" if settings.tools.sandbox == "off" else "not available"
    servers = McpServers(
        settings.mcp, operators_environment(), opened.workspace, room.sessions_dir / record.log, record.notice_once
    )
    if not opened.condition.keeper:
        return Seats(presence, belt, None, (presence_client,), held, servers)
    hears_keeper = listener("keeper")
    keeper_client = connect(
        endpoint, "keeper", hears_keeper.tap, max_retries=settings.endpoint.max_retries, timeout_s=REQUEST_TIMEOUT_S
    )
    keeper = Keeper(
        record,
        keeper_client,
        hears_keeper,
        ear,
        KeeperDesk(record, opened.condition),
        model=endpoint.model,
        brief=opened.keeper.text,
        tools=tools_for(opened.condition),
        opening=lambda: keeper_opening(opened),
        max_tokens=min(keepers, limit),
        cache_control=cache,
        window_turns=settings.keeper.window_turns,
        max_usd=settings.keeper.max_usd,
        max_session_tokens=settings.keeper.max_tokens,
    )
    return Seats(presence, belt, keeper, (presence_client, keeper_client), held, servers)


def keeper_opening(opened: Opened) -> str:
    """What a window of K begins with: where it is, and the tiers as they stand."""
    room = opened.record.room
    tiers = room.tiers
    hot, warm = defused(render(tiers.hot())), defused(render(tiers.warm()))
    task = f"Task: {opened.task.title}\n" if opened.task else ""
    return (
        f"Session {opened.record.number} of {room.settings.operator}'s room. {weekday_line(room.clock.now())}\n{task}\n"
        f"# Hot ({tiers.size('hot'):,} of {HOT_BUDGET:,} bytes)\n{hot or '(empty)'}\n\n"
        f"# Warm ({tiers.size('warm'):,} of {WARM_BUDGET:,} bytes)\n{warm or '(empty)'}"
    )
