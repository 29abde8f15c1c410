"""A provider's answer about a refund of a stay that ends after a newer one."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from tests.folios.giving import GivingLodge
from tests.make import Business


@pytest.fixture
async def lodge(business: Business, sql: asyncpg.Connection) -> AsyncIterator[GivingLodge]:
    """A hotel whose provider gives back; the books are proven at the end."""
    opened = await GivingLodge.giving(business, sql)
    yield opened
    assert await opened.faults() == []


async def test_an_answer_that_is_older_than_what_is_known(lodge: GivingLodge) -> None:
    """It undoes nothing: the provider is asked anew."""
    stay = await lodge.deposited()
    balance, _ = await lodge.wallet()
    lodge.bank.manners.append("slow")
    await lodge.give_back(stay, 60, "cloove_pay")
    await lodge.work()
    refund = await lodge.refund_of(stay)
    lodge.bank.refunds[lodge.reference(refund)] = "failed"
    await lodge.hear(refund)

    async def succeed_meanwhile() -> None:
        lodge.bank.on_look = None
        lodge.bank.refunds[lodge.reference(refund)] = "successful"
        await lodge.hear(refund)
        await lodge.work()
        await lodge.work()

    lodge.bank.on_look = succeed_meanwhile
    for _ in range(3):
        await lodge.work()
    assert lodge.bank.on_look is None
    assert [one["refundStatus"] for one in await lodge.outcomes()] == ["successful"]
    assert await lodge.wallet() == (balance - 60, 0)
