"""The widgets of the live screen, by name."""

from __future__ import annotations

from dataclasses import dataclass

from widgets.chat import Chat
from widgets.composer import Composer
from widgets.header import SessionHeader
from widgets.meters import MeterBar
from widgets.snug import SnugPane
from widgets.tiers import TierPanel


@dataclass(frozen=True, slots=True)
class Panes:
    """The widgets that show a session."""

    header: SessionHeader
    chat: Chat
    tiers: TierPanel
    snug: SnugPane
    meters: MeterBar
    composer: Composer
