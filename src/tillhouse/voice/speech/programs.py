"""Runs a program for one answer: its input goes in, its output comes back, in its time."""

import asyncio
import contextlib
from asyncio.subprocess import DEVNULL, PIPE

import msgspec


class Output(msgspec.Struct, frozen=True):
    """All that a program wrote, and the code that it ended with."""

    code: int | None
    data: bytes


async def run_program(command: tuple[str, ...], given: bytes, within_s: float) -> Output:
    """The output of a program, which is killed when its time is over (`TimeoutError`)."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL
    )
    try:
        async with asyncio.timeout(within_s):
            data, _ = await process.communicate(given)
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return Output(process.returncode, data)
