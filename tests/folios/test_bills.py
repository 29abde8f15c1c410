"""Bills of stays: what they say is what the folio says, to the cent, and stays so."""

import asyncio
import html
import io
from decimal import Decimal
from urllib.parse import urlsplit
from uuid import UUID

import msgspec
from pypdf import PdfReader

from tests.folios.lodge import STAYS, Body, Lodge
from tests.orders.shop import ORDERS
from tillhouse.folios.bills.rules import Content

TAXES = [{"name": "VAT", "rate": 7.5, "is_inclusive": True}, {"name": "City tax", "rate": 5}]


async def _bill(lodge: Lodge, stay: Body) -> Body:
    return (await lodge.api.post(f"{STAYS}/{stay['id']}/bill", {}, status=200)).data


def _path(bill: Body) -> str:
    parts = urlsplit(bill["url"])
    return f"{parts.path}?{parts.query}"


async def _page(lodge: Lodge, bill: Body) -> str:
    return (await lodge.business.anybody.get(_path(bill), status=200)).body.decode()


async def _kept(lodge: Lodge, bill: Body) -> Content:
    query = "SELECT content::text FROM receipts WHERE book_id = $1 AND id = $2"
    bill_id = UUID(urlsplit(bill["url"]).path.rsplit("/", 1)[1])
    content = await lodge.sql.fetchval(query, lodge.book_id, bill_id)
    return msgspec.json.decode(content, type=Content)


async def _check_sums(lodge: Lodge, stay: Body, bill: Body) -> Content:
    """The content of a bill, held against the folio."""
    folio, said = await lodge.folio(stay), await _kept(lodge, bill)
    rows = [one for one in said.charges if not one.is_to_come]
    assert sum(one.total - one.returned for one in rows) == folio["chargesTotal"]
    to_come = sum(one.total for one in said.charges if one.is_to_come)
    assert to_come == said.to_come_total == folio["nightsToComeTotal"]
    assert said.charges_total == folio["chargesTotal"]
    of_stay = sum(one.amount for one in said.payments if one.kind not in ("order", "order_refund"))
    assert of_stay == folio["paymentsTotal"]
    assert said.paid == sum(one.amount for one in said.payments)
    assert said.owed == folio["amountOwed"]
    assert said.unspent + said.spent_elsewhere == folio["unspentAmount"]
    assert said.charges_total + said.unspent + said.spent_elsewhere == said.paid + said.owed
    for one in rows:
        lines, parts = (item.amount for item in one.items), (amount for _, amount in one.parts)
        assert not one.items or sum(lines) + sum(parts) == one.total
    return said


async def _taxed_stay(lodge: Lodge, ends: int) -> Body:
    plan = await lodge.made(
        "rate-plans", room_type_id=lodge.room_type_id, name="Flex", price=100, taxes=TAXES
    )
    return await lodge.arrive(ends, rate_plan_id=plan["id"])


async def _supper(lodge: Lodge, stay: Body, **fields: object) -> Body:
    """An order of two lines, with a discount, on the room."""
    items = [
        {"product_name": "Jollof <rice>", "quantity": 2, "line_type": "fee", "custom_price": 12.5},
        {"product_name": "Tea", "quantity": 1, "line_type": "fee", "custom_price": 3},
    ]
    body = {"items": items, "hotel_reservation_id": stay["id"], "discount_amount": 1, **fields}
    return (await lodge.api.post(ORDERS, body, status=201)).data


async def test_a_bill_says_what_the_folio_says(lodge: Lodge) -> None:
    """Nights with taxes, another room, orders, part payments, refunds, a cancelled order, a debt.

    At each moment the sums are those of the folio.
    """
    stay = await _taxed_stay(lodge, 3)
    await lodge.pay(stay, 60.05, "transfer", reference="TRF-<1>")
    said = await _check_sums(lodge, stay, await _bill(lodge, stay))
    assert (said.nights, said.nights_to_come, said.unspent) == (0, 3, Decimal("60.05"))
    supper, tea = await _supper(lodge, stay), await lodge.charge(stay, 4.4)
    # Supper is paid in cash, not from the folio: all of it but two.
    paid = {"amount": 25, "method": "cash"}
    await lodge.api.post(f"{ORDERS}/{supper['id']}/payments", paid, status=201)
    await _check_sums(lodge, stay, await _bill(lodge, stay))
    await lodge.pay(stay, 0.01, "pos")
    await lodge.api.patch(f"{ORDERS}/{tea['id']}", {"status": "cancelled"}, status=200)
    back = {"amount": 5.5, "method": "cash", "reason": "Cold"}
    await lodge.api.post(f"{ORDERS}/{supper['id']}/refunds", back, status=201)
    await lodge.give_back(stay, 10, "transfer", reason="Too much")
    await _check_sums(lodge, stay, await _bill(lodge, stay))
    other = await lodge.room("909")
    moved = await lodge.act(stay, "move", room_id=other)
    assert moved.status == 200
    await lodge.shift(stay, 2)
    await lodge.leave(stay, status=400)
    await lodge.leave(stay, leave_as_debt=True)
    bill = await _bill(lodge, stay)
    said = await _check_sums(lodge, stay, bill)
    assert (said.nights, said.nights_to_come) == (2, 0)
    taxes = {(one.name, one.is_inclusive): one.amount for one in said.taxes}
    assert taxes == {("VAT", True): Decimal("13.96"), ("City tax", False): Decimal("9.30")}
    assert [one.methods for one in said.payments] == [["transfer"], ["cash"], ["pos"], ["transfer"]]
    page = await _page(lodge, bill)
    for words in (
        "Room 909, night of", "Jollof &lt;rice&gt;", "TRF-&lt;1&gt;",
        "Given back \N{MINUS SIGN}5.50",
        "of which City tax 5%", "of which VAT 7.5%", "Left as debt", "Paid with the order, Cash",
        "Chinedu Eze", "Refund, Bank transfer", "Too much",
    ):  # fmt: skip
        assert words in page, words
    assert "Pro forma" not in page
    assert "<rice>" not in page


