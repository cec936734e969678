"""The workspace: how it stood when the session opened, and what the session changed in it."""

from __future__ import annotations

import difflib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

from store.bodies import WorkspaceDiffed
from store.documents import write_whole

MOST_FILES = 2_000
MOST_FILE_BYTES = 256 * 1024
MOST_DIFF_BYTES = 1024 * 1024
"""Bounds of what is kept of a workspace that git does not look after; a longer diff is cut and says so."""
PASSED_OVER = frozenset({".git", ".venv", "__pycache__", "node_modules", ".mypy_cache", ".ruff_cache"})


def remember(workspace: Path, snapshot: Path) -> None:
    """Keep how the workspace stands, so that the close can say what changed; nothing where git does."""
    if _git_head(workspace) is not None:
        write_whole(snapshot, json.dumps({"git": _git_head(workspace)}).encode())
        return
    write_whole(snapshot, json.dumps({"files": dict(_texts(workspace))}, ensure_ascii=False).encode())


def changed(workspace: Path, snapshot: Path) -> WorkspaceDiffed:
    """What changed since ``remember``, as a unified diff."""
    try:
        kept = json.loads(snapshot.read_bytes())
    except (OSError, ValueError):
        return WorkspaceDiffed("none", "")
    head = kept.get("git")
    if head is not None:
        # Untracked files belong to the change too; intent-to-add would touch the index, so they are named instead.
        diff = _git(workspace, "diff", "--no-color", "--no-ext-diff", str(head), "--", ".")
        new = _git(workspace, "ls-files", "--others", "--exclude-standard")
        named = "".join(f"# new, untracked: {name}\n" for name in (new or "").splitlines())
        return WorkspaceDiffed("git", _bounded((diff or "") + named))
    before = {str(name): str(text) for name, text in kept.get("files", {}).items()}
    after = dict(_texts(workspace))
    pieces = [
        "\n".join(
            difflib.unified_diff(
                before.get(name, "").splitlines(),
                after.get(name, "").splitlines(),
                f"a/{name}" if name in before else "/dev/null",
                f"b/{name}" if name in after else "/dev/null",
                lineterm="",
            )
        )
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    return WorkspaceDiffed("files", _bounded("\n".join(pieces)))


def _bounded(diff: str) -> str:
    raw = diff.encode("utf-8", "replace")
    if len(raw) <= MOST_DIFF_BYTES:
        return raw.decode()
    return raw[:MOST_DIFF_BYTES].decode("utf-8", "ignore") + f"\n# cut: {len(raw) - MOST_DIFF_BYTES:,} bytes more\n"


def _texts(workspace: Path) -> Iterator[tuple[str, str]]:
    count = 0
    for path in sorted(workspace.rglob("*")):
        relative = path.relative_to(workspace)
        if PASSED_OVER.intersection(relative.parts) or path.is_symlink() or not path.is_file():
            continue
        count += 1
        if count > MOST_FILES:
            return
        try:
            if path.stat().st_size <= MOST_FILE_BYTES:
                yield relative.as_posix(), path.read_bytes().decode()
        except (OSError, UnicodeDecodeError):
            continue


def _git_head(workspace: Path) -> str | None:
    if not (workspace / ".git").exists():
        return None
    head = _git(workspace, "rev-parse", "HEAD")
    return head.strip() if head and head.strip() else None


def _git(workspace: Path, *words: str) -> str | None:
    try:
        ran = subprocess.run(
            ["git", "-C", str(workspace), *words], capture_output=True, timeout=60, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ran.stdout.decode("utf-8", "replace") if ran.returncode == 0 else None
