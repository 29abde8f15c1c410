"""Receipts: made once per state of an order, kept as they were, shown to who has the address."""

import asyncio
import json
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.make import Make
from tests.orders.conftest import Open
from tests.orders.receipts import (
    given,
    id_of,
    in_seconds,
    marked,
    open_page,
    page_text,
    path_of,
    receipt_url,
)
from tests.orders.shop import ORDERS, Shop, fee
from tillhouse.access.process import Services
from tillhouse.kit.clock import now

SOME = "0198c2f0-7b1e-7d3a-9c4e-2f5a1b6c8d9e"


async def _numbers(shop: Shop, order: dict[str, Any]) -> list[int]:
    rows = await shop.sql.fetch(
        "SELECT number FROM receipts WHERE book_id = $1 AND order_id = $2 ORDER BY number",
        shop.book,
        UUID(order["id"]),
    )
    return [row["number"] for row in rows]


async def test_an_address_is_good_for_a_week(shop: Shop, services: Services) -> None:
    """It is on the public address, and says itself until when it holds."""
    before = now()
    url = await receipt_url(shop, await shop.sell())
    assert url.startswith(f"{services.settings.public_url}/receipts/")
    left = int(given(url)["until"]) - before.timestamp()
    assert abs(left - timedelta(days=7).total_seconds()) < 60
    page = await open_page(shop, url, status=200)
    assert page.headers["content-type"] == "text/html; charset=utf-8"


async def test_an_unchanged_order_keeps_its_receipt(shop: Shop) -> None:
    """Asked again, the newest receipt gets an address anew."""
    order = await shop.sell()
    first, again = await receipt_url(shop, order), await receipt_url(shop, order)
    assert id_of(first) == id_of(again)
    assert await _numbers(shop, order) == [1]
    # As a mark on it: the four letters may stand in the address of its file by chance.
    assert 'class="copy"' not in await page_text(shop, order)


async def test_a_changed_order_gets_another_receipt(shop: Shop) -> None:
    """The first says for ever what it said; the second says what is now, and that it is one."""
    order = await shop.sell(amount_paid=200)
    first = await receipt_url(shop, order)
    was = (await open_page(shop, first, status=200)).body
    await shop.patch(order, amount_paid=500)
    second = await receipt_url(shop, order)
    assert id_of(first) != id_of(second)
    assert await _numbers(shop, order) == [1, 2]
    assert (await open_page(shop, first, status=200)).body == was
    text = (await open_page(shop, second, status=200)).body.decode()
    assert '<strong class="copy">Copy</strong>' in text
    assert "Remaining" in was.decode()
    assert "Remaining" not in text


async def test_twenty_calls_at_once_make_one_receipt(open_shop: Open) -> None:
    """The second request finds the first one's."""
    shop = await open_shop()
    order = await shop.sell()
    urls = await asyncio.gather(*(receipt_url(shop, order) for _ in range(20)))
    assert len({id_of(url) for url in urls}) == 1
    assert await _numbers(shop, order) == [1]


async def test_a_key_replays_its_address(shop: Shop) -> None:
    """The same Idempotency-Key answers the same bytes."""
    order = await shop.sell()
    path, key = f"{ORDERS}/{order['id']}/receipt", {"idempotency-key": str(uuid4())}
    first = await shop.api.post(path, headers=key, status=200)
    again = await shop.api.post(path, headers=key, status=200)
    assert first.body == again.body


async def test_another_business_makes_no_receipt(shop: Shop, make: Make) -> None:
    """Nor does the other environment: the order isn't there."""
    path = f"{ORDERS}/{(await shop.sell())['id']}/receipt"
    stranger = await (await make.business()).client("orders:read")
    assert (await stranger.post(path, status=404)).error == "not_found"
    live = await shop.business.client("orders:read", environment="live")
    await live.post(path, status=404)
    await (await shop.business.client("voice:read")).post(path, status=403)


async def test_a_deleted_order_has_no_receipt(shop: Shop) -> None:
    """It can't be made, and an address that was given out is no good any more."""
    order = await shop.sell()
    url = await receipt_url(shop, order)
    await open_page(shop, url, status=200)
    await shop.delete(order)
    await shop.api.post(f"{ORDERS}/{order['id']}/receipt", status=404)
    await open_page(shop, url, status=404)


