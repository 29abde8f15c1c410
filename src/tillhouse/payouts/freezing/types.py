"""Requests and answers of the switch."""

from decimal import Decimal
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.kit.clock import Timestamp
from tillhouse.kit.text import OneLine
from tillhouse.payouts.withdrawals.types import WithdrawalAmount


class FreezeReason(OneLine, longest=200, example="A key may have leaked"):
    """The reason for which nothing is paid out."""


class PayoutSwitch(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Whether withdrawals are sent, and how much of them a day. A field that is left out stays."""

    frozen: bool | UnsetType = UNSET
    """True: new withdrawals are refused, and those that are not sent yet wait. Left out: as it
    is."""
    reason: FreezeReason | None = None
    """The reason for people; required to freeze."""
    max_per_day: WithdrawalAmount | UnsetType | None = UNSET
    """The most that leaves the wallet within a day, whoever asks; null: any amount. Left out: as
    it is."""


class PayoutControls(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Whether withdrawals are sent, and how much of them a day."""

    frozen: bool
    """True: new withdrawals are refused, and those that are not sent yet wait."""
    reason: Annotated[str, Meta(examples=["A key may have leaked"])] | None
    """The reason for which nothing is paid out."""
    frozen_at: Timestamp | None
    """When it was frozen."""
    frozen_by: Annotated[str, Meta(examples=["Ada Okafor"])] | None
    """The person, key or rule that froze it."""
    max_per_day: Decimal | None
    """The most that leaves the wallet within a day, whoever asks; null: any amount."""
    consecutive_failures: int
    """How many withdrawals have failed since the last one that was completed."""
