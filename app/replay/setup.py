"""Where the model of a replay is, checked before anything is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from app.replay import keepers
from app.replay.keepers.interface import KeeperSetup
from app.session.endpoint import check_reachable, environment, resolve_endpoint
from store.settings import Settings


def setup_for(
    named: Sequence[str], model: str, work: Path, *, batch: bool = False, given: Mapping[str, str] | None = None
) -> KeeperSetup:
    """The setup for these Keepers: the endpoint from the environment when one of them needs a model.

    Raises KeeperError for a Keeper that is none, EndpointError when there is no endpoint or it cannot be reached.
    """
    if not any(keepers.needs_model(name) for name in named):
        return KeeperSetup()
    settings = Settings(format=1, operator="replay")
    endpoint = resolve_endpoint(settings, environment() if given is None else given, model)
    check_reachable(endpoint)
    book = str(work / "batches" / "answers.jsonl")
    return KeeperSetup(endpoint.base_url, endpoint.key, endpoint.model, batch=batch, book=book)
