"""Sends each route the dearest bodies and prints which held the loop longest: `make held`.

A route is measured as the suite does it, by the tests that bound it.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.held_loop import HELD_S

_TESTS = (
    "tests/routes/test_cost.py",
    "tests/routes/test_raw_cost.py",
    "tests/messaging/test_portions.py",
)
_SHOWN = 10


def main() -> int:
    """Measure, print the table, and end with the exit code of the tests."""
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "held"
        notes.touch()
        command = [sys.executable, "-m", "pytest", "-q", *_TESTS, *sys.argv[1:]]
        environment = {**os.environ, "TILLHOUSE_TEST_HELD": str(notes)}
        done = subprocess.run(command, check=False, env=environment)
        lines = [json.loads(line) for line in notes.read_text().splitlines()]
    longest: dict[str, tuple[float, str]] = {}
    for route, kind, seconds in lines:
        longest[route] = max(longest.get(route, (0.0, "")), (seconds, kind))
    table = Table("route", "dearest body", "held the loop")
    for route, (seconds, kind) in sorted(longest.items(), key=lambda one: -one[1][0])[:_SHOWN]:
        table.add_row(route, kind, f"{seconds * 1000:.0f} ms")
    console = Console()
    console.print(table)
    console.print(
        f"{len(longest)} routes, {len(lines)} bodies and queries; bar: {HELD_S * 1000:.0f} ms"
    )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
