"""The facts that the generated tests need about the routes of the wallet."""

import secrets
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from tests.make import Business
from tests.payouts.wallets import book_of, currency_of, fill
from tillhouse.kit.ids import new_id

_ACCOUNTS, _WITHDRAWALS = "/v1/payout-accounts", "/v1/wallet/withdrawals"
_ACCOUNT = """
    INSERT INTO payout_accounts (book_id, id, status, provider, bank_code, account_number,
        account_name, currency, usable_at, created_by_id, created_by_name, created_at, updated_at)
    VALUES ($1, $2, 'active', 'sandbox', '001', $3, 'Ada', $4, now(), $2, 'Ada', now(), now())
"""


async def _make_account(business: Business, environment: str) -> str:
    """An account, written by hand: a live book has no provider to check one."""
    services = business.anybody.app.services
    book_id, account_id = await book_of(services, business, environment), new_id()
    number = str(secrets.randbelow(10**9) + 10**9)
    async with services.pool.transaction() as db:
        currency = await currency_of(services, book_id)
        await db.execute(_ACCOUNT, book_id, account_id, number, currency)
    return str(account_id)


async def _make_withdrawal(business: Business, environment: str) -> str:
    body = await _withdrawal(business, environment)
    await business.step_up()
    headers = {"service-environment": environment, "idempotency-key": str(new_id())}
    answer = await business.owner.post(_WITHDRAWALS, body, headers=headers, status=201)
    return answer.data["id"]


async def _withdrawal(business: Business, environment: str = "test") -> dict[str, Any]:
    services = business.anybody.app.services
    book_id = await book_of(services, business, environment)
    await fill(services, book_id, 10, await currency_of(services, book_id))
    account_id = await _make_account(business, environment)
    return {"amount": 1, "payout_account_id": str(UUID(account_id))}


# Neither is ever removed: an account out of use is still read.
MAKERS: dict[str, Callable[[Business, str], Awaitable[str]]] = {
    "payout_account_id": _make_account,
    "withdrawal_id": _make_withdrawal,
}
BODIES: dict[str, Callable[[Business], dict[str, Any]]] = {
    f"POST {_ACCOUNTS}": lambda _: {"bank_code": "001", "account_number": "0123456789"},
    "PUT /v1/wallet/payouts": lambda _: {"frozen": True, "reason": "A key may have leaked"},
}
NEEDY_BODIES: dict[str, Callable[[Business], Awaitable[dict[str, Any]]]] = {
    f"POST {_WITHDRAWALS}": _withdrawal,
}
# Bodies that differ from the one that passes: neither thing has a `name`.
OTHER_BODIES: dict[str, dict[str, Any]] = {
    f"POST {_ACCOUNTS}": {"bank_code": "001", "account_number": "9876543210"},
    f"POST {_WITHDRAWALS}": {"amount": 2, "payout_account_id": str(UUID(int=7))},
}
# The provider is asked after the commit who holds the account.
FILLED_LATER = {
    f"POST {_ACCOUNTS}": {"status", "bankName", "accountName", "usableAt", "version", "updatedAt"}
}
