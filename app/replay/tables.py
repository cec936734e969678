"""A bench as a person reads it: a table on the terminal, a page in a browser."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rich.table import Table
from rich.text import Text

from app.replay.bench import Row
from app.replay.many import Outcome

_STYLE = (
    ":root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;"
    "padding:0 1rem}table{border-collapse:collapse;margin:1rem 0}th,td{padding:.3rem .7rem;text-align:right;"
    "border-bottom:1px solid #8885}th:first-child,td:first-child{text-align:left}caption{text-align:left}"
    ".bar{display:inline-block;height:.8em;background:#47c}.span{display:inline-block;width:12rem;position:relative;"
    "height:.9em;background:#8882}.span i{position:absolute;top:0;bottom:0;background:#47c5}.span b{position:absolute;"
    "top:-.15em;bottom:-.15em;width:2px;background:#47c}td.l{text-align:left}li.no{opacity:.55}details{margin:.5rem 0}"
)


def table(rows: Sequence[Row], title: str) -> Table:
    """The bench as a Rich table."""
    made = Table(title=Text(title), title_justify="left", box=None, pad_edge=False)
    made.add_column("keeper", no_wrap=True)
    for name in ("HF", "95 %", "of twin", "bytes", "tokens", "cached", "USD", "s", "kept"):
        made.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        made.add_row(*(Text(cell) for cell in cells(row)))
    return made


def cells(row: Row) -> tuple[str, ...]:
    """A row in words: name, HF, interval, share of the twin's, bytes, tokens, of them cached, dollars, seconds,
    operations kept of those tried."""
    usage = row.usage
    tokens = usage.prompt + usage.output
    return (
        row.label,
        "–" if row.hf is None else f"{row.hf:.3f}",
        "–" if row.low is None or row.high is None else f"{row.low:.3f}–{row.high:.3f}",
        "–" if row.of_twin is None else f"{row.of_twin:.0%}",
        f"{row.bytes_loaded:,.0f}",
        f"{tokens:,}",
        f"{usage.cache_read / usage.prompt:.0%}" if usage.prompt else "–",
        "?" if row.usd is None else f"{row.usd:.4f}" if row.usd else "0",
        f"{row.seconds:,.1f}",
        f"{row.accepted:,} of {row.accepted + row.refused:,}" if row.accepted or row.refused else "–",
    )


def markdown(rows: Sequence[Row]) -> str:
    """The bench as a Markdown table."""
    head = "| keeper | HF | 95 % | of twin | bytes | tokens | cached | USD | s | kept |"
    lines = [head, "|---|" + "---:|" * 9]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    return "\n".join(lines)


def page(rows: Sequence[Row], outcomes: Sequence[Outcome], title: str, method: str) -> str:
    """The bench as one self-contained page: the table, each interval drawn, every transcript and every fact."""
    heads = ("keeper", "HF", "", "95 %", "of twin", "bytes", "tokens", "cached", "USD", "s", "kept")
    body = [f"<h1>{escape(title)}</h1><p>{escape(method)}</p><table><tr>"]
    body += [f"<th>{escape(head)}</th>" for head in heads]
    body.append("</tr>")
    widest = max((row.high or row.hf or 0.0 for row in rows), default=0.0) or 1.0
    for row in rows:
        first, hf, *rest = (escape(cell) for cell in cells(row))
        body.append(f"<tr><td>{first}</td><td>{hf}</td><td class=l>{_drawn(row, widest)}</td>")
        body += [f"<td>{cell}</td>" for cell in rest]
        body.append("</tr>")
        body += [f"<tr><td colspan=11 class=l>stopped: {escape(why)}</td></tr>" for why in row.stopped]
    body.append("</table>")
    body += _transcripts(rows, outcomes)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style><body>{''.join(body)}</body></html>\n"
    )


def _drawn(row: Row, widest: float) -> str:
    if row.hf is None or row.low is None or row.high is None:
        return ""
    low, hf, high = (100 * value / widest for value in (row.low, row.hf, row.high))
    return (
        f'<span class=span role=img aria-label="{row.hf:.3f}"><i style="left:{low:.1f}%;width:{high - low:.1f}%"></i>'
        f'<b style="left:calc({hf:.1f}% - 1px)"></b></span>'
    )


def _transcripts(rows: Sequence[Row], outcomes: Sequence[Outcome]) -> list[str]:
    labels = {(row.keeper, row.beside): row.label for row in rows}
    chains: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        chains.setdefault(outcome.job.chain.name, []).append(outcome)
    body = []
    for name, group in sorted(chains.items()):
        ordered = sorted(group, key=lambda one: list(labels).index((one.job.keeper, one.job.beside)))
        scored = [one for one in ordered if one.found]
        body.append(f"<details><summary>{escape(name)}: ")
        body.append(
            ", ".join(
                f"{escape(labels[one.job.keeper, one.job.beside])} {sum(one.found)}/{len(one.found)}" for one in scored
            )
        )
        body.append("</summary><table><tr><th>fact</th>")
        body += [f"<th>{escape(labels[one.job.keeper, one.job.beside])}</th>" for one in scored]
        body.append("</tr>")
        for place, fact in enumerate(group[0].job.facts):
            marks = "".join(f"<td>{'found' if one.found[place] else '–'}</td>" for one in scored)
            body.append(f"<tr><td class=l>{escape(fact)}</td>{marks}</tr>")
        body.append("</table></details>")
    return body
