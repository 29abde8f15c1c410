"""The effects of magic amounts in the sandbox, and its names and numbers. Pure.

The last two digits of an amount, in the smallest unit of its currency, decide on payouts and
refunds; docs/payments.md has the table.
"""

import hashlib
import hmac
from datetime import timedelta
from decimal import Decimal
from typing import Literal
from uuid import UUID

from tillhouse.kit.money import EXPONENTS, round_money
from tillhouse.providers.payments.provider import Bank

# The names of its secrets: the book, which it finds its rows by, and the key of its hooks.
BOOK = "book"
HOOK_SECRET = "hook_secret"  # noqa: S105 - the name of a secret

Magic = Literal["plain", "fails", "refused", "unclear", "slow", "reversed", "costs", "late"]

_MAGIC: dict[int, Magic] = {
    99: "fails",
    98: "refused",
    97: "unclear",
    96: "slow",
    95: "reversed",
    94: "costs",
    93: "late",
}
# A slow one has an outcome once it was asked for so often.
ASKED_ENOUGH = 2

# The job by which it tells, some seconds later, that money went back, or went after all.
TOLD_LATER = "sandbox_later"
REVERSED_AFTER = timedelta(seconds=10)

FEE_RATE = Decimal("0.015")
# A dispute costs so much, in any currency; evidence is taken for so long.
DISPUTE_FEE = Decimal(15)
EVIDENCE_WITHIN = timedelta(days=7)
DISPUTE_REASON = "fraudulent"
BANKS = (
    Bank("001", "Sandbox Bank"),
    Bank("002", "Second Sandbox Bank"),
    Bank("003", "Sandbox Microfinance"),
)
BANK_NAME = "Sandbox Bank"
ACCOUNT_NAME = "Sandbox"
PAYER_NAME = "Sandbox Payer"
FAILED = "The account can't be credited."
REVERSED = "The receiving bank sent it back."
NO_SUCH_BANK = "There is no such bank."
NO_SUCH_ACCOUNT = "There is no such account."
_NUMBER_LENGTH = 10
# The ends of account numbers that decide the answer of a name enquiry.
MISSING_END = "0000"
AWAY_END = "0001"


def hook_secret(root: bytes, book_id: UUID) -> str:
    """The key of the hooks of a book."""
    return hmac.new(root, book_id.bytes, hashlib.sha256).hexdigest()


def signature(secret: str, body: bytes) -> str:
    """The signature of a hook."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def account_number(reference: str) -> str:
    """The number of the account with a reference, always the same."""
    drawn = int.from_bytes(hashlib.sha256(reference.encode()).digest()[:8])
    return f"{drawn % 10**_NUMBER_LENGTH:0{_NUMBER_LENGTH}d}"


def fee(amount: Decimal, currency: str) -> Decimal:
    """The part of a payment that the sandbox keeps."""
    return min(amount, round_money(amount * FEE_RATE, currency))


def magic(amount: Decimal, currency: str) -> Magic:
    """The fate of a payout or refund of this amount."""
    return _MAGIC.get(int(amount.scaleb(EXPONENTS[currency])) % 100, "plain")


def holder(bank_code: str, number: str) -> str:
    """The name that an account is held in."""
    return f"SANDBOX HOLDER {bank_code} {number[-4:]}"
