"""Finance in the browser: the figures of a time, transactions, expenses, debts and disputes."""

from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import asyncpg
import pytest

from tests.desk.browser import Browser, named
from tests.desk.conftest import SignsIn
from tests.desk.world import TEST, World, fill_all, pay
from tests.folios.lodge import Lodge
from tests.make import Business, Make
from tillhouse.access.scopes import Role

FINANCE = "/desk/finance"
EXPENSES = f"{FINANCE}/expenses"
READS = {"owner", "admin", "manager", "developer"}
SPENDS = READS - {"developer"}


@pytest.fixture
async def world(business: Business) -> World:
    """An order of 10,000 with 3,000 paid in cash, an expense of 20, and a dispute of 100."""
    return await fill_all(business)


async def read(business: Business, path: str) -> Any:
    """The data that the API tells."""
    return (await business.owner.get(path, headers=TEST, status=200)).data


async def test_figures_are_those_of_the_summary(
    owner: Browser, business: Business, world: World
) -> None:
    """Each sum of today as the API tells it, with what came in by each method."""
    told = await read(business, "/v1/finance/summary")
    page = await owner.open(FINANCE)
    for label, name in (
        ("Sales", "salesTotal"), ("Refunds", "refundsTotal"), ("Net sales", "netSalesTotal"),
        ("Tax within sales", "taxTotal"), ("Tips", "tipsTotal"), ("Fees of providers", "feesTotal"),
        ("Taken back by disputes", "disputesTotal"), ("Expenses", "expensesTotal"),
        ("Cash added", "cashExpected"), ("Customers owe", "pendingDebtTotal"),
        ("Discounts, already off", "discountsTotal"), ("Open orders", "pendingOrdersTotal"),
        ("Service charges within sales", "serviceChargesTotal"),
        ("Credit of customers", "creditsTotal"),
    ):  # fmt: skip
        minus = "\N{MINUS SIGN}" if told[name] < 0 else ""
        assert f"{label} {minus}${abs(told[name]):,.2f}" in page.words
    assert (told["salesTotal"], told["cashExpected"]) == (10_000, 2_980)
    assert told["disputesTotal"] == 100
    assert "Cash $3,000" in page.words
    assert "$10,000 in all. The most at" in page.words
    assert "Sales by hour" in page.words


async def test_a_period_is_shown_by_days(owner: Browser, business: Business) -> None:
    """By a preset, or by two days; the address keeps it."""
    page = await owner.open(FINANCE)
    assert "Nothing was sold in this time." in page.words
    presets = [link for link in page.links if link.startswith(f"{FINANCE}?from=")]
    assert len(presets) == 4
    line = {"product_name": "Tea", "quantity": 1, "custom_price": 700}
    spent = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    await business.made("/v1/orders", {"items": [line], "occurred_at": spent})
    yesterday, week = presets[0], presets[1]
    page = await owner.open(yesterday)
    assert "Sales by hour" in page.words
    assert "Wallet $0 at the end of that day" in page.words
    page = await owner.open(week)
    assert "Sales by day" in page.words
    assert "$700 in all" in page.words
    form = next(form for form in page.forms if form.action == FINANCE)
    assert f"{FINANCE}?from={form.fields['from']}&to={form.fields['to']}" == week
    assert named(page, href=week)[0]["aria-current"] == "true"
    await business.made("/v1/orders", {"items": [line], "occurred_at": "2025-03-01T12:00:00Z"})
    page = await owner.open(f"{FINANCE}?from=2025-03-01&to=2026-02-28")
    assert "$700 in all. The most at Sat 1 Mar with $700." in page.words
    assert "1 Mar 16 Apr" in page.words


@pytest.mark.parametrize(
    ("query", "field"),
    [("from=2026-02-02&to=2026-02-01", "to"), ("from=soon", "from"), ("to=2026-02-01", "from")],
)
async def test_a_wrong_period_is_refused_at_its_field(
    query: str, field: str, owner: Browser
) -> None:
    """And stays in its form, without figures."""
    page = await owner.open(f"{FINANCE}?{query}", status=422)
    assert [found["name"] for found in named(page, **{"aria-invalid": "true"})] == [field]
    form = next(form for form in page.forms if form.action == FINANCE)
    assert dict(part.split("=") for part in query.split("&")).items() <= form.fields.items()
    assert "Sums of this time" not in page.words


