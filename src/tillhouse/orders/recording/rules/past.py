"""Sales that are recorded after they happened."""

from datetime import datetime

from tillhouse.orders.types import NewOrder


def occurrence(new: NewOrder, now: datetime) -> datetime:
    """When the sale happened; a moment that the till's clock is ahead by counts as now."""
    return min(new.occurred_at.at, now) if new.occurred_at else now


def is_past(new: NewOrder, now: datetime) -> bool:
    """Whether the sale is recorded after the fact."""
    return occurrence(new, now) < now
