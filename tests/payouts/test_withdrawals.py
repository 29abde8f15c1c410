"""Requesting a withdrawal: limits, races, and everything that is refused."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from tests.make import Business, Make
from tests.payouts.treasury import ACCOUNTS, SCOPES, WITHDRAWALS, Treasury
from tests.payouts.wallets import CURRENCY
from tillhouse.access.process import Services
from tillhouse.kit.clock import now
from tillhouse.kit.ids import AppId, new_id
from tillhouse.payouts.withdrawals.store.limits import (
    CountedSpend,
    find_sum_of_book,
    find_sum_of_lineage,
    give_spend_back,
    take_spend,
)

Open = Callable[..., Awaitable[Treasury]]


async def at_once(treasury: Treasury, amount: int, times: int = 50) -> Counter[int]:
    """Request so many withdrawals at the same moment; the statuses of the answers."""
    answers = await asyncio.gather(*(treasury.ask(amount, status=None) for _ in range(times)))
    return Counter(answer.status for answer in answers)


async def test_fifty_at_once_against_a_balance_for_one(open_treasury: Open) -> None:
    """Exactly one is reserved, the others read what is available."""
    treasury = await open_treasury(max_per_day=1_000_000)
    await treasury.fill(100)
    assert await at_once(treasury, 100) == {201: 1, 400: 49}
    assert await treasury.wallet() == (100, 0)
    refused = (await treasury.ask(1, status=400)).json["message"]
    assert refused.startswith("The wallet has 0 NGN available")
    assert await treasury.faults() == []


async def test_fifty_at_once_against_a_day_for_one(open_treasury: Open) -> None:
    """Exactly one fits into the day."""
    treasury = await open_treasury(max_per_transaction=100, max_per_day=150)
    await treasury.fill(100_000)
    assert await at_once(treasury, 100) == {201: 1, 400: 49}
    refused = (await treasury.ask(100, status=400)).json["message"]
    assert "150 a day (max_per_day) leaves 50 today" in refused
    await treasury.withdraw(50)
    assert await treasury.faults() == []


async def test_fifty_at_once_against_the_limit_of_the_business(
    treasury: Treasury, business: Business
) -> None:
    """The business's own limit holds for all keys together, and for its owner."""
    await treasury.fill(100_000)
    await business.step_up()
    limit = {"frozen": False, "max_per_day": "100"}
    headers = {"service-environment": "test"}
    await business.owner.request("PUT", "/v1/wallet/payouts", limit, headers=headers, status=200)
    assert await at_once(treasury, 100) == {201: 1, 400: 49}
    by_owner = {**headers, "idempotency-key": "once"}
    body = {"amount": 1, "payout_account_id": treasury.account_id}
    answer = await business.owner.post(WITHDRAWALS, body, headers=by_owner, status=400)
    assert "the business's max_per_day" in answer.json["message"]


async def test_fifty_repetitions_are_one(treasury: Treasury) -> None:
    """The same key is one withdrawal, also when the kept answer is long gone."""
    body = {"amount": 10, "payout_account_id": treasury.account_id}
    headers = {"idempotency-key": "payday"}
    path = WITHDRAWALS
    answers = await asyncio.gather(
        *(treasury.api.post(path, body, headers=headers, status=201) for _ in range(50))
    )
    assert len({answer.data["id"] for answer in answers}) == 1
    await treasury.sql.execute("DELETE FROM idempotency_keys WHERE book_id = $1", treasury.book_id)
    later = await treasury.api.post(path, body, headers=headers, status=201)
    assert later.data["id"] == answers[0].data["id"]
    await treasury.sql.execute("DELETE FROM idempotency_keys WHERE book_id = $1", treasury.book_id)
    other = {**body, "amount": 11}
    refused = await treasury.api.post(path, other, headers=headers, status=422)
    assert refused.error == "idempotency_key_reused"
    assert await treasury.wallet() == (1000, 990)


async def test_a_single_account_for_one(open_treasury: Open) -> None:
    """Only the accounts that the policy names are paid out to; an empty list names none."""
    treasury = await open_treasury()
    await treasury.fill(1000)
    other = await treasury.account("0123456780")
    narrow = await treasury.client(allowed_payout_account_ids=[other])
    await treasury.ask(1, api=narrow, status=400)
    await treasury.ask(1, api=narrow, payout_account_id=other)
    nowhere = await treasury.client(allowed_payout_account_ids=[])
    await treasury.ask(1, api=nowhere, payout_account_id=other, status=400)


