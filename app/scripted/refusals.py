"""Errors as the Messages API words them, each with its status and type."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.scripted.faults import Fault
from app.scripted.request import JsonObject


@dataclass
class Refusal(Exception):
    """An error answer: HTTP status, the API's error type and a message.

    Types and statuses: https://platform.claude.com/docs/en/api/errors
    """

    status: int
    kind: str
    message: str
    headers: dict[str, str] = field(default_factory=dict)

    def body(self, request_id: str) -> JsonObject:
        return {
            "type": "error",
            "error": {"type": self.kind, "message": self.message},
            "request_id": request_id,
        }


def invalid(message: str) -> Refusal:
    """The API's answer to a request that can never succeed as it stands."""
    return Refusal(400, "invalid_request_error", message)


def not_found(message: str) -> Refusal:
    return Refusal(404, "not_found_error", message)


def refusal_of(fault: Fault) -> Refusal | None:
    """The error answer a fault stands for, or None when it is no answer before the stream."""
    if fault.kind == "rate_limit":
        headers = {} if fault.retry_after is None else {"retry-after": f"{fault.retry_after:g}"}
        message = fault.message or "This request would exceed the rate limit of the scripted server."
        return Refusal(429, "rate_limit_error", message, headers)
    if fault.kind == "overloaded":
        return Refusal(529, "overloaded_error", fault.message or "Overloaded")
    if fault.kind == "server_error":
        return Refusal(500, "api_error", fault.message or "Internal server error")
    return None
