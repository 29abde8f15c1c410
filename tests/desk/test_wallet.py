"""The wallet in the browser: its statement, withdrawals, payout accounts, and the switch."""

import asyncio
from typing import Any, get_args

import pytest

from tests.desk.browser import Browser, named
from tests.desk.conftest import SignsIn
from tests.desk.world import TEST, World, fill_all, pay, withdraw
from tests.make import PASSWORD, Business, Make
from tillhouse.access.scopes import Role

WALLET = "/desk/wallet"
WITHDRAW, WITHDRAWALS = f"{WALLET}/withdraw", f"{WALLET}/withdrawals"
ACCOUNTS = f"{WALLET}/accounts"
READS = {"owner", "admin", "manager", "developer"}
CHANGES = {"owner", "admin"}


@pytest.fixture
async def world(business: Business) -> World:
    """A wallet of 1,000 less fees, with a payout account and a withdrawal of 50."""
    return await fill_all(business)


async def read(business: Business, path: str) -> Any:
    """The data that the API tells."""
    return (await business.owner.get(path, headers=TEST, status=200)).data


async def prove(browser: Browser, address: str, status: int = 303) -> None:
    """Give the password that the page asks for; the form goes on."""
    assert "Confirm it is you" in browser.page.words
    await browser.submit(address, status, step_up_password=PASSWORD)


async def test_the_wallet_is_that_of_the_api(
    owner: Browser, business: Business, world: World
) -> None:
    """Its sums, the newest withdrawals and accounts, and each change with the balance after it."""
    told = await read(business, "/v1/wallet")
    page = await owner.open(WALLET)
    for label, name in (("Available", "available"), ("Held", "held"), ("Balance", "balance"),
                        ("On its way out", "pendingWithdrawalsAmount")):  # fmt: skip
        amount = told[name]
        shown = f"{amount:,.0f}" if amount == int(amount) else f"{amount:,.2f}"
        assert f"{label} ${shown}" in page.words
    assert told["held"] == 50
    for end in ("withdrawals/{withdrawal_id}", "accounts/{payout_account_id}"):
        assert world.address(f"{WALLET}/{end}") in page.links
    statement = await read(business, "/v1/wallet/statement")
    entry = next(one for one in statement if one["type"] == "wallet_funding")
    assert f"/desk/finance/transactions/{entry['transactionId']}" in page.links
    assert f"Payment, less the fee {entry['reference']}" in page.words


async def test_a_statement_goes_on(owner: Browser, business: Business) -> None:
    """By its cursor, to the oldest entry and back."""
    for _ in range(27):
        link = await business.made(
            "/v1/payment-links/wallet/dynamic", {"title": "Deposit", "amount": 100}
        )
        await pay(business, link)
    page = await owner.open(WALLET)
    transactions = "/desk/finance/transactions/"
    newest = [link for link in page.links if link.startswith(transactions)]
    older = next(link for link in page.links if link.startswith(f"{WALLET}?cursor="))
    page = await owner.open(older)
    oldest = [link for link in page.links if link.startswith(transactions)]
    assert (len(newest), len(oldest)) == (25, 2)
    told = await read(business, "/v1/wallet/statement")
    assert [*newest, *oldest] == [f"{transactions}{one['transactionId']}" for one in told]
    assert "Newest" in page.words
    assert "Older" not in page.words
    await owner.open(f"{WALLET}?cursor=broken", status=422)


async def test_a_statement_of_days_tells_their_sums(
    owner: Browser, business: Business, world: World
) -> None:
    """As the API adds them up; other days have none of it, and keep their filter."""
    answer = await business.owner.get(
        "/v1/wallet/statement?from=2020-01-01&to=2099-12-31", headers=TEST, status=200
    )
    sums = answer.json["summary"]
    page = await owner.open(f"{WALLET}?from=2020-01-01&to=2099-12-31")
    for label, name in (("Balance before", "openingBalance"), ("Came in", "totalIn"),
                        ("Went out", "totalOut"), ("Balance after", "closingBalance")):  # fmt: skip
        assert f"{label} ${sums[name]:,.2f}" in page.words
    assert sums["totalIn"] > 0
    page = await owner.open(f"{WALLET}?from=2020-01-01&to=2020-01-31")
    assert "Nothing came in or went out in these days." in page.words
    assert "Came in $0.00" in page.words
    for query, field in (("from=yesterday", "from"), ("from=2020-02-02&to=2020-02-01", "to")):
        page = await owner.open(f"{WALLET}?{query}", status=422)
        assert [found["name"] for found in named(page, **{"aria-invalid": "true"})] == [field]
        assert "Payout accounts" in page.words
        assert "Nothing came in" not in page.words


