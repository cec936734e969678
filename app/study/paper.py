"""The results paper: what it says, section by section, for whatever it is printed as."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from app.measure.lexical import agreement as lexical_agreement
from app.study.outcomes import RunOutcome, time_of
from app.study.plots import Bar, Point, points, stacked
from app.study.results import Results
from app.study.verdicts import Judgement

NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Table:
    """Column heads and rows of cells."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the paper: its title, paragraphs, tables, plots as SVG, and texts to print as they are (diffs)."""

    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    plots: tuple[str, ...] = ()
    verbatim: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Paper:
    """The whole paper."""

    title: str
    sections: tuple[Section, ...]


def paper(found: Results) -> Paper:
    """The paper of some results. Equal results give an equal paper."""
    registered = found.terms.preregistration
    return Paper(
        f"Results of: {registered.title}",
        (
            _about(found),
            _hypotheses(found),
            _stop_rules(found),
            _plots(found),
            _runs(found),
            _cost(found),
            _scorers(found),
            _deviations(found),
            _methods(found),
        ),
    )


def _about(found: Results) -> Section:
    registered = found.terms.preregistration
    models = sorted({run.model for run in found.runs})
    scripted = any(run.scripted for run in found.runs)
    said = [
        f"This paper reports what the pre-registration predicted and what was measured. It cites: {registered.cites}",
        f"Lock (SHA-256 of the RFC 8785 JSON of all terms): {found.lock}. Locked at {found.locked_at}; the "
        f"pre-registration's file has SHA-256 {found.file_sha256}. Every run cites this lock.",
        f"{len(found.runs)} runs over, of {len(found.terms.schedule)} scheduled: {len(found.terms.tasks)} tasks under "
        f"the conditions {', '.join(registered.conditions)}; baseline {registered.baseline}. Schedule drawn from the "
        f"seed {registered.seed!r}. Model behind both seats: {', '.join(models) or 'none'}.",
    ]
    if scripted:
        said.append("The seats were scripted: no model is behind them. These numbers say nothing about models.")
    return Section("What this is", tuple(said))


def _hypotheses(found: Results) -> Section:
    claims = found.terms.preregistration.hypotheses
    rows = tuple(
        (
            one.hypothesis,
            _predicted(one),
            number(one.baseline),
            number(one.measured),
            number(one.difference, signed=True),
            _interval(one),
            number(one.p, places=4),
            f"{one.n} ({one.runs} runs)",
            one.outcome,
        )
        for one in found.judgements
    )
    heads = (
        "",
        "predicted",
        "baseline",
        "measured",
        "difference",
        "interval of the difference",
        "p, one-sided",
        "n",
        "verdict",
    )
    said = (
        f"{one.hypothesis} {one.outcome}: {claims[one.hypothesis].claim} {_ended(one.why)}" for one in found.judgements
    )
    return Section(
        "Hypotheses",
        tuple(said),
        (Table(heads, rows),),
    )


def _predicted(one: Judgement) -> str:
    return one.unit if one.predicted is None else f"{number(one.predicted)} ({one.unit})"


def _ended(why: str) -> str:
    return f"({why[:1].upper()}{why[1:]}.)"


def _interval(one: Judgement) -> str:
    if one.interval is None:
        return NOTHING
    low, high = number(one.interval.low, signed=True), number(one.interval.high, signed=True)
    return f"{low} to {high} ({one.interval.coverage:.1%})"


def _stop_rules(found: Results) -> Section:
    registered = found.terms.preregistration
    rows = tuple((one.rule, registered.stop_rules[one.rule].rule, one.state, one.why) for one in found.rulings)
    time_judgement = next(one for one in found.judgements if one.hypothesis == "H2")
    kill = {
        "held": "The Keeper beat the letters: the kill criterion is not met.",
        "did not hold": "The prediction did not hold: by the criterion the Keeper is not worth its tokens here.",
        "not enough runs": "Whether the Keeper beats the letters cannot be told from these runs.",
    }[time_judgement.outcome]
    table = Table(("rule", "registered", "state", "why"), rows)
    return Section("Stop rules", (f"Kill criterion: {registered.kill} {kill}",), (table,))


