"""The payments that an answer of a provider adds to those that are recorded: pure decisions.

A provider's transaction has one id for ever, and may be several payments here: transfers to one
account, an amount that grew, money that went back and came again. Its answers lag, and some lack
their parts. So the sums decide: whatever a transaction comes to at the provider is recorded, once.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

import msgspec

from tillhouse.payins.types import Payin
from tillhouse.providers.payments.provider import PART, SeenPayment

# An answer from before a change is no older than this.
SETTLED_AFTER = timedelta(hours=1)

_ZERO = Decimal(0)


def arrivals(
    own: Sequence[Payin], told: Sequence[SeenPayment], now: datetime
) -> Sequence[SeenPayment]:
    """The payments of one transaction that are to be recorded; `told` have all arrived."""
    known = {one.provider_transaction_id for one in own}
    new = [one for one in told if one.transaction_id not in known]
    if not is_one_currency(own, told):
        return new
    counted = own if is_back(told) else [one for one in own if _counts(one, now)]
    missing = _sum(told) - _sum(counted)
    if missing <= 0:
        return ()
    if _sum(new) == missing:
        return new
    fee = sum((one.fee for one in told), _ZERO) - sum((one.fee for one in counted), _ZERO)
    rest = msgspec.structs.replace(
        told[0],
        transaction_id=f"{told[0].transaction}{PART}+{len(own)}",
        amount=missing,
        fee=max(_ZERO, min(fee, missing)),
    )
    return (rest,)


def is_short(own: Sequence[Payin], told: Sequence[SeenPayment], now: datetime) -> bool | None:
    """Whether the provider tells of less than is recorded; None: it is too early to say."""
    kept = [one for one in own if one.status == "received"]
    if is_back(told) or not kept:
        return None
    differs = not is_one_currency(kept, told) or _sum(told) < _sum(kept)
    if differs and any(one.created_at > now - SETTLED_AFTER for one in kept):
        return None
    return differs


def is_back(told: Sequence[SeenPayment]) -> bool:
    """Whether the provider took a transaction back."""
    return any(one.state == "reversed" for one in told)


def is_one_currency(own: Sequence[Payin], told: Sequence[SeenPayment]) -> bool:
    """Whether amounts can be compared."""
    return len({one.currency for one in (*own, *told)}) == 1


def _counts(payin: Payin, now: datetime) -> bool:
    """Whether it is there; money that went back a moment ago is, in an answer from before that."""
    return payin.reversed_at is None or payin.reversed_at > now - SETTLED_AFTER


def _sum(payments: Sequence[Payin] | Sequence[SeenPayment]) -> Decimal:
    return sum((one.amount for one in payments), _ZERO)
