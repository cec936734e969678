"""Foreign text made unable to pass for what the program itself says to a seat."""

from __future__ import annotations

import re
from typing import Final

MARK: Final = "<two-twins"
"""How all that the program itself adds to a seat's messages begins."""
_MARK = re.compile(r"<(?=[^\w<>]{0,6}two[^\w<>]{0,3}twins)", re.IGNORECASE)
_BREAKS = r"\r\v\f\x85\u2028\u2029"
_LABEL = re.compile(
    rf"(?:^|(?<=[{_BREAKS}]))(?=[^\S\n{_BREAKS}]*"
    r"(?:\[(?:operator|presence|keeper|tool|break|turn|the operator)|Turn \d|#+ (?:Hot|Warm|Heard before)))",
    re.IGNORECASE | re.MULTILINE,
)
QUOTED: Final = "> "
"""What stands before a line that imitates a label of a chunk. A quote of its words still stands verbatim."""


def defused(text: str) -> str:
    """``text`` without the program's own mark: MARK opens and closes what the program adds to a message, and
    only the program may write it there."""
    return _MARK.sub("‹", text)


def heard(text: str) -> str:
    """``text`` as a part of a chunk for K: without the program's mark, and with each line that imitates one of the
    chunk's labels quoted, so that a label at the beginning of a line is always the program's."""
    return _LABEL.sub(QUOTED, defused(text))
