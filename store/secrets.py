"""Secrets in text: found by detect-secrets' detectors, by the names that go before them, and by being known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple, Protocol

from store.plain import PlainError

CREDENTIAL_WORDS: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH")
"""Words in the name of an environment variable that tell that its value is nobody else's business."""
_LEAST: Final = 8
"""Characters of a value below which it is not looked for elsewhere: `true` and `none` stand everywhere."""

_KEY_ENDS = r"PRIVATE KEY(?: BLOCK)?-----"
_BLOCK = re.compile(rf"-----BEGIN [A-Z0-9 ]*{_KEY_ENDS}.*?(?:-----END [A-Z0-9 ]*{_KEY_ENDS}|\Z)", re.DOTALL)
_ANTHROPIC = re.compile(r"\bsk-ant-[A-Za-z0-9_-]{6,}")
_JWT = re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*")
_A_NAME = re.compile(r"[A-Z]+(?:_[A-Z]+)+")
_BEARER = re.compile(r"(?i)\b(?:bearer|x-api-key:?)\s+([A-Za-z0-9._~+/=-]{12,})")
# A line of `env`, of a shell script or of JSON. Upper case: prose that speaks of a key is no leak. Not `MAX_TOKENS`.
_VARIABLE = re.compile(
    r"\b[A-Z0-9_]*(?:KEY|TOKEN(?!S)|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH(?!OR))[A-Z0-9_]*"
    r"[\"']?\s?[=:]\s?[\"']?([^\s\"',;]{6,})"
)
_ASSIGNED = re.compile(
    r"(?i)\b[\w-]*(?:api[_-]?key|token(?!s)|secret|passw(?:or)?d|pwd)[\w-]*[\"']?(?:=|\s?:\s?(?=\S*\d))[\"']?([^\s\"',;]{6,})"
)


class SecretsUnavailable(PlainError):
    """detect-secrets is not installed; one plain sentence."""


class Secret(NamedTuple):
    """One secret in a text: where it begins and ends, and what kind it is."""

    start: int
    end: int
    what: str


def known_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The values of all variables that are credentials by their name, each with the variable's name."""
    return {
        value: name
        for name, value in environment.items()
        if len(value) >= _LEAST and any(word in name.upper() for word in CREDENTIAL_WORDS)
    }


def secrets_in(text: str, known: Mapping[str, str]) -> tuple[Secret, ...]:
    """The secrets in ``text``, in order and without overlap; ``known`` maps values to what they are.

    Nothing is asked of any network: detect-secrets can try a secret at its service, and is not let to.
    """
    found = [Secret(at, at + len(value), what) for value, what in known.items() for at in _places(text, value)]
    found += [Secret(*match.span(), "Private Key") for match in _BLOCK.finditer(text)]
    found += [Secret(*match.span(), "Anthropic Key") for match in _ANTHROPIC.finditer(text)]
    found += [Secret(*match.span(), "JSON Web Token") for match in _JWT.finditer(text)]
    for pattern, what in ((_BEARER, "Authorization"), (_VARIABLE, "Credential"), (_ASSIGNED, "Credential")):
        found += [Secret(*match.span(1), what) for match in pattern.finditer(text) if not _stands_for_one(match[1])]
    start = 0
    for line in text.splitlines(keepends=True):
        found += [
            Secret(start + at, start + at + len(value), what)
            for value, what in set(_detected(line))
            for at in _places(line, value)
        ]
        start += len(line)
    return _apart(found)


def worth_looking_for(value: str) -> bool:
    """Whether a value found once is peculiar enough to be taken out wherever else it stands."""
    return len(value) >= _LEAST and not value.isalpha()


def _places(text: str, value: str) -> Iterator[int]:
    at = text.find(value)
    while at >= 0:
        yield at
        at = text.find(value, at + len(value))


def _apart(found: Iterable[Secret]) -> tuple[Secret, ...]:
    """The secrets in order; those that overlap become one, called as the longest of them."""
    apart: list[Secret] = []
    for one in sorted(found, key=lambda secret: (secret.start, -secret.end)):
        if apart and one.start < apart[-1].end:
            last = apart[-1]
            longest = max(last, one, key=lambda secret: secret.end - secret.start)
            apart[-1] = Secret(last.start, max(last.end, one.end), longest.what)
        else:
            apart.append(one)
    return tuple(apart)


# ---------------------------------------------------------------- detect-secrets


class _Detector(Protocol):
    secret_type: str

    def analyze_string(self, string: str) -> Iterator[str]: ...


@cache
def _detectors() -> tuple[_Detector, ...]:
    try:
        from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    except ImportError as error:
        raise SecretsUnavailable("--redact needs detect-secrets: pip install detect-secrets") from error
    left_out = {"IPPublicDetector"}  # an address is no secret, and versions look like one
    classes: list[type[_Detector]] = list(get_mapping_from_secret_type_to_class().values())
    return tuple(one() for one in classes if one.__name__ not in left_out)


def _detected(line: str) -> Iterator[tuple[str, str]]:
    for detector in _detectors():
        # Not `analyze_line`: it tries what it finds at the service that it seems to belong to.
        for value in detector.analyze_string(line):
            limit = getattr(detector, "entropy_limit", None)
            if limit is not None and detector.calculate_shannon_entropy(value) <= limit:  # type: ignore[attr-defined]
                continue
            if value.strip() and not _stands_for_one(value):
                yield value, detector.secret_type


def _stands_for_one(value: str) -> bool:
    """Whether a value only shows where a secret would be: `${KEY}`, `<your key>`, `****`, `ANTHROPIC_API_KEY`."""
    return (
        value.startswith(("$", "<", "{{", "[redacted"))
        or not any(map(str.isalnum, value))
        or _A_NAME.fullmatch(value) is not None
    )
