"""The real application, as processes: `tillhouse serve`, and `tillhouse work` when it is wanted."""

import json
import os
import secrets
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Installation:
    """One installation on a database: the same settings for each of its processes."""

    def __init__(self, database_url: str, log: Path, source: Path | None, **settings: str) -> None:
        self._log = log
        self._source = source
        master_key = f"1:{b64encode(secrets.token_bytes(32)).decode()}"
        self._settings = {
            "DATABASE_URL": database_url,
            "MASTER_KEY": master_key,
            "PORT": "0",
            "TRUSTED_PROXIES": "127.0.0.1/32",
            "RATE_LIMIT": "0",
            "LOG_LEVEL": "error",
            **settings,
        }

    @contextmanager
    def serving(self) -> Iterator[str]:
        """A server that answers and does nothing else; its address."""
        command = ("serve", "--no-work", "--json")
        with self._process(*command, stdout=subprocess.PIPE) as process:
            line = process.stdout.readline() if process.stdout else b""
            if not line:
                raise RuntimeError(f"the server did not start:\n{self._log.read_text()}")
            yield json.loads(line)["address"]

    @contextmanager
    def working(self) -> Iterator[None]:
        """A worker that sends webhooks and messages while the block lasts."""
        with self._process("work", stdout=subprocess.DEVNULL):
            yield

    def tells(self, *args: str) -> Any:
        """The answer of a command that the operator runs."""
        with self._process(*args, "--json", stdout=subprocess.PIPE) as process:
            return json.loads(process.stdout.read() if process.stdout else b"")

    @contextmanager
    def _process(self, *args: str, stdout: int) -> Iterator[subprocess.Popen[bytes]]:
        own = {n: v for n, v in os.environ.items() if not n.startswith("TILLHOUSE_")}
        own |= {f"TILLHOUSE_{name}": value for name, value in self._settings.items()}
        if self._source is not None:
            own["PYTHONPATH"] = str(self._source)
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "tillhouse", *args],
                env=own,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=log,
            )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(30)
            if process.stdout is not None:
                process.stdout.close()
