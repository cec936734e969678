"""Writing the results paper: beside the pre-registration, never over it, never over another paper."""

from __future__ import annotations

import json
from pathlib import Path

from app.study.errors import StudyError
from app.study.paper import paper
from app.study.prereg import sha256
from app.study.prints import as_html, as_markdown
from app.study.results import Results, results_of
from app.study.study import Study
from store.documents import write_whole
from store.study_bodies import ResultsWritten


def write_results(study: Study, folder: Path | None = None) -> tuple[tuple[Path, ...], Results]:
    """Writes `results-<n>.md`, `.html` and `.json` into ``folder`` (the study's own without one); the files and what
    they say.

    Raises StudyError before the key is opened, or when a file would be written over.
    """
    study.check()
    if not study.state.key_opened:
        raise StudyError("Results are written when the key is open: score all items, then: twins score reveal")
    found = results_of(study)
    printed = paper(found)
    target = folder or study.folder
    number = len(study.state.results) + 1
    texts = {
        target / f"results-{number}.md": as_markdown(printed),
        target / f"results-{number}.html": as_html(printed),
        target / f"results-{number}.json": json.dumps(found.numbers(), ensure_ascii=False, indent=1) + "\n",
    }
    if there := next((path for path in texts if path.exists()), None):
        raise StudyError(f"{there} is there already and is not overwritten; name another folder with -o")
    target.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        write_whole(path, text.encode("utf-8", "replace"))
    study.append(
        "operator",
        ResultsWritten({path.name: sha256(path.read_bytes()) for path in texts}, found.lock, found.numbers()),
    )
    return tuple(texts), found