async def test_limits_survive_rotation_and_another_key(
    treasury: Treasury, business: Business
) -> None:
    """The keys of an app share its day, so neither a new secret nor a new key begins one."""
    policy = {"max_per_transaction": 100, "max_per_day": 100, "currency": CURRENCY}
    key = await business.key(*SCOPES, withdrawal_policy=policy)
    await treasury.ask(100, api=business.anybody.as_bearer(key["secret"]))
    path = f"/api/developer/api-keys/{key['id']}/rotate"
    secret = (await business.owner.post(path, status=200)).data["secret"]
    await treasury.ask(1, api=business.anybody.as_bearer(secret), status=400)
    second = await treasury.client(max_per_transaction=100, max_per_day=100)
    await treasury.ask(1, api=second, status=400)
    app = {"name": "Payroll", "environment": "test"}
    app_id = (await business.owner.post("/api/developer/apps", app, status=201)).data["id"]
    apart = await business.client(*SCOPES, withdrawal_policy=policy, developer_app_id=app_id)
    await treasury.ask(100, api=apart)


async def test_a_policy_that_changes_meanwhile_holds_at_once(
    treasury: Treasury, business: Business, sql: asyncpg.Connection
) -> None:
    """A request reads the policy under a lock: a change waits for it, or comes before it."""
    policy = {"max_per_transaction": 100, "max_per_day": 100, "currency": CURRENCY}
    key = await business.key(*SCOPES, withdrawal_policy=policy)
    api = business.anybody.as_bearer(key["secret"])
    path = f"/api/developer/api-keys/{key['id']}"
    tight = {"withdrawal_policy": {**policy, "max_per_transaction": 1}}
    for _ in range(5):
        _, asked = await asyncio.gather(
            business.owner.patch(path, tight, status=200), treasury.ask(2, api=api, status=None)
        )
        # Whichever came first: after the change nothing more passes.
        assert asked.status in (201, 400)
        await treasury.ask(2, api=api, status=400)
        await business.owner.patch(path, {"withdrawal_policy": policy}, status=200)


async def test_the_day_ends_at_midnight_there_and_24_hours_still_count(
    make: Make, services: Services, sql: asyncpg.Connection
) -> None:
    """A new day in the business's zone frees nothing of the last 24 hours."""
    business = await make.business(currency=CURRENCY, time_zone="Pacific/Auckland")
    treasury = await Treasury.open(
        services, business, sql, max_per_transaction=100, max_per_day=100
    )
    await treasury.fill(1000)
    first = await treasury.withdraw(100)
    row = await sql.fetchrow("SELECT * FROM withdrawals WHERE id = $1", UUID(first["id"]))
    assert row is not None
    there = datetime.now(UTC) + timedelta(hours=12)
    assert row["counted_on"] in {there.date(), (there + timedelta(hours=1)).date()}
    await sql.execute(
        "UPDATE withdrawal_spends SET day = day - 1 WHERE book_id = $1", treasury.book_id
    )
    refused = (await treasury.ask(1, status=400)).json["message"]
    assert "leaves 0 within 24 hours" in refused
    await sql.execute(
        "UPDATE withdrawals SET created_at = created_at - interval '24 hours' WHERE id = $1",
        row["id"],
    )
    await treasury.withdraw(100)


async def test_a_withdrawal_counts_for_24_hours_from_its_request(
    services: Services, business: Business, sql: asyncpg.Connection
) -> None:
    """One that no job has sent yet counts like one that the bank has paid."""
    treasury = await Treasury.open(
        services, business, sql, max_per_transaction=100, max_per_day=100
    )
    await treasury.fill(1000)
    asked = (await treasury.ask(100)).data
    assert await treasury.status(asked["id"]) == "requested"
    await sql.execute(
        "UPDATE withdrawal_spends SET day = day - 1 WHERE book_id = $1", treasury.book_id
    )
    refused = (await treasury.ask(1, status=400)).json["message"]
    assert "leaves 0 within 24 hours" in refused


