"""Judges the hosted checkout in Chromium, on a demo of its own: `make pages` prepares the tools."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.browser.__main__ import MODULES
from tests.tidy.tree import ROOT


def main() -> int:
    """Serve a demo, and let the browser pay in it."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser.checkout")
    parser.add_argument("--shots", type=Path, help="a folder for pictures of each state")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tillhouse-checkout-") as folder:
        words = ["serve", "--demo", "--json", "--port", "0", "--data", folder]
        server = subprocess.Popen(
            [sys.executable, "-m", "tillhouse", *words], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            told = next(json.loads(line) for line in server.stdout if line.startswith("{"))
            environment = {
                **os.environ,
                "MODULES": str(MODULES),
                "BASE": told["address"],
                "KEY": told["demo"]["testKey"],
                "SHOTS": str(asked.shots.resolve()) if asked.shots else "",
            }
            script = ROOT / "tests/browser/checkout.mjs"
            judged = subprocess.run(["node", script], check=False, env=environment)  # noqa: S607
            return judged.returncode
        finally:
            server.terminate()
            server.wait(30)


if __name__ == "__main__":
    sys.exit(main())
