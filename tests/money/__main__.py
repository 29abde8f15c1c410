"""Many long walks through everything that moves money: `make money`.

    make money ARGS="--walks 500 --seed 7"

Each walk is drawn from its seed and number, so that one that fails can be taken again; it is
shortened before it is told. The exit code is 1 when any failed.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.money.steps import HAPPENINGS, Step, drawn
from tests.money.taking import take_walk
from tests.money.world import World, standing
from tillhouse.db.embedded import Embedded

TRIES = 30


def main() -> int:
    """Take the walks that are asked for."""
    parser = argparse.ArgumentParser(prog="make money", description=__doc__)
    parser.add_argument("--walks", type=int, default=100)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--first", type=int, default=0, help="the number of the first walk")
    parser.add_argument("--seconds", type=float, default=0, help="begin no walk after so long")
    parser.add_argument("--fail-fast", action="store_true", help="end with the first that fails")
    return asyncio.run(_run(parser.parse_args()))


async def _run(asked: argparse.Namespace) -> int:
    reach: Counter[str] = Counter()
    failed, began_at = 0, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tillhouse-money-") as folder:
        server = Embedded.start(Path(folder))
        async with standing(server.url) as world:
            for number in range(asked.first, asked.first + asked.walks):
                if asked.seconds and time.monotonic() - began_at > asked.seconds:
                    break
                rng = random.Random(f"{asked.seed}:{number}")  # noqa: S311 - no secret
                steps = drawn(rng, asked.steps)
                name = f"{asked.seed}, walk {number}"
                failed += not await _take(world, reach, steps, name, shortens=not asked.fail_fast)
                if failed and asked.fail_fast:
                    break
        server.release()
    # Kinds of steps that were never taken are told with 0.
    kinds = sorted({*reach, *HAPPENINGS})
    told = "".join(f"{reach[kind]:8,} {kind}\n" for kind in kinds)
    took = time.monotonic() - began_at
    sys.stdout.write(f"{told}{failed} of them failed; seed {asked.seed}, {took:.0f} s\n")
    return 1 if failed else 0


async def _take(
    world: World, reach: Counter[str], steps: list[Step], name: str, *, shortens: bool
) -> bool:
    try:
        await take_walk(world, reach, steps)
    except Exception:  # noqa: BLE001 - told, and the next walk is taken
        told = traceback.format_exc()
    else:
        return True
    short, why = await _shortened(world, steps) if shortens else (steps, told)
    shown = "\n".join(f"    {step!r}" for step in short)
    sys.stdout.write(f"failed: seed {name}\n{why or told}\n{shown}\n")
    sys.stdout.flush()
    return False


async def _shortened(world: World, steps: list[Step]) -> tuple[list[Step], str]:
    """Fewer steps that fail, too, and how."""
    why, tries, size = "", 0, max(len(steps) // 2, 1)
    while size and tries < TRIES:
        place = 0
        while place < len(steps) and tries < TRIES:
            fewer = steps[:place] + steps[place + size :]
            tries += 1
            if told := await _failure(world, fewer):
                steps, why = fewer, told
            else:
                place += size
        size //= 2
    return steps, why


async def _failure(world: World, steps: Sequence[Step]) -> str:
    try:
        await take_walk(world, Counter(), steps)
    except Exception:  # noqa: BLE001 - that is the question
        return traceback.format_exc()
    return ""


if __name__ == "__main__":
    sys.exit(main())
