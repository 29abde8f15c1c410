"""A server that is killed while it writes an order leaves all of it or nothing.

TILLHOUSE_TEST_FUZZ=1 kills before and after every statement instead of at a few.
"""

import itertools
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import aiohttp
import asyncpg

from tests.api import Response
from tests.make import Business
from tests.system.client import Client, register
from tests.system.conftest import Start
from tests.system.killing_proxy import Proxy, Target
from tests.system.raw_socket import statuses
from tests.system.serving import report
from tests.waiting import within
from tillhouse.db.pool import Db
from tillhouse.ledger.proof import prove
from tillhouse.orders.posting.proof import ORDER_SOURCE

ORDERS = "/v1/orders"
TEST_BOOK = {"service-environment": "test"}
WORKERS = 4
STOCK = 100_000
EVERYTHING = bool(os.environ.get("TILLHOUSE_TEST_FUZZ"))
# The fewest statements that each operation may have for its kills to mean anything. An order
# with names in it takes more than one that is told by ids alone: that one looks at the session,
# reads its facts, and is written by one statement without a transaction around it.
STATEMENTS_MIN = {"create": 10, "create plainly": 3, "cancel": 8, "delete": 8}
KILLED = (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError)
Rows = dict[str, Decimal]
Send = Callable[[], Awaitable[Response | None]]
Way = Callable[[str], Awaitable[Response | None]]
Made = Callable[[], tuple[str, dict[str, Any]]]


class AtCommit(Target):
    """Ends the process at the commit, wherever it comes."""

    def hits(self, pid: int, kind: bytes, text: bytes, *, in_transaction: bool) -> bool:
        """Of simple queries one begins a transaction, and the next ends it."""
        super().hits(pid, kind, text, in_transaction=in_transaction)
        return pid == self.pid and kind == b"Q" and not in_transaction


def _few(name: str) -> list[Target]:
    """In the middle, before the commit, after it."""
    last = STATEMENTS_MIN[name]
    if name == "create plainly":
        # Its last statement commits itself.
        ends = [Target(last, is_after=is_after) for is_after in (False, True)]
        return [Target(last - 1, is_after=True), *ends]
    ends = [AtCommit(0, is_after=is_after) for is_after in (False, True)]
    return [Target(last - 2, is_after=True), *ends]


def _every() -> Iterable[Target]:
    """Before and after the first statement, the second, …, until nothing is hit any more."""
    for number in itertools.count(1):
        yield Target(number, is_after=False)
        yield Target(number, is_after=True)


