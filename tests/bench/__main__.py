"""Runs every benchmark module of this folder, or those named, and prints one table; exit 1 when a budget is broken."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path

from tests.bench.figures import Figure, show


def main(names: list[str]) -> int:
    """Measure and show; a benchmark module has ``measure() -> list[Figure]``."""
    found = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)])]
    figures: list[Figure] = []
    for name in found:
        if names and name not in names:
            continue
        module = importlib.import_module(f"tests.bench.{name}")
        if hasattr(module, "measure"):
            print(f"measuring {name} …", file=sys.stderr)
            figures += module.measure()
    show(figures)
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
