"""Takes one step after the other, and holds the book against the model after each."""

from tests.money.auditing import Auditor
from tests.money.link_steps import LinkSteps
from tests.money.payer_steps import PayerSteps
from tests.money.steps import Step
from tests.money.wallet_steps import WalletSteps

# Everything that a client sees is looked at after so many steps, all accounts after each.
FULL_EVERY = 4


class Walk(LinkSteps, PayerSteps, WalletSteps):
    """A walk through everything that moves money."""

    # The steps that could be taken so far.
    taken = 0

    async def take(self, step: Step) -> None:
        """One step, if there is anything to take it with, and a look at everything."""
        self.reach["steps"] += 1
        if await getattr(self, step.what)(step) is False:
            return
        self.reach[step.what] += 1
        await self.catch_up()
        audit = Auditor(self.desk, self.book)
        self.taken += 1
        await (audit.glance() if self.taken % FULL_EVERY else audit.check())
