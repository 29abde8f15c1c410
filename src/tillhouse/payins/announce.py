"""The event of money that comes into the wallet, whatever it was paid for."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from tillhouse.access.call import Call
from tillhouse.kit.clock import iso
from tillhouse.kit.ids import StoreId
from tillhouse.payins.events import WALLET_DEPOSIT
from tillhouse.payins.types import Payin
from tillhouse.webhooks.emit import Event
from tillhouse.webhooks.events import ChangeData

_METHOD = "cloove_pay"


def deposited(
    call: Call,
    payin: Payin,
    transaction_id: UUID,
    about: Mapping[str, Any],
    store_id: StoreId | None = None,
) -> Event:
    """wallet.deposit of a payment that its target has taken; `about` names link, order, customer.

    The wallet holds the amount less the fee.
    """
    data = ChangeData(
        business_id=call.business_id,
        event_type=WALLET_DEPOSIT.code,
        entity_type="transaction",
        entity_id=transaction_id,
        store_id=store_id,
        metadata={
            "amount": payin.amount,
            "paymentMethod": _METHOD,
            **about,
            "transactionId": transaction_id,
            "currency": payin.currency,
            "fee": payin.fee,
        },
        occurred_at=iso(call.now),
    )
    return WALLET_DEPOSIT, data