class Crashing:
    """A business whose servers are killed, and what its book holds."""

    def __init__(
        self, proxy: Proxy, port: int, business: Business, sql: asyncpg.Connection
    ) -> None:
        self.proxy = proxy
        self.port = port
        self.business = business
        self.sql = sql
        self.owner = business.owner
        self.book: UUID = UUID(int=0)
        self.product: dict[str, Any] = {}
        self.number = 0

    async def furnish(self) -> None:
        """Something to sell, and somebody to tell of it."""
        query = "SELECT id FROM books WHERE business_id = $1 AND environment = 'test'"
        self.book = UUID(str(await self.sql.fetchval(query, UUID(self.business.id))))
        await self.business.endpoint(
            events=[
                "order.created",
                "order.cancelled",
                "payment.received",
                "kitchen_ticket.created",
            ]
        )
        body = {"name": "Jollof rice", "base_price": 1000, "tracks_stock": True}
        self.product = await self.business.made("/v1/products", body)
        stock = {"variant_id": self.variant, "kind": "opening", "quantity": STOCK}
        await self.business.made("/v1/inventory/adjustments", stock)

    @property
    def variant(self) -> str:
        """The items for sale."""
        return self.product["variants"][0]["id"]

    async def rows(self) -> Rows:
        """How many rows there are, and what they come to."""
        row = await self.sql.fetchrow(_ROWS, self.book)
        assert row is not None
        return {name: Decimal(value) for name, value in row.items()}

    def plain(self) -> tuple[str, dict[str, Any]]:
        """A key and a body without a name that would have to be looked up."""
        name, body = self.order()
        return name, {k: v for k, v in body.items() if k not in ("customer_name", "tags")}

    def order(self) -> tuple[str, dict[str, Any]]:
        """A key and a body that nobody has sent yet."""
        self.number += 1
        name = f"order-{self.number}"
        line = {"product_id": self.product["id"], "product_name": "Rice", "quantity": 3}
        body = {
            "items": [line, {"product_name": "Box", "quantity": 1, "custom_price": 250}],
            "customer_name": f"Customer {name}",
            "tags": [f"tag {name}"],
            "amount_paid": 400,
            "payment_method": "transfer",
            "send_to_kitchen": True,
        }
        return name, body

    async def create(self, key: str, body: dict[str, Any]) -> Response:
        """Ask for an order."""
        headers = {**TEST_BOOK, "idempotency-key": key}
        return await self.owner.post(ORDERS, body, headers=headers)

    async def sold(self, make: Made | None = None) -> str:
        """An order that was recorded without a kill."""
        answer = await self.create(*(make or self.order)())
        assert answer.status == 201, answer
        return f"{ORDERS}/{answer.data['id']}"

    async def cancel(self, path: str) -> Response:
        """Cancel it."""
        return await self.owner.patch(path, {"status": "cancelled"}, headers=TEST_BOOK)

    async def delete(self, path: str) -> Response | None:
        """Delete it, by hand: the client would repeat a DELETE by itself."""
        given = {**self.owner.headers, **TEST_BOOK, "host": "shop", "connection": "close"}
        head = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        found = await statuses(self.port, f"DELETE {path} HTTP/1.1\r\n{head}\r\n".encode(), 20)
        return Response(found[0], [], b"") if found else None

    async def killed(self, target: Target, send: Send) -> Response | None:
        """The answer of a server that is to be killed at the target; None when it was."""
        self.proxy.target = target
        try:
            answer = await send()
        except KILLED:
            answer = None
        self.proxy.target = None
        assert target.is_dead == (answer is None)
        return answer

    async def again(self, send: Send) -> Response:
        """The same request, until some process answers it."""
        async with within():
            answer = None
            while answer is None:
                with suppress(*KILLED):
                    answer = await send()
        return answer

    async def creates(self, make: Made, target: Target, whole: Rows) -> bool:
        """An order under fire; whether somebody was killed over it."""
        before = await self.rows()
        key, body = make()
        first = await self.killed(target, lambda: self.create(key, body))
        there = less(await self.rows(), before)
        was_written = check_all_or_nothing(there, whole)
        second = await self.again(lambda: self.create(key, body))
        assert second.status == (200 if was_written else 201), second
        assert ("idempotent-replayed" in second.headers) == was_written
        assert less(await self.rows(), before) == whole
        if first is not None:
            assert second.data == first.data
        return first is None

    async def ends(self, way: Way, target: Target, whole: Rows) -> bool:
        """The end of an order under fire; whether somebody was killed over it."""
        path = await self.sold()
        before = await self.rows()
        first = await self.killed(target, lambda: way(path))
        there = less(await self.rows(), before)
        was_written = check_all_or_nothing(there, whole)
        second = await self.again(lambda: way(path))
        assert second.status == (404 if was_written and whole["deleted"] else 200), second
        assert less(await self.rows(), before) == whole
        return first is None

    async def check(self) -> None:
        """The ledger agrees, and the stock is what there was less what is sold."""
        faults = [fault async for fault in prove(cast("Db", self.sql), self.book, [ORDER_SOURCE])]
        assert faults == []
        row = await self.sql.fetchrow(_STOCK, self.book)
        assert row is not None
        assert row["on_hand"] == STOCK - 3 * row["sold"] == row["moved"], row


@asynccontextmanager
async def crashing(
    start: Start, url: str, master_key: str, sql: asyncpg.Connection
) -> AsyncIterator[Crashing]:
    """A business on servers behind a proxy, which end well when all is over."""
    with tempfile.TemporaryDirectory() as folder:
        async with (
            Proxy(Path(folder), url) as proxy,
            aiohttp.ClientSession() as session,
        ):
            settings = {"DATABASE_URL": proxy.url, "MASTER_KEY": master_key, "LOG_LEVEL": "warning"}
            serving = await start("--no-work", "--workers", str(WORKERS), **settings)
            business = await register(Client(session, serving.address))
            found = Crashing(proxy, serving.port, business, sql)
            await found.furnish()
            yield found
            assert await serving.stop() == 0


