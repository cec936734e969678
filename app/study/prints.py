"""A paper printed as Markdown and as one self-contained page; every foreign word in it is text and nothing else."""

from __future__ import annotations

from html import escape

from app.study.paper import Paper, Section, Table
from store.text import clean

_STYLE = """
:root{color-scheme:light dark;--ink:#1b1b1f;--soft:#5b5b66;--line:#d9d9e0;--paper:#fff;--p:#3867a8;--k:#c46a1b}
@media(prefers-color-scheme:dark){:root{--ink:#e8e8ee;--soft:#a5a5b3;--line:#3a3a44;
--paper:#17171b;--p:#7fb0ee;--k:#f0a35c}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:60rem;
margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2.2rem;border-bottom:1px solid var(--line)}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem;margin:1rem 0}
th,td{border-bottom:1px solid var(--line);padding:.3rem .6rem;text-align:left;vertical-align:top}
td:first-child{white-space:nowrap}
pre{overflow-x:auto;background:color-mix(in srgb,var(--line) 35%,transparent);padding:.8rem;font-size:.8rem}
svg{display:block;width:100%;max-width:720px;margin:1rem 0}svg text{font:12px system-ui,sans-serif;fill:var(--soft)}
svg .title{font-weight:600;fill:var(--ink);font-size:14px}svg .grid{stroke:var(--line)}
svg .mean{stroke:var(--ink);stroke-width:2}svg .predicted{stroke:var(--k);stroke-dasharray:6 4}
svg text.predicted{stroke:none;fill:var(--k)}svg .run{fill:var(--p);fill-opacity:.75;stroke:var(--p)}
svg .open{fill:var(--paper);stroke:var(--p);stroke-width:1.5}svg .s0{fill:var(--p)}
svg .s1{fill:var(--k);stroke:var(--ink);stroke-width:.5}
"""


def as_html(paper: Paper) -> str:
    """The paper as one page: no script, nothing fetched."""
    body = "".join(_html_section(section) for section in paper.sections)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{_html(paper.title)}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{_html(paper.title)}</h1>{body}</body></html>\n"
    )


def _html_section(section: Section) -> str:
    parts = [f"<h2>{_html(section.title)}</h2>"]
    parts += [f"<p>{_html(one)}</p>" for one in section.paragraphs]
    parts += [_html_table(table) for table in section.tables]
    parts += section.plots
    parts += [f"<pre>{_html(text)}</pre>" for text in section.verbatim]
    return "".join(parts)


def _html_table(table: Table) -> str:
    heads = "".join(f'<th scope="col">{_html(head)}</th>' for head in table.heads)
    rows = "".join("<tr>" + "".join(f"<td>{_html(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    return f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'


def _html(text: str) -> str:
    return escape(clean(text), quote=True)


def as_markdown(paper: Paper) -> str:
    """The paper as Markdown; plots are on the page only, their numbers stand in the tables."""
    parts = [f"# {_md(paper.title)}"]
    for section in paper.sections:
        if section.plots and not section.tables:
            continue
        parts.append(f"## {_md(section.title)}")
        parts += [_md(one) for one in section.paragraphs]
        parts += [_md_table(table) for table in section.tables]
        parts += [_fenced(text) for text in section.verbatim]
    return "\n\n".join(parts) + "\n"


def _md_table(table: Table) -> str:
    lines = [table.heads, tuple("---" for _ in table.heads), *table.rows]
    return "\n".join("| " + " | ".join(_md(cell) if cell != "---" else cell for cell in row) + " |" for row in lines)


def _md(text: str) -> str:
    """One line of plain words: what Markdown would read as markup is escaped."""
    line = " ".join(clean(text).split())
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>|#" else sign for sign in line)


def _fenced(text: str) -> str:
    kept = clean(text).rstrip("\n")
    longest = max((len(run) for run in _runs_of_ticks(kept)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}diff\n{kept}\n{fence}"


def _runs_of_ticks(text: str) -> list[str]:
    return "".join(sign if sign == "`" else " " for sign in text).split()
