"""The quickstart of the README, run as it stands there."""

import json
import os
import re
import subprocess
from pathlib import Path

from tests.system.serving import Serving
from tests.waiting import HUNG_S

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"<!-- quickstart -->\n```bash\n(.*?)```", re.DOTALL)


async def test_the_quickstart_works(pair: tuple[Serving, Serving]) -> None:
    """Copied and pasted, it ends with the health of the key that it made."""
    found = BLOCK.search(README.read_text(encoding="utf-8"))
    assert found, "README.md has a bash block under <!-- quickstart -->"
    done = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", found[1]],
        env={**os.environ, "BASE": pair[0].address},
        capture_output=True,
        check=False,
        timeout=HUNG_S,
    )
    assert done.returncode == 0, done.stderr
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["data"]["environment"] == "test"
