"""Requests and answers of the summary."""

from decimal import Decimal
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tillhouse.kit.clock import DayShown
from tillhouse.kit.ids import StoreId
from tillhouse.kit.values import Day
from tillhouse.orders.listing.types import MethodSum


class SummaryQuery(msgspec.Struct, rename={"since": "from", "until": "to"}):
    """Which time, and which store."""

    date: Day | None = None
    """The day to sum up; left out: today."""
    since: Day | None = None
    """The first day of a period."""
    until: Day | None = None
    """The last day of a period; left out: today."""
    store_id: StoreId | None = None
    """Only sales, pending orders and expenses of this store, by its days."""


class Interval(msgspec.Struct, frozen=True, rename="camel"):
    """The sales of an hour of a day, or of a day of a period."""

    interval_start: Annotated[
        str,
        Meta(extra_json_schema={"format": "date-time"}, examples=["2026-01-31T09:00:00+01:00"]),
    ]
    """When it begins, in the time zone of the business."""
    value: Decimal
    """The sum of its sales."""


class FinancialSummary(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The money of a day or a period."""

    date: DayShown
    """The day; of a period the last."""
    is_today: bool
    """Whether `date` is today."""
    currency: str
    wallet_balance: Decimal
    """The amount available in the wallet: now, or at the end of a day that is over."""
    sales_total: Decimal
    """The totals of orders that are pending, completed or refunded, by the day of the sale; a
    refund doesn't change them."""
    refunds_total: Decimal
    """The part of sales that was given back in this time, by the day on which it went back."""
    net_sales_total: Decimal
    """`salesTotal` less `refundsTotal`: each by its own day."""
    tax_total: Decimal
    """The tax within `salesTotal`, by the day of the sale."""
    service_charges_total: Decimal
    """The service charges within `salesTotal`, by the day of the sale."""
    discounts_total: Decimal
    """The discounts that `salesTotal` is already less, by the day of the sale."""
    tips_total: Decimal
    """The tips that came in, less those that went back, by the day of the money; no part of
    `salesTotal`."""
    fees_total: Decimal
    """The fees of payment providers, less those that they gave back, by the day of the money; of
    the whole business."""
    disputes_total: Decimal
    """The money that providers took back by disputes, less what was won back, by the day of the
    money; of the whole business."""
    received_by_method: list[MethodSum]
    """The money that came in by each method, tips too, less change and what was given back, by the
    day of the money; credit of customers that was spent came in before. Costs are no part of it."""
    cash_expected: Decimal
    """The cash that this time added to the drawer: received with tips, less change, cash refunds
    and cash paid out for expenses, by the day of the money."""
    pending_orders_total: Decimal
    """The amount still to be paid, now, for orders that are pending or scheduled."""
    pending_orders_count: int
    """How many orders are pending or scheduled now."""
    expenses_total: Decimal
    """The expenses of this time."""
    pending_debt_total: Decimal
    """The amount that customers owe now."""
    credits_total: Decimal
    """The amount that customers have to come now."""
    pending_transactions_count: int
    """How many transactions are pending or processing now."""
    velocity_data: list[Interval]
    """Sales by hours of a day, by days of a period; they sum up to `salesTotal`."""
    start_date: DayShown | UnsetType = UNSET
    """The first day of a period; absent for a single day."""
    end_date: DayShown | UnsetType = UNSET
    """The last day of a period; absent for a single day."""
    period_label: Annotated[str, Meta(examples=["1 \N{EN DASH} 31 Jan 2026"])] | UnsetType = UNSET
    """The period for people; absent for a single day."""
    total_days: int | UnsetType = UNSET
    """How many days the period has; absent for a single day."""