async def kill_at_each(
    crash: Crashing, name: str, one: Callable[[Target, Rows], Awaitable[bool]], whole: Rows
) -> None:
    """Kill at a few statements, or at each until a request survives before and after it."""
    kills = survived = 0
    few = _few(name)
    for target in _every() if EVERYTHING else few:
        was_killed = await one(target, whole)
        await crash.check()
        kills += was_killed
        survived = 0 if was_killed else survived + 1
        if survived == 2:
            break
    report(f"{name}: killed {kills} times")
    assert kills >= (2 * STATEMENTS_MIN[name] if EVERYTHING else len(few))


def check_all_or_nothing(there: Rows, whole: Rows) -> bool:
    """Whether it is there as a whole; a part of it must never be."""
    assert there in (whole, dict.fromkeys(whole, Decimal(0))), there
    return any(there.values())


def less(after: Rows, before: Rows) -> Rows:
    """The rows that were added."""
    return {name: value - before[name] for name, value in after.items()}


async def test_killed_while_orders_are_written(
    start: Start, database_url: str, master_key: str, sql: asyncpg.Connection
) -> None:
    """kill -9 within POST, PATCH to cancelled and DELETE: all rows or none, and once on retry."""
    async with crashing(start, database_url, master_key, sql) as crash:
        for name, make in (("create", crash.order), ("create plainly", crash.plain)):
            await crash.sold(make)
            before = await crash.rows()
            await crash.sold(make)
            whole = less(await crash.rows(), before)
            await kill_at_each(crash, name, partial(crash.creates, make), whole)
        for name, way in (("cancel", crash.cancel), ("delete", crash.delete)):
            path = await crash.sold()
            before = await crash.rows()
            ended = await way(path)
            assert ended is not None
            assert ended.status == 200
            ends = partial(crash.ends, way)
            await kill_at_each(crash, name, ends, less(await crash.rows(), before))


_ROWS = """
    SELECT (SELECT count(*) FROM orders WHERE book_id = $1) AS orders,
        (SELECT count(*) FROM orders WHERE book_id = $1 AND status = 'cancelled') AS cancelled,
        (SELECT count(*) FROM orders WHERE book_id = $1 AND deleted_at IS NOT NULL) AS deleted,
        (SELECT count(*) FROM order_items WHERE book_id = $1) AS items,
        (SELECT count(*) FROM idempotency_keys WHERE book_id = $1 AND answer IS NOT NULL) AS kept,
        (SELECT count(*) FROM customers WHERE book_id = $1) AS customers,
        (SELECT count(*) FROM tags WHERE book_id = $1) AS tags,
        (SELECT count(*) FROM stock_moves WHERE book_id = $1) AS moves,
        (SELECT sum(on_hand) FROM stock_levels WHERE book_id = $1) AS on_hand,
        (SELECT count(*) FROM ledger_transfers WHERE book_id = $1) AS transfers,
        (SELECT coalesce(sum(credits - debits), 0) FROM ledger_balances WHERE book_id = $1)
            AS credit,
        (SELECT count(*) FROM transactions WHERE book_id = $1) AS transactions,
        (SELECT count(*) FROM debts WHERE book_id = $1) AS debts,
        (SELECT count(*) FROM debts WHERE book_id = $1 AND status = 'active') AS active_debts,
        (SELECT count(*) FROM kitchen_tickets WHERE book_id = $1) AS tickets,
        (SELECT count(*) FROM kitchen_tickets WHERE book_id = $1 AND closed_at IS NULL) AS on_board,
        (SELECT count(*) FROM webhook_events WHERE book_id = $1) AS events,
        (SELECT count(*) FROM webhook_deliveries WHERE book_id = $1) AS deliveries,
        (SELECT count(*) FROM webhook_queue WHERE book_id = $1) AS queued,
        (SELECT coalesce(sum(orders), 0) FROM (
            SELECT orders FROM order_tallies WHERE book_id = $1 AND day IS NULL
            UNION ALL SELECT orders FROM order_tally_changes WHERE book_id = $1) t) AS tallied
"""
_STOCK = """
    SELECT (SELECT sum(on_hand) FROM stock_levels WHERE book_id = $1) AS on_hand,
        (SELECT sum(on_hand_change) FROM stock_moves WHERE book_id = $1) AS moved,
        (SELECT count(*) FROM orders WHERE book_id = $1 AND deleted_at IS NULL
            AND status IN ('pending', 'completed')) AS sold
"""