async def test_money_handed_out_for_an_order_of_the_folio_is_told(lodge: Lodge) -> None:
    """Also when the order is cancelled then: it went out all the same."""
    stay = await lodge.arrive()
    order = await lodge.charge(stay, 100)
    await lodge.pay(stay, 300)
    back = {"amount": 60, "method": "cash"}
    await lodge.api.post(f"{ORDERS}/{order['id']}/refunds", back, status=201)
    said = await _check_sums(lodge, stay, await _bill(lodge, stay))
    assert [one.amount for one in said.payments] == [300, -60]
    await lodge.api.patch(f"{ORDERS}/{order['id']}", {"status": "cancelled"}, status=200)
    bill = await _bill(lodge, stay)
    said = await _check_sums(lodge, stay, bill)
    assert (said.charges_total, said.unspent, said.paid) == (0, 240, 240)
    assert "Given back for an order" in await _page(lodge, bill)


async def test_money_of_the_guest_is_not_expected_to_pay_for_others(lodge: Lodge) -> None:
    """An order of somebody else stays to be paid, however much the guest has paid ahead."""
    stay = await lodge.arrive()
    await lodge.pay(stay, 500)
    await _supper(lodge, stay, customer_name="Ngozi")
    said = await _check_sums(lodge, stay, await _bill(lodge, stay))
    assert (said.unspent, said.to_come_total, said.expected) == (500, 200, 27)


async def test_credit_that_was_spent_elsewhere_is_no_credit_of_the_stay(lodge: Lodge) -> None:
    """Of 200 that were paid ahead 150 went for something else: they pay no night any more."""
    stay = await lodge.book()
    await lodge.pay(stay, 200)
    spent = {
        "items": [{"product_name": "Spa", "quantity": 1, "custom_price": 150, "line_type": "fee"}],
        "customer_id": stay["customerId"],
        "payment_method": "credit",
        "amount_paid": 150,
    }
    await lodge.api.post(ORDERS, spent, status=201)
    bill = await _bill(lodge, stay)
    said = await _check_sums(lodge, stay, bill)
    assert (said.paid, said.unspent, said.spent_elsewhere) == (200, 50, 150)
    assert (said.to_come_total, said.expected) == (200, 150)
    page = await _page(lodge, bill)
    for words in ("of which spent elsewhere", "Credit left"):
        assert words in page, words


async def test_before_the_end_it_is_pro_forma(lodge: Lodge) -> None:
    """With the nights to come; the final bill has the next number, and no such mark."""
    stay = await lodge.book(deposit_amount=50)
    bill = await _bill(lodge, stay)
    assert (bill["number"], bill["isProvisional"]) == (1, True)
    page = await _page(lodge, bill)
    for words in ("Pro forma bill", f"{stay['shortCode']}-1", "Not charged yet", "Nights to come",
                  "Deposit asked for", "Expected in the end", "200.00"):  # fmt: skip
        assert words in page, words
    await lodge.act(stay, "check-in")
    await lodge.pay(stay, 100)
    await lodge.leave(stay)
    final = await _bill(lodge, stay)
    assert final["isProvisional"] is False
    said = await _kept(lodge, final)
    assert (said.status, said.nights, said.owed, said.unspent) == ("checked_out", 1, 0, 0)
    page = await _page(lodge, final)
    assert "Pro forma" not in page
    assert "Remaining" not in page