async def test_a_withdrawal_asks_for_the_password_and_is_made_once(
    owner: Browser, business: Business, world: World
) -> None:
    """All that was typed survives the password; a second press is the same withdrawal."""
    await owner.open(WITHDRAW)
    form = next(form for form in owner.page.forms if form.action == WITHDRAW)
    fields = form.fields | {"amount": "12.50", "narration": "Takings of the week"}
    await owner.send(WITHDRAW, fields, 200)
    await prove(owner, WITHDRAW)
    made = owner.onward
    await owner.open(WALLET)
    await owner.send(WITHDRAW, fields | {"csrf": owner.page.forms[0].fields["csrf"]})
    assert owner.onward == made
    page = await owner.open(made)
    assert "Withdrawal of $12.50 Requested" in page.words
    assert "Takings of the week" in page.words
    assert len(await read(business, "/v1/wallet/withdrawals")) == 2
    page = await owner.open(f"{WITHDRAWALS}?status=requested,processing")
    assert "1 to 2 of 2 withdrawals" in page.words
    assert "No withdrawals here" in (await owner.open(f"{WITHDRAWALS}?status=completed")).words


async def test_a_wrong_withdrawal_is_refused_at_its_fields(
    owner: Browser, business: Business, world: World
) -> None:
    """One that the wallet can't pay is refused above the form; nothing is lost."""
    await owner.open(WITHDRAW)
    typed = {"amount": "1.234", "narration": "Takings", "reference": "PAYOUT-1"}
    await owner.submit(WITHDRAW, 200, **typed)
    await prove(owner, WITHDRAW, 422)
    page = owner.page
    assert [found["name"] for found in named(page, **{"aria-invalid": "true"})] == ["amount"]
    form = next(form for form in page.forms if form.action == WITHDRAW)
    assert typed.items() <= form.fields.items()
    await owner.submit(WITHDRAW, 400, amount="99999")
    form = next(form for form in owner.page.forms if form.action == WITHDRAW)
    assert form.fields["reference"] == "PAYOUT-1"
    assert owner.page.alerts[0]
    assert len(await read(business, "/v1/wallet/withdrawals")) == 1


async def test_a_withdrawal_pays_a_refund_out(
    owner: Browser, business: Business, world: World
) -> None:
    """The order in the address is that of the refund."""
    line = {"product_name": "Hall", "quantity": 1, "custom_price": 200}
    order = await business.made("/v1/orders", {"items": [line]})
    link = await business.made(
        "/v1/payment-links", {"target_type": "sale", "target_id": order["id"]}
    )
    await pay(business, link)
    address = f"{WITHDRAW}?order_id={order['id']}"
    page = await owner.open(address)
    assert order["shortCode"] in page.words
    form = next(form for form in page.forms if form.action == address)
    assert form.fields["refund.order_id"] == order["id"]
    wanted = form.fields | {"amount": "10", "refund.reason": "Cold"}
    await owner.send(address, wanted, 200)
    await prove(owner, address, 400)
    assert owner.page.alerts[0]
    form = next(form for form in owner.page.forms if form.action == address)
    assert (form.fields["amount"], form.fields["refund.reason"]) == ("10", "Cold")


