"""The page of a receipt: everything on it, nothing that runs, fit for every paper."""

import base64
import hashlib
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from tests.orders.conftest import Open
from tests.orders.receipts import open_page, page_text, path_of, receipt_url
from tests.orders.shop import ORDERS, Shop, chosen, fee, line

HOSTILE = "<script>alert(1)</script>\"'&lt;{{ 7*7 }}{% raw %}<!--</style></table>"


class _Cells(HTMLParser):
    """Reads what stands in a page, by the element that it stands in."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.words: list[str] = []
        self._inside: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if data.strip() and "style" not in self._inside:
            self.words.append(data.strip())


def _after(page: str, label: str) -> str:
    words = _Cells(page).words
    return words[words.index(label) + 1]


async def test_a_page_says_it_all(open_shop: Open) -> None:
    """Business, store, customer, lines with their options, and sums that add up."""
    shop = await open_shop(business_name="Ada's Kitchen", currency="NGN", time_zone="Africa/Lagos")
    group = await shop.group(200, 0)
    rice = await shop.product(1500, name="Jollof rice", modifier_group_ids=[group["id"]])
    store = await shop.store(name="Yaba", address="12 Macaulay Way\nLagos", phone="+2348012345678")
    customer = await shop.customer("Chidi Eze")
    order = await shop.sell(
        line(rice, 2, modifiers=[chosen(group), chosen(group, 1)]),
        fee(1200.5),
        store_id=store["id"],
        customer_id=customer["id"],
        discount_amount=100,
        service_charge_amount=300,
        amount_paid=5000,
        occurred_at="2026-01-31T23:30:00Z",
        payment_method="transfer",
    )
    page = await page_text(shop, order)
    words = _Cells(page).words
    for word in ("Ada's Kitchen", "Yaba", "12 Macaulay Way", "Lagos", "+2348012345678",
                 "Jollof rice", "Extra 0 (+200.00)", "Extra 1", "2 × 1,700.00", "3,400.00",
                 "Items, amounts in NGN"):  # fmt: skip
        assert word in words
    # Half past midnight of the next day, where the shop is.
    assert _after(page, "Date") == "1 Feb 2026, 00:30"
    assert _after(page, "Order") == order["shortCode"]
    assert _after(page, "Customer") == "Chidi Eze"
    assert _after(page, "Payment") == "Bank transfer"
    sums = {
        "Subtotal": "NGN 4,600.50",
        "Discount": "NGN \N{MINUS SIGN}100.00",
        "Service charge": "NGN 300.00",
        "Total": "NGN 4,800.50",
        "Paid": "NGN 5,000.00",
        "Credit": "NGN 199.50",
    }
    assert {label: _after(page, label) for label in sums} == sums


async def test_a_page_names_the_line_that_went_back(shop: Shop) -> None:
    """With how many of it, for how much; and the method in words."""
    tea = await shop.product(15, name="Tea")
    order = await shop.sell(line(tea, 3), amount_paid=45, payment_method="pos")
    body = {"lines": [{"item_id": order["items"][0]["id"], "quantity": 2}], "method": "cash"}
    await shop.api.post(f"{ORDERS}/{order['id']}/refunds", body, status=201)
    text = await page_text(shop, order)
    assert "Given back" in text
    assert "2 × Tea" in text
    assert "Card" in text


@pytest.mark.parametrize(
    ("currency", "price", "total"),
    [
        ("JPY", 1500, "JPY 1,500"),
        ("KWD", 1.25, "KWD 1.250"),
        ("USD", 1234567.5, "USD 1,234,567.50"),
    ],
)
async def test_money_has_the_decimals_of_its_currency(
    open_shop: Open, currency: str, price: float, total: str
) -> None:
    """As many as it has, and its code."""
    shop = await open_shop(currency=currency)
    assert _after(await page_text(shop, await shop.sell(fee(price))), "Total") == total


async def test_names_can_not_become_markup(open_shop: Open) -> None:
    """The names of products, customers and shops stand there letter by letter."""
    shop = await open_shop(business_name=HOSTILE[:60])
    store = await shop.store(name=HOSTILE, address=HOSTILE)
    order = await shop.sell(
        fee(1, name=HOSTILE), customer_name=HOSTILE, store_id=store["id"], table_label=HOSTILE
    )
    page = await page_text(shop, order)
    cells = _Cells(page)
    assert "script" not in cells.tags
    assert cells.tags.count("table") == 2
    assert cells.words.count(HOSTILE) == 5
    assert "<script" not in page
    assert HOSTILE not in page


async def test_the_policy_lets_the_style_in_and_nothing_else(shop: Shop) -> None:
    """The hash is that of the one style element; there is no style attribute and no script."""
    url = await receipt_url(shop, await shop.sell())
    for paper in ("a4", "80mm"):
        answer = await shop.business.anybody.get(f"{path_of(url)}&paper={paper}", status=200)
        page = answer.body.decode()
        (style,) = re.findall("<style>(.*?)</style>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        policy = answer.headers["content-security-policy"]
        assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}';")
        assert not re.search(r"\sstyle=|<script|\son\w+=|https?://|@import|url\(", page)
        assert answer.headers["x-robots-tag"] == "noindex"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"


async def test_each_paper_has_its_page_size(shop: Shop) -> None:
    """A4 unless 80 mm is asked for; what is neither is A4."""
    url = await receipt_url(shop, await shop.sell())
    plain = (await open_page(shop, url, status=200)).body.decode()
    roll = (await open_page(shop, url + "&paper=80mm", status=200)).body.decode()
    other = (await open_page(shop, url + "&paper=<b>", status=200)).body.decode()
    assert "size: A4" in plain
    assert "size: 80mm" in roll
    assert other == plain


async def test_its_links_lead_on(shop: Shop) -> None:
    """To the file and to the other paper, and back."""
    url = await receipt_url(shop, await shop.sell())
    page = (await open_page(shop, url, status=200)).body.decode()
    file, other = (link.replace("&amp;", "&") for link in re.findall('href="([^"]+)"', page))
    pdf = await shop.business.anybody.get(f"/receipts/{file}", status=200)
    assert pdf.headers["content-type"] == "application/pdf"
    roll = (await shop.business.anybody.get(f"/receipts/{other}", status=200)).body.decode()
    assert "Show for A4 paper" in roll


async def test_a_page_can_be_read_by_any_reader(shop: Shop) -> None:
    """It has a language, a title, headings, and tables whose cells have headers."""
    page = await page_text(shop, await shop.sell())
    assert '<html lang="en">' in page
    assert re.search(r"<title>Receipt \w{8} . ", page)
    assert page.count("<h1") == 1
    assert page.count("<caption") == 2
    assert 'scope="col"' in page
    assert 'scope="row"' in page
