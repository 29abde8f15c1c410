"""Transactions of one order."""

from uuid import uuid4

from tests.finance.books import TRANSACTIONS
from tests.finance.conftest import Open
from tests.make import Make


async def test_the_transactions_of_an_order(open_books: Open, make: Make) -> None:
    """Those that name it as their `orderId`, beside the other filters; of no other business's."""
    books = await open_books()
    orders = [await books.sell(70) for _ in range(2)]
    everything = await books.all()
    mine = [one for one in everything if one["orderId"] == orders[0]["id"]]
    assert mine
    path = f"{TRANSACTIONS}?order_id={orders[0]['id']}"
    answer = await books.api.get(path, status=200)
    assert answer.data == mine
    assert answer.json["meta"]["total"] == len(mine)
    assert (await books.api.get(f"{path}&type=refund", status=200)).data == []
    assert (await books.api.get(f"{path}&to=2026-01-01", status=200)).data == []
    code = orders[1]["shortCode"]
    assert (await books.api.get(f"{path}&search={code}", status=200)).data == []
    code = orders[0]["shortCode"]
    assert (await books.api.get(f"{path}&search={code}", status=200)).data == mine
    assert (await books.api.get(f"{path}&customer_id={uuid4()}", status=200)).data == []
    other = await (await make.business()).client("finance:read")
    assert (await other.get(path, status=200)).data == []
    wrong = await books.api.get(f"{TRANSACTIONS}?order_id=x", status=422)
    assert wrong.wrong_fields == {"order_id"}