@pytest.mark.parametrize("status", ["requested", "processing", "completed", "failed"])
async def test_each_sum_of_24_hours_counts_what_may_have_left(
    services: Services, treasury: Treasury, sql: asyncpg.Connection, status: str
) -> None:
    """Of the app and of the book alike: all that may still leave or has left, no failure."""
    await treasury.fill(1000)
    asked = UUID((await treasury.ask(100)).data["id"])
    # By the row alone: what else an end changes is not asked here.
    lineage = await sql.fetchval(
        """
        UPDATE withdrawals SET status = $2::text::withdrawal_status,
            sent_at = CASE WHEN $2::text <> 'requested' THEN created_at END,
            transfer_id = CASE WHEN $2::text <> 'requested' THEN id END
        WHERE id = $1 RETURNING lineage_id
        """,
        asked,
        status,
    )
    async with services.pool.transaction() as db:
        of_app = await find_sum_of_lineage(db, treasury.book_id, lineage, now())
        of_book = await find_sum_of_book(db, treasury.book_id, now())
    assert of_app == of_book == (0 if status == "failed" else 100)


async def test_what_is_given_back_late_frees_nothing_today(
    services: Services, treasury: Treasury
) -> None:
    """A failure of yesterday's withdrawal belongs to yesterday's row, which is gone."""
    lineage, yesterday = AppId(new_id()), now().date() - timedelta(days=1)
    given = CountedSpend(lineage_id=lineage, counted_on=yesterday, amount=Decimal(60))
    async with services.pool.transaction() as db:
        for day in (yesterday, now().date()):
            counted = await take_spend(
                db, treasury.book_id, lineage, day, Decimal(60), Decimal(100)
            )
            assert counted is not None
            assert counted["spent"] == 60
        await give_spend_back(db, treasury.book_id, given)
        today = await take_spend(
            db, treasury.book_id, lineage, now().date(), Decimal(60), Decimal(100)
        )
        assert today is None
        # A clock that lags behind counts against the later day, too.
        late = await take_spend(db, treasury.book_id, lineage, yesterday, Decimal(60), Decimal(100))
        assert late is None


async def test_a_cancel_and_a_send_have_one_outcome(treasury: Treasury) -> None:
    """Of both at the same moment one wins, and the money is where it says."""
    for _ in range(10):
        asked = await treasury.withdraw(10)
        path = f"{WITHDRAWALS}/{asked['id']}/cancel"
        answer, _ = await asyncio.gather(treasury.api.post(path), treasury.work())
        status = await treasury.status(asked["id"])
        reference = treasury.reference(asked["id"])
        assert (answer.status, status, treasury.bank.paid[reference]) in (
            (200, "cancelled", 0),
            (409, "completed", 1),
        )
    assert await treasury.faults() == []


async def test_the_key_is_required(treasury: Treasury) -> None:
    """Without an Idempotency-Key nothing tells a repetition from a second withdrawal."""
    body = {"amount": 1, "payout_account_id": treasury.account_id}
    answer = await treasury.api.post(WITHDRAWALS, body, status=422)
    assert answer.wrong_fields == {"Idempotency-Key"}
    description = (await treasury.api.get("/openapi.json", status=200)).json
    told = description["paths"][WITHDRAWALS]["post"]["parameters"]
    assert [one["required"] for one in told if one["name"] == "Idempotency-Key"] == [True]


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"amount": 0}, "amount"),
        ({"amount": -1}, "amount"),
        ({"amount": "1.001"}, "amount"),
        ({"amount": "1e3"}, "amount"),
        ({"amount": True}, "amount"),
        ({"amount": None}, "amount"),
        ({"amount": 10**15}, "amount"),
        ({"payout_account_id": "x"}, "payout_account_id"),
        ({"payout_account_id": str(uuid4())}, "payout_account_id"),
        ({"narration": "a\nb"}, "narration"),
        ({"narration": "x" * 101}, "narration"),
        ({"reference": 5}, "reference"),
        ({"reference": "\u0000"}, "reference"),
        ({"currency": "USD"}, "currency"),
    ],
)
async def test_a_wrong_field_is_named(
    treasury: Treasury, fields: dict[str, Any], wrong: str
) -> None:
    """422 names the field, and nothing is reserved."""
    body = {"amount": 1, **fields}
    answer = await treasury.ask(body.pop("amount"), status=422, **body)
    assert wrong in answer.wrong_fields
    assert await treasury.wallet() == (1000, 1000)


