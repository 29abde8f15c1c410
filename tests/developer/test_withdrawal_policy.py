"""How much a key may withdraw: the rules of its policy."""

import secrets
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from tests.make import Business, Make
from tests.payouts.wallets import book_of
from tillhouse.kit.clock import now
from tillhouse.kit.ids import BookKey, new_id
from tillhouse.payouts.accounts.store import AccountRow, insert_account

KEYS = "/api/developer/api-keys"
OUT = "wallet:withdrawals:create"
POLICY: dict[str, Any] = {"max_per_transaction": 100, "max_per_day": 500.5, "currency": "USD"}

WRONG: list[tuple[dict[str, Any], set[str]]] = [
    ({"max_per_transaction": 0}, {"max_per_transaction"}),
    ({"max_per_transaction": -5}, {"max_per_transaction"}),
    ({"max_per_transaction": "100 "}, {"max_per_transaction"}),
    ({"max_per_transaction": True}, {"max_per_transaction"}),
    ({"max_per_transaction": None}, {"max_per_transaction"}),
    ({"max_per_transaction": 1.005}, {"max_per_transaction"}),
    ({"max_per_transaction": 0.001, "max_per_day": 0.001}, {"max_per_transaction", "max_per_day"}),
    ({"max_per_day": 1e15}, {"max_per_day"}),
    ({"max_per_transaction": 501}, {"max_per_transaction"}),
    ({"currency": "EUR"}, {"currency"}),
    ({"currency": "usd"}, {"currency"}),
    ({"currency": "EUR", "max_per_day": 0}, {"currency", "max_per_day"}),
    ({"allowed_payout_account_ids": "x"}, {"allowed_payout_account_ids"}),
    ({"allowed_payout_account_ids": ["x"]}, {"allowed_payout_account_ids[0]"}),
    ({"max_per_week": 5}, {"max_per_week"}),
]


async def test_a_wrong_policy_is_named(business: Business) -> None:
    """Positive, in whole units of the business's currency, per transaction at most per day."""
    body = {"name": "Payer", "environment": "test", "scopes": [OUT]}
    key = await business.key(OUT, withdrawal_policy=POLICY)
    for change, named in WRONG:
        wrong = {"withdrawal_policy": {**POLICY, **change}}
        for answer in (
            await business.owner.post(KEYS, {**body, **wrong}, status=422),
            await business.owner.patch(f"{KEYS}/{key['id']}", wrong, status=422),
        ):
            assert answer.wrong_fields == {f"withdrawal_policy.{name}" for name in named}


async def test_one_transaction_may_take_what_a_day_allows(business: Business) -> None:
    """The bounds may be equal."""
    policy = {**POLICY, "max_per_transaction": POLICY["max_per_day"]}
    key = await business.key(OUT, withdrawal_policy=policy)
    assert key["withdrawalPolicy"]["maxPerTransaction"] == POLICY["max_per_day"]


async def test_a_policy_is_shown_as_given_and_exact(business: Business) -> None:
    """Numbers stay numbers; absent accounts are null, an empty list stays one."""
    key = await business.key(OUT, withdrawal_policy=POLICY)
    assert key["withdrawalPolicy"] == {
        "maxPerTransaction": 100,
        "maxPerDay": 500.5,
        "currency": "USD",
        "allowedPayoutAccountIds": None,
    }
    account = await account_of(business)
    for ids in ([], [account]):
        policy = {**POLICY, "allowed_payout_account_ids": ids}
        key = await business.key(OUT, withdrawal_policy=policy)
        assert key["withdrawalPolicy"]["allowedPayoutAccountIds"] == ids
    policy = {**POLICY, "max_per_day": 999999999999999, "max_per_transaction": 0.01}
    answer = await business.owner.patch(
        f"{KEYS}/{key['id']}", {"withdrawal_policy": policy}, status=200
    )
    assert b'"maxPerDay":999999999999999,' in answer.body
    assert b'"maxPerTransaction":0.01,' in answer.body


