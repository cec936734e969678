"""The one gate to the tiers: what K, P or the operator asks becomes one event whole, or a refusal that says why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from store.bodies import By, Change, Json, TiersChanged
from store.decay import DecayRules, packaged_rules
from store.events import plain
from store.evidence import Evidence, Source
from store.lines import BUDGETS, Line, LineId, LineKind, Tiers, one_line, render_line, size, with_changes
from store.operations import (
    QUOTE_LIMIT,
    TEXT_LIMIT,
    AddLine,
    EditLine,
    Operation,
    Promote,
    Refused,
    Reprioritise,
    Restore,
    Retire,
    RewriteHot,
    ToCold,
    TouchLine,
    Undo,
    refused,
)
from store.quotes import NotQuoted, quoted_decision, quoted_line, quoted_use, still_stands
from store.text import clean
from store.undo import CanNotUndo, undone
from store.wording import near_duplicate

TOP_PRIORITY: Final = 5


@dataclass(frozen=True, slots=True)
class Accepted:
    """The gate said yes. ``body`` is to be appended as it is, against the same tiers; its ``changes`` may be empty
    (nothing had to change). ``note`` is the tool result: what happened, with the ids it happened to."""

    body: TiersChanged
    note: str


class _No(Exception):
    """Why an operation is refused, in words for its writer."""


def judge(
    tiers: Tiers,
    operation: Operation,
    *,
    by: By,
    session: int,
    turn: int,
    evidence: Evidence,
    allow_decision_retire: bool | None = None,
    rules: DecayRules | None = None,
) -> Accepted | Refused:
    """What becomes of an operation on ``tiers``: pure, so that a replay comes to the same.

    Budgets, kinds, reasons, duplicates and "nothing is deleted" hold for every writer. Quotes are asked of K; the
    operator's own lines stand on the operator's own words; P (by its ``recall``) and the program only touch lines.
    ``session`` and ``turn`` number where the writer stands. Decisions leave only by the operator, or by whoever
    ``allow_decision_retire`` says.
    """
    may_retire = by == "operator" if allow_decision_retire is None else allow_decision_retire
    case = _Case(tiers, by, session, turn, evidence, may_retire, rules or packaged_rules())
    try:
        return case.judged(operation)
    except (_No, NotQuoted, CanNotUndo) as no:
        return refused(operation.op, _input(operation), str(no))


def _input(operation: Operation) -> Json:
    match operation:
        case Undo():
            return {"undoes": operation.event.seq, "reason": operation.reason}
        case Promote() | Retire() | Restore():
            return plain(operation)
        case _:
            given: Json = operation.model_dump(mode="json", exclude_unset=True)
            return given


@dataclass(frozen=True, slots=True)
class _Case:
    tiers: Tiers
    by: By
    session: int
    turn: int
    evidence: Evidence
    may_retire: bool
    rules: DecayRules

    def judged(self, operation: Operation) -> Accepted:
        only_touches = self.by in ("presence", "system") and isinstance(operation, TouchLine)
        if self.by not in ("keeper", "operator") and not only_touches:
            raise _No(f"The {self.by} does not change the tiers.")
        if self.by != "operator" and isinstance(operation, Promote | Retire | Restore | Undo):
            raise _No(f"Only the operator can {operation.op} a line.")
        match operation:
            case AddLine():
                return self.add(operation)
            case EditLine():
                return self.edit(operation)
            case TouchLine():
                return self.touch(operation)
            case Reprioritise():
                return self.reprioritise(operation)
            case ToCold():
                return self.to_cold(operation.op, operation.id, _reason(operation.reason))
            case RewriteHot():
                return self.rewrite_hot(operation)
            case Promote():
                return self.promote(operation)
            case Retire():
                why = _fit(operation.reason, "The reason")
                return self.to_cold(operation.op, operation.id, f"retired by the operator{': ' if why else ''}{why}")
            case Restore():
                return self.restore(operation)
            case Undo():
                changes = undone(self.tiers, operation.event)
                self.within_budgets(changes, "Retire a line first, or undo a later change.")
                return self.accepted(
                    operation.op,
                    changes,
                    _fit(operation.reason, "The reason") or "taken back by the operator",
                    f"took back: {', '.join(change.after.id for change in changes)}",
                    undoes=operation.event.seq,
                )

    # ------------------------------------------------------------ the operations

    def add(self, asked: AddLine) -> Accepted:
        text, reason = _text(asked.text), _reason(asked.reason)
        quote, quote_turn, note = self.stands_on(asked, text)
        moved = [line for line in self.tiers.hot() if not line.promoted and near_duplicate(text, line.text)]
        self.not_twice(text, (line for line in self.tiers if line not in moved))
        line = Line(
            id=moved[0].id if moved else self.new_id(0),
            tier="warm",
            kind=asked.kind,
            text=text,
            reason=reason,
            quote=quote,
            quote_turn=quote_turn,
            priority=asked.priority or self.rules.start[asked.kind],
            touched=self.session,
            made_session=self.session,
            made_turn=self.turn,
            made_by=self.by,
        )
        if asked.kind == "decision" and self.by != "operator":
            self.above_floor(asked.kind, line.priority)
        if not moved:
            note = f"added {line.id} to warm: {text}{note}"
            return self.with_room_for(asked.op, Change(None, line), reason, note, quote)
        # What hot says already needs no second line: it moves, and keeps its id and its history.
        others = tuple(Change(other, replace(other, tier="cold")) for other in moved[1:])
        gone = "".join(f", {other.id} to cold, for it says the same" for other in moved[1:])
        note = f"moved {line.id} from hot to warm: {text}{gone}{note}"
        return self.with_room_for(asked.op, Change(moved[0], line), reason, note, quote, others)

    def stands_on(self, asked: AddLine, text: str) -> tuple[str, int, str]:
        if self.by == "operator":
            said_in = self.turn if asked.turn is None else asked.turn
            return _fit(asked.quote, "The quote", QUOTE_LIMIT) or text, said_in, ""
        source, quote = self.quoted(asked.quote, asked.turn)
        if asked.kind == "decision":
            source = quoted_decision(self.evidence, quote, asked.turn, text)
        elsewhere = asked.turn is not None and source.turn != asked.turn
        return quote, source.turn, f" (its quote stands in turn {source.turn})" if elsewhere else ""

    def quoted(self, quote: str, turn: int | None) -> tuple[Source, str]:
        return quoted_line(self.evidence, _fit(quote, "The quote", QUOTE_LIMIT), turn)

    def edit(self, asked: EditLine) -> Accepted:
        line = self.live(asked.id)
        self.not_the_operators(line)
        text, reason, why = _text(asked.text), _reason(asked.reason), _fit(asked.why, "The line's reason")
        after = replace(line, text=text, reason=why or line.reason)
        quote = ""
        if self.by == "operator":
            after = replace(after, touched=self.session)
        elif asked.quote.strip():
            source, quote = self.quoted(asked.quote, asked.turn)
            if line.kind == "decision":
                source = quoted_decision(self.evidence, quote, asked.turn, text)
            after = replace(after, touched=self.session)
            if line.tier == "warm":
                # The quote's turn is counted in the session in which the line was made (store.lines.Line), so a new
                # quote makes the line anew, here and now.
                after = replace(
                    after,
                    quote=quote,
                    quote_turn=source.turn,
                    made_session=self.session,
                    made_turn=self.turn,
                )
        elif line.tier == "warm":
            still_stands(line, text)
        self.not_twice(text, (other for other in self.tiers if other.id != line.id))
        note = f"edited {line.id}: {text}"
        return self.with_room_for(asked.op, Change(line, after), reason, note, quote)

    def touch(self, asked: TouchLine) -> Accepted:
        line = self.live(asked.id)
        quote = ""
        if self.by == "keeper":
            quote = quoted_use(self.evidence, _fit(asked.quote, "The quote", QUOTE_LIMIT), asked.turn)
        reason = _fit(asked.reason, "The reason") or f"used by the {self.by}"
        if line.touched == self.session:
            return self.accepted(asked.op, (), reason, f"{line.id} was touched in this session already", quote)
        after = replace(line, touched=self.session)
        return self.accepted(asked.op, (Change(line, after),), reason, f"touched {line.id}", quote)

    def reprioritise(self, asked: Reprioritise) -> Accepted:
        line = self.live(asked.id)
        reason = _reason(asked.reason)
        if line.tier == "hot":
            raise _No(f"{line.id} is a hot line; only warm lines have a priority that counts.")
        if self.by != "operator":
            self.above_floor(line.kind, asked.priority)
        if line.priority == asked.priority:
            return self.accepted(asked.op, (), reason, f"{line.id} is at {asked.priority} already")
        after = replace(line, priority=asked.priority)
        return self.accepted(asked.op, (Change(line, after),), reason, f"{line.id} is now at {asked.priority}")

    def to_cold(self, op: str, line_id: LineId, reason: str) -> Accepted:
        line = self.live(line_id)
        self.not_the_operators(line)
        if line.kind == "decision" and not self.may_retire:
            raise _No(f"{line.id} is a decision: only the operator retires it. Its priority can go down to 3.")
        return self.accepted(op, (Change(line, replace(line, tier="cold")),), reason, f"{line.id} is in cold")

    def rewrite_hot(self, asked: RewriteHot) -> Accepted:
        hot = {line.id: line for line in self.tiers.hot()}
        for line_id in asked.keep:
            if line_id not in hot:
                stand = ", ".join(hot) or "no lines"
                raise _No(f"{line_id} is not in hot, so it can not be kept. Hot holds {stand}.")
        keep = {line.id for line in hot.values() if line.promoted} | set(asked.keep)
        texts: list[str] = []
        for given in asked.lines:
            text = _text(given)
            same = next((line.id for line in hot.values() if line.text == text), None)
            if same is not None:
                keep.add(same)  # the same words again are the line that stands, not another one
            elif text not in texts:
                texts.append(text)
        kept = [line for line in hot.values() if line.id in keep]
        new = [self.hot_line(text, place) for place, text in enumerate(texts)]
        for place, line in enumerate(new):
            self.not_twice(line.text, [*new[:place], *kept, *self.tiers.warm()], "keep that one or leave this out")
        left = [line for line in hot.values() if line.id not in keep]
        reason = _fit(asked.reason, "The reason")
        if left and not kept and not new and not reason:
            raise _No("This would empty hot. Say why in reason, or keep lines by id.")
        changes = (
            *(Change(line, replace(line, tier="cold")) for line in left),
            *(Change(None, line) for line in new),
        )
        self.within_budgets(changes, "Cut or leave out lines, or move what the next session needs to warm.")
        said = [
            f"{what} {', '.join(line.id for line in lines)}"
            for what, lines in (("kept", kept), ("added", new), ("to cold", left))
            if lines
        ]
        note = f"hot holds {size([*kept, *new])} of {BUDGETS['hot']} bytes: {'; '.join(said) or 'nothing'}"
        return self.accepted(asked.op, changes, reason or "hot rewritten", note)

    def hot_line(self, text: str, place: int) -> Line:
        kind: LineKind = "thread"
        return Line(
            id=self.new_id(place),
            tier="hot",
            kind=kind,
            text=text,
            reason="the next turn may need it",
            quote="",
            quote_turn=self.turn,
            priority=self.rules.start[kind],
            touched=self.session,
            made_session=self.session,
            made_turn=self.turn,
            made_by=self.by,
        )

    def promote(self, asked: Promote) -> Accepted:
        line = self.live(asked.id)
        if line.tier == "hot":
            after = replace(line, promoted=not line.promoted, touched=self.session)
            note = f"{line.id} {'outlives the close' if after.promoted else 'expires at the close again'}"
        elif line.priority >= TOP_PRIORITY:
            raise _No(f"{line.id} is at {TOP_PRIORITY} already, the highest priority.")
        else:
            after = replace(line, priority=line.priority + 1, touched=self.session)
            note = f"{line.id} is now at {after.priority}"
        changes = (Change(line, after),)
        self.within_budgets(changes, "Retire a hot line first.")
        return self.accepted(asked.op, changes, "promoted by the operator", note)

    def restore(self, asked: Restore) -> Accepted:
        cold = asked.line
        if cold.id in self.tiers.lines:
            raise _No(f"{cold.id} is not in cold: it stands in {self.tiers.lines[cold.id].tier}.")
        if cold.tier != "cold":
            raise _No(f"{cold.id} can only be restored as it stands in cold.")
        self.not_twice(cold.text, self.tiers)
        if cold.quote:
            lowest = max(1, self.rules.floor_of(cold.kind))
            after = replace(cold, tier="warm", priority=max(cold.priority, lowest), touched=self.session)
        else:
            after = replace(cold, tier="hot", promoted=False, touched=self.session)
        reason = _fit(asked.reason, "The reason") or "restored by the operator"
        return self.with_room_for(asked.op, Change(cold, after), reason, f"{cold.id} is in {after.tier} again")

    # ------------------------------------------------------------ the rules they share

    def accepted(
        self,
        op: str,
        changes: tuple[Change, ...],
        reason: str,
        note: str,
        quote: str = "",
        undoes: int | None = None,
    ) -> Accepted:
        return Accepted(TiersChanged(op, changes, reason, quote, undoes, self.session), note)

    def live(self, line_id: LineId) -> Line:
        line = self.tiers.lines.get(line_id)
        if line is None:
            stand = ", ".join(self.tiers.lines) or "none"
            raise _No(f"There is no live line {line_id}. Live are: {stand}.")
        return line

    def new_id(self, place: int) -> LineId:
        return LineId(f"L{self.tiers.next_number + place}")

    def not_the_operators(self, line: Line) -> None:
        if line.promoted and self.by != "operator":
            raise _No(f"The operator promoted {line.id}: it stays as it is until the operator changes it.")

    def above_floor(self, kind: LineKind, priority: int) -> None:
        if priority < (floor := self.rules.floor_of(kind)):
            raise _No(f"A {kind} stays at {floor} or higher; only the operator lowers it further.")

    def not_twice(self, text: str, others: Iterable[Line], way_out: str = "") -> None:
        for line in others:
            if near_duplicate(text, line.text):
                way = way_out or (
                    "the operator promoted it, and it heads the next wake packet"
                    if line.promoted
                    else f"edit {line.id}, or rewrite hot without it first"
                    if line.tier == "hot"
                    else f"edit {line.id}, or touch it with your quote"
                )
                raise _No(f"{line.id} in {line.tier} says this already (“{line.text[:120]}”): {way}.")

    def within_budgets(self, changes: Iterable[Change], way_out: str) -> None:
        after = with_changes(self.tiers, (change.after for change in changes), seq=0, session=self.session)
        for tier, budget in BUDGETS.items():
            over = after.size(tier) - budget
            if over > 0 and after.size(tier) > self.tiers.size(tier):
                raise _No(f"{tier.capitalize()} would be {over} bytes over its {budget}. {way_out}")

    def with_room_for(
        self, op: str, change: Change, reason: str, note: str, quote: str = "", others: tuple[Change, ...] = ()
    ) -> Accepted:
        """Accepts a change (and ``others`` that go with it) and, when it overfills warm, sends to cold what matters
        least: lowest priority, then oldest touch, then oldest line; never a decision, never the line that the change is
        about."""
        changes = [change, *others]
        if change.after.tier == "warm":
            after = with_changes(self.tiers, (change.after,), seq=0, session=self.session)
            over = after.size("warm") - BUDGETS["warm"]
            can_go = [line for line in after.warm() if line.kind != "decision" and line.id != change.after.id]
            for line in sorted(can_go, key=lambda line: (line.priority, line.touched, int(line.id[1:]))):
                if over <= 0:
                    break
                over -= len(render_line(line).encode()) + 1
                changes.append(Change(line, replace(line, tier="cold")))
            if over > 0 and after.size("warm") > self.tiers.size("warm"):
                raise _No(
                    f"Warm would be {over} bytes over its {BUDGETS['warm']} with nothing left but decisions, which "
                    "only the operator retires. Shorten the line, or ask the operator."
                )
        else:
            self.within_budgets(changes, "Shorten the line, or leave others out of hot first.")
        if gone := [made.before.id for made in changes[1 + len(others) :] if made.before]:
            note = f"{note}; to cold to make room: {', '.join(gone)}"
        return self.accepted(op, tuple(changes), reason, note, quote)


def _fit(text: str, what: str, limit: int = TEXT_LIMIT) -> str:
    """The text cleaned and on one line. Refused when it takes more than ``limit`` bytes."""
    fit = one_line(clean(text))
    if (taken := len(fit.encode())) > limit:
        raise _No(f"{what} takes {taken} bytes; at most {limit} fit. Cut it by {taken - limit}.")
    return fit


def _text(given: str) -> str:
    text = _without_dress(_fit(given, "The text"))
    if not text:
        raise _No("A line needs a text.")
    return text


def _without_dress(text: str) -> str:
    """The text without the bullet or the ``[L12 …]`` that a model copied from what it was shown: an id inside a text
    would pass for another line's."""
    bare = text.removeprefix("- ").removeprefix("* ").strip()
    while bare.startswith("[L") and (end := bare.find("]")) > 2 and bare[2].isdigit():
        bare = bare[end + 1 :].strip()
    return bare


def _reason(given: str) -> str:
    if not (reason := _fit(given, "The reason")):
        raise _No("Every change needs a reason: say why in a few words.")
    return reason
