"""A transaction is asked about again: what its provider says is booked, and answered."""

from typing import Any

import asyncpg
import pytest

from tests.api import Api
from tests.finance.reconciling.drifting import Drifting
from tests.make import Make
from tillhouse.app import App

TRANSACTIONS = "/v1/finance/transactions"


class Asking:
    """A key that reads finance."""

    def __init__(self, drifting: Drifting, api: Api) -> None:
        self.drifting = drifting
        self.api = api

    async def only(self, kind: str) -> dict[str, Any]:
        """The one transaction of a type."""
        found = (await self.api.get(f"{TRANSACTIONS}?type={kind}", status=200)).data
        assert len(found) == 1
        return found[0]

    async def again(self, transaction: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Ask; the status then, and what is said of the change."""
        path = f"{TRANSACTIONS}/{transaction['id']}/requery"
        answer = await self.api.post(path, status=200)
        return answer.data["status"], answer.json["meta"]


@pytest.fixture
async def asking(app: App, make: Make, sql: asyncpg.Connection) -> Asking:
    """A business of this test's own."""
    drifting = await Drifting.open(app.services, make, sql)
    return Asking(drifting, await drifting.till.business.client("finance:read"))


async def test_a_withdrawal_is_asked_about(asking: Asking) -> None:
    """The provider paid and never answered: the answer tells that it is completed."""
    drifting = asking.drifting
    await drifting.paid()
    withdrawal = await drifting.withdraw("400.97")
    await drifting.work()
    assert await drifting.withdrawal(withdrawal) == "processing"
    seen = await asking.only("wallet_withdrawal")
    assert seen["status"] == "processing"
    status, meta = await asking.again(seen)
    assert (status, meta) == ("successful", {"changed": True, "previousStatus": "processing"})
    assert await drifting.withdrawal(withdrawal) == "completed"
    status, meta = await asking.again(seen)
    assert (status, meta) == ("successful", {"changed": False, "previousStatus": "successful"})
    assert (await drifting.look()).differences == []


async def test_a_withdrawal_that_was_not_sent_is_not_asked_about(asking: Asking) -> None:
    """Nor is it sent by asking."""
    drifting = asking.drifting
    await drifting.paid()
    withdrawal = await drifting.withdraw("400")
    status, _ = await asking.again(await asking.only("wallet_withdrawal"))
    assert status == "pending"
    assert await drifting.withdrawal(withdrawal) == "requested"


async def test_a_payment_that_went_back_goes_back_by_asking(asking: Asking) -> None:
    """Of an order: it is refunded before the answer comes."""
    drifting = asking.drifting
    order = await drifting.paid()
    await drifting.execute("UPDATE sandbox_payments SET state = 'reversed' WHERE book_id = $1")
    await asking.again(await asking.only("sale"))
    assert (await drifting.till.show(order))["status"] == "refunded"
    assert (await drifting.look()).differences == []


async def test_a_payment_for_nothing_known_is_asked_about(asking: Asking) -> None:
    """It has no account: it is asked about by the provider's own name, and not too often."""
    drifting = asking.drifting
    order = await drifting.till.deposit(1000)
    await drifting.till.arrive(order)
    await drifting.execute(
        "UPDATE sandbox_payments SET reference = NULL, account_number = '1' WHERE book_id = $1"
    )
    await drifting.mend()
    seen = await asking.only("credit")
    await asking.again(seen)
    await drifting.execute("UPDATE sandbox_payments SET state = 'reversed' WHERE book_id = $1")
    assert (await asking.again(seen))[1]["changed"] is False
    await drifting.execute("UPDATE payins SET asked_at = NULL WHERE book_id = $1")
    status, meta = await asking.again(seen)
    assert (status, meta["changed"]) == ("reversed", True)
    assert (await drifting.look()).differences == []


async def test_another_business_asks_about_nothing(asking: Asking, make: Make) -> None:
    """It reads 404, and the provider isn't asked."""
    drifting = asking.drifting
    await drifting.paid()
    await drifting.withdraw("400.97")
    await drifting.work()
    seen = await asking.only("wallet_withdrawal")
    stranger = await (await make.business()).client("finance:read")
    await stranger.post(f"{TRANSACTIONS}/{seen['id']}/requery", status=404)
    assert (await asking.only("wallet_withdrawal"))["status"] == "processing"