async def test_transactions_are_found(owner: Browser, business: Business, world: World) -> None:
    """By views, by method, by days and by words, all in the address."""
    path = f"{FINANCE}/transactions"
    page = await owner.open(path)
    total = len(await read(business, "/v1/finance/transactions"))
    assert f"1 to {total} of {total} transactions" in page.words
    assert "\N{MINUS SIGN}$20" in page.words
    spent = next(link for link in page.links if link == f"{path}?type=expense")
    page = await owner.open(spent)
    assert "1 to 1 of 1 transaction" in page.words
    form = next(form for form in page.forms if form.action == path)
    assert form.fields["type"] == "expense"
    page = await owner.open(f"{path}?method=transfer&type=expense")
    assert "No transactions here" in page.words
    today = datetime.now(UTC).date()
    page = await owner.open(f"{path}?from={today + timedelta(days=2)}")
    assert "No transactions here" in page.words
    found = (await read(business, "/v1/finance/transactions?type=sale"))[0]
    page = await owner.open(f"{path}?search={found['reference']}")
    assert "1 to 1 of 1 transaction" in page.words
    await owner.open(f"{path}?method=barter", status=422)


async def test_a_transaction_leads_to_what_it_is_for(
    owner: Browser, business: Business, world: World
) -> None:
    """An expense, a payment of an order, and a dispute with its link."""
    page = await owner.open(world.address(f"{FINANCE}/transactions/{{transaction_id}}"))
    assert world.address(f"{EXPENSES}/{{expense_id}}") in page.links
    assert "Expense \N{MINUS SIGN}$20.00" in page.words
    for query, link in (
        ("type=sale", "/desk/orders/{order_id}"),
        ("type=reversal", f"{FINANCE}/disputes/{{dispute_id}}"),
    ):
        found = (await read(business, f"/v1/finance/transactions?{query}"))[0]
        page = await owner.open(f"{FINANCE}/transactions/{found['id']}")
        assert world.address(link) in page.links
        assert found["reference"] in page.words


async def test_the_fee_of_a_provider_is_told(owner: Browser, business: Business) -> None:
    """Gross, fee and net, as the provider tells them."""
    link = await business.made(
        "/v1/payment-links/wallet/dynamic", {"title": "Deposit", "amount": 100}
    )
    await pay(business, link)
    found = (await read(business, "/v1/finance/transactions?type=wallet_deposit"))[0]
    money = found["providerMoney"]
    page = await owner.open(f"{FINANCE}/transactions/{found['id']}")
    assert money["fee"] > 0
    assert f"Paid $100.00 Fee \N{MINUS SIGN}${money['fee']:.2f}" in page.words
    assert f"Into the wallet ${money['net']:.2f}" in page.words
    assert f"/desk/links/{link['id']}" in page.links


async def test_a_row_tells_the_change_that_was_handed_back(
    owner: Browser, business: Business
) -> None:
    """The amount is what was handed over; what stayed is less."""
    line = {"product_name": "Tea", "quantity": 1, "custom_price": 750.5}
    await business.made("/v1/orders", {"items": [line], "amount_paid": 1000})
    assert "change $249.50" in (await owner.open(f"{FINANCE}/transactions")).words


async def test_a_transaction_has_a_receipt_and_is_asked_about(
    owner: Browser, world: World, business: Business
) -> None:
    """The receipt opens on this host; asking tells whether anything changed."""
    path = world.address(f"{FINANCE}/transactions/{{transaction_id}}")
    await owner.open(path)
    await owner.submit(f"{path}/receipt")
    assert owner.onward.startswith("/transaction-receipts/")
    await business.anybody.get(owner.onward, status=200)
    page = await owner.open(path)
    assert f"{path}/requery" not in [form.action for form in page.forms]
    found = (await read(business, "/v1/finance/transactions?type=wallet_withdrawal"))[0]
    path = f"{FINANCE}/transactions/{found['id']}"
    await owner.open(path)
    await owner.submit(f"{path}/requery")
    page = await owner.open(owner.onward)
    assert "The provider was asked. Nothing changed." in page.words
    await owner.open(f"{path}?asked=anything")


