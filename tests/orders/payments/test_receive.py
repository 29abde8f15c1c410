"""Money that other rooms receive for an order, within their own transaction."""

from decimal import Decimal
from uuid import UUID

import asyncpg
import pytest

from tests.orders.payments.till import Till
from tests.orders.shop import Body
from tillhouse.access.call import Call
from tillhouse.access.callers import Book, SystemCaller
from tillhouse.access.process import Services
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookId, BusinessId, OrderId, new_id
from tillhouse.orders.events import PaidLink, Payer
from tillhouse.orders.payments.actions import Receipt, receive
from tillhouse.orders.payments.rules import Tender


async def _receive(till: Till, services: Services, order: Body, **fields: object) -> Receipt:
    """Receive 100 as a worker does."""
    async with services.pool.transaction() as db:
        call = Call(
            db=db,
            services=services,
            now=now(),
            request_id=str(new_id()),
            ip="local",
            business_id=BusinessId(UUID(till.business.id)),
            book=Book(BookId(till.book), "test"),
            caller=SystemCaller(),
        )
        tender = Tender(amount=Decimal(100), method="cloove_pay", **fields)
        return await receive(call, OrderId(UUID(order["id"])), tender)


async def test_a_worker_receives_what_a_link_collected(till: Till, services: Services) -> None:
    """The order is completed, and the event tells link and payer."""
    order, link_id = await till.ring(100), new_id()
    link = PaidLink(
        id=link_id, reference="PL-1", target_type="sale", target_id=UUID(order["id"]),
        amount=Decimal(100), currency="USD",
    )  # fmt: skip
    payer = Payer(id=new_id(), name="Chidi Eze", email=None, phone_number=None)
    await till.news()
    got = await _receive(till, services, order, link_id=link_id, link=link, payer=payer)
    assert (got.status, got.remaining_amount) == ("completed", 0)
    [payment] = (await till.show(order))["payments"]
    assert (payment["id"], payment["transactionId"]) == (
        str(got.payment_id), str(got.transaction_id),
    )  # fmt: skip
    events = {event["type"]: event["data"] for event in await till.news()}
    assert events["payment.received"]["paymentLink"]["id"] == str(link_id)
    assert events["payment.received"]["customer"]["name"] == "Chidi Eze"


async def test_a_receipt_is_booked_once(till: Till, services: Services) -> None:
    """The second time the database says no, and nothing of it stays."""
    order, receipt_id = await till.ring(100), new_id()
    await _receive(till, services, order, receipt_id=receipt_id)
    with pytest.raises(asyncpg.UniqueViolationError):
        await _receive(till, services, order, receipt_id=receipt_id)
    assert (await till.show(order))["amountPaid"] == 100


async def test_money_for_an_order_that_is_over_is_kept(till: Till, services: Services) -> None:
    """Cancelled, or refunded: booked all the same, for the payer."""
    order = await till.ring(100, customer_name="Ada Obi")
    await till.to(order, "cancelled")
    assert (await _receive(till, services, order)).status == "cancelled"
    paid = await till.ring(100, 100)
    await till.give_back(paid, amount=100)
    assert (await _receive(till, services, paid)).status == "refunded"
    accounts = await till.accounts()
    assert (accounts["customer_credit"], accounts["unapplied_receipts"]) == (-100, -100)
