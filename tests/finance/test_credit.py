"""The credit of a customer: as it came, as it is held, and nobody else's."""

from datetime import timedelta
from decimal import Decimal
from uuid import UUID

from tests.finance.conftest import Open
from tillhouse.access.process import Services
from tillhouse.kit.clock import now
from tillhouse.kit.ids import new_id
from tillhouse.ledger.posting import WantedHold, hold
from tillhouse.ledger.rules import Account, Ledger, Source


async def test_what_is_paid_too_much_is_credit(open_books: Open, services: Services) -> None:
    """Less what is held of it, as long as it is."""
    books = await open_books(currency="NGN")
    ada = await books.shop.customer("Ada")
    path = f"/v1/customers/{ada['id']}/credit"
    none = {"creditBalance": 0, "held": 0, "available": 0}
    known = {"customerId": ada["id"], "currency": "NGN"}
    assert (await books.api.get(path, status=200)).data == {**known, **none}
    await books.sell(30, amount_paid=50.5, customer_id=ada["id"], payment_method="pos")
    account, source = Account("customer_credit", UUID(ada["id"])), new_id()
    moment = now()
    async with services.pool.transaction() as db:
        for amount, ends_at in ((4, None), (3, moment - timedelta(seconds=1))):
            wanted = WantedHold(account, Decimal(amount), f"kept {amount}", ends_at)
            ledger = Ledger(books.shop.book, "NGN", moment)
            await hold(db, ledger, Source(type="order", id=source, happened_at=moment), wanted)
    held = {"creditBalance": 20.5, "held": 4, "available": 16.5}
    assert (await books.api.get(path, status=200)).data == {**known, **held}


async def test_a_customer_of_another_business_has_none(open_books: Open) -> None:
    """As one that was never there."""
    books, other = await open_books(), await open_books()
    theirs = await other.shop.customer("Ada")
    await books.api.get(f"/v1/customers/{theirs['id']}/credit", status=404)