@pytest.mark.parametrize("seconds", [0, -1, -8 * 24 * 3600])
async def test_an_expired_address_is_missing(shop: Shop, services: Services, seconds: int) -> None:
    """Its mark is true, its time is over."""
    receipt_id = id_of(await receipt_url(shop, await shop.sell()))
    await shop.business.anybody.get(marked(services, receipt_id, in_seconds(60)), status=200)
    gone = marked(services, receipt_id, in_seconds(seconds))
    await shop.business.anybody.get(gone, status=404)


async def test_a_mark_can_not_be_changed(shop: Shop, services: Services) -> None:
    """Not the time, not the receipt, not a letter of the mark; nor can it be left out."""
    url = await receipt_url(shop, await shop.sell())
    other = id_of(await receipt_url(shop, await shop.sell()))
    path, held = f"/receipts/{id_of(url)}", given(url)
    later = str(int(held["until"]) + 1)
    tampered = [
        path,
        f"{path}?until={held['until']}",
        f"{path}?mark={held['mark']}",
        f"{path}?until={later}&mark={held['mark']}",
        f"{path}?until=0{held['until']}&mark={held['mark']}",
        f"{path}?until={held['until']}&mark={held['mark'][:-1]}",
        f"{path}?until={held['until']}&mark={held['mark']}A",
        f"{path}?until={held['until']}&mark={held['mark'].swapcase()}",
        f"{path}?until={held['until']}&mark=%F0%9F%94%91",
        f"/receipts/{other}?until={held['until']}&mark={held['mark']}",
        marked(services, uuid4(), held["until"]),
        marked(services, id_of(url), "9" * 5000),
        marked(services, id_of(url), "\u0661" * 10),
    ]
    pages = [await shop.business.anybody.get(one) for one in tampered]
    assert {page.status for page in pages} == {404}
    # The fault isn't said: only the request's own id differs.
    bodies = {p.body.replace(p.headers["x-request-id"].encode(), b"") for p in pages}
    assert len(bodies) == 1
    assert b"Ask the shop for a new one" in bodies.pop()


@pytest.mark.parametrize(
    "name",
    ["x", "0198c2f0", "%2e%2e", f"{SOME}.png", f"{SOME}.PDF", f"{SOME}.pdf.pdf",
     f"{{{SOME}}}", SOME.replace("-", ""), f"urn:uuid:{SOME}", "\u202e", "a" * 5000],
)  # fmt: skip
async def test_a_name_that_is_none_is_missing(shop: Shop, name: str) -> None:
    """A page for people, never a failure."""
    page = await shop.business.anybody.get(f"/receipts/{name}?until=1&mark=x", status=404)
    assert page.headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_a_receipt_is_only_read(shop: Shop, method: str) -> None:
    """Any other method is refused."""
    url = await receipt_url(shop, await shop.sell())
    answer = await shop.business.anybody.request(method, path_of(url), status=405)
    assert answer.headers["allow"] == "GET, HEAD"


async def test_head_says_that_it_is_there(shop: Shop) -> None:
    """As GET, without the page."""
    url = await receipt_url(shop, await shop.sell())
    answer = await shop.business.anybody.request("HEAD", path_of(url), status=200)
    assert answer.body == b""


async def test_a_cancelled_order_says_so(shop: Shop) -> None:
    """In large letters, and nothing is left to pay."""
    order = await shop.sell(amount_paid=100)
    await shop.to(order, "cancelled")
    text = await page_text(shop, order)
    assert '<strong class="cancelled">Cancelled</strong>' in text
    assert "Remaining" not in text


async def test_a_test_receipt_says_so(open_shop: Open) -> None:
    """One of the live book doesn't."""
    test = await open_shop()
    live = await test.other_book()
    assert '<strong class="test">Test</strong>' in await page_text(test, await test.sell())
    assert 'class="test"' not in await page_text(live, await live.sell())


async def test_what_is_kept_is_what_was_said(shop: Shop) -> None:
    """The row holds names and amounts, exactly."""
    order = await shop.sell(fee(0.1, name="Ice"), fee(0.2, name="Straw"))
    url = await receipt_url(shop, order)
    row = await shop.sql.fetchrow("SELECT content FROM receipts WHERE id = $1", id_of(url))
    assert row is not None
    content = json.loads(row["content"], parse_float=Decimal)
    assert content["total"] == Decimal("0.3")
    assert [line["name"] for line in content["lines"]] == ["Ice", "Straw"]
