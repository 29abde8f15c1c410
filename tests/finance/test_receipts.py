"""Receipts of transactions: a page and a file at a signed address, which keep what they said."""

import asyncio
from urllib.parse import urlsplit

from tests.finance.books import TRANSACTIONS, Books
from tests.finance.conftest import Open


async def _receipt(books: Books, transaction_id: str) -> str:
    answer = await books.api.post(f"{TRANSACTIONS}/{transaction_id}/receipt", status=200)
    parts = urlsplit(answer.data["url"])
    return f"{parts.path}?{parts.query}"


async def test_a_receipt_says_how_the_transaction_stood(open_books: Open) -> None:
    """Asked twice it is the same; when the expense is taken back, the next one says so."""
    books = await open_books(business_name="Ada's Kitchen", currency="NGN")
    spent = await books.spend(12500.5, category="Fuel <b>")
    path = await _receipt(books, spent["transactionId"])
    # What follows the "?" tells the second until which the address is good.
    again = await _receipt(books, spent["transactionId"])
    assert again.partition("?")[0] == path.partition("?")[0]
    anybody = books.shop.business.anybody
    page = (await anybody.get(path, status=200)).body.decode()
    for words in ("Transaction receipt", "NGN 12,500.50", "Expense", "Fuel &lt;b&gt;", "Cash"):
        assert words in page
    assert "Reversed" not in page
    await books.api.delete(f"/v1/finance/expenses/{spent['id']}", status=200)
    later = await _receipt(books, spent["transactionId"])
    assert later.split("?")[0] != path.split("?")[0]
    assert "Reversed" in (await anybody.get(later, status=200)).body.decode()
    assert (await anybody.get(path, status=200)).body.decode() == page


async def test_a_receipt_is_a_file_too(open_books: Open) -> None:
    """On both papers."""
    books = await open_books()
    await books.sell(70)
    (sale,) = await books.all()
    path = (await _receipt(books, sale["id"])).replace("?", ".pdf?")
    for paper in ("", "&paper=80mm"):
        file = await books.shop.business.anybody.get(path + paper, status=200)
        assert file.body.startswith(b"%PDF-")


async def test_no_address_can_be_made_up(open_books: Open) -> None:
    """A changed end or signature, another receipt's, a receipt of an order: all look alike."""
    books = await open_books()
    order = await books.sell(70)
    (sale,) = await books.all()
    path = await _receipt(books, sale["id"])
    answer = await books.shop.api.post(f"/v1/orders/{order['id']}/receipt", status=200)
    of_order = urlsplit(answer.data["url"])
    swapped = f"{path.split('?')[0]}?{of_order.query}"
    moved = f"{of_order.path}?{path.split('?')[1]}".replace("/receipts", "/transaction-receipts")
    for wrong in (swapped, moved, path[:-1] + "~", path.replace("until=", "until=9"), path + "x"):
        await books.shop.business.anybody.get(wrong, status=404)


async def test_asked_for_at_once_it_is_one(open_books: Open) -> None:
    """Ten requests get the same address, and a receipt of its order is another."""
    books = await open_books()
    order = await books.sell(70)
    (sale,) = await books.all()
    paths = await asyncio.gather(*(_receipt(books, sale["id"]) for _ in range(10)))
    assert len({path.split("?")[0] for path in paths}) == 1
    await books.shop.api.post(f"/v1/orders/{order['id']}/receipt", status=200)
    kept = await books.shop.sql.fetch(
        "SELECT transaction_id, order_id, number FROM receipts WHERE book_id = $1 ORDER BY id",
        books.shop.book,
    )
    ids = [(str(row["transaction_id"]), str(row["order_id"]), row["number"]) for row in kept]
    assert ids == [(sale["id"], "None", 1), ("None", order["id"], 1)]
