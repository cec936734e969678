"""The look of a bundle's page: light and dark by the reader's own setting, nothing from elsewhere."""

STYLE = """\
:root { color-scheme: light dark; --line: #8886; --first: #3b6ea8; --second: #c77d2e; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dd { margin: 0; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0; font: inherit; }
details pre { font: 13px/1.4 ui-monospace, monospace; }
details { margin: .4rem 0; padding: .2rem .6rem; border-left: 3px solid var(--line); }
summary { cursor: pointer; overflow-wrap: anywhere; }
article { margin: .8rem 0; padding-left: .8rem; border-left: 3px solid var(--line); }
article.operator { border-color: var(--second); }
article.presence { border-color: var(--first); }
h4 { margin: 0; font-size: .85rem; }
section:target > h3 { outline: 2px solid var(--second); }
.notice, .divider { font-size: .9rem; opacity: .85; }
figure { margin: 1rem 0; }
.wide { overflow-x: auto; }
td { white-space: nowrap; }
figcaption { font-size: .85rem; }
svg { width: 100%; height: 4rem; border-bottom: 1px solid var(--line); }
.first { fill: var(--first); }
.second { fill: var(--second); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .7rem; text-align: right; border-bottom: 1px solid var(--line); }
th { font-size: .85rem; }
"""
