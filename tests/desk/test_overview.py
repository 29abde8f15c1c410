"""The overview: every figure is that of the API, and each role sees what it may."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import get_args
from uuid import UUID
from zoneinfo import ZoneInfo

import asyncpg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.desk.browser import Browser
from tests.desk.conftest import SignsIn
from tests.make import Business, Make
from tillhouse.access.scopes import Role
from tillhouse.desk import charts
from tillhouse.desk.frame.words import MINUS, money, money_column, when
from tillhouse.desk.overview.figures import hours

SEES_FINANCE = {"owner", "admin", "manager", "developer"}
SEES_ORDERS = SEES_FINANCE | {"cashier", "kitchen", "front_desk"}


async def sell(business: Business, amount: int, **fields: object) -> None:
    """A paid sale in the test book."""
    line = {"product_name": "Jollof rice", "quantity": 1, "custom_price": amount}
    body = {"items": [line], "amount_paid": amount, "payment_method": "cash", **fields}
    await business.made("/v1/orders", body)


async def test_the_figures_are_those_of_the_api(owner: Browser, business: Business) -> None:
    """Of today, of the book that is shown, and the same as in its answers."""
    await sell(business, 4500)
    await sell(business, 3000, amount_paid=1000)
    page = await owner.open("/desk")
    test = {"service-environment": "test"}
    summary = (await business.owner.get("/v1/finance/summary", headers=test)).data
    for name in ("salesTotal", "pendingOrdersTotal"):
        assert money(Decimal(str(summary[name])), "USD") in page.words
    assert (summary["salesTotal"], summary["pendingOrdersTotal"]) == (7500, 2000)
    assert "on 1 open order " in page.words
    assert "Part paid" in page.words
    await owner.submit("/desk/mode", mode="live")
    page = await owner.open("/desk")
    assert "$7,500" not in page.words
    assert "[Test]" not in page.title


@pytest.mark.parametrize("role", get_args(Role))
async def test_a_role_sees_what_it_may(
    role: str, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """Sums for those who may read finance, orders for those who may read orders, else neither."""
    await sell(business, 4500)
    person = business if role == "owner" else await make.member(business, role)
    page = (await signed_in(person)).page
    assert ("Wallet" in page.words) == (role in SEES_FINANCE)
    assert ("Latest orders" in page.words) == (role in SEES_ORDERS)
    assert ("Your role sees no sales" in page.words) == (role not in SEES_ORDERS)
    entries = [found for _, found in page.elements if "data-go" in found]
    assert bool(entries) == (role in SEES_ORDERS)


async def test_another_business_is_not_seen(owner: Browser, make: Make, signed_in: SignsIn) -> None:
    """Nor by the store that a cookie names."""
    other = await make.business(business_name="Other House")
    store = await other.store(name="Their store")
    await sell(other, 8800)
    owner.cookies["tillhouse-store"] = store["id"]
    page = await owner.open("/desk")
    assert "8,800" not in page.words
    assert "Their store" not in page.words
    assert "8,800" in (await signed_in(other)).page.words


async def test_the_list_of_calls_is_that_of_the_page(owner: Browser, business: Business) -> None:
    """Each can be sent as it stands with a key that has the scope that is named beside it."""
    await sell(business, 4500)
    page = await owner.open("/desk")
    copied = [found["data-copy"] or "" for _, found in page.elements if "data-copy" in found]
    assert len(copied) == 4
    key = await business.client("finance:read", "orders:read")
    for line in copied:
        address = line.partition('"$BASE')[2].partition('"')[0]
        await key.get(address, status=200)


HOURS = [f"2026-11-20T{hour:02}:00:00+01:00" for hour in range(24)]


def _day(date: str, values: list[int]) -> dict[str, object]:
    slots = [
        {"intervalStart": start.replace("2026-11-20", date), "value": value}
        for start, value in zip(HOURS, values, strict=True)
    ]
    return {"date": date, "currency": "NGN", "velocityData": slots, "salesTotal": sum(values)}


@given(
    st.lists(st.integers(0, 10**9), min_size=24, max_size=24),
    st.lists(st.integers(0, 10**9), min_size=24, max_size=24),
    st.integers(0, 24 * 60 - 1),
)
def test_hours_sum_up_to_the_day(today: list[int], before: list[int], minute: int) -> None:
    """The hours that are over are told by their sum, on both days alike."""
    local = datetime.fromisoformat("2026-11-27T00:00:00+01:00") + timedelta(minutes=minute)
    over = minute // 60
    found = hours(_day("2026-11-27", today), _day("2026-11-20", before), local)
    assert found.today == money(sum(today[:over]), "NGN")
    assert found.before == money(sum(before[:over]), "NGN")
    assert (found.change is None) == (sum(before[:over]) == 0)
    assert found.until == f"{over:02}:00"
    shown = {row.label for row in found.rows}
    sold = {f"{hour:02}" for hour in range(24) if today[hour] or before[hour]}
    assert sold <= shown


@pytest.mark.parametrize("today", ["2026-10-25", "2026-11-01", "2026-03-29", "2026-04-05"])
def test_hours_of_days_on_which_clocks_are_changed(today: str) -> None:
    """A day of 25 hours, one of 23, and the same weekday after each: matched by their names."""

    def day(date: str) -> dict[str, object]:
        midnight = datetime.fromisoformat(date).replace(tzinfo=ZoneInfo("Europe/Berlin"))
        end = (midnight + timedelta(days=1)).astimezone(UTC)
        start, slots = midnight.astimezone(UTC), list[dict[str, object]]()
        while start < end:
            local = start.astimezone(ZoneInfo("Europe/Berlin"))
            slots.append({"intervalStart": local.isoformat(), "value": 1})
            start += timedelta(hours=1)
        return {"date": date, "currency": "EUR", "velocityData": slots}

    before = (datetime.fromisoformat(today) - timedelta(days=7)).date().isoformat()
    local = datetime.fromisoformat(today).replace(tzinfo=ZoneInfo("Europe/Berlin"), hour=14)
    found = hours(day(today), day(before), local)
    assert found.until == "14:00"
    told = [int((row.today or "€0").removeprefix("€")) for row in found.rows]
    told_before = [int(row.before.removeprefix("€")) for row in found.rows]
    assert sum(told_before) == len(day(before)["velocityData"])  # type: ignore[arg-type]
    assert [row.label for row in found.rows] == [f"{hour:02}" for hour in range(24)]
    assert sum(told[:14]) == int(found.today.removeprefix("€"))


@given(st.lists(st.floats(0, 1e12), max_size=40))
def test_an_axis_is_round_and_above_all(values: list[float]) -> None:
    """No bar leaves the chart."""
    top = charts.top_of(values)
    assert top >= max(values, default=0)
    assert top <= max(10 * max(values, default=0), 1)


@given(st.decimals(-(10**12), 10**12, places=3))
def test_money_is_told_exactly(amount: Decimal) -> None:
    """Read back it is the same amount."""
    text = money(amount, "NGN")
    assert Decimal(text.replace("₦", "").replace(",", "").replace(MINUS, "-")) == amount


def test_a_column_has_decimals_where_one_needs_them() -> None:
    """All of them, or none."""
    assert money_column([1, 2500], "NGN") == ["₦1", "₦2,500"]
    assert money_column([1, Decimal("2500.5")], "NGN") == ["₦1.00", "₦2,500.50"]
    assert money(-3, "XAF") == f"{MINUS}XAF 3"


@pytest.mark.parametrize(
    ("at", "told"),
    [
        ("2026-11-27T08:05:00Z", "09:05"), ("2026-11-26T23:30:00Z", "00:30"),
        ("2026-11-26T22:30:00Z", "Yesterday 23:30"), ("2026-11-02T12:00:00Z", "2 Nov"),
        ("2025-11-27T12:00:00Z", "27 Nov 2025"),
    ],
)  # fmt: skip
def test_times_are_of_the_business(at: str, told: str) -> None:
    """In its zone, by its days."""
    today = datetime(2026, 11, 27, 12, tzinfo=UTC).date()
    assert when(at, "Africa/Lagos", today) == told


async def test_what_waits_is_told_with_its_page(
    owner: Browser, business: Business, make: Make, signed_in: SignsIn
) -> None:
    """By the counts of the API; each line leads to a list of as many."""
    page = await owner.open("/desk")
    assert "Needs attention" not in page.words
    await sell(business, 4500, amount_paid=1000)
    await sell(business, 300, amount_paid=0)
    await sell(business, 20, amount_paid=0, scheduled_for="2099-01-31T18:30:00Z")
    await business.made("/v1/products", {"name": "Zobo", "base_price": 5, "tracks_stock": True})
    page = await owner.open("/desk")
    for text in ("2 orders are not paid in full", "1 order for later is not confirmed",
                 "1 product is out of stock"):  # fmt: skip
        assert text in page.words
    unpaid = next(link for link in page.links if "payment_status=pending,partial" in link)
    page = await owner.open(unpaid)
    assert len([link for link in page.links if link.startswith("/desk/orders/")]) == 2
    kitchen = await signed_in(await make.member(business, "housekeeping"))
    page = await kitchen.open("/desk")
    assert "Needs attention" not in page.words


async def test_what_waits_is_counted_as_it_is_listed(owner: Browser, business: Business) -> None:
    """Of all stores, whichever is chosen; goods that were never in stock are out of it, too."""
    stores = [await business.store(name=name) for name in ("Lekki", "Yaba")]
    for store in stores:
        await sell(business, 300, amount_paid=0, store_id=store["id"])
        later = "2099-01-31T18:30:00Z"
        await sell(business, 20, amount_paid=0, store_id=store["id"], scheduled_for=later)
    goods = {"base_price": 5, "tracks_stock": True, "low_stock_threshold": 9}
    names = ("Never in stock", "In one store", "Sold out", "Off sale")
    made = {name: await business.made("/v1/products", {"name": name, **goods}) for name in names}
    for name, quantity in (("In one store", 2), ("Sold out", 3)):
        body = {"variant_id": made[name]["variants"][0]["id"], "kind": "opening"}
        body |= {"quantity": quantity, "store_id": stores[0]["id"]}
        await business.made("/v1/inventory/adjustments", body)
    await business.made("/v1/inventory/adjustments", {**body, "kind": "waste"})
    path = f"/v1/products/{made['Off sale']['id']}"
    test = {"service-environment": "test"}
    await business.owner.patch(path, {"is_active": False}, headers=test, status=200)
    await owner.open("/desk/account")
    await owner.submit("/desk/store", store_id=stores[0]["id"])
    page = await owner.open("/desk")
    tasks = {link for link in page.links if "stores=all" in link or "out_of_stock" in link}
    assert len(tasks) == 3
    for text in ("2 orders are not paid in full", "2 orders for later are not confirmed",
                 "2 products are out of stock"):  # fmt: skip
        assert text in page.words
    for link in tasks:
        page = await owner.open(link)
        count = "2 products" if "out_of_stock" in link else "2 orders"
        assert f"1 to 2 of {count}" in page.words
        assert ("Orders of all stores" in page.words) == ("stores=all" in link)
        if "out_of_stock" in link:
            assert [name for name in names if name in page.words] == [names[0], names[2]]
    await owner.open("/desk/orders?status=scheduled")
    assert "1 to 1 of 1 order " in owner.page.words


async def test_nothing_is_compared_with_a_time_before_the_business(
    owner: Browser, business: Business, sql: asyncpg.Connection
) -> None:
    """A business that was there a week ago and sold nothing is told so."""
    page = await owner.open("/desk")
    assert "Nothing was sold yet today. " in page.words
    assert "Nothing was sold until" not in page.words
    await sql.execute(
        "UPDATE businesses SET created_at = created_at - interval '9 days' WHERE id = $1",
        UUID(business.id),
    )
    page = await owner.open("/desk")
    assert "Nothing was sold until" in page.words
    assert "and nothing last" in page.words


async def test_an_empty_live_book_leads_to_test_where_the_orders_are(
    owner: Browser, business: Business
) -> None:
    """Not where there are none at all, and not in test."""
    await owner.submit("/desk/mode", mode="live")
    page = await owner.open("/desk")
    assert "Show test" not in page.words
    await sell(business, 4500)
    page = await owner.open("/desk")
    assert "Show test" in page.words
    await owner.submit("/desk/mode", mode="test")
    page = await owner.open("/desk")
    assert "Jollof rice" in page.words
    assert "Show test" not in page.words
