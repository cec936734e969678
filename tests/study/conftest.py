"""Fixtures of the study's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from study_plays import Stage, staged


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A drafted first-pass study with planted effects."""
    with staged(tmp_path) as built:
        yield built
