"""What every event's body is: the base, the register of kinds, and the names of seats and writers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, TypeVar

from pydantic import JsonValue

Json: TypeAlias = JsonValue
"""Any JSON value. Pydantic's own alias: it checks a recursive one only when the recursion has a name."""
Seat = Literal["presence", "keeper", "reader"]
By = Literal["operator", "presence", "keeper", "reader", "system"]

BodyT = TypeVar("BodyT", bound="type[Body]")


@dataclass(frozen=True, slots=True)
class Body:
    """Base of all bodies. ``KIND`` is the name in the log; ``DURABLE`` bodies are fsynced before any effect."""

    KIND: ClassVar[str] = ""
    DURABLE: ClassVar[bool] = True


BODY_BY_KIND: dict[str, type[Body]] = {}


def registered(cls: BodyT) -> BodyT:
    BODY_BY_KIND[cls.KIND] = cls
    return cls


@dataclass(frozen=True, slots=True)
class Unknown(Body):
    """An event kind that this version does not know; kept as it came."""

    KIND: ClassVar[str] = "?"
    kind: str
    raw: Json
