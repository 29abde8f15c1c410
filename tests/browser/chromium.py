"""Lets a script of this folder judge in Chromium, by what `make proof-tools` installs.

`CHROMIUM` names another browser than the one on the path.
"""

import os
import shutil
import subprocess
from pathlib import Path

from tests.tools import NODE_FOLDER
from tests.waiting import HUNG_S

_HERE = Path(__file__).parent


def judge(script: str, shots: Path | None, **environment: str) -> int:
    """Run the script; its exit code, which is 0 when it found nothing."""
    told = {
        "CHROMIUM": shutil.which("chromium") or "",
        **os.environ,
        "MODULES": str(NODE_FOLDER),
        "HUNG_MS": str(HUNG_S * 1000),
        "SHOTS": str(shots.resolve()) if shots else "",
        **environment,
    }
    return subprocess.run(["node", _HERE / script], check=False, env=told).returncode  # noqa: S607
