"""A worker is killed while it asks a provider to move money: it moves once, and the states say so.

`tillhouse work` does it, as a process of its own, on a live book that Paystack serves.
"""

import os
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import asyncpg
import msgspec
import pytest

from tests.cli.command import COMMAND, environment
from tests.conftest import SETTINGS, fresh_database, running
from tests.make import Make
from tests.orders.returning.giving import Giving
from tests.orders.returning.vendor_tills import Live
from tests.orders.shop import Body
from tests.payins.vendor_books import connected
from tests.payouts.wallets import DEPOSIT, fill
from tests.providers.payments.simulators.paystack import PaystackSimulator
from tests.providers.payments.vendors import VENDORS
from tests.webhooks.shop import until
from tillhouse.kit.fault import Fault
from tillhouse.kit.ids import new_id
from tillhouse.ledger.proof import prove
from tillhouse.orders.posting.proof import ORDER_SOURCE, REFUND_SOURCE
from tillhouse.payins.proof import PAYIN_SOURCE
from tillhouse.payouts.withdrawals.proof import WITHDRAWAL_SOURCE

_PAYSTACK = VENDORS[0]
_SOURCES = [ORDER_SOURCE, PAYIN_SOURCE, REFUND_SOURCE, WITHDRAWAL_SOURCE, DEPOSIT]
_AN_HOUR_LATER = """
    WITH due AS (UPDATE jobs SET due_at = now() WHERE book_id = $1 AND is_leased),
    payouts AS (
        UPDATE withdrawals SET asked_at = asked_at - interval '61 min' WHERE book_id = $1
    )
    UPDATE refunds SET asked_at = asked_at - interval '61 min' WHERE book_id = $1
"""
# Looks at another time, and when nothing is told, may wait.
_LEFT_TO_DO = """
    SELECT count(*) FROM jobs
    WHERE book_id = $1 AND due_at < now() + interval '2 min' AND kind <> 'payin_asking'
"""
_TOLD = """
    SELECT type, coalesce(payload::jsonb #>> '{data,metadata,refundStatus}', '') AS status
    FROM webhook_events
    WHERE book_id = $1 AND (type LIKE 'wallet.withdrawal.%'
        OR payload::jsonb #> '{data,metadata}' ? 'refundStatus')
    ORDER BY id
"""
_WALLET = """
    SELECT credits - debits AS balance, held FROM ledger_balances
    WHERE book_id = $1 AND kind = 'wallet'
"""


class Shop(NamedTuple):
    """A live book, Paystack, and how a worker of its installation is started."""

    live: Live
    paystack: PaystackSimulator
    settings: dict[str, str]

    @property
    def till(self) -> Giving:
        """The till of the book."""
        return self.live.till

    def calls(self, call: str) -> int:
        """How often Paystack was asked for this."""
        return sum(f"{asked.method} {asked.path}" == call for asked in self.paystack.asked)

    @contextmanager
    def worker(self) -> Iterator[subprocess.Popen[bytes]]:
        """A worker, killed at the end of the block."""
        own = environment(**self.settings)
        with (
            tempfile.TemporaryFile() as log,
            subprocess.Popen([*COMMAND, "work"], env=own, stdout=log, stderr=log) as process,
        ):
            try:
                yield process
            finally:
                process.kill()

    async def kill_during(self, call: str) -> None:
        """Kill a worker when Paystack has executed this call and not yet answered."""
        self.paystack.fail_next("delay", call)

        async def is_asked() -> bool:
            return self.calls(call) > 0

        with self.worker() as worker:
            await until(is_asked)
            os.kill(worker.pid, signal.SIGKILL)
            assert worker.wait() == -signal.SIGKILL
        await self.paystack.release()
        await self.till.sql.execute(_AN_HOUR_LATER, self.till.book)

    async def done(self) -> None:
        """Wait until a worker has done all that is due."""

        async def is_done() -> bool:
            return not await self.till.sql.fetchval(_LEFT_TO_DO, self.till.book)

        await until(is_done)

    async def told(self) -> list[tuple[str, str]]:
        """The events of money that goes out, in order."""
        return [tuple(row) for row in await self.till.sql.fetch(_TOLD, self.till.book)]

    async def wallet(self) -> tuple[Decimal, Decimal]:
        """The balance, and what of it is held."""
        return tuple(await self.till.sql.fetchrow(_WALLET, self.till.book))

    async def faults(self) -> list[Fault]:
        """Everything that `tillhouse verify` would say of the book."""
        async with self.till.services.pool.reading() as db:
            return [one async for one in prove(db, self.till.book, _SOURCES)]


