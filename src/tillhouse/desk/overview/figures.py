"""Figures of the overview, from what the operations answered."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
from markupsafe import Markup

from tillhouse.desk import charts
from tillhouse.desk.frame.places import Frame
from tillhouse.desk.frame.words import Number, money, money_column, named
from tillhouse.desk.orders.listing import ListedOrder, OrderRow, rows

# Hours that a chart shows even where nothing was sold in them.
_USUAL_HOURS = range(9, 18)
_HOUR = timedelta(hours=1)
Data = Mapping[str, Any]


def part_of_day(local: datetime) -> str:
    """The part of the day that a greeting names."""
    return "morning" if local.hour < 12 else "afternoon" if local.hour < 18 else "evening"


class HourRow(msgspec.Struct, frozen=True):
    """An hour of the day, in words."""

    label: str
    # None for an hour that is still to come.
    today: str | None
    before: str


class Hours(msgspec.Struct, frozen=True, kw_only=True):
    """Sales by hour, beside those of the same weekday before."""

    rows: list[HourRow]
    chart: Markup
    top: str
    middle: str
    day_before: date
    # Whether anything was sold on either day.
    is_empty: bool
    # Sales of the hours that are over, today and on the day before, and until when they are.
    until: str
    today: str
    before: str
    # How much more or less that is in per cent; None where there is nothing to compare with.
    change: int | None


def hours(now: Data, before: Data, local: datetime) -> Hours:
    """The hours of today beside the same hours of a week ago: those that are over are compared.

    Hours are matched by their names: where clocks were changed, a day has an hour twice or lacks
    one. The rows of each day sum up to its `salesTotal`.
    """
    currency = now["currency"]
    today, past = _by_hour(now), _by_hour(before)
    starts = [datetime.fromisoformat(slot["intervalStart"]) for slot in now["velocityData"]]
    begun = {start.hour for start in starts if start <= local}
    over = begun - {start.hour for start in starts if start + _HOUR > local}
    names = list(max(today, past, key=len))
    marked = [hour for hour in names if today.get(hour) or past.get(hour) or hour in _USUAL_HOURS]
    first, last = names.index(marked[0]), names.index(marked[-1])
    shown = names[first : last + 1]
    drawn = [hour for hour in shown if hour in begun]
    still = [hour for hour in names if hour in begun - over]
    values = [float(today.get(hour, 0)) for hour in drawn]
    values_before = [float(past.get(hour, 0)) for hour in shown]
    top = charts.top_of([*values, *values_before])
    done = sum(today.get(hour, 0) for hour in over)
    done_before = sum(past.get(hour, 0) for hour in over)
    return Hours(
        rows=[
            HourRow(
                f"{hour:02}",
                money(today.get(hour, 0), currency) if hour in begun else None,
                money(past.get(hour, 0), currency),
            )
            for hour in shown
        ],
        chart=charts.bars(
            values, values_before, top, len(drawn) - 1 if drawn and drawn[-1] in still else None
        ),
        top=money(Decimal(top), currency),
        middle=money(Decimal(top) / 2, currency),
        is_empty=not any(today.values()) and not any(past.values()),
        day_before=date.fromisoformat(before["date"]),
        until=f"{(local.hour if begun - over else (max(over) + 1) % 24):02}:00"
        if begun
        else "00:00",
        today=money(done, currency),
        before=money(done_before, currency),
        change=round(100 * (done - done_before) / done_before) if done_before else None,
    )


def _by_hour(day: Data) -> dict[int, Number]:
    """The sales of a day by the names of its hours, in their order."""
    found: dict[int, Number] = {}
    for slot in day["velocityData"]:
        hour = datetime.fromisoformat(slot["intervalStart"]).hour
        found[hour] = found.get(hour, 0) + slot["value"]
    return found


class Share(msgspec.Struct, frozen=True):
    """The money of one method."""

    method: str
    amount: str
    per_cent: int


class DayMoney(msgspec.Struct, frozen=True, kw_only=True):
    """The money of the day, in words."""

    sales: str
    net: str
    # None where nothing was given back.
    refunds: str | None
    to_collect: str
    open_orders: int
    wallet: str
    received: str
    shares: list[Share]
    bar: Markup


def money_of_day(summary: Data) -> DayMoney:
    """The sums of a day; of the methods those by which money came in."""
    currency = summary["currency"]
    came = [one for one in summary["receivedByMethod"] if one["amount"] > 0]
    total = sum(one["amount"] for one in came)
    return DayMoney(
        sales=money(summary["salesTotal"], currency),
        net=money(summary["netSalesTotal"], currency),
        refunds=money(summary["refundsTotal"], currency) if summary["refundsTotal"] else None,
        to_collect=money(summary["pendingOrdersTotal"], currency),
        open_orders=summary["pendingOrdersCount"],
        wallet=money(summary["walletBalance"], currency),
        received=money(sum(one["amount"] for one in summary["receivedByMethod"]), currency),
        shares=[
            Share(named("method", one["method"]), amount, round(100 * one["amount"] / total))
            for one, amount in zip(
                came, money_column([one["amount"] for one in came], currency), strict=True
            )
        ],
        bar=charts.stacked([float(one["amount"]) for one in came]),
    )


class LatestOrders(msgspec.Struct, frozen=True, kw_only=True):
    """The latest orders, and how many there were today."""

    rows: list[OrderRow]
    today: int
    average: str | None


def orders(latest: list[ListedOrder], summary: Data, frame: Frame) -> LatestOrders:
    """The orders as rows, and the average of today's."""
    today = summary["todayOrders"]
    average = round(Decimal(summary["todayRevenue"]) / today, 2) if today else None
    return LatestOrders(
        rows=rows(latest, frame),
        today=today,
        average=money(average, frame.currency) if average is not None else None,
    )
