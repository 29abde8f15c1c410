"""Notes of payments in the audit log, where nothing that was paid for tells of them."""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from tillhouse.access import audit
from tillhouse.access.audit import Actor
from tillhouse.db.pool import Db
from tillhouse.payins import rules
from tillhouse.payins.types import Origin, Payin

_NOTHING: Mapping[str, Any] = MappingProxyType({})


async def note(
    db: Db,
    origin: Origin,
    payin: Payin,
    verb: str,
    at: datetime,
    more: Mapping[str, Any] = _NOTHING,
) -> None:
    """Note the fate of a payment in the audit log."""
    what = (f"payin.{verb}", f"Payment by {payin.provider} {verb}: {_reason(payin)}")
    metadata = {
        "payinId": str(payin.id),
        "amount": payin.amount,
        "currency": payin.currency,
        "providerTransactionId": payin.provider_transaction_id,
        "conditions": payin.conditions,
        "environment": origin.book.environment,
        **more,
    }
    actor = Actor(payin.provider, "provider")
    await audit.append(db, origin.business_id, actor, what, metadata, at)


def _reason(payin: Payin) -> str:
    if rules.OTHER_CURRENCY in payin.conditions:
        return "in another currency"
    return "for nothing known" if payin.target_id is None else "after it was received"
