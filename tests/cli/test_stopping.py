"""The end of a process by a second Ctrl-C: what is to be done before it is done."""

import subprocess
import sys

from tests.waiting import HUNG_S

# Ctrl-C comes a thousand times while the last act waits for what it has to end.
_PRESSED = """
import signal, sys
from tillhouse.cli.stopping import Stop

stop = Stop()
stop.install()

def act():
    for _ in range(1000):
        signal.raise_signal(signal.SIGINT)
    print("done", flush=True)

stop.at_last(act)
signal.raise_signal(signal.SIGINT)
signal.raise_signal(signal.SIGINT)
"""


def test_no_further_signal_keeps_the_last_acts_from_their_end() -> None:
    """Each act is done once, however often Ctrl-C is pressed, and then the process is gone."""
    done = subprocess.run(
        [sys.executable, "-c", _PRESSED], capture_output=True, text=True, check=False,
        timeout=HUNG_S,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "done\n", "")
