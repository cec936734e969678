"""An entry of the transcript as rows at a width: who speaks, the words, tools as one row that opens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len, set_cell_size

from store.entries import (
    DividerEntry,
    Entry,
    KeeperEntry,
    NoticeEntry,
    OperatorEntry,
    SpeechEntry,
    ToolEntry,
    ToolState,
    WrongDay,
)
from widgets.chat.flow import Flow
from widgets.chat.rows import Row, plain_rows
from widgets.chat.wrap import without_tabs
from widgets.figures import size, span

LONG_MESSAGE = 6_000
"""Characters of an operator's message beyond which it is folded to its beginning."""
MESSAGE_HEAD = 1_200
WHOLE_SHOWN = 200_000
"""Characters of a tool's input or output that an open row shows; the log holds the rest."""

WholeOf = Callable[[ToolEntry], tuple[str, str] | None]
"""The whole input and output of a tool call, read from the log; None when it can not be had."""

_SPEAKER = {"presence": ("●", "Presence"), "keeper": ("◇", "Keeper"), "reader": ("○", "reader")}
_TOOL: dict[ToolState, tuple[str, str]] = {
    "running": ("◆", "running"),
    "asked": ("?", "waits for your word"),
    "ok": ("✓", "ok"),
    "error": ("✗", "error"),
    "denied": ("⊘", "denied"),
    "stopped": ("■", "stopped"),
}
_DIFF_LOOK = {"+": "inserted", "-": "deleted"}
_LEVEL = {"info": ("·", ""), "warning": ("!", "warning: "), "error": ("✗", "error: ")}

INDENT = "  "


@dataclass(frozen=True, slots=True)
class Setting:
    """What an entry's rows depend on beside the entry. ``previous`` is the entry above; ``whole`` reads a tool's
    whole text when its row is open."""

    width: int
    opened: bool
    operator: str
    previous: Entry | None


class Laid:
    """An entry laid out. ``rows`` are its own; for a streaming answer they grow without being made again."""

    __slots__ = ("_flow", "_foot", "_head", "_wrong", "entry", "setting")

    def __init__(self, entry: Entry, setting: Setting, head: list[Row], flow: Flow | None, foot: list[Row]) -> None:
        self.entry = entry
        self.setting = setting
        self._head = head
        self._flow = flow
        self._foot = foot
        self._wrong = entry.wrong if isinstance(entry, SpeechEntry) else ()

    def __len__(self) -> int:
        return len(self._head) + (len(self._flow.rows) if self._flow else 0) + len(self._foot)

    def __getitem__(self, index: int) -> Row:
        if index < len(self._head):
            return self._head[index]
        index -= len(self._head)
        if self._flow is not None:
            if index < len(self._flow.rows):
                return _marked(self._flow.rows[index], self._wrong)
            index -= len(self._flow.rows)
        return self._foot[index]

    def __iter__(self) -> Iterator[Row]:
        return (self[i] for i in range(len(self)))

    @property
    def flow(self) -> Flow | None:
        """The growing part of a seat's answer."""
        return self._flow


def lay_out(entry: Entry, setting: Setting, before: Laid | None, whole: WholeOf | None) -> Laid:
    """``entry`` as rows. ``before`` is how it stood laid out; its rows are used again as far as they hold."""
    head = [Row()] if _stands_apart(entry, setting.previous) else []
    if isinstance(entry, SpeechEntry):
        return _speech(entry, setting, before, head)
    match entry:
        case OperatorEntry():
            rows = _operator(entry, setting)
        case ToolEntry():
            rows = _tool(entry, setting, whole)
        case KeeperEntry():
            rows = _keeper(entry, setting.width)
        case NoticeEntry():
            rows = _notice(entry, setting.width)
        case DividerEntry():
            rows = _divider(entry, setting)
    return Laid(entry, setting, head + rows, None, [])


def estimate(entry: Entry, width: int) -> int:
    """About how many rows ``entry`` takes: for what was never in sight, in constant time but for counting."""
    room = max(8, width - 2)
    match entry:
        case SpeechEntry() | KeeperEntry():
            return 2 + entry.text.count("\n") + len(entry.text) // room + bool(entry.text)
        case OperatorEntry():
            text = entry.text if len(entry.text) <= LONG_MESSAGE else entry.text[:MESSAGE_HEAD]
            return 3 + text.count("\n") + len(text) // room
        case ToolEntry():
            return 2 if entry.state == "error" else 1
        case _:
            return 2


def folds(entry: Entry) -> bool:
    """Whether the entry can be opened and closed."""
    match entry:
        case ToolEntry():
            return True
        case SpeechEntry():
            return bool(entry.thinking)
        case DividerEntry():
            return bool(entry.text)
        case OperatorEntry():
            return bool(entry.tail) or len(entry.text) > LONG_MESSAGE
        case _:
            return False


