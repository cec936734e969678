"""One self-contained HTML page to read a session: its facts, its timeline of turns, its conversation, its tiers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from html import escape
from typing import Literal

from store.bodies import JournalWritten, LetterFiled, TiersChanged, Usage
from store.entries import DividerEntry, Entry, KeeperEntry, NoticeEntry, OperatorEntry, SpeechEntry, ToolEntry
from store.events import Event
from store.lines import BUDGETS, Tiers
from store.page_style import STYLE
from store.session_record import SessionRecord
from store.text import clean
from store.transcript import transcript


@dataclass(frozen=True, slots=True)
class SeatFigures:
    """What a seat used in one turn; ``usd`` None when a price is not known."""

    usage: Usage = field(default_factory=Usage)
    usd: Decimal | None = None


@dataclass(frozen=True, slots=True)
class TurnFigures:
    """One turn in numbers: its length in seconds (None while it runs), each seat's use, the tiers' bytes after it."""

    turn: int
    seconds: float | None
    presence: SeatFigures
    keeper: SeatFigures
    hot_bytes: int
    warm_bytes: int


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the page's head: what, and how much."""

    name: str
    value: str


def page(record: SessionRecord, facts: Iterable[Fact], turns: Sequence[TurnFigures]) -> str:
    """The page of one session. It needs no network and runs no script.

    All text of operator, models, tools and files is foreign: it is cleaned of controls and escaped, and the page's
    own policy forbids whatever could still slip through.
    """
    opened = record.opened
    title = f"{opened.task.title if opened.task else 'Session'} · {record.log}"
    parts = [
        f"<h1>{_text(title)}</h1>",
        _facts(record, facts),
        _timeline(turns),
        "<h2 id=conversation>Conversation</h2>",
        *_conversation(record),
        "<h2 id=kept>What was kept</h2>",
        _tier("hot", record.after),
        _tier("warm", record.after),
        *_words(record.events),
    ]
    body = "\n".join(parts)
    return (
        "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n"
        "<meta http-equiv=Content-Security-Policy "
        "content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
        '<meta name=viewport content="width=device-width,initial-scale=1">\n'
        f"<title>{_text(title)}</title>\n<style>\n{STYLE}</style>\n<main>\n{body}\n</main>\n</html>\n"
    )


def _text(text: str) -> str:
    """Foreign text as text of the page, fit for quoted attributes too."""
    return escape(clean(text), quote=True)


def _facts(record: SessionRecord, facts: Iterable[Fact]) -> str:
    opened = record.opened
    rows = [
        Fact("Operator", opened.operator),
        Fact("Condition", f"{opened.condition.name} {opened.condition.title}"),
        Fact("Model", f"{opened.model} (scripted: no model is behind the seats)" if opened.scripted else opened.model),
        Fact("From", record.events[0].at),
        Fact("To", record.events[-1].at),
        *facts,
    ]
    return "<dl>" + "".join(f"<dt>{_text(row.name)}<dd>{_text(row.value)}" for row in rows) + "</dl>"


# ---------------------------------------------------------------- the timeline

_WIDTH, _HEIGHT = 960, 64
_CHARTS = (
    ("Tokens", "presence", "keeper"),
    ("Money, US $", "presence", "keeper"),
    ("Tiers, bytes", "hot", "warm"),
)


def _timeline(turns: Sequence[TurnFigures]) -> str:
    """Bars of tokens, money and tiers by turn, and the same as a table; each turn leads to its words."""
    if not turns:
        return "<p>No turn was taken.</p>"
    series = [
        [(float(_tokens(turn.presence)), float(_tokens(turn.keeper))) for turn in turns],
        [(float(turn.presence.usd or 0), float(turn.keeper.usd or 0)) for turn in turns],
        [(float(turn.hot_bytes), float(turn.warm_bytes)) for turn in turns],
    ]
    charts = "".join(
        _chart(name, first, second, values, turns)
        for (name, first, second), values in zip(_CHARTS, series, strict=True)
    )
    rows = "".join(_row(turn) for turn in turns)
    return (
        "<details id=timeline><summary>Timeline: turns, tokens, money, tiers</summary>"
        f"{charts}<figure class=wide><table><thead><tr><th>Turn<th>Time<th>Presence tokens<th>Presence $"
        "<th>Keeper tokens<th>Keeper $"
        f"<th>Hot bytes<th>Warm bytes</thead><tbody>{rows}</tbody></table></figure></details>"
    )


def _tokens(seat: SeatFigures) -> int:
    return seat.usage.prompt + seat.usage.output


def _chart(
    name: str, first: str, second: str, values: Sequence[tuple[float, float]], turns: Sequence[TurnFigures]
) -> str:
    highest = max(one + two for one, two in values) or 1.0
    step = _WIDTH / len(values)
    bars = []
    for index, (turn, (one, two)) in enumerate(zip(turns, values, strict=True)):
        low, high = one / highest * _HEIGHT, two / highest * _HEIGHT
        where = f'x="{index * step:.2f}" width="{step * 0.85:.2f}"'
        bars.append(
            f'<a href="#turn-{turn.turn}"><title>Turn {turn.turn}: {first} {one:g}, {second} {two:g}</title>'
            f'<rect class=first {where} y="{_HEIGHT - low:.2f}" height="{low:.2f}"/>'
            f'<rect class=second {where} y="{_HEIGHT - low - high:.2f}" height="{high:.2f}"/></a>'
        )
    label = f"{name} by turn: {first} below, {second} on top; highest {highest:g}"
    return (
        f"<figure><figcaption>{label}</figcaption>"
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{label}">'
        f"{''.join(bars)}</svg></figure>"
    )


