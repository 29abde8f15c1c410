"""Transactions of one payment link."""

import json
from contextlib import suppress
from typing import LiteralString
from uuid import UUID, uuid4

import pytest

from tests.checkout.conftest import Open
from tests.checkout.till import LINKS, Body, Till
from tests.explaining import plan_of, scanned
from tests.finance.books import TRANSACTIONS
from tests.make import Make
from tillhouse.access.process import Services
from tillhouse.db.pool import Db
from tillhouse.finance.transactions.store.page import list_found
from tillhouse.finance.transactions.store.query import TransactionQuery
from tillhouse.kit.ids import BookId
from tillhouse.kit.page import Page

_ROWS = 20_000


async def _link(till: Till, kind: str) -> Body:
    if kind == "wallet":
        return await till.ask_for_wallet()
    customer = await till.shop.customer("Ada")
    order = await till.sale(250, customer_id=customer["id"])
    if kind == "sale":
        return await till.ask(order)
    body = {"target_type": "debt", "target_id": (await till.debt_of(order))["id"]}
    return (await till.api.post(LINKS, body, status=201)).data


@pytest.mark.parametrize("kind", ["sale", "debt", "wallet"])
async def test_the_transactions_of_a_link(open_till: Open, make: Make, kind: str) -> None:
    """Those that name it as their `paymentLinkId`, beside other filters; of no other business's."""
    till = await open_till()
    links = [await _link(till, kind) for _ in range(2)]
    for link in links:
        await till.pay(link)
    everything = (await till.api.get(TRANSACTIONS, status=200)).data
    mine = [one for one in everything if one["paymentLinkId"] == links[0]["id"]]
    assert [one["amount"] for one in mine] == [250]
    path = f"{TRANSACTIONS}?payment_link_id={links[0]['id']}"
    answer = await till.api.get(path, status=200)
    assert answer.data == mine
    assert answer.json["meta"]["total"] == 1
    assert (await till.api.get(f"{path}&type=refund", status=200)).data == []
    assert (await till.api.get(f"{path}&to=2026-01-01", status=200)).data == []
    assert (await till.api.get(f"{path}&customer_id={uuid4()}", status=200)).data == []
    assert (await till.api.get(f"{path}&order_id={uuid4()}", status=200)).data == []
    if order_id := mine[0]["orderId"]:
        assert (await till.api.get(f"{path}&order_id={order_id}", status=200)).data == mine
    codes = {one["reference"]: one for one in everything if one["paymentLinkId"]}
    assert len(codes) == 2
    for reference, one in codes.items():
        found = await till.api.get(f"{path}&search={reference}", status=200)
        assert found.data == ([one] if one in mine else [])
    other = await (await make.business()).client("finance:read")
    assert (await other.get(path, status=200)).data == []
    wrong = await till.api.get(f"{TRANSACTIONS}?payment_link_id=x", status=422)
    assert wrong.wrong_fields == {"payment_link_id"}


class _Undone(Exception):
    """Ends a transaction of which nothing is to stay."""


async def _multiply(db: Db, book: UUID) -> None:
    """Very many payments, each with its transaction, of as many other links."""
    await db.execute("SET LOCAL session_replication_role = replica")
    rows: tuple[LiteralString, LiteralString] = (
        """
        INSERT INTO transactions (book_id, id, reference, type, status, method, amount, currency,
            source_id, happened_at, created_at, updated_at, source_type)
        SELECT book_id, md5(id::text || n)::uuid, reference || n, type, status, method, amount,
            currency, source_id, happened_at, created_at, updated_at, source_type
        FROM transactions, generate_series(1, $2::integer) n WHERE book_id = $1
        """,
        """
        INSERT INTO payins (book_id, id, provider, provider_transaction_id, status, target_type,
            target_id, amount, fee, currency, paid_at, created_at, updated_at, transaction_id)
        SELECT book_id, gen_random_uuid(), provider, 'P' || n, status, target_type,
            gen_random_uuid(), amount, fee, currency, paid_at, created_at, updated_at,
            md5(transaction_id::text || n)::uuid
        FROM payins, generate_series(1, $2::integer) n WHERE book_id = $1
        """,
    )
    for statement in rows:
        await db.execute(statement, book, _ROWS)
    await db.execute("ANALYZE transactions")
    await db.execute("ANALYZE payins")


async def test_the_payments_of_a_link_are_found_by_it(open_till: Open, services: Services) -> None:
    """Among 20,000 others, of which none is read."""
    till = await open_till()
    link = await till.ask_for_wallet()
    await till.pay(link)
    wanted = TransactionQuery(payment_link_id=UUID(link["id"]))
    with suppress(_Undone):
        async with services.pool.transaction() as db:
            await _multiply(db, till.shop.book)
            plan = await plan_of(
                db, lambda asked: list_found(asked, BookId(till.shop.book), wanted, Page(1, 50))
            )
            assert plan["Actual Rows"] == 1
            assert not {"transactions", "payins"} & set(scanned(plan))
            assert "payins_by_target" in json.dumps(plan)
            assert "transactions_by_time" not in json.dumps(plan)
            raise _Undone
