"""One walk from its beginning to the moment at which nothing is on its way any more."""

from collections import Counter
from collections.abc import Sequence

from tests.money.auditing import Auditor
from tests.money.desk import Desk
from tests.money.settling import hear_all, settle
from tests.money.steps import OPENING, Step
from tests.money.walking import Walk
from tests.money.world import World


async def take_walk(world: World, reach: Counter[str], steps: Sequence[Step]) -> None:
    """Take all steps, let everything come to its end, and look at all of it."""
    desk = await Desk.open(world, reach)
    walk = Walk(desk, reach)
    for step in (*OPENING, *steps):
        await walk.take(step)
    await settle(walk)
    audit = Auditor(desk, walk.book)
    await audit.check()
    await audit.prove()
    await hear_all(desk, world.receiver, steps[-1].crash if steps else None)
    reach["walks"] += 1