async def test_an_expense_is_recorded_once_and_taken_back(
    owner: Browser, business: Business
) -> None:
    """A wrong one is refused at its fields with all that was typed."""
    await owner.open(EXPENSES)
    typed = {"amount": "12.345", "category": "Fuel", "description": "Two drums",
             "method": "transfer", "occurred_at": "2099-01-01T10:00"}  # fmt: skip
    page = await owner.submit(EXPENSES, 422, **typed)
    wrong = {found["name"] for found in named(page, **{"aria-invalid": "true"})}
    assert wrong == {"amount", "occurred_at"}
    form = next(form for form in page.forms if form.action == EXPENSES)
    assert typed.items() <= form.fields.items()
    right = form.fields | {"amount": "12.34", "occurred_at": "2026-01-31T18:30"}
    await owner.send(EXPENSES, right)
    made = owner.onward
    await owner.send(EXPENSES, right)
    assert owner.onward == made
    [expense] = await read(business, "/v1/finance/expenses")
    assert (expense["amount"], expense["method"]) == (12.34, "transfer")
    assert expense["description"] == "Two drums"
    page = await owner.open(made)
    assert "Fuel $12.34" in page.words
    await owner.submit(f"{made}/delete")
    page = await owner.open(owner.onward)
    assert "No expenses here" in page.words
    await owner.open(made, status=404)


async def test_the_time_of_an_expense_is_that_of_the_business(
    make: Make, signed_in: SignsIn
) -> None:
    """A form tells no zone; what is no time at all is refused by the API."""
    lagos = await make.business(time_zone="Africa/Lagos")
    browser = await signed_in(lagos)
    await browser.open(EXPENSES)
    await browser.submit(EXPENSES, 422, amount="5", occurred_at="noon")
    await browser.submit(EXPENSES, 303, amount="5", occurred_at="2026-01-31T18:30")
    [expense] = await read(lagos, "/v1/finance/expenses")
    assert expense["occurredAt"].startswith("2026-01-31T17:30")


async def test_debts_and_disputes_lead_on(owner: Browser, business: Business, world: World) -> None:
    """To the order, to a link for the debt, and to what the provider took."""
    page = await owner.open(f"{FINANCE}/debts?status=active")
    debt = world.address(f"{FINANCE}/debts/{{debt_id}}")
    assert debt in page.links
    assert "1 to 1 of 1 debt" in page.words
    assert "No debts here" in (await owner.open(f"{FINANCE}/debts?status=paid")).words
    page = await owner.open(debt)
    assert "Balance $7,000.00" in page.words
    assert world.address("/desk/orders/{order_id}") in page.links
    assert world.address("/desk/links/new?debt_id={debt_id}") in page.links
    await business.made(
        world.address("/v1/orders/{order_id}/payments"), {"amount": 7000, "method": "cash"}
    )
    page = await owner.open(debt)
    assert world.address("/desk/links/new?debt_id={debt_id}") not in page.links
    page = await owner.open(f"{FINANCE}/disputes?status=evidence_due")
    dispute = world.address(f"{FINANCE}/disputes/{{dispute_id}}")
    assert dispute in page.links
    assert "No disputes here" in (await owner.open(f"{FINANCE}/disputes?status=won")).words
    page = await owner.open(dispute)
    assert "Send your evidence at Sandbox" in page.words
    assert "Fee $15.00 Taken by the provider $100.00" in page.words


async def test_a_dispute_names_its_order(owner: Browser, business: Business) -> None:
    """By its short code, in the list too: an id is nothing that people know it by."""
    line = {"product_name": "Tea", "quantity": 1, "custom_price": 80}
    body = {"items": [line], "payment_method": "cloove_pay"}
    order = await business.made("/v1/orders", body)
    link = await business.made(
        "/v1/payment-links", {"target_type": "sale", "target_id": order["id"]}
    )
    for state in ("exact", "disputed"):
        await pay(business, link, state)
    page = await owner.open(f"{FINANCE}/disputes")
    assert order["shortCode"] in page.words
    [address] = {one for one in page.links if one.startswith(f"{FINANCE}/disputes/")}
    page = await owner.open(address)
    assert f"Order {order['shortCode']}" in page.words
    assert f"/desk/orders/{order['id']}" in page.links


