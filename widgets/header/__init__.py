"""The session's header: what is worked on, under which condition, and how it stands."""

from widgets.header.header import SessionHeader

__all__ = ["SessionHeader"]
