"""Lets a process of jobs work behind a proxy, and kills it at one of its statements."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from itertools import count

from tests.system.killing_proxy import Proxy, Target
from tests.waiting import ended

EVERYTHING = bool(os.environ.get("TILLHOUSE_TEST_FUZZ"))
ENDS = (0, -signal.SIGKILL)


class Step(Target):
    """Ends the process at the n-th of all its statements."""

    def hits(self, pid: int, kind: bytes, text: bytes, *, in_transaction: bool) -> bool:
        """Count whatever is run."""
        self.pid = pid
        self.seen += 1
        return self.seen == self.number


async def run(proxy: Proxy, module: str, master_key: str, target: Step) -> int:
    """Let a process work until it ends or is ended; its exit code."""
    proxy.target = target
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, proxy.url, master_key
    )
    try:
        return await ended(process.wait())
    finally:
        proxy.target = None
        if process.returncode is None:
            process.kill()


def targets(some: tuple[int, ...]) -> Iterator[Step]:
    """The statements at which it is killed: each one where everything is asked for."""
    numbers = count(1) if EVERYTHING else iter(some)
    for number in numbers:
        for is_after in (False, True):
            yield Step(number, is_after=is_after)
