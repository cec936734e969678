"""The header of a live session: task, condition, RET clock and state, in two rows at any width."""

from __future__ import annotations

from pathlib import Path

from textual.content import Content

from store.lines import one_line
from store.readings import LiveReading, RetReading, SessionState
from store.text import clean
from widgets.figures import NOTHING, Piece, clock, fitted, piece
from widgets.reading_rows import ReadingRows

STATES: dict[SessionState, tuple[str, str, str]] = {
    "waking": ("◌", "waking", "$text-muted"),
    "ready": ("○", "ready for you", "$text-success"),
    "waiting": ("◔", "waits for the first token", "$text-warning"),
    "streaming": ("●", "answers", "$text-primary"),
    "tool": ("◆", "runs a tool", "$text-primary"),
    "asking": ("?", "a tool waits for your word", "$text-warning"),
    "closing": ("◑", "closing", "$text-warning"),
    "closed": ("□", "closed", "$text-muted"),
    "failed": ("×", "failed", "$text-error"),
}
"""Each state's sign, words and style: a sign and words, so that no state is told by colour alone."""

_RET_WORDS = {
    "running": ("running", "$text-warning"),
    "stopped": ("first right action", "$text-success"),
    "told": ("told by you", "$text-warning"),
    "set": ("set by hand", "$text-warning"),
    "missed": ("did not come", "$text-muted"),
}


def ret_piece(ret: RetReading) -> Piece:
    """The RET clock as one piece. Its figures keep five cells, so that nothing beside it moves as they run."""
    if ret.state == "none":
        return piece(60, ("RET ", "bold"), (NOTHING, "$text-muted"))
    if ret.state == "waiting":
        return piece(90, ("RET ", "bold"), ("not started", "$text-muted"))
    if ret.state == "void":
        return piece(90, ("RET ", "bold"), ("void", "$text-muted"))
    words, style = _RET_WORDS[ret.state]
    return piece(90, ("RET ", "bold"), (f"{clock(ret.seconds):>5}", f"bold {style}"), (f" {words}", style))


def state_piece(reading: LiveReading) -> Piece:
    """What happens now, as sign and words."""
    sign, words, style = STATES[reading.state]
    return piece(100, (f"{sign} ", f"bold {style}"), (words, style))


class SessionHeader(ReadingRows):
    """Two rows: task, condition and RET; then state, turn, operator, model and what holds the tools."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    @staticmethod
    def rows(reading: LiveReading, width: int) -> tuple[Content, Content]:
        """Both rows for ``reading`` at ``width`` cells."""
        task = one_line(clean(reading.task))
        title = (task, "bold") if task else ("no task", "$text-muted")
        condition = one_line(clean(f"{reading.condition} {reading.condition_title}"))
        first = fitted(
            [piece(100, title)],
            [
                piece(80, ("condition ", "$text-muted"), (condition or NOTHING, "bold")),
                ret_piece(reading.ret),
            ],
            width,
            gap="   ",
            least=20,
        )
        left = [state_piece(reading)]
        if reading.turn:
            left.append(piece(70, ("turn ", "$text-muted"), str(reading.turn)))
        if reading.queued:
            noun = "message" if reading.queued == 1 else "messages"
            left.append(piece(75, (f"{reading.queued} {noun} queued", "$text-warning")))
        right = []
        if reading.operator:
            right.append(piece(20, ("operator ", "$text-muted"), one_line(clean(reading.operator))))
        if reading.model:
            right.append(piece(40, ("model ", "$text-muted"), one_line(clean(reading.model))))
        if reading.sandbox:
            right.append(piece(30, ("sandbox ", "$text-muted"), one_line(clean(reading.sandbox))))
        if reading.scripted:
            right.append(piece(110, (" scripted ", "bold $text-accent on $accent-muted")))
        if reading.read_only:
            right.append(piece(110, (" read only ", "bold $text-warning on $warning-muted")))
        return first, fitted(left, right, width)
