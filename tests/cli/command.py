"""Runs the command as users do: a process of its own, forked from one that has loaded it."""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from tests.cli.fork_server import ForkedCommand
from tests.waiting import HUNG_S

COMMAND = (sys.executable, "-m", "tillhouse")


@cache
def _runtime() -> str:
    """Where this process's servers are noted: those of others are none of its tests' affair."""
    made = tempfile.mkdtemp(prefix="tillhouse-servers-of-tests-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def environment(**given: str) -> dict[str, str]:
    """The environment of this process without settings of Tillhouse, plus those given."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("TILLHOUSE_")}
    own["XDG_RUNTIME_DIR"] = _runtime()
    return own | {f"TILLHOUSE_{name}": value for name, value in given.items()}


class Command:
    """The command on one data folder."""

    program = COMMAND

    def __init__(self, data: Path, **settings: str) -> None:
        self.data = data
        self.environment = environment(DATA=str(data), **settings)

    def start(self, *args: str) -> subprocess.Popen[str]:
        """Start it and go on."""
        given: dict[str, Any] = {
            "env": self.environment,
            "stdin": subprocess.PIPE,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
        }
        if self.program == COMMAND:
            return ForkedCommand(args, **given)
        return subprocess.Popen([*self.program, *args], **given)

    def run(
        self, *args: str, code: int = 0, pipe: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run it to its end; `code` is what the test expects of it."""
        with self.start(*args) as process:
            out, err = process.communicate(pipe, timeout=HUNG_S)
        assert process.returncode == code, (args, out, err)
        return subprocess.CompletedProcess(args, code, out, err)

    def json(self, *args: str, code: int = 0, pipe: str | None = None) -> Any:
        """Run it with --json: one object on standard output and nothing else."""
        return json.loads(self.run(*args, "--json", code=code, pipe=pipe).stdout)

    def refusal(self, *args: str, code: int = 1, pipe: str | None = None) -> str:
        """Run it to its refusal: a sentence on standard error, nothing on standard output."""
        done = self.run(*args, code=code, pipe=pipe)
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
        return done.stderr