def _stands_apart(entry: Entry, previous: Entry | None) -> bool:
    """Whether a blank row parts the entry from the one above: tools and notices stand in one block."""
    if previous is None:
        return False
    alike = isinstance(entry, ToolEntry | NoticeEntry) and type(entry) is type(previous)
    return not alike


def _goes_on(entry: SpeechEntry, previous: Entry | None) -> bool:
    """Whether the same seat's turn goes on, so that its name need not stand again."""
    if previous is None or previous.turn != entry.turn:
        return False
    if isinstance(previous, SpeechEntry):
        return previous.seat == entry.seat and previous.purpose == entry.purpose
    return isinstance(previous, ToolEntry) and entry.seat == "presence" and entry.purpose == "turn"


def _speech(entry: SpeechEntry, setting: Setting, before: Laid | None, head: list[Row]) -> Laid:
    width = setting.width
    if not _goes_on(entry, setting.previous):
        sign, name = _SPEAKER[entry.seat]
        title = name if entry.purpose == "turn" else f"{name} · {entry.purpose}"
        head.append(Row(title, ((0, len(title), entry.seat),), f"{sign} ", entry.seat))
    if entry.thinking:
        sign = "▾" if setting.opened else "▸"
        label = f"{sign} thinking · {len(entry.thinking):,} characters"
        head.append(Row("", (), INDENT + label, "muted", toggle=True))
        if setting.opened:
            head += plain_rows(entry.thinking, width, lead=f"{INDENT}┊ ", look="thinking", lead_look="muted")
    flow = before.flow if before is not None and before.setting.width == width else None
    if flow is None:
        flow = Flow(width, INDENT)
    flow.update(entry.text, final=entry.state != "streaming")
    foot = _wrong_days(entry.wrong, width)
    if entry.state == "cut":
        foot += plain_rows(f"cut off: {entry.reason}" if entry.reason else "cut off", width, lead=f"{INDENT}⊣ ",
                          look="warning", lead_look="warning")  # fmt: skip
    return Laid(entry, setting, head, flow, foot)


def _marked(row: Row, wrong: Sequence[WrongDay]) -> Row:
    """``row`` with the dates that are wrong marked in it; one that the wrapping parted is only told below."""
    found = [(at, at + len(one.said), "wrong") for one in wrong if (at := row.text.find(one.said)) >= 0]
    return replace(row, spans=(*row.spans, *found)) if found else row


def _wrong_days(wrong: Sequence[WrongDay], width: int) -> list[Row]:
    """What is wrong with dates in the words above."""
    rows: list[Row] = []
    for one in wrong:
        rows += plain_rows(one.sentence, width, lead=f"{INDENT}! ", look="warning", lead_look="warning")
    return rows


def _operator(entry: OperatorEntry, setting: Setting) -> list[Row]:
    width, lead = setting.width, "▌ "
    name = setting.operator or "you"
    look = "queued" if entry.queued else "operator"
    right = "queued, waits for P" if entry.queued else f"turn {entry.turn}"
    rows = [Row(name, ((0, len(name), look),), lead, look, right=right, right_look="muted")]
    long = len(entry.text) > LONG_MESSAGE
    text = entry.text[:MESSAGE_HEAD] if long and not setting.opened else entry.text
    rows += plain_rows(text, width, lead=lead, lead_look=look)
    if long:
        said = f"▾ all {len(entry.text):,} characters" if setting.opened else (
            f"▸ … {len(entry.text) - MESSAGE_HEAD:,} more characters"
        )  # fmt: skip
        rows.append(Row("", (), lead + said, "muted", toggle=True))
    if entry.tail:
        sign = "▾" if setting.opened else "▸"
        label = f"{sign} added for P, not your words · {size(len(entry.tail.encode('utf-8', 'replace')))}"
        rows.append(Row("", (), INDENT + label, "muted", toggle=True))
        if setting.opened:
            rows += plain_rows(entry.tail, width, lead=f"{INDENT}┊ ", look="muted", lead_look="muted")
    return rows


