"""A payment by a provider as it is shown: gross, fee and net."""

from decimal import Decimal
from typing import Annotated

import msgspec
from msgspec import Meta


class ProviderMoney(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A payment by a payment provider, as the provider tells it."""

    provider: Annotated[str, Meta(examples=["stripe"])]
    """The payment provider that the payment came by."""
    currency: str
    gross: Decimal
    """The amount that was paid, before the provider's fee."""
    fee: Decimal
    """The fee that the provider tells of; 0 where it tells of none."""
    net: Decimal
    """`gross` less `fee`: the amount that reached the wallet."""
    fee_returned: Decimal
    """The part of `fee` that the provider tells it gave back when money went back; 0: it keeps
    it."""