def _plots(found: Results) -> Section:
    registered = found.terms.preregistration
    groups = registered.conditions
    times = []
    for run in found.runs:
        if (time := time_of(run.ret)) is not None:
            longer = "longer than " if time.censored else ""
            said = f"{run.run}, {run.task}: {longer}{number(time.minutes)} min"
            times.append(Point(run.condition, time.minutes, said, time.censored))
    return Section(
        "Plots",
        ("Every run is a point; a bar is the mean of its condition; a triangle is a value only known to be longer.",),
        plots=(
            points("Re-earning time", "minutes, by condition", groups, times, registered.hypotheses["H2"].predicted),
            points(
                "Handoff fidelity",
                "share of the checklist, by condition",
                groups,
                _values(found, lambda run: run.fidelity.value),
                registered.hypotheses["H1"].predicted,
            ),
            points(
                "Warmth with reasons",
                "rubric 0 to 3, by condition",
                groups,
                _values(found, lambda run: run.warmth.value),
            ),
            stacked(
                "Cost of a run and its successor by seat",
                "tokens, mean of a condition's runs",
                ("presence", "keeper"),
                [
                    Bar(name, (_mean_tokens(found, name, "presence"), _mean_tokens(found, name, "keeper")))
                    for name in groups
                ],
            ),
            stacked(
                "Decay: lines dropped before session N+2",
                "lines, all runs of a condition",
                ("not needed", "still needed"),
                [Bar(name, _dropped(found, name)) for name in groups],
            ),
        ),
    )


def _values(found: Results, value: Callable[[RunOutcome], float | None]) -> list[Point]:
    return [
        Point(run.condition, one, f"{run.run}, {run.task}: {number(one)}")
        for run in found.runs
        if (one := value(run)) is not None
    ]


def _of(found: Results, condition: str) -> list[RunOutcome]:
    return [run for run in found.runs if run.condition == condition]


def _mean_tokens(found: Results, condition: str, seat: str) -> float:
    return fmean([_tokens(run, seat) for run in _of(found, condition)] or [0.0])


def _tokens(run: RunOutcome, seat: str) -> float:
    used = [used for cost in run.cost.values() for name, used in cost.seats.items() if name == seat]
    return float(sum(one.usage.prompt + one.usage.output for one in used))


def _usd(run: RunOutcome, seat: str) -> float | None:
    used = [used for cost in run.cost.values() for name, used in cost.seats.items() if name == seat]
    if any(one.usd is None for one in used):
        return None
    return float(sum(one.usd for one in used if one.usd is not None))


def _dropped(found: Results, condition: str) -> tuple[float, float]:
    lines = needed = 0.0
    for run in _of(found, condition):
        if run.false_decay.value is not None:
            lines += run.false_decay.n
            needed += run.false_decay.value * run.false_decay.n
    return lines - needed, needed


def _runs(found: Results) -> Section:
    rows = tuple(
        (
            run.run + (f" (for {run.repeats})" if run.repeats else ""),
            run.condition,
            run.task,
            run.successor,
            _time_said(run),
            number(_minutes(run.ret.waiting.value)),
            number(run.fidelity.value),
            *(number(one.value) for one in run.by_scorer.values()),
            str(run.fidelity.n),
            number(run.warmth.value),
            number(run.presence.share.value),
            number(run.presence.longest_run.value),
            number(run.false_decay.value),
            str(run.false_decay.n),
        )
        for run in found.runs
    )
    heads = (
        "run",
        "condition",
        "task",
        "successor",
        "RET, min",
        "of it waiting",
        "HF",
        "HF person",
        "HF reader",
        "HF lexical",
        "facts",
        "WWR",
        "presence share",
        "longest run of task turns",
        "false decay",
        "dropped lines",
    )
    return Section("Runs", (), (Table(heads, rows),))


def _time_said(run: RunOutcome) -> str:
    time = time_of(run.ret)
    if time is None:
        return {"void": "voided"}.get(run.ret.source, "none")
    told = ", told" if run.ret.told else ""
    by_hand = ", by hand" if run.ret.source == "set" else ""
    return f"{'longer than ' if time.censored else ''}{number(time.minutes)}{told}{by_hand}"


