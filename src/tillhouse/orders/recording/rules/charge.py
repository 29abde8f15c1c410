"""The service charge of an order: as it was sent, or else by the setting of its business."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from tillhouse.kit.money import round_money
from tillhouse.orders.recording.facts import Trade
from tillhouse.orders.recording.rules.lines import ZERO, PricedLine
from tillhouse.orders.recording.rules.past import is_past
from tillhouse.orders.recording.rules.totals import HUNDRED
from tillhouse.orders.types import NewOrder


def service_charge(
    new: NewOrder, lines: Sequence[PricedLine], trade: Trade, now: datetime
) -> Decimal:
    """The charge on lines with their discounts; the setting holds for no sale of the past."""
    if new.service_charge_amount is not None:
        return Decimal(new.service_charge_amount)
    percent = trade.service_charge_percent
    if percent is None or is_past(new, now) or new.service_mode not in trade.service_charge_modes:
        return ZERO
    # A fee, such as one for a delivery, is a charge itself: none is taken of it.
    charged = sum((one.net for one in lines if one.line_type == "product"), ZERO)
    return round_money(charged * percent / HUNDRED, trade.currency)
