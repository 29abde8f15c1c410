"""The total of a sale in the browser, before it is recorded."""

from tests.desk.conftest import SignsIn
from tests.desk.goods import TEST, form_of, wrong
from tests.make import Business, Make
from tillhouse.desk.frame.words import MINUS

CHANGE, TOTAL, RECORD = "/desk/sell/change", "/desk/sell/total", "/desk/sell/record"
BEFORE = "Before discount, tax and charges"


async def _line(business: Business, **fields: object) -> str:
    """A product as a line of a cart, one of it."""
    made = await business.made("/v1/products", {"name": "Supper", "base_price": 1000, **fields})
    ids = (one["id"].replace("-", "") for one in (made, made["variants"][0]))
    return "_".join([*ids, "1"])


async def test_a_total_is_shown_and_then_recorded(make: Make, signed_in: SignsIn) -> None:
    """By line and in all; what was typed stays, nothing is recorded, and the order is the same."""
    business = await make.business(business_type="restaurant")
    browser = await signed_in(business)
    body = {"service_charge_percent": 10, "service_charge_modes": ["dine_in"]}
    await business.owner.patch("/v1/business", body, status=200)
    cart = f"{await _line(business, tax_rate=7.5)}~x_2_50_{b'Bread'.hex()}"
    page = await browser.open(f"/desk/sell?cart={cart}&service_mode=dine_in")
    assert f"{BEFORE} $1,100" in page.words
    typed = {"discount_amount": "110", "service_mode": "dine_in", "notes": "no onions",
             "customer_name": "Somebody new", "tags": "VIP, regular", "name": "Wine",
             "price": "12.5", "table_label": "T4"}  # fmt: skip
    fields = form_of(page, CHANGE).fields | typed
    page = await browser.send(TOTAL, fields, status=200)
    assert BEFORE not in page.words
    assert "Supper $100.00 off, $67.50 tax $967.50" in page.words
    assert "$10.00 off $90.00" in page.words
    sums = ("Subtotal $1,100.00", f"Discount {MINUS}$110.00", "Service charge $99.00", "Tax $67.50",
            "Total $1,156.50")  # fmt: skip
    assert " ".join(sums) in page.words
    kept = form_of(page, CHANGE).fields
    assert {name: kept[name] for name in typed} == typed
    orders = await business.owner.get("/v1/orders", headers=TEST, status=200)
    people = await business.owner.get("/v1/customers", headers=TEST, status=200)
    assert (orders.data, people.data) == ([], [])
    await browser.send(RECORD, kept)
    path = browser.onward.partition("#")[0].replace("/desk", "/v1")
    order = (await business.owner.get(path, headers=TEST, status=200)).data
    assert (order["totalAmount"], order["notes"]) == (1156.5, "no onions")


async def test_tax_within_is_told_below_the_total(make: Make, signed_in: SignsIn) -> None:
    """As an order tells it."""
    business = await make.business()
    browser = await signed_in(business)
    await business.owner.patch("/v1/business", {"tax_inclusive": True}, status=200)
    page = await browser.open(f"/desk/sell?cart={await _line(business, tax_rate=25)}")
    page = await browser.send(TOTAL, form_of(page, CHANGE).fields, status=200)
    assert "Total $1,000.00 Tax within the total $200.00" in page.words


async def test_a_refusal_stands_at_its_field(make: Make, signed_in: SignsIn) -> None:
    """As recording says it, and the lines are those before."""
    business = await make.business()
    browser = await signed_in(business)
    line = await _line(business, tracks_stock=True)
    page = await browser.open(f"/desk/sell?cart={line}")
    fields = form_of(page, CHANGE).fields
    for more, status, at in (
        ({"discount_amount": "1001"}, 422, ["discount_amount"]),
        ({"discount_amount": "a tenth"}, 422, ["discount_amount"]),
        ({"tags": "fine,!!!"}, 422, ["tags"]),
        ({}, 400, []),
    ):
        told = await browser.send(TOTAL, fields | more, status=status)
        recorded = await browser.send(RECORD, fields | more, status=status)
        assert wrong(told) == wrong(recorded) == at
        assert f"{BEFORE} $1,000" in told.words
        assert "Total $" not in told.words
    assert "There is not enough of Supper" in told.words
    for cart in ("", "nonsense", f"{line}~{'0' * 32}__1"):
        page = await browser.send(TOTAL, fields | {"cart": cart}, status=422)
        assert "Total $" not in page.words


async def test_a_role_that_records_nothing_is_refused(make: Make, signed_in: SignsIn) -> None:
    """The kitchen."""
    business = await make.business()
    owner = await signed_in(business)
    fields = form_of(await owner.open("/desk/sell"), CHANGE).fields
    cook = await signed_in(await make.member(business, "kitchen"))
    await cook.send(TOTAL, {**fields, "cart": await _line(business)}, status=403)
