"""The money of a payment that its provider took back by itself: pure decisions.

A provider tells of sums, in messages that come late, twice or in another order. So what is booked
follows from sums as well: its word, but never more than refunds of ours leave of the payment,
and never less than was booked before.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal

import msgspec

from tillhouse.payins.arrival_rules import is_back, is_one_currency
from tillhouse.payins.types import Payin
from tillhouse.providers.payments.provider import SeenPayment

_ZERO = Decimal(0)


class ProviderReturn(msgspec.Struct, frozen=True, kw_only=True):
    """The amount that the provider says it took back of one payment, and the fee that came."""

    payin: Payin
    told: Decimal
    fee: Decimal
    # It says that the whole payment is undone.
    is_reversed: bool = False

    @property
    def booked(self) -> Decimal:
        """The amount that is to be booked in all."""
        return max(self.payin.returned_amount, min(self.told, self.payin.room))

    @property
    def is_news(self) -> bool:
        """Whether it changes anything."""
        own = self.payin
        is_undone = self.is_reversed and own.status == "received"
        return is_undone or self.told > own.returned_told or self.booked > own.returned_amount


def returned(own: Sequence[Payin], told: Sequence[SeenPayment]) -> Iterator[ProviderReturn]:
    """The payments of a transaction of which its provider took something back."""
    kept = [one for one in own if one.status == "received"]
    if not kept or not is_one_currency(own, told):
        if is_back(told):
            yield from _undone(kept, _ZERO)
        return
    fee = sum((one.returned_fee for one in told), _ZERO)
    if is_back(told):
        yield from _undone(kept, fee)
        return
    left = sum((one.returned or _ZERO for one in told), _ZERO)
    for index, payin in enumerate(kept):
        is_last = index == len(kept) - 1
        part = left if is_last else min(left, payin.room)
        left -= part
        of_fee = min(payin.fee, fee)
        fee -= of_fee
        yield ProviderReturn(
            payin=payin,
            told=max(payin.returned_told, part),
            fee=max(payin.returned_fee, of_fee if part else _ZERO),
        )


def _undone(kept: Sequence[Payin], fee: Decimal) -> Iterator[ProviderReturn]:
    for payin in kept:
        of_fee = min(payin.fee, fee)
        fee -= of_fee
        yield ProviderReturn(
            payin=payin,
            told=payin.amount,
            fee=max(payin.returned_fee, of_fee),
            is_reversed=True,
        )


def again(payin: Payin) -> ProviderReturn:
    """The same as was told before, after the refunds of ours have changed."""
    return ProviderReturn(payin=payin, told=payin.returned_told, fee=payin.returned_fee)