def _tool(entry: ToolEntry, setting: Setting, whole: WholeOf | None) -> list[Row]:
    sign, word = _TOOL[entry.state]
    facts = [f"{sign} {word}"]
    if entry.ms is not None and entry.state != "denied":
        facts.append(span(entry.ms))
    if entry.bytes:
        facts.append(size(entry.bytes))
    right = " · ".join(facts)
    lead = f"{INDENT}{'▾' if setting.opened else '▸'} "
    room = setting.width - len(lead) - cell_len(right) - 2
    text = _fitted(f"{entry.name}  {entry.summary}".rstrip(), room)
    look = f"tool-{entry.state}"
    spans = ((0, min(len(entry.name), len(text)), "tool"),)
    rows = [Row(text, spans, lead, "muted", toggle=True, right=right, right_look=look)]
    inner = f"{INDENT}  "
    if entry.state == "asked" and entry.shown:
        rows += plain_rows(entry.shown, setting.width, lead=f"{inner}│ ", lead_look=look, fill="code", code=True)
    if entry.state == "denied" and entry.word:
        rows += plain_rows(f"your word: {entry.word}", setting.width, lead=f"{inner}└ ", look="muted")
    if not setting.opened:
        if entry.state == "error" and (last := _last_line(entry.head)):
            rows.append(Row(_fitted(last, setting.width - 6), (), f"{inner}└ ", "muted"))
        return rows
    given, got = entry.input, entry.head
    complete = entry.whole
    if not complete and whole is not None and (found := whole(entry)) is not None:
        given, got = found
        complete = True
    rows += _block("change" if entry.edits else "input", given, setting.width, inner, diff=entry.edits)
    if entry.ended_n:
        rows += _block("output", got, setting.width, inner)
    if entry.left_out:
        rows += plain_rows(entry.left_out, setting.width, lead=f"{inner}… ", look="muted", lead_look="muted")
    if not complete:
        rows.append(Row("", (), f"{inner}… the rest is in the log, event {entry.ended_n or entry.n}", "muted"))
    return rows


def _block(title: str, text: str, width: int, lead: str, *, diff: bool = False) -> list[Row]:
    rows = [Row("", (), f"{lead}{title}" if text else f"{lead}{title}: nothing", "muted")]
    if text:
        shown = text[:WHOLE_SHOWN].rstrip("\n")
        if diff:
            rows += _diff_rows(shown, width, f"{lead}│ ")
        else:
            rows += plain_rows(shown, width, lead=f"{lead}│ ", lead_look="code-bar", fill="code", code=True)
    return [*rows, *_more(text, lead)]


def _more(text: str, lead: str) -> list[Row]:
    """What stands under a text that is too long to be shown whole."""
    if len(text) <= WHOLE_SHOWN:
        return []
    return [Row("", (), f"{lead}… {len(text) - WHOLE_SHOWN:,} more characters are in the log", "muted")]


def _diff_rows(text: str, width: int, lead: str) -> list[Row]:
    """A unified diff, line by line in the look of what it does; the signs stand there too."""
    rows: list[Row] = []
    for line in text.split("\n"):
        look = "muted" if line.startswith(("+++", "---", "@@")) else _DIFF_LOOK.get(line[:1], "")
        rows += plain_rows(line, width, lead=lead, look=look, lead_look="code-bar", fill="code", code=True)
    return rows


def _keeper(entry: KeeperEntry, width: int) -> list[Row]:
    title = "Keeper, to P" if entry.to == "presence" else "Keeper, to you and P"
    flow = Flow(width, f"{INDENT}")
    flow.update(entry.text, final=True)
    named = Row(title, ((0, len(title), "keeper"),), "◇ ", "keeper")
    return [named, *(_marked(row, entry.wrong) for row in flow.rows), *_wrong_days(entry.wrong, width)]


def _notice(entry: NoticeEntry, width: int) -> list[Row]:
    sign, word = _LEVEL[entry.level]
    look = "muted" if entry.level == "info" else entry.level
    return plain_rows(word + entry.text, width, lead=f"{sign} ", look=look, lead_look=look)


def _divider(entry: DividerEntry, setting: Setting) -> list[Row]:
    sign = ("▾ " if setting.opened else "▸ ") if entry.text else ""
    title = _fitted(sign + entry.title, setting.width - 6)
    rest = "─" * max(0, setting.width - 4 - cell_len(title))
    row = Row(f"{title} {rest}", ((0, len(title), "divider"), (len(title), len(title) + 1 + len(rest), "muted")),
              "── ", "muted", toggle=bool(entry.text))  # fmt: skip
    if not (entry.text and setting.opened):
        return [row]
    if entry.diff:
        return [row, *_diff_rows(entry.text[:WHOLE_SHOWN], setting.width, "┊ "), *_more(entry.text, "┊ ")]
    return [row, *plain_rows(entry.text, setting.width, lead="┊ ", lead_look="muted")]


def _fitted(text: str, cells: int) -> str:
    """``text``, one line, in at most ``cells``, an ellipsis for what is left out."""
    if cells < 1:
        return ""
    text = without_tabs(text)
    return text if cell_len(text) <= cells else set_cell_size(text, cells - 1).rstrip() + "…"


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.split("\n")) if line.strip()), "")


def row_texts(rows: Sequence[Row]) -> list[str]:
    """The rows as they stand on screen, without their right edges: for tests and for plain output."""
    return [row.lead + row.text for row in rows]
