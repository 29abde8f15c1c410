"""Figures of a day or a period, from what the summary told: nothing is summed up here."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
from markupsafe import Markup

from tillhouse.desk import charts
from tillhouse.desk.frame.lists import address
from tillhouse.desk.frame.sentences import sentence
from tillhouse.desk.frame.words import exact, money, money_column, named

Data = Mapping[str, Any]
_DAY = timedelta(days=1)
_WEEK = timedelta(days=7)
# More days than these have no room for a label each: so many are told, with their months.
_LABELLED_DAYS, _LABELS = 31, 8
_SALES = (
    "salesTotal", "taxTotal", "serviceChargesTotal", "discountsTotal", "refundsTotal",
    "netSalesTotal", "tipsTotal", "feesTotal", "disputesTotal", "expensesTotal",
    "cashExpected",
)  # fmt: skip
_STRONG = {"netSalesTotal", "cashExpected"}
_OWED = ("pendingOrdersTotal", "pendingDebtTotal", "creditsTotal")


def presets(path: str, today: date, query: Mapping[str, str]) -> list[tuple[str, str, bool]]:
    """The usual periods by name, with their addresses, and whether each is shown."""
    first = today.replace(day=1)
    before = first - _DAY
    periods = {
        "yesterday": (today - _DAY, today - _DAY),
        "week": (today - _WEEK + _DAY, today),
        "month": (first, today),
        "last_month": (before.replace(day=1), before),
    }
    found = [("today", path, not query.get("from") and not query.get("to"))]
    for name, (start, end) in periods.items():
        wanted = {"from": start.isoformat(), "to": end.isoformat()}
        is_shown = all(query.get(key) == value for key, value in wanted.items())
        found.append((name, address(path, wanted), is_shown))
    return found


def asked(query: Mapping[str, str]) -> dict[str, str]:
    """The parameters of the summary: a period of one day is that day, by its hours."""
    since, until = query.get("from"), query.get("to")
    if since and since == until:
        return {"date": since}
    return {name: value for name, value in (("from", since), ("to", until)) if value}


class SlotRow(msgspec.Struct, frozen=True):
    """An hour or a day."""

    # The mark below its bar; empty where there is no room for all.
    mark: str
    label: str
    amount: str


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """Sales by hours of a day or days of a period."""

    is_by_hour: bool
    rows: list[SlotRow]
    marks: Markup
    top: str
    middle: str
    best: SlotRow


def chart(summary: Data, local: datetime) -> Chart | None:
    """The chart of a summary; None where nothing was sold."""
    currency, slots = summary["currency"], summary["velocityData"]
    values: list[Decimal | int] = [slot["value"] for slot in slots]
    if not any(values):
        return None
    starts = [datetime.fromisoformat(slot["intervalStart"]) for slot in slots]
    is_by_hour = "startDate" not in summary
    labels = [f"{one:%H}:00" if is_by_hour else f"{one:%a} {one.day} {one:%b}" for one in starts]
    step = 1 if len(starts) <= _LABELLED_DAYS else -(-len(starts) // _LABELS)
    marks = [f"{one:%H}" if is_by_hour else str(one.day) for one in starts]
    if step > 1:
        marks = [f"{one.day} {one:%b}" for one in starts]
    rows = [
        SlotRow("" if index % step else mark, label, amount)
        for index, (mark, label, amount) in enumerate(
            zip(marks, labels, money_column(values, currency), strict=True)
        )
    ]
    begun = sum(start <= local for start in starts)
    top = charts.top_of([float(value) for value in values])
    return Chart(
        is_by_hour=is_by_hour,
        rows=rows,
        marks=charts.bars(
            [float(value) for value in values], (), top, begun - 1 if summary["isToday"] else None
        ),
        top=money(Decimal(top), currency),
        middle=money(Decimal(top) / 2, currency),
        best=rows[values.index(max(values))],
    )


class MethodRow(msgspec.Struct, frozen=True):
    """The money of one method, and its mark in the bar; None of one by which money went out."""

    name: str
    amount: str
    mark: int | None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A day or a period in words."""

    label: str
    sales: str
    net: str
    expenses: str
    cash: str
    wallet: str
    is_today: bool
    sums: list[tuple[str, str, bool]]
    owed: list[tuple[str, str]]
    methods: list[MethodRow]
    bar: Markup


def summary(told: Data) -> Summary:
    """The sums as the API tells them."""
    currency = told["currency"]
    return Summary(
        label=told.get("periodLabel") or _day(told["date"]),
        sales=money(told["salesTotal"], currency),
        net=money(told["netSalesTotal"], currency),
        expenses=money(told["expensesTotal"], currency),
        cash=money(told["cashExpected"], currency),
        wallet=money(told["walletBalance"], currency),
        is_today=told["isToday"],
        sums=[
            (sentence(f"finance_sum.{name}"), exact(told[name], currency), name in _STRONG)
            for name in _SALES
        ],
        owed=[
            *((sentence(f"finance_sum.{name}"), exact(told[name], currency)) for name in _OWED),
            (
                sentence("finance_sum.pendingTransactionsCount"),
                str(told["pendingTransactionsCount"]),
            ),
        ],
        methods=list(_methods(told["receivedByMethod"], currency)),
        bar=charts.stacked(
            [float(one["amount"]) for one in told["receivedByMethod"] if one["amount"] > 0]
        ),
    )


def _methods(told: Sequence[Data], currency: str) -> Iterator[MethodRow]:
    shown = [one for one in told if one["amount"]]
    amounts = money_column([one["amount"] for one in shown], currency)
    mark = 0
    for one, amount in zip(shown, amounts, strict=True):
        is_in = one["amount"] > 0
        yield MethodRow(named("method", one["method"]), amount, mark % 5 + 1 if is_in else None)
        mark += is_in


def _day(text: str) -> str:
    day = date.fromisoformat(text)
    return f"{day:%A} {day.day} {day:%B %Y}"
