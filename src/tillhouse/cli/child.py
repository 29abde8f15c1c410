"""Processes under `tillhouse serve`: how one starts, is watched and ends. The parent's side first.

The order comes in one line on standard input, so that no secret is in a command line or an
environment. The end of that input is the end of the parent, and the child leaves as well. Each
second the child's loop writes a line on standard output, its beat. A child that falls silent is
killed, and its owner starts another one.
"""

import asyncio
import contextlib
import os
import sys
import threading
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from weakref import WeakSet

import msgspec
import structlog

from tillhouse.kit.json import encode

# The folder in which several processes share their metrics.
SHARED_METRICS = "PROMETHEUS_MULTIPROC_DIR"
BEAT_S = 1.0
SILENT_S = 15.0
# Many that start at once on few processors take longer.
FIRST_BEAT_WITHIN_S = 120.0

log = structlog.get_logger()

_started: WeakSet[Process] = WeakSet()


async def start_child(
    module: str,
    order: msgspec.Struct,
    *,
    sockets: Sequence[int] = (),
    environment: Mapping[str, str] | None = None,
) -> Process:
    """A process that runs `main` of a module."""
    # Modules never become garbage: looking through them is a tenth of the time to load them.
    load = f"import gc, sys; gc.disable(); from {module} import main; gc.enable()"
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-c", f"{load}; sys.exit(main())",
        stdin=PIPE, stdout=PIPE, pass_fds=sockets, env=environment,
        # The terminal's Ctrl-C is for the parent, which tells its children.
        start_new_session=True,
    )  # fmt: skip
    _started.add(child)
    assert child.stdin is not None  # noqa: S101 - it is a pipe
    # A child that is dead already takes no order; `hear` notices its end.
    with contextlib.suppress(OSError, RuntimeError):
        child.stdin.write(encode(order) + b"\n")
    return child


async def hear(child: Process, take: Callable[[bytes], None]) -> None:
    """Take its beats until it ends; kill it when it falls silent."""
    assert child.stdout is not None  # noqa: S101 - it is a pipe
    # Counted, not measured: a parent that was suspended itself has missed one beat, not many.
    missed, allowed = 0, FIRST_BEAT_WITHIN_S
    while missed * BEAT_S < allowed:
        try:
            async with asyncio.timeout(BEAT_S):
                line = await child.stdout.readline()
        except TimeoutError:
            missed += 1
            continue
        if not line:
            return
        missed, allowed = 0, SILENT_S
        take(line)
    log.error("child_silent", pid=child.pid, after_s=allowed)
    with contextlib.suppress(ProcessLookupError):
        child.kill()


def end_children() -> None:
    """End all that are left of this process, without a word."""
    for child in tuple(_started):
        with contextlib.suppress(ProcessLookupError, RuntimeError):
            child.kill()


def order_line() -> bytes:
    """The order of this child; empty when its parent is gone already."""
    return sys.stdin.buffer.readline()


def beat(tell: Callable[[], bytes]) -> None:
    """Write a beat each second, as long as the running loop goes round."""
    # A parent that is suspended takes none for a while.
    os.set_blocking(sys.stdout.fileno(), False)
    with contextlib.suppress(OSError):
        os.write(sys.stdout.fileno(), tell() + b"\n")
    asyncio.get_running_loop().call_later(BEAT_S, beat, tell)


def on_parents_end(leave: Callable[[], None]) -> None:
    """Call this, in a thread, when the parent is gone or closes the input."""

    def wait() -> None:
        while os.read(sys.stdin.fileno(), 1):
            pass
        leave()

    threading.Thread(target=wait, daemon=True).start()