async def test_ids_of_others_are_unknown(treasury: Treasury, make: Make) -> None:
    """An account of another business, or of the other book, is none; so is a withdrawal."""
    other = await make.business(currency=CURRENCY)
    theirs = await Treasury.open(treasury.services, other, treasury.sql)
    await theirs.fill(100)
    asked = await theirs.withdraw(1)
    await treasury.ask(1, payout_account_id=theirs.account_id, status=422)
    for path in (f"{WITHDRAWALS}/{asked['id']}", f"{ACCOUNTS}/{theirs.account_id}"):
        await treasury.api.get(path, status=404)
    await treasury.api.post(f"{WITHDRAWALS}/{asked['id']}/cancel", status=404)
    await treasury.api.delete(f"{ACCOUNTS}/{theirs.account_id}", status=404)


async def test_people_need_to_be_the_owner_and_the_password(
    treasury: Treasury, business: Business
) -> None:
    """The owner withdraws without a policy once the password was given again."""
    body = {"amount": 900, "payout_account_id": treasury.account_id}
    headers = {"service-environment": "test", "idempotency-key": "owner"}
    token = {"email": business.email, "password": "correct horse battery"}
    fresh = (await business.anybody.post("/api/auth/login", token, status=200)).data
    owner = business.anybody.as_bearer(fresh["accessToken"])
    answer = await owner.post(WITHDRAWALS, body, headers=headers, status=403)
    assert answer.error == "password_verification_required"
    await business.step_up()
    await business.owner.post(WITHDRAWALS, body, headers=headers, status=201)


async def test_lists_filter_by_status_and_account(treasury: Treasury) -> None:
    """Each page tells the total."""
    other = await treasury.account("0123456780")
    first = await treasury.withdraw(1)
    await treasury.withdraw(2, payout_account_id=other)
    await treasury.work()
    third = await treasury.withdraw(3)
    for query, found in (
        ("", 3),
        ("?status=requested", 1),
        ("?status=completed,requested", 3),
        (f"?payout_account_id={other}", 1),
        (f"?payout_account_id={other}&status=requested", 0),
    ):
        answer = await treasury.api.get(WITHDRAWALS + query, status=200)
        assert (len(answer.data), answer.json["meta"]["total"]) == (found, found)
    every = (await treasury.api.get(f"{WITHDRAWALS}?limit=1&page=3", status=200)).data
    assert [one["id"] for one in every] == [first["id"]]
    newest = (await treasury.api.get(f"{WITHDRAWALS}?limit=1", status=200)).data
    assert [one["id"] for one in newest] == [third["id"]]


async def test_fifty_at_once_to_the_only_allowed_account_are_one(
    open_treasury: Open,
) -> None:
    """The key may pay out to one account, once a day: of fifty, forty-nine are refused."""
    treasury = await open_treasury()
    await treasury.fill(100_000)
    other = await treasury.account("9876543210")
    policy = {"max_per_day": 1000, "allowed_payout_account_ids": [treasury.account_id]}
    api = await treasury.client(**policy)
    asked = [treasury.ask(1000, api=api, status=None) for _ in range(50)]
    elsewhere = [
        treasury.ask(1000, api=api, status=None, payout_account_id=other) for _ in range(10)
    ]
    answers = await asyncio.gather(*asked, *elsewhere)
    statuses = [one.status for one in answers]
    assert (statuses.count(201), statuses.count(400)) == (1, 59)
    assert {one.status for one in answers[50:]} == {400}
    await treasury.work()
    [sent] = [one.data["id"] for one in answers if one.status == 201]
    assert treasury.bank.paid[f"wd-{sent}"] == 1
    assert await treasury.wallet() == (99_000, 99_000)
    assert await treasury.faults() == []


async def test_the_right_to_withdraw_is_one_of_its_own(
    treasury: Treasury, business: Business
) -> None:
    """A key that reads the wallet and writes accounts takes nothing out of it."""
    before = await treasury.wallet()
    reader = await business.client(*(scope for scope in SCOPES if "withdrawals" not in scope))
    body = {"payout_account_id": treasury.account_id, "amount": 10}
    await reader.post(WITHDRAWALS, body, headers={"Idempotency-Key": "till-1"}, status=403)
    assert await treasury.wallet() == before