async def test_a_withdrawal_is_cancelled(owner: Browser, business: Business, world: World) -> None:
    """Until it is sent; the money is free again, and the button is gone."""
    address = world.address(f"{WITHDRAWALS}/{{withdrawal_id}}")
    page = await owner.open(address)
    await owner.submit(f"{address}/cancel", 200)
    await prove(owner, f"{address}/cancel")
    page = await owner.open(owner.onward)
    assert "Cancelled" in page.words
    assert not [form for form in page.forms if form.action == f"{address}/cancel"]
    assert (await read(business, "/v1/wallet"))["held"] == 0


async def test_an_account_is_added_and_removed(
    owner: Browser, business: Business, world: World
) -> None:
    """With the password; a wrong number is refused at its field."""
    await owner.open(ACCOUNTS)
    page = await owner.submit(ACCOUNTS, 422, account_number="1")
    wrong = [found["name"] for found in named(page, **{"aria-invalid": "true"})]
    assert wrong == ["account_number"]
    form = next(form for form in page.forms if form.action == ACCOUNTS)
    assert form.fields["account_number"] == "1"
    fields = form.fields | {"account_number": "0009876543"}
    await owner.send(ACCOUNTS, fields, 200)
    await prove(owner, ACCOUNTS)
    made = owner.onward
    page = await owner.open(made)
    account = await read(business, f"/v1/payout-accounts/{made.rpartition('/')[2]}")
    assert account["accountNumber"] == "0009876543"
    assert account["accountName"] in page.words
    await owner.send(ACCOUNTS, fields | {"csrf": page.forms[0].fields["csrf"]})
    assert owner.onward == made
    assert len(await read(business, "/v1/payout-accounts")) == 2
    await owner.open(made)
    await owner.submit(f"{made}/remove")
    page = await owner.open(owner.onward)
    assert "Removed" in page.words
    assert not [form for form in page.forms if form.action == f"{made}/remove"]
    assert "…6543" not in (await owner.open(WITHDRAW)).words


async def test_payouts_are_frozen_limited_and_let_go(
    owner: Browser, business: Business, world: World
) -> None:
    """A limit leaves the freeze as it is now, whatever the page showed."""
    await owner.open(WALLET)
    await owner.submit(f"{WALLET}/freeze", 422, reason="")
    page = await owner.submit(f"{WALLET}/freeze", reason="Lost telephone")
    page = await owner.open(WALLET)
    assert "Payouts are frozen" in page.words
    assert "Lost telephone" in page.words
    page = await owner.submit(f"{WALLET}/limit", 422, max_per_day="-5")
    assert [found["name"] for found in named(page, **{"aria-invalid": "true"})] == ["max_per_day"]
    await owner.submit(f"{WALLET}/limit", max_per_day="500")
    told = await read(business, "/v1/wallet/payouts")
    assert (told["frozen"], told["reason"]) == (True, "Lost telephone")
    assert told["maxPerDay"] == 500
    await owner.open(WALLET)
    await owner.submit(f"{WALLET}/resume", 200)
    await prove(owner, f"{WALLET}/resume")
    page = await owner.open(WALLET)
    assert "Payouts are frozen" not in page.words
    await owner.submit(f"{WALLET}/limit", max_per_day="")
    told = await read(business, "/v1/wallet/payouts")
    assert (told["frozen"], told["maxPerDay"]) == (False, None)


async def test_a_limit_is_set_while_another_person_freezes(
    owner: Browser, business: Business, make: Make, signed_in: SignsIn, world: World
) -> None:
    """Neither form says what the other one does; an admin isn't shown what is the owner's."""
    admin = await signed_in(await make.member(business, "admin"))
    for browser in (owner, admin):
        await browser.open(WALLET)
    forms = {form.action: form.fields for form in owner.page.forms}
    limit = forms[f"{WALLET}/limit"] | {"max_per_day": "500"}
    freeze = {form.action: form.fields for form in admin.page.forms}[f"{WALLET}/freeze"]
    assert (freeze.keys() | limit.keys()) - {"csrf", "made_for"} == {"reason", "max_per_day"}
    await asyncio.gather(
        owner.send(f"{WALLET}/limit", limit),
        admin.send(f"{WALLET}/freeze", freeze | {"reason": "Lost telephone"}),
    )
    told = await read(business, "/v1/wallet/payouts")
    assert (told["frozen"], told["reason"], told["maxPerDay"]) == (True, "Lost telephone", 500)
    for browser, may in ((owner, True), (admin, False)):
        page = await browser.open(WALLET)
        actions = [form.action for form in page.forms]
        assert (f"{WALLET}/resume" in actions) == may
        assert f"{WALLET}/limit" in actions
        assert ("Let payouts go" in page.words) == may
        assert "Only the owner lets them go again." in page.words


