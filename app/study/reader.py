"""The reader's seat: a model that sees no condition writes checklists and answers items, with words to show for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib.resources import files
from itertools import groupby
from string import Template
from types import TracebackType
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from app.measure.handed import neutral
from app.session.endpoint import Endpoint
from app.session.pricing import usd
from app.session.wire import Attempt, FailedAttempt, WireTap, connect
from app.study.errors import StudyError
from app.study.items import ANSWERS, Answers, Item, in_order_for, items, material_of, question_of
from app.study.prereg import sha256
from app.study.runs import run_logs
from app.study.scoring import checklist_source, standing_of
from app.study.state import STUDY_LOG, Run
from app.study.study import Study
from store.bodies import MessageEnded, RequestFailed, RequestRetried, RequestSent, Usage
from store.events import plain
from store.study_bodies import Answer, ChecklistWritten, ItemKind, ItemScored, Standing

MAX_TOKENS = 4_000
TRIES = 2
"""An answer that is no answer is asked for once more, then left to a person: bounded, for every try costs."""
MOST_FACTS = 40

_WORDS = {"yes": "y", "no": "n", "unclear": "u", "unknown": "u", "present": "y", "absent": "n"}


def _as_answer(value: object) -> object:
    """The answer as items take it; models write numbers as numbers and words out."""
    text = str(value).strip().casefold()
    return _WORDS.get(text, text)


class _Loose(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _One(_Loose):
    n: int
    answer: Annotated[Literal["y", "n", "u", "0", "1", "2", "3"], BeforeValidator(_as_answer)]
    quote: str = ""


class _Answered(_Loose):
    answers: tuple[_One, ...]


class _Checklist(_Loose):
    facts: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=1, max_length=MOST_FACTS)


_Shape = TypeVar("_Shape", bound=_Loose)


class BlindReader:
    """One reader on one endpoint. What it sends and gets is logged in the study with its tokens and price.

    ``async with`` closes its connection. ``tell`` hears one line a step; it names no condition.
    """

    def __init__(
        self,
        study: Study,
        endpoint: Endpoint,
        tell: Callable[[str], None] | None = None,
        after_run: Callable[[], object] | None = None,
    ) -> None:
        """``after_run`` is called when a run has been read: the stop rules are due then."""
        study.check()
        if study.state.key_opened:
            raise StudyError("The key of this study is open: a score given now would not be blind")
        self._study = study
        self._endpoint = endpoint
        self._tell = tell or (lambda line: None)
        self._after_run = after_run or (lambda: None)
        self._request = sum(1 for event in study.room.events(STUDY_LOG) if isinstance(event.body, RequestSent))
        self._purpose = ""
        self._left = 0.0
        settings = study.room.settings.endpoint
        self._client = connect(
            endpoint,
            "reader",
            WireTap(self._leaving, self._failed),
            max_retries=settings.max_retries,
            timeout_s=600.0,
        )
        self._system = _brief("reader")

    async def __aenter__(self) -> BlindReader:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.close()

    async def read(self) -> int:
        """Does all that is left for the reader: checklists, then items. How many items a person has to look at."""
        for run in self._study.state.of("over"):
            if run.checklist is None:
                await self.write_checklist(run)
        for run in self._study.state.of("over"):
            await self.score(run)
        answers = Answers(self._study.state.scores)
        return sum(answers.settled(item.id, "reader") is None for item in items(self._study.state))

    async def write_checklist(self, run: Run) -> None:
        """The checklist of a run, from P's handoff (its letter, when there is none) and the workspace diff; the reader
        sees no tier. Raises StudyError when none comes of it."""
        handoff, diff = checklist_source(run_logs(self._study, run))
        words = _filled("checklist", handoff=handoff or "(none)", diff=diff or "(nothing changed)")
        found = await self._ask("checklist", words, _Checklist, lambda _: "")
        if found is None:
            raise StudyError(
                "The reader wrote no checklist that can be read; try again, use another model, or give one: "
                "twins score checklist RUN --file FILE"
            )
        facts = tuple(dict.fromkeys(" ".join(fact.split()) for fact in found.facts if fact.strip()))
        source = sha256(f"{handoff}\n{diff}")
        self._study.append("reader", ChecklistWritten(run.name, facts, "reader", self._endpoint.model, source))
        self._tell(f"{run.name}: a checklist of {len(facts)} facts")

    async def score(self, run: Run) -> None:
        """Answers a run's items that this model has not answered, all of one kind and material in one request."""
        state = self._study.state
        answers = Answers(state.scores)
        name = self._endpoint.model
        left = [item for item in items(state) if item.run == run.name and name not in answers.of(item.id, "reader")]
        logs = run_logs(self._study, run) if left else {}
        keyed = [((item.kind, material_of(item, run, logs, self._study.terms)), item) for item in left]
        for (kind, material), group in groupby(sorted(keyed, key=lambda one: one[0]), key=lambda one: one[0]):
            asked = in_order_for(state, name, tuple(item for _, item in group))
            await self._score_group(kind, material, asked)
        if left:
            self._tell(f"{len(left)} items read")
            self._after_run()

    async def _score_group(self, kind: ItemKind, material: str, asked: Sequence[Item]) -> None:
        questions = "\n".join(f"{place}. {_in_short(item)}" for place, item in enumerate(asked, 1))
        words = _filled(kind, questions=questions, material=material)
        allowed = ANSWERS[kind]

        def wrong(found: _Answered) -> str:
            if strange := next((one for one in found.answers if one.answer not in allowed), None):
                return f"{strange.answer!r} is no answer here; the answers are {', '.join(allowed)}"
            missing = {*range(1, len(asked) + 1)} - {one.n for one in found.answers}
            return f"question {min(missing)} is not answered" if missing else ""

        found = await self._ask(kind, words, _Answered, wrong)
        by_number = {one.n: one for one in found.answers} if found else {}
        for place, item in enumerate(asked, 1):
            one = by_number.get(place)
            if one is None or one.answer not in allowed:
                self._file(item, "u", "unverified", "", "no answer that can be read")
            else:
                self._file(item, one.answer, standing_of(one.answer, one.quote, material), one.quote, "")

    def _file(self, item: Item, answer: Answer, standing: Standing, quote: str, note: str) -> None:
        body = ItemScored(item.id, "reader", self._endpoint.model, answer, standing, quote, note)
        self._study.append("reader", body)

    # ------------------------------------------------------------ asking

    async def _ask(
        self, purpose: str, words: str, shape: type[_Shape], wrong: Callable[[_Shape], str]
    ) -> _Shape | None:
        """The answer in its shape; None when no try gave one, the last shaped one when only ``wrong`` objects."""
        messages: list[dict[str, str]] = [{"role": "user", "content": words}]
        last: _Shape | None = None
        for _ in range(TRIES):
            text = await self._answer(purpose, messages)
            try:
                last = shape.model_validate(_json_in(text))
                problem = wrong(last)
            except (ValidationError, ValueError) as error:
                problem = f"this is not the form asked for ({str(error).splitlines()[0]})"
            if not problem:
                return last
            messages += [
                {"role": "assistant", "content": text or "(nothing)"},
                {"role": "user", "content": f"{words}\n\nYour last answer cannot be used: {problem}. Answer again."},
            ]
        return last

    async def _answer(self, purpose: str, messages: list[dict[str, str]]) -> str:
        import anthropic

        self._purpose = purpose
        given: Any = messages
        try:
            message = await self._client.messages.create(
                model=self._endpoint.model, max_tokens=MAX_TOKENS, system=self._system, messages=given
            )
        except anthropic.APIError as error:
            self._study.append("system", RequestFailed("reader", self._request, type(error).__name__, str(error)[:400]))
            raise StudyError(f"The reader's request failed: {error}. What was scored is kept; try again.") from error
        clock = self._study.room.clock
        usage = Usage(
            message.usage.input_tokens or 0,
            message.usage.cache_read_input_tokens or 0,
            message.usage.cache_creation_input_tokens or 0,
            message.usage.output_tokens or 0,
        )
        price = usd(usage, self._endpoint.model, clock.now())
        self._study.append(
            "reader",
            MessageEnded(
                seat="reader",
                request=self._request,
                message_id=str(message.id),
                model=str(message.model),
                content=plain([block.to_dict(mode="json") for block in message.content]),
                stop_reason=str(message.stop_reason),
                usage=usage,
                usd=None if price is None else str(price),
                ttft_ms=None,
                total_ms=round((clock.mono() - self._left) * 1000, 3),
                purpose=purpose,
            ),
        )
        return "\n".join(block.text for block in message.content if block.type == "text").strip()

    def _leaving(self, attempt: Attempt) -> None:
        if attempt.number == 0:
            self._request += 1
            sent = RequestSent(
                "reader", self._request, self._endpoint.model, attempt.sha256, attempt.bytes, self._purpose
            )
            self._left = self._study.append("reader", sent).mono

    def _failed(self, failed: FailedAttempt) -> None:
        self._study.append(
            "system",
            RequestRetried(
                "reader", self._request, failed.number, failed.status, failed.reason, round(failed.wait_s, 3)
            ),
        )


def _in_short(item: Item) -> str:
    text = neutral(item.asked) if item.kind in ("present", "needed") else question_of(item)
    return " ".join(text.split())


def _json_in(text: str) -> object:
    """The JSON object in an answer, whatever stands around it. Raises ValueError."""
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0 or end < begin:
        raise ValueError("there is no JSON object in it")
    return json.loads(text[begin : end + 1])


def _brief(name: str) -> str:
    return (files("briefs") / "study" / f"{name}.md").read_text(encoding="utf-8").strip()


def _filled(name: str, **words: str) -> str:
    return Template(_brief(name)).substitute(words)
