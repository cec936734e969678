"""Colours for a closed code fence, by Pygments; never a change to the code."""

from __future__ import annotations

from widgets.chat.rows import Span

LONGEST = 10_000
"""Characters of code that are coloured, at most some 15 ms. Longer code is shown plain."""

_LOOKS = (
    ("Comment", "comment"),
    ("Keyword", "keyword"),
    ("Literal.String", "string"),
    ("Literal.Number", "number"),
    ("Name.Function", "name"),
    ("Name.Class", "name"),
    ("Name.Decorator", "name"),
    ("Name.Builtin", "builtin"),
    ("Name.Tag", "keyword"),
    ("Name.Attribute", "name"),
    ("Operator.Word", "keyword"),
    ("Generic.Deleted", "deleted"),
    ("Generic.Inserted", "inserted"),
    ("Generic.Heading", "keyword"),
    ("Generic.Subheading", "keyword"),
)


def code_spans(code: str, language: str) -> list[list[Span]]:
    """Spans for each line of ``code``; none at all where the language is unknown or the code too long."""
    plain: list[list[Span]] = [[] for _ in code.split("\n")]
    if not language or len(code) > LONGEST:
        return plain
    # Pygments takes 60 ms to import, and most transcripts open without code in sight.
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return plain
    lines: list[list[Span]] = [[]]
    column = taken = 0
    for token, value in lexer.get_tokens(code):
        name = str(token)[len("Token.") :]
        look = next((look for prefix, look in _LOOKS if name.startswith(prefix)), "")
        for i, part in enumerate(value.split("\n")):
            if i:
                lines.append([])
                column = 0
            if part and look:
                lines[-1].append((column, column + len(part), look))
            column += len(part)
        taken += len(value)
    return lines if taken == len(code) and len(lines) == len(plain) else plain
