"""A service charge in the browser: what the form of a sale says of it, and takes."""

from tests.desk.conftest import SignsIn
from tests.desk.goods import TEST, form_of, wrong
from tests.make import Make

CHANGE = "/desk/sell/change"


async def test_a_sale_is_charged_for_service(make: Make, signed_in: SignsIn) -> None:
    """As the page says before; another amount is typed, and 0 takes it off."""
    business = await make.business(business_type="restaurant")
    browser = await signed_in(business)
    made = await business.made("/v1/products", {"name": "Supper", "base_price": 1000})
    line = "_".join([*(one["id"].replace("-", "") for one in (made, made["variants"][0])), "1"])
    address = f"/desk/sell?cart={line}"
    assert "takes it off" not in (await browser.open(address)).words
    body = {"service_charge_percent": 12.5, "service_charge_modes": ["dine_in", "takeaway"]}
    await business.owner.patch("/v1/business", body, status=200)
    sales = (("dine_in", "", 125), ("dine_in", "0", 0), ("room_service", "", 0),
             ("room_service", "1,000.5", 1000.5))  # fmt: skip
    for mode, typed, charge in sales:
        page = await browser.open(address)
        assert "Empty: 12.5 %" in page.words
        assert "for Dine in, Takeaway. 0 takes it off." in page.words
        await browser.submit(CHANGE, service_mode=mode, service_charge_amount=typed)
        page = await browser.open(browser.onward)
        fields = form_of(page, CHANGE).fields
        await browser.send("/desk/sell/record", fields)
        order_id = browser.onward.partition("#")[0].rpartition("/")[2]
        order = (await business.owner.get(f"/v1/orders/{order_id}", headers=TEST, status=200)).data
        assert (order["serviceChargeAmount"], order["totalAmount"]) == (charge, 1000 + charge)
    page = await browser.open(browser.onward.partition("#")[0])
    assert "Service charge $1,000.50" in page.words
    fields |= {"service_charge_amount": "a tenth"}
    page = await browser.send("/desk/sell/record", fields, status=422)
    assert wrong(page) == ["service_charge_amount"]
