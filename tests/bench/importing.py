"""A Claude Code transcript of 100 MB taken into a room: speed and memory; beside a plain parse of each line."""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

from tests.bench.figures import Figure

SIZE = 100_000_000
ROOT = Path(__file__).parents[2]
_USAGE = {"input_tokens": 3, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": 9}


def measure() -> list[Figure]:
    """The import in a process of its own, so that its memory is its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.jsonl"
        write_transcript(path, SIZE)
        ran = subprocess.run(
            [sys.executable, "-m", "tests.bench.importing", str(path), str(Path(folder) / "room")],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        )
        found = json.loads(ran.stdout)
        naive = perf_counter()
        with path.open("rb") as file:
            for line in file:
                json.loads(line)
        naive = perf_counter() - naive
    megabytes = SIZE / 1e6
    part = f"import, {megabytes:.0f} MB of Claude Code"
    return [
        Figure(part, "speed", megabytes / found["wall"], "MB/s", None, 20, megabytes / naive, "json.loads alone:"),
        Figure(part, "speed by the processor's time", megabytes / found["cpu"], "MB/s"),
        Figure(part, "resident memory", found["rss"], "MB", 150),
        Figure(part, "events written", found["events"], ""),
        Figure(part, "taken again: events", found["again"], "", 0),
    ]


def write_transcript(path: Path, size: int) -> None:
    """Writes a session with the mix of real ones: short messages, answers in parts, tool results twice over."""
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefghijklmnop", k=draw.randint(2, 9))) for _ in range(5_000)]
    texts = {count: [" ".join(draw.choices(words, k=count)) for _ in range(50)] for count in (20, 50, 60, 600)}
    number = written = 0
    with path.open("w", encoding="utf-8") as file:

        def put(kind: str, message: object, **more: object) -> None:
            nonlocal number, written
            number += 1
            hour, minute = number // 3600 % 24, number // 60 % 60
            record = {
                "parentUuid": f"u{number - 1}" if number > 1 else None,
                "uuid": f"u{number}",
                "isSidechain": False,
                "sessionId": "s1",
                "timestamp": f"2026-01-{1 + number // 86_400:02d}T{hour:02d}:{minute:02d}:{number % 60:02d}.000Z",
                "type": kind,
                "message": message,
                **more,
            }
            written += file.write(json.dumps(record) + "\n")

        while written < size:
            put("user", {"role": "user", "content": draw.choice(texts[60])})
            for _ in range(5):
                answer = {"id": f"m{number}", "model": "claude-x", "role": "assistant", "usage": _USAGE}
                put("assistant", {**answer, "content": [{"type": "text", "text": draw.choice(texts[50])}]})
                call = {"type": "tool_use", "id": f"t{number}", "name": "Bash"}
                put("assistant", {**answer, "content": [{**call, "input": {"command": draw.choice(texts[20])}}]})
                output = draw.choice(texts[600])
                result = {"type": "tool_result", "tool_use_id": call["id"], "content": output}
                put("user", {"role": "user", "content": [result]}, toolUseResult={"stdout": output})


def main(path: Path, root: Path) -> None:
    """One import and one more of the same file; prints what they took as JSON."""
    from app.replay.taking import Library
    from store.room import Room

    Room.create(root, "bench")
    wall, cpu = perf_counter(), process_time()
    with Library(root) as library:
        events = library.take(path).events
    wall, cpu = perf_counter() - wall, process_time() - cpu
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with Library(root) as library:
        again = library.take(path).events
    print(json.dumps({"wall": wall, "cpu": cpu, "rss": rss, "events": events, "again": again}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
