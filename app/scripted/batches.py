"""Message Batches: taken, ended after a while by the clock, cancelled, and their results.

Source: https://platform.claude.com/docs/en/build-with-claude/batch-processing
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from app.scripted.prompt_cache import canonical
from app.scripted.refusals import Refusal, invalid, not_found
from app.scripted.request import JsonObject, Request

_CUSTOM_ID = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_EXPIRES_AFTER = timedelta(hours=24)


@dataclass
class Batch:
    """One batch: its requests by custom id, and once it has ended the result of each."""

    identifier: str
    requests: dict[str, Request]
    created: datetime
    ends_at: float  # seconds of the server's clock
    cancelled: datetime | None = None
    ended: datetime | None = None
    results: dict[str, JsonObject] = field(default_factory=dict)

    def described(self, base_url: str) -> JsonObject:
        """The batch as the API shows it. Until it has ended, every request counts as processing."""
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        for result in self.results.values():
            counts[result["type"]] += 1
        counts["processing"] = len(self.requests) - len(self.results)
        going = "in_progress" if self.cancelled is None else "canceling"
        results_url = f"{base_url}/v1/messages/batches/{self.identifier}/results"
        return {
            "id": self.identifier,
            "type": "message_batch",
            "processing_status": going if self.ended is None else "ended",
            "request_counts": counts,
            "created_at": self.created.isoformat(),
            "expires_at": (self.created + _EXPIRES_AFTER).isoformat(),
            "cancel_initiated_at": None if self.cancelled is None else self.cancelled.isoformat(),
            "ended_at": None if self.ended is None else self.ended.isoformat(),
            "archived_at": None,
            "results_url": None if self.ended is None else results_url,
        }

    def result_lines(self) -> Iterator[bytes]:
        """The results as JSON lines, in the reverse of the order asked: the API promises no order."""
        for custom_id, result in reversed(self.results.items()):
            yield json.dumps({"custom_id": custom_id, "result": result}).encode() + b"\n"


class Batches:
    """The batches of one server. Each ends `seconds` of `clock` after it was taken; `play` answers one request."""

    def __init__(self, *, clock: Callable[[], float], seconds: float, play: Callable[[Request], JsonObject]) -> None:
        self._clock = clock
        self._seconds = seconds
        self._play = play
        self._batches: dict[str, Batch] = {}

    def take(self, asked: Request) -> Batch:
        """A new batch, in progress, of the requests in the body; raises `Refusal` (400) when they are none."""
        requests: dict[str, Request] = {}
        entries = asked.body.get("requests")
        if not isinstance(entries, list) or not entries:
            raise invalid("requests: List should have at least 1 item")
        for index, entry in enumerate(entries):
            custom_id = entry.get("custom_id") if isinstance(entry, dict) else None
            if not isinstance(custom_id, str) or not _CUSTOM_ID.match(custom_id):
                raise invalid(f"requests.{index}.custom_id: String should match pattern '{_CUSTOM_ID.pattern}'")
            if custom_id in requests:
                raise invalid(f"requests.{index}.custom_id: Custom IDs must be unique. Found twice: {custom_id}")
            params = entry.get("params")
            if not isinstance(params, dict):
                raise invalid(f"requests.{index}.params: Field required")
            requests[custom_id] = replace(asked, body=params, raw=canonical(params))
        digest = hashlib.sha256(f"{len(self._batches)}/".encode() + asked.raw).hexdigest()
        identifier = f"msgbatch_{digest[:24]}"
        batch = Batch(identifier, requests, datetime.now(UTC), self._clock() + self._seconds)
        self._batches[identifier] = batch
        return batch

    def find(self, identifier: str) -> Batch:
        """The batch as it stands now; raises `Refusal` (404) when there is none."""
        batch = self._batches.get(identifier)
        if batch is None:
            raise not_found(f"There is no batch {identifier}.")
        if batch.ended is None and (batch.cancelled is not None or self._clock() >= batch.ends_at):
            self._end(batch)
        return batch

    def cancel(self, identifier: str) -> Batch:
        """The batch, being cancelled; nothing of it has been played. One that has ended can not be cancelled."""
        batch = self.find(identifier)
        if batch.ended is not None:
            raise invalid(f"Batch {identifier} has ended already and can not be canceled.")
        batch.cancelled = datetime.now(UTC)
        return batch

    def _end(self, batch: Batch) -> None:
        for custom_id, request in batch.requests.items():
            batch.results[custom_id] = self._result(request) if batch.cancelled is None else {"type": "canceled"}
        batch.ended = datetime.now(UTC)

    def _result(self, request: Request) -> JsonObject:
        try:
            if "stream" in request.body:
                raise invalid("stream: not supported inside a batch")
            message = self._play(request)
        except Refusal as refusal:
            return {"type": "errored", "error": refusal.body(request.identifier)}
        message["usage"] = {**message["usage"], "service_tier": "batch"}
        return {"type": "succeeded", "message": message}