async def test_a_dispute_names_its_stay(
    business: Business, signed_in: SignsIn, sql: asyncpg.Connection
) -> None:
    """By its code, which leads to all disputes of that stay."""
    lodge = await Lodge.begin(business, sql)
    codes = {}
    for _ in range(2):
        stay = await lodge.book(deposit_amount=100)
        link = await lodge.link(stay)
        for state in ("exact", "disputed"):
            await lodge.pay_link(link, state)
        codes[stay["id"]] = stay["shortCode"]
    owner = await signed_in(business)
    for dispute in await read(business, "/v1/disputes"):
        page = await owner.open(f"{FINANCE}/disputes/{dispute['id']}")
        assert f"Stay {codes[dispute['reservationId']]}" in page.words
        [others] = [one for one in page.links if "reservation_id" in one]
        links = (await owner.open(others)).links
        prefix = f"{FINANCE}/disputes/"
        assert {one for one in links if one.startswith(prefix)} == {prefix + dispute["id"]}


@pytest.mark.parametrize("role", get_args(Role))
async def test_a_role_does_what_it_may(
    role: str, business: Business, make: Make, signed_in: SignsIn, world: World
) -> None:
    """There is no entry for roles that don't read finance, and no form that isn't allowed."""
    person = business if role == "owner" else await make.member(business, role)
    browser = await signed_in(person)
    assert (FINANCE in browser.page.links) == (role in READS)
    expense = world.address(f"{EXPENSES}/{{expense_id}}")
    for path in (
        FINANCE, f"{FINANCE}/transactions", f"{FINANCE}/transactions/{{transaction_id}}",
        f"{FINANCE}/debts", f"{FINANCE}/debts/{{debt_id}}", f"{FINANCE}/disputes",
        f"{FINANCE}/disputes/{{dispute_id}}", EXPENSES, expense,
    ):  # fmt: skip
        await browser.open(world.address(path), status=200 if role in READS else 403)
    actions = [form.action for form in browser.page.forms]
    assert (f"{expense}/delete" in actions) == (role in SPENDS)
    await browser.open(EXPENSES, status=200 if role in READS else 403)
    forms = [form for form in browser.page.forms if form.action == EXPENSES]
    assert bool(forms) == (role in SPENDS)
    fields = browser.page.forms[0].fields | {"amount": "5"}
    await browser.send(EXPENSES, fields, status=303 if role in SPENDS else 403)
    await browser.send(f"{expense}/delete", fields, status=303 if role in SPENDS else 403)


async def test_another_business_and_another_book_have_none_of_it(
    make: Make, business: Business, owner: Browser, signed_in: SignsIn, world: World
) -> None:
    """Not to be seen, asked about or taken back."""
    paths = [
        world.address(f"{FINANCE}/{end}")
        for end in ("transactions/{transaction_id}", "expenses/{expense_id}", "debts/{debt_id}",
                    "disputes/{dispute_id}")
    ]  # fmt: skip
    stranger = await signed_in(await make.business())
    for path in paths:
        await stranger.open(path, status=404)
    fields = stranger.page.forms[0].fields
    for end in ("receipt", "requery"):
        await stranger.send(f"{paths[0]}/{end}", fields, status=404)
    await stranger.send(f"{paths[1]}/delete", fields, status=404)
    await owner.open("/desk")
    await owner.submit("/desk/mode", mode="live")
    for path in paths:
        await owner.open(path, status=404)
    assert len(await read(business, "/v1/finance/expenses")) == 1


async def test_a_role_that_sees_no_finance_is_told_so(
    business: Business, make: Make, signed_in: SignsIn
) -> None:
    """In words for people, with what to do."""
    cashier = await signed_in(await make.member(business, "cashier"))
    for path in ("/desk/finance", "/desk/wallet"):
        page = await cashier.open(path, 403)
        assert "Your role (Cashier) doesn't open this page. Ask the owner" in page.alerts[0]


async def test_a_payment_by_card_has_one_name(owner: Browser, business: Business) -> None:
    """Whether it came by the till's own machine or not; the filter finds it by that name."""
    line = {"product_name": "Jollof rice", "quantity": 1, "custom_price": 20}
    order = {"items": [line], "amount_paid": 20, "payment_method": "pos"}
    await business.made("/v1/orders", order)
    page = await owner.open("/desk/finance/transactions?method=card")
    assert any(link.startswith("/desk/finance/transactions/") for link in page.links)
    for path in ("/desk/finance/transactions", "/desk/finance/expenses", "/desk/orders"):
        page = await owner.open(path)
        assert "POS" not in page.words
        assert owner.response.body.decode().count(">Card</option>") <= 1