@pytest.mark.parametrize("role", get_args(Role))
async def test_a_role_does_what_it_may(
    role: str, business: Business, make: Make, signed_in: SignsIn, world: World
) -> None:
    """Only the owner withdraws; an admin adds accounts and freezes; others read or see nothing."""
    person = business if role == "owner" else await make.member(business, role)
    browser = await signed_in(person)
    assert (WALLET in browser.page.links) == (role in READS)
    for path in (
        WITHDRAWALS, f"{WITHDRAWALS}/{{withdrawal_id}}", ACCOUNTS,
        f"{ACCOUNTS}/{{payout_account_id}}",
    ):  # fmt: skip
        await browser.open(world.address(path), status=200 if role in READS else 403)
    actions = [form.action for form in browser.page.forms]
    remove = world.address(f"{ACCOUNTS}/{{payout_account_id}}/remove")
    assert (remove in actions) == (role in CHANGES)
    page = await browser.open(WALLET, status=200 if role in READS else 403)
    assert (WITHDRAW in page.links) == (role == "owner")
    assert (f"{WALLET}/freeze" in [form.action for form in page.forms]) == (role in CHANGES)
    await browser.open(WITHDRAW, status=200 if role == "owner" else 403)
    fields = browser.page.forms[0].fields
    cancel = world.address(f"{WITHDRAWALS}/{{withdrawal_id}}/cancel")
    await browser.send(WITHDRAW, fields, status=422 if role == "owner" else 403)
    for path, allowed in ((cancel, {"owner"}), (remove, CHANGES)):
        await browser.send(path, fields, status=200 if role in allowed else 403)
        assert ("Confirm it is you" in browser.page.words) == (role in allowed)
    wanted = fields | {"reason": "Lost"}
    await browser.send(f"{WALLET}/freeze", wanted, status=303 if role in CHANGES else 403)


async def test_another_business_and_another_book_have_none_of_it(
    make: Make, business: Business, owner: Browser, signed_in: SignsIn, world: World
) -> None:
    """Not to be seen, cancelled, removed or paid out to."""
    withdrawal = world.address(f"{WITHDRAWALS}/{{withdrawal_id}}")
    account = world.address(f"{ACCOUNTS}/{{payout_account_id}}")
    other = await make.business()
    stranger = await signed_in(other)
    for path in (withdrawal, account):
        await stranger.open(path, status=404)
    await stranger.open(ACCOUNTS)
    await stranger.submit(ACCOUNTS, 200, account_number="0123456789")
    await prove(stranger, ACCOUNTS)
    await stranger.open(WALLET)
    fields = stranger.page.forms[0].fields
    await stranger.send(f"{withdrawal}/cancel", fields, status=404)
    await stranger.send(f"{account}/remove", fields, status=404)
    wanted = fields | {"amount": "5", "payout_account_id": world.ids["payout_account_id"],
                       "idempotency_key": "9f0e3b1e-7a43-4a8e-8d4e-6f2f3c1f9a10"}  # fmt: skip
    page = await stranger.send(WITHDRAW, wanted, status=422)
    assert [found["name"] for found in named(page, **{"aria-invalid": "true"})] == [
        "payout_account_id"
    ]
    await owner.open("/desk")
    await owner.submit("/desk/mode", mode="live")
    for path in (withdrawal, account):
        await owner.open(path, status=404)
    page = await owner.open(WALLET)
    assert "Nothing came in or went out yet." in page.words
    assert (await read(business, "/v1/wallet"))["held"] == 50
    assert await withdraw(business, world.ids["payout_account_id"], amount=1)