async def account_of(business: Business, environment: str = "test") -> str:
    """A payout account of a business, which nothing has checked yet."""
    services = business.anybody.app.services
    key = BookKey(await book_of(services, business, environment), new_id())
    row = AccountRow(
        provider="sandbox",
        bank_code="001",
        account_number=secrets.token_hex(5),
        currency="USD",
        created_by_id=UUID(business.user_id),
        created_by_name="Ada",
    )
    async with services.pool.transaction() as db:
        await insert_account(db, key, row, "payout_account", now(), now())
    return str(key.id)


async def test_a_policy_names_accounts_of_its_own_book(business: Business, make: Make) -> None:
    """Unknown ones, another business's and those of the other environment are 422, by index."""
    ours = await account_of(business)
    foreign = [
        str(uuid4()),
        await account_of(await make.business()),
        await account_of(business, "live"),
    ]
    key = await business.key(OUT, withdrawal_policy=POLICY)
    path = f"{KEYS}/{key['id']}"
    body = {"name": "Payer", "environment": "test", "scopes": [OUT]}
    for account in foreign:
        policy = {"withdrawal_policy": {**POLICY, "allowed_payout_account_ids": [ours, account]}}
        for answer in (
            await business.owner.post(KEYS, {**body, **policy}, status=422),
            await business.owner.patch(path, policy, status=422),
            await business.owner.patch(path, {**policy, "name": 1}, status=422),
        ):
            wrong = {"withdrawal_policy.allowed_payout_account_ids[1]"}
            assert answer.wrong_fields - {"name"} == wrong
    policy = {"withdrawal_policy": {**POLICY, "allowed_payout_account_ids": [ours]}}
    await business.owner.patch(path, policy, status=200)


async def test_a_currency_without_decimals_takes_none(make: Make) -> None:
    """Half a yen is nothing."""
    business = await make.business(currency="JPY")
    await business.step_up()
    policy = {"max_per_transaction": 1.5, "max_per_day": 100, "currency": "JPY"}
    body = {"name": "Payer", "environment": "test", "scopes": [OUT], "withdrawal_policy": policy}
    answer = await business.owner.post(KEYS, body, status=422)
    assert answer.wrong_fields == {"withdrawal_policy.max_per_transaction"}


async def test_the_withdrawal_scope_needs_a_policy(business: Business) -> None:
    """At creation, when the scope is added, and when the policy is taken away."""
    await business.step_up()
    body = {"name": "Payer", "environment": "test", "scopes": [OUT]}
    answer = await business.owner.post(KEYS, body, status=422)
    assert answer.wrong_fields == {"withdrawal_policy"}
    plain = await business.key("voice:read")
    path = f"{KEYS}/{plain['id']}"
    answer = await business.owner.patch(path, {"scopes": [OUT]}, status=422)
    assert answer.wrong_fields == {"withdrawal_policy"}
    both = {"scopes": [OUT], "withdrawal_policy": POLICY}
    await business.owner.patch(path, both, status=200)
    answer = await business.owner.patch(path, {"withdrawal_policy": None}, status=422)
    assert answer.wrong_fields == {"withdrawal_policy"}
    away = {"scopes": ["voice:read"], "withdrawal_policy": None}
    assert (await business.owner.patch(path, away, status=200)).data["withdrawalPolicy"] is None


async def test_changing_a_policy_needs_step_up_and_nothing_else_does(
    business: Business, sql: asyncpg.Connection
) -> None:
    """How much money may leave is not for whoever finds an open laptop."""
    key = await business.key(OUT, withdrawal_policy=POLICY)
    path = f"{KEYS}/{key['id']}"
    await sql.execute(
        "UPDATE sessions SET password_verified_at = NULL WHERE business_id = $1::text::uuid",
        business.id,
    )
    for policy in (POLICY, None):
        answer = await business.owner.patch(path, {"withdrawal_policy": policy}, status=403)
        assert answer.error == "password_verification_required"
    await business.owner.patch(path, {"name": "Other"}, status=200)