def _minutes(seconds: float | None) -> float | None:
    return None if seconds is None else seconds / 60


def _cost(found: Results) -> Section:
    rows = []
    for name in found.terms.preregistration.conditions:
        runs = _of(found, name)
        if not runs:
            continue
        p_tokens, k_tokens = (_mean_tokens(found, name, seat) for seat in ("presence", "keeper"))
        p_usd, k_usd = (_mean_usd(runs, seat) for seat in ("presence", "keeper"))
        wall = [cost.wall.value for run in runs for cost in run.cost.values() if cost.wall.value is not None]
        rows.append(
            (
                name,
                str(len(runs)),
                f"{p_tokens:,.0f}",
                f"{k_tokens:,.0f}",
                number(p_usd, places=4),
                number(k_usd, places=4),
                f"{k_usd / p_usd:.1%}" if p_usd and k_usd is not None else NOTHING,
                number(_minutes(fmean(wall)) if wall else None),
            )
        )
    heads = (
        "condition",
        "runs",
        "P tokens",
        "K tokens",
        "P, US $",
        "K, US $",
        "K of P's money",
        "wall time, min a session",
    )
    said: tuple[str, ...] = ()
    if found.reader is not None:
        used = found.reader
        money = "price unknown" if used.usd is None else f"US $ {used.usd:.4f}"
        said = (
            f"The blind reader took {used.usage.prompt:,} tokens in and {used.usage.output:,} out in {used.calls} "
            f"answers ({money}); it is no part of what the Keeper costs.",
        )
    return Section("Cost, the mean of a run and its successor", said, (Table(heads, tuple(rows)),))


def _mean_usd(runs: Sequence[RunOutcome], seat: str) -> float | None:
    values = [_usd(run, seat) for run in runs]
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None


def _scorers(found: Results) -> Section:
    rows = tuple(
        (
            one.kind,
            ", ".join(one.scorers),
            str(one.items),
            number(one.alpha) if one.alpha is not None else f"none: {one.why}",
        )
        for one in found.agreement
    )
    held, every = lexical_agreement("held"), lexical_agreement("all")
    said = (
        "Scorers saw neutral material under opaque ids in an order of their own, before the key was opened. What is "
        "handed over differs in length by condition, and that could not be hidden from them.",
        f"The lexical scorer against pairs labelled by hand: {every.same} of {every.n} the same "
        f"({every.wrongly_present} wrongly present, {every.wrongly_absent} wrongly absent, "
        f"kappa {number(every.kappa)}); of those held back while it was tuned {held.same} of {held.n} "
        f"(kappa {number(held.kappa)}).",
        f"The verdicts stand on the {found.terms.preregistration.scoring.primary}'s answers.",
    )
    table = Table(("asked", "scorers", "items", "Krippendorff's alpha"), rows)
    return Section("Scorers and their agreement", said, (table,))


def _deviations(found: Results) -> Section:
    said = [*found.deviations] or ["None."]
    said += [f"Amendment {one.number}: {one.why}" for one in found.amendments]
    if found.amendments:
        said.append("Everything above is judged by the terms as locked, not as amended.")
    return Section(
        "Deviations and amendments", tuple(said), verbatim=tuple(one.diff for one in found.amendments if one.diff)
    )


def _methods(found: Results) -> Section:
    return Section("Methods", tuple(_methods_said(found)))


def _methods_said(found: Results) -> Iterator[str]:
    for name, words in found.terms.methods.items():
        yield f"{name}: {words}"
    yield (
        "H2 compares times by order within each task, so that a time only known to be longer counts as far as it is "
        "known; medians are product-limit estimates. Told is censored at the telling."
    )
    yield (
        "Each run had a room of its own, made from what the lock froze, so that nothing kept under one condition "
        "reached another; its successor took the next task under the same condition."
    )


def number(value: float | None, *, places: int = 3, signed: bool = False) -> str:
    """A number for a reader; a dash where there is none, a word where it is open."""
    if value is None:
        return NOTHING
    if math.isinf(value):
        return "open"
    text = f"{value:{'+' if signed else ''}.{places}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "+0", "") else text