def _row(turn: TurnFigures) -> str:
    cells = (
        f'<a href="#turn-{turn.turn}">{turn.turn}</a>',
        "" if turn.seconds is None else f"{turn.seconds:.1f} s",
        f"{_tokens(turn.presence):,}",
        _usd(turn.presence),
        f"{_tokens(turn.keeper):,}",
        _usd(turn.keeper),
        f"{turn.hot_bytes:,}",
        f"{turn.warm_bytes:,}",
    )
    return "<tr>" + "".join(f"<td>{cell}" for cell in cells)


def _usd(seat: SeatFigures) -> str:
    return "?" if seat.usd is None else f"{seat.usd:.4f}"


# ---------------------------------------------------------------- the conversation


def _conversation(record: SessionRecord) -> Iterator[str]:
    """The chat turn by turn, and behind each turn what it changed in the tiers."""
    changed: dict[int, list[str]] = {}
    for event in record.events:
        if isinstance(event.body, TiersChanged):
            changed.setdefault(event.turn, []).extend(_changes(event, event.body))
    turn: int | None = None
    for entry in transcript(record.events).entries:
        if entry.turn != turn:
            if turn is not None:
                yield _changed(changed.pop(turn, [])) + "</section>"
            turn = entry.turn
            yield f'<section id="turn-{turn}"><h3>{f"Turn {turn}" if turn else "Before the first turn"}</h3>'
        yield _entry(entry, record.opened.operator)
    if turn is not None:
        yield _changed([row for rows in changed.values() for row in rows]) + "</section>"


def _changed(rows: Sequence[str]) -> str:
    if not rows:
        return ""
    return f"<details class=changes><summary>Tiers changed ({len(rows)})</summary><ul>{''.join(rows)}</ul></details>"


def _changes(event: Event, body: TiersChanged) -> Iterator[str]:
    for change in body.changes:
        line, before = change.after, change.before
        moved = f"{before.tier} → {line.tier}" if before and before.tier != line.tier else line.tier
        why = body.reason or line.reason
        yield (
            f"<li><b>{_text(body.op)}</b> by {_text(event.by)}: [{_text(line.id)} {_text(line.kind)}, {moved}] "
            f"{_text(line.text)} <i>why: {_text(why)}</i>"
            + (f" <q>{_text(line.quote)}</q> (turn {line.quote_turn})" if line.quote else "")
        )


def _entry(entry: Entry, operator: str) -> str:
    match entry:
        case OperatorEntry():
            tail = _folded("added for P by the program", entry.tail) if entry.tail else ""
            return _said("operator", f"{operator}{' (queued)' if entry.queued else ''}", entry.text) + tail
        case SpeechEntry():
            cut = f" (interrupted: {entry.reason})" if entry.state == "cut" else ""
            thinking = _folded("thinking", entry.thinking) if entry.thinking else ""
            return thinking + _said(entry.seat, f"{entry.seat}{cut}", entry.text)
        case ToolEntry():
            took = "" if entry.ms is None else f", {entry.ms:.0f} ms"
            more = f"\n… ({entry.bytes:,} bytes in all, whole in events.jsonl)" if not entry.whole else ""
            shown = f"{entry.input}\n\n{entry.head}{more}"
            return _folded(f"tool {entry.name} ({entry.state}{took}): {entry.summary}", shown)
        case KeeperEntry():
            return _said("keeper", f"keeper to {entry.to}", entry.text)
        case NoticeEntry():
            return f'<p class="notice {entry.level}">{entry.level}: {_text(entry.text)}</p>'
        case DividerEntry():
            return _folded(entry.title, entry.text) if entry.text else f"<p class=divider>{_text(entry.title)}</p>"


def _said(css: str, who: str, text: str) -> str:
    return f"<article class={css}><h4>{_text(who)}</h4><pre>{_text(text)}</pre></article>"


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{_text(title)}</summary><pre>{_text(text)}</pre></details>"


# ---------------------------------------------------------------- what was kept


def _tier(tier: Literal["hot", "warm"], tiers: Tiers) -> str:
    lines = tiers.hot() if tier == "hot" else tiers.warm()
    head = f"<h3>{tier.capitalize()}: {tiers.size(tier):,} of {BUDGETS[tier]:,} bytes</h3>"
    rows = "".join(
        f"<li>[{_text(line.id)} {_text(line.kind)} p{line.priority}{' promoted' if line.promoted else ''}] "
        f"{_text(line.text)}"
        + (f" <i>why: {_text(line.reason)}</i>" if line.reason else "")
        + (f" <q>{_text(line.quote)}</q> (turn {line.quote_turn})" if line.quote else "")
        for line in lines
    )
    return head + (f"<ul>{rows}</ul>" if rows else "<p>Nothing.</p>")


def _words(events: Iterable[Event]) -> Iterator[str]:
    """The session's letters and journal entries, whole."""
    for event in events:
        body = event.body
        if isinstance(body, LetterFiled):
            edited = ", edited by the operator" if body.edited_by_operator else ""
            yield f"<h3>{_text(body.which)}, {event.at}{edited}</h3><pre>{_text(body.text)}</pre>"
        elif isinstance(body, JournalWritten):
            yield f"<h3>{_text(body.journal)}, {_text(event.by)}, {event.at}</h3><pre>{_text(body.text)}</pre>"