@pytest.fixture
async def shop(server_url: str, master_key: str) -> AsyncIterator[Shop]:
    """A shop on a database of its own, so that its workers have nothing else to do."""
    paystack = await PaystackSimulator().start()
    urls = (("paystack", paystack.base_url),)
    own = msgspec.structs.replace(SETTINGS, provider_urls=urls, payout_cooling_off_hours=0)
    async with (
        fresh_database(server_url, "tillhouse_calls") as url,
        running(own, url, master_key) as app,
    ):
        sql = await asyncpg.connect(url)
        till = await Giving.open(Make(app, app.services), sql, "live", currency="NGN")
        till.services = app.services
        origin = await connected(app.services, sql, till.business, (_PAYSTACK, paystack))
        settings = {
            "DATABASE_URL": url,
            "MASTER_KEY": master_key,
            "PROVIDER_URLS": f"paystack={paystack.base_url}",
        }
        one = Shop(Live(till, origin, _PAYSTACK, paystack), paystack, settings)
        yield one
        assert await one.faults() == []
        await sql.close()
    await paystack.stop()


@pytest.mark.parametrize("call", ["POST /transferrecipient", "POST /transfer"])
async def test_a_payout_whose_worker_is_killed_leaves_once(shop: Shop, call: str) -> None:
    """Before the transfer or after it: the next worker asks first, and sends what isn't known."""
    asked = await _withdraw(shop)
    await shop.kill_during(call)
    assert len(shop.paystack.left) == (call == "POST /transfer")
    assert await shop.wallet() == (600, 0)
    with shop.worker():
        await shop.done()
        assert await _withdrawal(shop, asked) == "processing"
        await shop.paystack.finish_payout(f"wd-{UUID(asked['id'])}")
        await shop.live.hear()
        await shop.done()
    assert await _withdrawal(shop, asked) == "completed"
    assert shop.paystack.left == [(f"wd-{UUID(asked['id'])}", 400)]
    assert shop.calls("POST /transfer") == 1
    assert await shop.told() == [
        ("wallet.withdrawal.requested", ""), ("wallet.withdrawal.completed", "")
    ]  # fmt: skip


async def test_a_refund_whose_worker_is_killed_goes_back_once(shop: Shop) -> None:
    """Paystack has it, nobody wrote that down: the next worker asks, and books it once."""
    await fill(shop.till.services, shop.till.book, 1000)
    order = await shop.live.sold()
    refund = await shop.till.asked(order, amount=400)
    balance, _ = await shop.wallet()
    await shop.kill_during("POST /refund")
    assert len(shop.paystack.left) == 1
    assert await shop.wallet() == (balance, 400)
    with shop.worker():
        await shop.done()
        [pending] = (await shop.till.show(order))["refunds"]
        assert (pending["id"], pending["status"]) == (refund["id"], "pending")
        await shop.paystack.finish_refund(pending["providerRefundId"])
        await shop.live.hear()
        await shop.done()
    shown = await shop.till.show(order)
    assert [one["status"] for one in shown["refunds"]] == ["successful"]
    assert (shown["amountPaid"], await shop.wallet()) == (600, (balance - 400, 0))
    assert [amount for _, amount in shop.paystack.left] == [400]
    assert shop.calls("POST /refund") == 1
    assert await shop.told() == [("order.updated", "successful")]


async def _withdraw(shop: Shop) -> Body:
    """A withdrawal that was requested."""
    await fill(shop.till.services, shop.till.book, 1000)
    account = await _post(
        shop, "/v1/payout-accounts", {"bank_code": "058", "account_number": "0123456789"}
    )
    assert account["status"] == "active", account
    body = {"amount": 400, "payout_account_id": account["id"]}
    return await _post(shop, "/v1/wallet/withdrawals", body)


async def _post(shop: Shop, path: str, body: Body) -> Body:
    await shop.till.business.step_up()
    headers = {"idempotency-key": str(new_id()), "service-environment": "live"}
    return (await shop.till.business.owner.post(path, body, headers=headers, status=201)).data


async def _withdrawal(shop: Shop, asked: Body) -> str:
    query = "SELECT status FROM withdrawals WHERE id = $1"
    return await shop.till.sql.fetchval(query, UUID(asked["id"]))
