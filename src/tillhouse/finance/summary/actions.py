"""The summary of a day or a period."""

from decimal import Decimal

import msgspec

from tillhouse.access.call import Call
from tillhouse.finance.summary import rules, store
from tillhouse.finance.summary.types import FinancialSummary, Interval, SummaryQuery
from tillhouse.orders.listing.types import MethodSum
from tillhouse.orders.types import PaymentMethod
from tillhouse.stores.store import find_clock

_ZERO = Decimal(0)
# Credit of a customer that is spent is no money that comes in: it came before.
_METHODS: tuple[PaymentMethod, ...] = ("cash", "transfer", "pos", "cloove_pay", "other")


async def summarize(call: Call, asked: SummaryQuery) -> FinancialSummary:
    """The money of a day, or of a period."""
    clock = await find_clock(call, asked.store_id)
    today = clock.today(call.now)
    period = rules.period(asked, today)
    time = rules.intervals(period, clock)
    row = await store.find_figures(
        call.db, call.book.id, asked.store_id, time, is_over=period.last < today
    )
    sales = dict(msgspec.json.decode(row["sales"], type=list[tuple[int, Decimal]]))
    sold = sum(sales.values(), _ZERO)
    summary = FinancialSummary(
        date=period.last.isoformat(),
        is_today=period.last == today,
        sales_total=sold,
        net_sales_total=sold - row["refunds_total"],
        velocity_data=[
            Interval(start, sales.get(number, _ZERO)) for number, start in enumerate(time.starts, 1)
        ],
        received_by_method=[MethodSum(method, row[method]) for method in _METHODS],
        **{
            name: row[name]
            for name in (
                "currency", "wallet_balance", "pending_orders_total", "pending_orders_count",
                "expenses_total", "pending_debt_total", "credits_total",
                "pending_transactions_count", "refunds_total", "tax_total", "tips_total",
                "service_charges_total", "discounts_total", "fees_total", "disputes_total",
                "cash_expected",
            )
        },
    )  # fmt: skip
    if not period.is_period:
        return summary
    return msgspec.structs.replace(
        summary,
        start_date=period.first.isoformat(),
        end_date=period.last.isoformat(),
        period_label=rules.label(period),
        total_days=len(time.begins),
    )
