"""Generated calls by the hundred, their transcripts held against the wire: `make transcripts`."""

import argparse
import asyncio
import sys

from tests.voice.speech.transcript_oracle import faults


async def _run(calls: int) -> int:
    found = [fault for seed in range(calls) for fault in await faults(seed)]
    sys.stdout.write("\n".join([*found, f"{calls} calls, {len(found)} faults", ""]))
    return 1 if found else 0


def main() -> None:
    """Take so many calls."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=200)
    sys.exit(asyncio.run(_run(parser.parse_args().calls)))


if __name__ == "__main__":
    main()
