"""Payout accounts: who holds them is asked, and new ones wait."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.make import PASSWORD, Business
from tests.payouts.treasury import ACCOUNTS, WITHDRAWALS, Treasury
from tests.payouts.wallets import CURRENCY, book_of, fill
from tillhouse.kit.clock import now
from tillhouse.kit.ids import new_id


async def test_a_new_account_has_its_holders_name(treasury: Treasury) -> None:
    """The provider names the holder and the bank; in a test book it can be used at once."""
    body = {"bank_code": "002", "account_number": "0123456789"}
    made = (await treasury.api.post(ACCOUNTS, body, status=201)).data
    assert (made["status"], made["bankName"]) == ("active", "Second Sandbox Bank")
    assert made["accountName"] == "SANDBOX HOLDER 002 6789"
    assert made["usableAt"] <= now().isoformat()
    again = await treasury.api.post(ACCOUNTS, body, status=409)
    assert "already" in again.json["message"]
    listed = await treasury.api.get(ACCOUNTS, status=200)
    assert [one["id"] for one in listed.data] == [made["id"], treasury.account_id]
    banks = (await treasury.api.get(f"{ACCOUNTS}/banks", status=200)).data
    assert {"code": "002", "name": "Second Sandbox Bank"} in banks


async def test_an_account_that_is_none_fails(treasury: Treasury) -> None:
    """The reason is told, and nothing is paid out to it."""
    body = {"bank_code": "001", "account_number": "0123450000"}
    made = (await treasury.api.post(ACCOUNTS, body, status=201)).data
    assert (made["status"], made["error"]) == ("failed", "There is no such account.")
    await treasury.ask(1, payout_account_id=made["id"], status=400)


async def test_a_provider_that_is_away_is_asked_again(treasury: Treasury) -> None:
    """The account is checked by a worker when the provider answers."""
    body = {"bank_code": "001", "account_number": "0123450001"}
    made = (await treasury.api.post(ACCOUNTS, body, status=201)).data
    assert made["status"] == "checking"
    await treasury.ask(1, payout_account_id=made["id"], status=400)
    await treasury.work(timedelta(minutes=1))
    found = (await treasury.api.get(f"{ACCOUNTS}/{made['id']}", status=200)).data
    assert (found["status"], found["accountName"]) == ("active", "Holder of 0123450001")


async def test_a_live_account_cools_off_first(treasury: Treasury, business: Business) -> None:
    """A thief who adds an account of their own waits a day, and the owner reads of it."""
    book_id = await book_of(treasury.services, business, "live")
    await fill(treasury.services, book_id, 100)
    account_id = new_id()
    await treasury.sql.execute(
        """
        INSERT INTO payout_accounts (book_id, id, status, provider, bank_code, account_number,
            account_name, currency, usable_at, created_by_id, created_by_name, created_at,
            updated_at)
        VALUES ($1, $2, 'checking', 'sandbox', '058', '0123456789', NULL, $3, NULL, $2, 'Ada',
            now(), now())
        """,
        book_id,
        account_id,
        CURRENCY,
    )
    await treasury.sql.execute(
        """
        INSERT INTO jobs (book_id, id, kind, subject_id, due_at, created_at)
        VALUES ($1, $2, 'payout_account', $3, now() - interval '1 s', now())
        """,
        book_id,
        new_id(),
        account_id,
    )
    await treasury.runner().run_due(now())
    await business.step_up()
    headers = {"service-environment": "live", "idempotency-key": "first"}
    body = {"amount": 1, "payout_account_id": str(account_id)}
    refused = await business.owner.post(WITHDRAWALS, body, headers=headers, status=400)
    assert "new: it is paid out to from" in refused.json["message"]
    await treasury.sql.execute(
        "UPDATE payout_accounts SET usable_at = usable_at - interval '24 hours' WHERE id = $1",
        account_id,
    )
    await business.owner.post(WITHDRAWALS, body, headers=headers, status=201)


async def test_a_withdrawal_keeps_the_account_it_was_made_for(treasury: Treasury) -> None:
    """Deactivating an account stops new withdrawals, and changes none that was requested."""
    asked = await treasury.withdraw(5)
    path = f"{ACCOUNTS}/{treasury.account_id}"
    for _ in range(2):
        await treasury.api.delete(path, status=200)
    found = (await treasury.api.get(path, status=200)).data
    assert (found["status"], found["version"]) == ("inactive", 3)
    await treasury.ask(5, status=400)
    await treasury.work()
    done = await treasury.look(asked["id"])
    assert (done["status"], done["payoutAccount"]["version"]) == ("completed", 2)
    events = await treasury.sql.fetch(
        """
        SELECT event_type FROM audit_events
        WHERE business_id = $1 AND event_type LIKE 'payout_account.%' ORDER BY sequence
        """,
        UUID(treasury.business.id),
    )
    kinds = [row["event_type"] for row in events]
    assert kinds == ["payout_account.created", "payout_account.deactivated"]
    await treasury.account()


async def test_one_account_is_added_once(treasury: Treasury) -> None:
    """Of many at the same moment one is kept."""
    body = {"bank_code": "003", "account_number": "0123456789"}
    answers = await asyncio.gather(*(treasury.api.post(ACCOUNTS, body) for _ in range(10)))
    assert sorted(answer.status for answer in answers) == [201] + [409] * 9


@pytest.mark.parametrize(
    "fields",
    [
        {"bank_code": ""},
        {"bank_code": "a/b"},
        {"bank_code": 58},
        {"account_number": "12"},
        {"account_number": "1" * 35},
        {"account_number": "12 34"},
        {"account_number": None},
        {"account_name": "Ada"},
    ],
)
async def test_a_wrong_field_is_named(treasury: Treasury, fields: dict[str, Any]) -> None:
    """422, and no account."""
    body = {"bank_code": "001", "account_number": "0123456788", **fields}
    answer = await treasury.api.post(ACCOUNTS, body, status=422)
    assert answer.wrong_fields == set(fields)


async def test_people_need_the_password(treasury: Treasury, business: Business) -> None:
    """A session alone neither adds nor removes where money goes."""
    given = {"email": business.email, "password": PASSWORD}
    fresh = (await business.anybody.post("/api/auth/login", given, status=200)).data
    owner = business.anybody.as_bearer(fresh["accessToken"], **{"service-environment": "test"})
    body = {"bank_code": "001", "account_number": "0123456788"}
    assert (await owner.post(ACCOUNTS, body, status=403)).error == "password_verification_required"
    await owner.delete(f"{ACCOUNTS}/{treasury.account_id}", status=403)
    headers = {"service-environment": "test"}
    await business.owner.post(ACCOUNTS, body, headers=headers, status=201)