async def test_an_unchanged_stay_gets_the_same_bill(lodge: Lodge) -> None:
    """Ten requests at once make one bill; it keeps saying what it said when the stay goes on."""
    stay = await lodge.arrive()
    bills = await asyncio.gather(*(_bill(lodge, stay) for _ in range(10)))
    assert {bill["number"] for bill in bills} == {1}
    assert len({_path(bill).split("?")[0] for bill in bills}) == 1
    before = await _page(lodge, bills[0])
    await lodge.charge(stay, 30)
    later = await _bill(lodge, stay)
    assert later["number"] == 2
    assert await _page(lodge, bills[0]) == before
    assert await _page(lodge, later) != before


async def test_a_bill_is_a_file_too(lodge: Lodge) -> None:
    """On both papers, under its own name, with what the page says."""
    stay = await lodge.arrive()
    await _supper(lodge, stay)
    await lodge.pay(stay, 50)
    bill = await _bill(lodge, stay)
    for paper in ("", "&paper=80mm"):
        path = _path(bill).replace("?", ".pdf?") + paper
        file = await lodge.business.anybody.get(path, status=200)
        name = f'inline; filename="bill-{stay["shortCode"]}-1.pdf"'
        assert file.headers["content-disposition"] == name
        reader = PdfReader(io.BytesIO(file.body), strict=True)
        text = "\n".join(page.extract_text() for page in reader.pages)
        for words in ("Jollof <rice>", "Charges", "Payments", "Cash", "PRO FORMA", "27.00"):
            assert words in text, words


async def _printed(lodge: Lodge, bill: Body) -> str:
    file = await lodge.business.anybody.get(_path(bill).replace("?", ".pdf?"), status=200)
    reader = PdfReader(io.BytesIO(file.body), strict=True)
    return "\n".join(page.extract_text() for page in reader.pages)


async def test_a_dispute_is_told_on_the_bill(lodge: Lodge) -> None:
    """60 of 100 were unspent and are taken off what was paid; 40 had paid an order, and stay."""
    stay = await lodge.book(deposit_amount=100)
    await lodge.charge(stay, 40)
    link = await lodge.link(stay)
    await lodge.pay_link(link)
    await lodge.pay_link(link, "disputed")
    bill = await _bill(lodge, stay)
    said = await _check_sums(lodge, stay, bill)
    assert (said.paid, said.unspent) == (40, 0)
    [taken] = [one for one in said.payments if one.kind == "disputed"]
    assert (taken.amount, taken.taken) == (-60, 100)
    for text in (html.unescape(await _page(lodge, bill)), await _printed(lodge, bill)):
        flat = " ".join(text.split())
        assert "Taken back by the payer's bank, Online" in flat
        assert "100.00 taken, of which 40.00 had paid charges that stay paid" in flat
    await lodge.pay_link(link, "dispute_won")
    won = await _check_sums(lodge, stay, await _bill(lodge, stay))
    assert (won.paid, won.unspent) == (100, 60)
    assert "disputed" not in {one.kind for one in won.payments}


async def test_no_address_can_be_made_up(lodge: Lodge) -> None:
    """Another signature, a receipt's address, a bill's under receipts: all look alike."""
    stay = await lodge.arrive()
    order = await lodge.charge(stay, 30)
    path = _path(await _bill(lodge, stay))
    answer = await lodge.api.post(f"{ORDERS}/{order['id']}/receipt", status=200)
    receipt = _path(answer.data)
    for wrong in (
        path[:-1] + "~", path.replace("until=", "until=9"), path.replace("/bills", "/receipts"),
        receipt.replace("/receipts", "/bills"), f"/bills/nothing?{path.split('?')[1]}",
    ):  # fmt: skip
        page = await lodge.business.anybody.get(wrong, status=404)
        assert "no bill" in page.body.decode() or "no receipt" in page.body.decode()
    await lodge.api.post(f"{STAYS}/{lodge.room_type_id}/bill", {}, status=404)


async def test_the_address_of_the_hotel_is_that_of_its_store(lodge: Lodge) -> None:
    """The first store in use that has one."""
    stay = await lodge.arrive()
    stores = await lodge.business.client("stores:read", "stores:write")
    for fields in ({"name": "Bar"}, {"name": "Hotel <Lagos>", "address": "1 Marina\nLagos"}):
        await stores.post("/v1/stores", fields, status=201)
    page = await _page(lodge, await _bill(lodge, stay))
    assert "Hotel &lt;Lagos&gt;" in page
    assert "1 Marina" in page


async def test_a_provider_s_name_of_a_payment_is_on_no_bill(lodge: Lodge) -> None:
    """A deposit by a link is `Online`, of its day; its reference is for programs."""
    stay = await lodge.book(deposit_amount=60)
    await lodge.pay_link(await lodge.link(stay))
    await lodge.pay(stay, 10, "card", reference="SLIP-77")
    folio, bill = await lodge.folio(stay), await _bill(lodge, stay)
    online, desk = folio["payments"]
    assert (online["method"], desk["method"]) == ("cloove_pay", "pos")
    page = await _page(lodge, bill)
    assert "Online" in page
    assert "Card" in page
    assert "SLIP-77" in page
    assert online["reference"] not in page
