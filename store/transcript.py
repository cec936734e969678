"""The chat as a fold of a session's events: a list of entries, and which of them an event touched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from store.bodies import (
    DateFlagged,
    MessageCut,
    MessageEnded,
    OperatorQueued,
    OperatorSaid,
    OperatorUnqueued,
    Partial,
    RequestFailed,
    RequestRetried,
    RequestSent,
    Seat,
    SessionOpened,
    SessionResumed,
    ToolAnswered,
    ToolAsked,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    WholeOutput,
)
from store.entries import (
    HEAD_CHARS,
    Entry,
    KeeperEntry,
    Level,
    NoticeEntry,
    OperatorEntry,
    SpeechEntry,
    Spoken,
    ToolEntry,
    ToolState,
    WrongDay,
    call_text,
    content_text,
    edits_files,
    input_summary,
    source,
    spoken_in,
)
from store.events import Event
from store.lines import one_line
from store.marks import mark_of
from store.text import Cleaner, clean


@dataclass(frozen=True, slots=True)
class Touched:
    """Entries ``first`` up to but not including ``stop`` are new or changed; those before are as they were. When
    entries moved or went, ``stop`` is the end of the list."""

    first: int
    stop: int


@dataclass(slots=True)
class _Answer:
    """A request whose answer is on its way: where its entries stand and the cleaners of its open blocks."""

    purpose: str
    places: list[int] = field(default_factory=list)
    blocks: dict[int, int] = field(default_factory=dict)
    cleaners: dict[tuple[int, str], Cleaner] = field(default_factory=dict)


class Transcript:
    """What the chat shows, in order; queued messages of the operator always stand last.

    ``heard`` are the seats whose answers it shows word by word. K's own answers are tool calls, so the live chat
    hears P alone; what K says aloud comes as KeeperEntry.
    """

    def __init__(self, heard: Iterable[Seat] = ("presence",)) -> None:
        self.operator = ""
        """The operator's name, once a session opened."""
        self._heard = frozenset(heard)
        self._entries: list[Entry] = []
        self._queued = 0
        self._answers: dict[tuple[Seat, int], _Answer] = {}
        self._calls: dict[str, int] = {}
        self._said_in: tuple[int, tuple[tuple[int, int], ...]] = (0, ())

    @property
    def entries(self) -> Sequence[Entry]:
        """All entries; the same list as long as the transcript lives, so do not keep positions across ``apply``."""
        return self._entries

    def apply(self, event: Event) -> Touched | None:
        """Take one event in; None when nothing that the chat shows changed."""
        body = event.body
        match body:
            case Partial():
                return self._stream(event, body)
            case RequestSent():
                self._answers.setdefault((body.seat, body.request), _Answer(one_line(clean(body.purpose))))
                return None
            case MessageEnded():
                return self._message_ended(event, body)
            case MessageCut():
                return self._message_cut(event, body)
            case RequestRetried(seat=seat) if seat in self._heard:
                text = f"{body.reason}; trying again in {body.wait_s:.0f} s (attempt {body.attempt + 1})"
                return self._notice(event, "info", text, about=f"request {body.request}")
            case RequestFailed(seat=seat) if seat in self._heard:
                self._answers.pop((seat, body.request), None)
                return self._notice(event, "error", body.reason, about=f"request {body.request}")
            case OperatorSaid():
                return self._operator_said(event, body)
            case OperatorQueued():
                self._queued += 1
                self._entries.append(
                    OperatorEntry(n=event.n, turn=event.turn, text=clean(body.text), queued=True, name=body.key)
                )
                return self._last()
            case OperatorUnqueued():
                return self._unqueue(lambda entry: entry.name == body.key)
            case ToolCalled():
                summary, whole = input_summary(body.input), call_text(body.name, body.input)
                self._calls[body.tool_use_id] = len(self._entries) - self._queued
                return self._add(
                    ToolEntry(
                        n=event.n,
                        turn=event.turn,
                        tool_use_id=body.tool_use_id,
                        name=one_line(clean(body.name)),
                        summary=summary,
                        input=whole[:HEAD_CHARS],
                        state="running",
                        whole=len(whole) <= HEAD_CHARS,
                        edits=edits_files(body.name, body.input),
                    )
                )
            case ToolAsked():
                shown = clean(body.shown)
                return self._tool(body.tool_use_id, lambda e: replace(e, state="asked", shown=shown))
            case ToolAnswered():
                state: ToolState = "running" if body.decision == "allow" else "denied"
                word = clean(body.word)
                return self._tool(body.tool_use_id, lambda e: replace(e, state=state, word=word))
            case ToolEnded():
                return self._tool_ended(event, body)
            case TurnEnded():
                return self._turn_ended(event, body)
            case DateFlagged():
                return self._flagged(event, body)
            case _:
                return self._marked(event)

    # ------------------------------------------------------------ finding

    def last_error(self) -> int | None:
        """Where the last tool that failed stands."""
        for index in range(len(self._entries) - 1, -1, -1):
            entry = self._entries[index]
            if isinstance(entry, ToolEntry) and entry.state == "error":
                return index
        return None

    def of_turn(self, turn: int) -> int | None:
        """Where a turn begins."""
        return next((i for i, entry in enumerate(self._entries) if entry.turn == turn), None)

    def of_event(self, n: int) -> int | None:
        """The entry that event ``n`` began or ended: where the first right action stands, say."""
        for index, entry in enumerate(self._entries):
            if entry.n == n or (isinstance(entry, ToolEntry) and entry.ended_n == n):
                return index
        return None

    def holding(self, words: str, turn: int | None = None) -> int | None:
        """The first entry (of a turn) that holds ``words``, white space folded: where a line's quote stands."""
        wanted = " ".join(words.split())
        for index, entry in enumerate(self._entries):
            if turn in (None, entry.turn) and wanted in " ".join(source(entry).split()):
                return index
        return None

    # ------------------------------------------------------------ speech

    def _stream(self, event: Event, body: Partial) -> Touched | None:
        if body.seat not in self._heard or body.what == "tool_input":
            return None
        answer = self._answers.setdefault((body.seat, body.request), _Answer("turn"))
        added = answer.cleaners.setdefault((body.block, body.what), Cleaner()).feed(body.text)
        place = answer.blocks.get(body.block)
        if place is None and answer.places:
            # Thinking belongs to the text that follows it.
            last = self._entries[answer.places[-1]]
            if isinstance(last, SpeechEntry) and not last.text and (body.what == "text" or last.thinking):
                place = answer.blocks[body.block] = answer.places[-1]
        if place is None:
            place = len(self._entries) - self._queued
            answer.places.append(place)
            answer.blocks[body.block] = place
            self._add(
                SpeechEntry(
                    n=event.n,
                    turn=event.turn,
                    seat=body.seat,
                    text="",
                    state="streaming",
                    purpose=answer.purpose,
                )
            )
            touched = Touched(place, len(self._entries))
        else:
            touched = Touched(place, place + 1)
        entry = self._entries[place]
        if isinstance(entry, SpeechEntry):
            if body.what == "text":
                entry = replace(entry, text=entry.text + added)
            else:
                entry = replace(entry, thinking=entry.thinking + added)
            self._entries[place] = entry
        return touched

    def _message_ended(self, event: Event, body: MessageEnded) -> Touched | None:
        answer = self._answers.pop((body.seat, body.request), _Answer(one_line(clean(body.purpose))))
        if body.seat not in self._heard:
            return None
        spoken = spoken_in(body.content)
        reason = "the token limit was reached" if body.stop_reason == "max_tokens" else ""
        return self._settle(event, body.seat, answer, spoken, cut=bool(reason), reason=reason)

    def _message_cut(self, event: Event, body: MessageCut) -> Touched | None:
        answer = self._answers.pop((body.seat, body.request), _Answer(one_line(clean(body.purpose))))
        if body.seat not in self._heard:
            return None
        streamed = [e for place in answer.places if isinstance(e := self._entries[place], SpeechEntry)]
        spoken = [Spoken(entry.thinking, entry.text) for entry in streamed]
        had, kept = "".join(part.text for part in spoken), clean(body.text)
        if kept.startswith(had):
            last = spoken.pop() if spoken else Spoken("", "")
            spoken.append(Spoken(last.thinking, last.text + kept[len(had) :]))
        elif not had.startswith(kept):
            spoken = [Spoken(spoken[0].thinking if spoken else "", kept)]
        if not any(part.text or part.thinking for part in spoken):
            return self._notice(event, "info", f"cut off before its first word: {body.reason}")
        return self._settle(event, body.seat, answer, spoken, cut=True, reason=clean(body.reason))

    def _settle(
        self, event: Event, seat: Seat, answer: _Answer, spoken: list[Spoken], *, cut: bool, reason: str
    ) -> Touched | None:
        """Make the answer's entries say exactly ``spoken``; the last one carries the reason of a cut."""
        first: int | None = None
        keys: list[tuple[int, int]] = []
        for i, part in enumerate(spoken):
            last = i == len(spoken) - 1
            new = SpeechEntry(
                n=event.n,
                part=i,
                turn=event.turn,
                seat=seat,
                text=part.text,
                thinking=part.thinking,
                state="cut" if cut and last else "done",
                reason=reason if last else "",
                purpose=answer.purpose,
            )
            if i < len(answer.places):
                place = answer.places[i]
                old = self._entries[place]
                self._entries[place] = replace(new, n=old.n, part=old.part, turn=old.turn)
            else:
                place = self._add(new).first
            keys.append(self._entries[place].key)
            first = place if first is None else min(first, place)
        self._said_in = (event.n, tuple(keys))
        for place in reversed(answer.places[len(spoken) :]):
            self._remove(place)
            first = place if first is None else min(first, place)
        return None if first is None else Touched(first, len(self._entries))

    # ------------------------------------------------------------ the operator, tools, the turn's end

    def _operator_said(self, event: Event, body: OperatorSaid) -> Touched:
        text = clean(body.text)
        gone = self._unqueue(lambda entry: entry.text == text)
        added = self._add(OperatorEntry(n=event.n, turn=event.turn, text=text, tail=clean(body.tail)))
        return Touched(min(added.first, gone.first), len(self._entries)) if gone else added

    def _unqueue(self, wanted: Callable[[OperatorEntry], bool]) -> Touched | None:
        for index in range(len(self._entries) - self._queued, len(self._entries)):
            entry = self._entries[index]
            if isinstance(entry, OperatorEntry) and wanted(entry):
                del self._entries[index]
                self._queued -= 1
                return Touched(index, len(self._entries))
        return None

    def _tool(self, tool_use_id: str, change: Callable[[ToolEntry], ToolEntry]) -> Touched | None:
        place = self._calls.get(tool_use_id)
        if place is None:
            return None
        entry = self._entries[place]
        if isinstance(entry, ToolEntry):
            self._entries[place] = change(entry)
        return Touched(place, place + 1)

    def _tool_ended(self, event: Event, body: ToolEnded) -> Touched | None:
        text = content_text(body.content)
        state: ToolState = "error" if body.outcome == "unknown_tool" else body.outcome
        touched = self._tool(
            body.tool_use_id,
            lambda entry: replace(
                entry,
                state=state,
                ms=body.ms,
                head=text[:HEAD_CHARS],
                bytes=body.bytes,
                whole=entry.whole and len(text) <= HEAD_CHARS and body.whole is None,
                ended_n=event.n,
                kept=body.whole.file if body.whole else "",
                left_out=_kept_words(body.whole) if body.whole else "",
            ),
        )
        self._calls.pop(body.tool_use_id, None)
        return touched

    def _turn_ended(self, event: Event, body: TurnEnded) -> Touched | None:
        first = self._leave_nothing_open(clean(body.detail) or body.end)
        added = None
        if body.end == "failed" and not self._said_last(clean(body.detail)):
            added = self._notice(event, "error", body.detail or "P's turn failed.")
        if first is None:
            return added
        return Touched(first, len(self._entries))

    def _leave_nothing_open(self, reason: str) -> int | None:
        """What still streams is cut and what still runs is stopped: every end of a turn flushes."""
        touched: list[int] = []
        for (seat, _), answer in list(self._answers.items()):
            if seat != "presence":
                continue
            for place in answer.places:
                entry = self._entries[place]
                if isinstance(entry, SpeechEntry) and entry.state == "streaming":
                    self._entries[place] = replace(entry, state="cut", reason=reason)
                    touched.append(place)
        self._answers = {key: answer for key, answer in self._answers.items() if key[0] != "presence"}
        for place in self._calls.values():
            entry = self._entries[place]
            if isinstance(entry, ToolEntry) and entry.state in ("running", "asked"):
                self._entries[place] = replace(entry, state="stopped")
                touched.append(place)
        return min(touched, default=None)

    def _said_last(self, text: str) -> bool:
        index = len(self._entries) - self._queued - 1
        last = self._entries[index] if index >= 0 else None
        return isinstance(last, NoticeEntry) and last.text == text

    # ------------------------------------------------------------ marks and notices

    def _marked(self, event: Event) -> Touched | None:
        entry = mark_of(event)
        first: int | None = None
        match event.body:
            case SessionOpened(operator=operator):
                self.operator = one_line(clean(operator))
            case SessionResumed():
                first = self._leave_nothing_open("interrupted")
            case _:
                pass
        if entry is None:
            return None
        added = self._add(entry)
        return added if first is None else Touched(first, len(self._entries))

    def _flagged(self, event: Event, body: DateFlagged) -> Touched:
        """Mark a wrong date in the words that hold it; where the chat does not show them, say it by itself."""
        wrong = WrongDay(one_line(clean(body.said)), one_line(clean(body.right)))
        ended, keys = self._said_in
        for place in range(len(self._entries) - 1, -1, -1):
            entry = self._entries[place]
            if isinstance(entry, SpeechEntry | KeeperEntry) and wrong.said in one_line(entry.text):
                letter = isinstance(entry, SpeechEntry) and body.where == f"the {entry.purpose}"
                if letter or entry.n == body.of or (ended == body.of and entry.key in keys):
                    if wrong not in entry.wrong:  # a letter is checked as a draft and as it is filed
                        self._entries[place] = replace(entry, wrong=(*entry.wrong, wrong))
                    return Touched(place, place + 1)
            if entry.turn < event.turn:
                break
        return self._notice(event, "warning", f"{one_line(clean(body.where))}: {wrong.sentence}")

    def _notice(self, event: Event, level: Level, text: str, about: str = "") -> Touched:
        entry = NoticeEntry(n=event.n, turn=event.turn, level=level, text=clean(text), about=about)
        index = len(self._entries) - self._queued - 1
        last = self._entries[index] if index >= 0 else None
        if about and isinstance(last, NoticeEntry) and last.about == about:
            self._entries[index] = replace(entry, n=last.n, part=last.part)
            return Touched(index, index + 1)
        return self._add(entry)

    # ------------------------------------------------------------ the list

    def _add(self, entry: Entry) -> Touched:
        place = len(self._entries) - self._queued
        self._entries.insert(place, entry)
        return Touched(place, len(self._entries))

    def _last(self) -> Touched:
        return Touched(len(self._entries) - 1, len(self._entries))

    def _remove(self, place: int) -> None:
        """Takes one entry out; the places that are remembered behind it move up."""
        del self._entries[place]
        self._calls = {name: at - (at > place) for name, at in self._calls.items()}
        for answer in self._answers.values():
            answer.places = [at - (at > place) for at in answer.places if at != place]
            answer.blocks = {b: at - (at > place) for b, at in answer.blocks.items() if at != place}


def transcript(events: Iterable[Event], heard: Iterable[Seat] = ("presence",)) -> Transcript:
    """The transcript that ``events`` of one session come to."""
    found = Transcript(heard)
    for event in events:
        found.apply(event)
    return found


def _kept_words(whole: WholeOutput) -> str:
    lost = f"; {whole.lost:,} bytes more were not kept" if whole.lost else ""
    return f"cut for P; {whole.bytes:,} bytes of it are kept in the session's {whole.file}{lost}"
