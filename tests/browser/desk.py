"""Judges the desk in Chromium, on a demo of its own."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.browser.chromium import judge
from tests.waiting import HUNG_S
from tests.webhooks.tls import Authority


def main() -> int:
    """Serve a demo, and let the browser work in it."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser.desk")
    parser.add_argument("--shots", type=Path, help="a folder for pictures of each page")
    parser.add_argument("--journeys", action="store_true", help="no look at every page after them")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tillhouse-desk-") as folder:
        words = ["serve", "--demo", "--json", "--port", "0", "--data", folder]
        authority = Authority(Path(folder))
        # A receiver on this machine, and retries that are over within moments.
        hooks = {
            "ALLOW_TARGETS": "127.0.0.1", "CA_FILE": str(authority.ca_file),
            "RETRY_BASE_S": "0.05", "RETRY_FACTOR": "1",
        }  # fmt: skip
        server = subprocess.Popen(
            [sys.executable, "-m", "tillhouse", *words], stdout=subprocess.PIPE, text=True,
            env=os.environ | {f"TILLHOUSE_WEBHOOK_{name}": value for name, value in hooks.items()},
        )  # fmt: skip
        try:
            assert server.stdout is not None
            told = next(json.loads(line) for line in server.stdout if line.startswith("{"))
            demo = told["demo"]
            return judge("desk.mjs", asked.shots, BASE=told["address"], KEY=demo["testKey"],
                         OPENING=demo["deskUrl"], EMAIL=demo["email"],
                         PASSWORD=demo["password"], FOLDER=folder,
                         RECEIVER_PEM=str(authority.pem()),
                         JOURNEYS="alone" if asked.journeys else "")  # fmt: skip
        finally:
            server.terminate()
            server.wait(HUNG_S)


if __name__ == "__main__":
    sys.exit(main())
