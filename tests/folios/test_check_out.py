"""Check-out: what was slept is charged, what is owed is paid or left as a debt."""

from tests.folios.lodge import Lodge, day


async def test_a_stay_that_owes_nothing_ends(lodge: Lodge) -> None:
    """Nights that no audit has posted are charged; the rest of the deposit stays credit."""
    stay = await lodge.arrive(3)
    await lodge.pay(stay, 500)
    await lodge.shift(stay, 3)
    folio = await lodge.leave(stay)
    assert (folio["status"], folio["unspentAmount"], folio["amountOwed"]) == ("checked_out", 200, 0)
    assert [one["night"] for one in folio["charges"]] == [day(-3), day(-2), day(-1)]
    assert all(one["remainingAmount"] == 0 for one in folio["charges"])
    assert (await lodge.read(stay))["status"] == "checked_out"
    assert (await lodge.room_of(stay))["status"] == "dirty"
    assert (await lodge.events())["hotel.reservation.checked_out"] == 1
    assert (
        (await lodge.leave(stay, status=400))
        .json["message"]
        .startswith("The reservation is checked_out")
    )
    assert (await lodge.give_back(stay, 200))["unspentAmount"] == 0


async def test_a_guest_who_owes_stays(lodge: Lodge) -> None:
    """The refusal names the amount and leaves nothing behind; a payment settles it."""
    stay = await lodge.arrive(1)
    await lodge.charge(stay, 30)
    await lodge.shift(stay, 1)
    refused = await lodge.leave(stay, status=400)
    assert "owes 130.00 USD" in refused.json["message"]
    assert (await lodge.folio(stay))["amountOwed"] == 30
    assert (await lodge.read(stay))["status"] == "checked_in"
    await lodge.pay(stay, 130)
    folio = await lodge.leave(stay)
    assert (folio["amountOwed"], folio["unspentAmount"]) == (0, 0)


async def test_a_debt_may_stay(lodge: Lodge) -> None:
    """The guest's debts are those of the orders."""
    stay = await lodge.arrive(1)
    await lodge.charge(stay, 30)
    await lodge.pay(stay, 50)
    folio = await lodge.leave(stay, leave_as_debt=True)
    assert (folio["amountOwed"], folio["status"]) == (80, "checked_out")
    reader = await lodge.business.client("finance:read", "orders:read")
    assert (await reader.get("/v1/finance/summary", status=200)).data["pendingDebtTotal"] == 80
    assert (await lodge.pay(stay, 80))["amountOwed"] == 0
    assert (await reader.get("/v1/finance/summary", status=200)).data["pendingDebtTotal"] == 0


async def test_an_early_departure_owes_what_was_slept(lodge: Lodge) -> None:
    """Of five nights the two that are over; of a stay that ends at once, the first."""
    long, short = await lodge.arrive(5), await lodge.arrive(5)
    await lodge.shift(long, 2)
    assert len((await lodge.leave(long, leave_as_debt=True))["charges"]) == 2
    assert len((await lodge.leave(short, leave_as_debt=True))["charges"]) == 1


async def test_taxes_come_with_the_night(lodge: Lodge) -> None:
    """One in the price, one on top: the order tells both, and owes the sum."""
    taxes = [
        {"name": "VAT", "rate": 7.5, "is_inclusive": True}, {"name": "City tax", "rate": 5},
    ]  # fmt: skip
    plan = await lodge.made(
        "rate-plans", room_type_id=lodge.room_type_id, name="Flex", price=100, taxes=taxes
    )
    stay = await lodge.arrive(1, rate_plan_id=plan["id"])
    await lodge.shift(stay, 1)
    folio = await lodge.leave(stay, leave_as_debt=True)
    order = (await lodge.api.get(f"/v1/orders/{folio['charges'][0]['orderId']}", status=200)).data
    assert float(stay["totalAmount"]) == float(folio["amountOwed"]) == order["totalAmount"]
    assert (order["totalAmount"], order["taxAmount"]) == (104.65, 11.63)
    assert order["items"][0]["productName"].startswith(f"Room {stay['roomNumber']}, night of ")
    assert order["hotelReservationId"] == stay["id"]
    shown = [
        (tax["name"], float(tax["taxableAmount"]), float(tax["amount"]))
        for tax in folio["nightTaxes"]
    ]
    assert shown == [("VAT", 93.02, 6.98), ("City tax", 93.02, 4.65)]


async def test_the_base_of_a_tax_on_top_is_told(lodge: Lodge) -> None:
    """It is the price without the taxes that it holds: 7.5% of 98 with 7% inside are 6.87."""
    taxes = [{"name": "Levy", "rate": 7, "is_inclusive": True}, {"name": "VAT", "rate": 7.5}]
    plan = await lodge.made(
        "rate-plans", room_type_id=lodge.room_type_id, name="Taxed", price=98, taxes=taxes
    )
    stay = await lodge.arrive(2, rate_plan_id=plan["id"])
    assert (await lodge.folio(stay))["nightTaxes"][1]["taxableAmount"] == 0
    await lodge.shift(stay, 2)
    folio = await lodge.leave(stay, leave_as_debt=True)
    shown = [(float(tax["taxableAmount"]), float(tax["amount"])) for tax in folio["nightTaxes"]]
    assert shown == [(183.18, 12.82), (183.18, 13.74)]
    assert float(folio["chargesTotal"]) == 2 * 98 + 13.74


async def test_a_scheduled_order_has_to_be_settled_first(lodge: Lodge) -> None:
    """Breakfast for somebody who has left would come as nobody's."""
    stay = await lodge.arrive(1)
    order = await lodge.charge(stay, 20)
    later = {"status": "scheduled", "scheduled_for": f"{day(1)}T08:00:00Z"}
    await lodge.api.patch(f"/v1/orders/{order['id']}", later, status=200)
    refused = await lodge.leave(stay, leave_as_debt=True, status=400)
    assert order["shortCode"] in refused.json["message"]
    await lodge.api.patch(f"/v1/orders/{order['id']}", {"status": "cancelled"}, status=200)
    await lodge.leave(stay, leave_as_debt=True)


async def test_nothing_is_charged_to_a_stay_that_is_over(lodge: Lodge) -> None:
    """The stay has ended, and nobody would see the charge."""
    stay = await lodge.arrive(1)
    await lodge.leave(stay, leave_as_debt=True)
    assert await lodge.late(stay, 20) is None


async def test_only_guests_in_the_house_leave(lodge: Lodge) -> None:
    """A booking is no stay yet."""
    stay = await lodge.book()
    assert (
        (await lodge.leave(stay, status=400))
        .json["message"]
        .startswith("The reservation is booked")
    )
